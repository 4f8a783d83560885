import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { openDb, sql, type Db, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import { newId } from '../../kernel/ids.ts'
import { balanceOf, charge, credit, refund, refundable, requireFunds, type TransactionRow } from './service.ts'

const app = await testApp({ breaks: ['charges.kept', 'charges.first_month', 'ledger.causes'] })

const deposit = {
  type: 'DEPOSIT',
  description: 'Card payment',
  referenceType: 'PAYMENT',
  referenceId: 'cpayment1',
  currency: 'USD',
} as const
const forVm = (referenceId: string) =>
  ({ type: 'VM_CHARGE', description: 'VM web-1', referenceType: 'VM', referenceId, currency: 'USD' }) as const
const back = (referenceId: string) => ({ ...forVm(referenceId), type: 'VM_REFUND' }) as const

const put = (accountId: string, cents: bigint, db: Db = app.db) => db.tx((tx) => credit(tx, app.deps, accountId, cents, deposit))
const take = (accountId: string, cents: bigint, { db = app.db, vm = 'cvm000001' } = {}) =>
  db.tx((tx) => charge(tx, app.clock.now(), accountId, cents, forVm(vm)))
const giveBack = (accountId: string, cents: bigint, vm = 'cvm000001', db: Db = app.db) =>
  db.tx((tx) => refund(tx, app.clock.now(), accountId, cents, back(vm)))

const ledgerOf = (accountId: string) =>
  app.db.many<TransactionRow>(
    sql`select ${allColumns('wallet_transactions')} from wallet_transactions where account_id = ${accountId} order by number`,
  )

/** Requires gapless numbers, running balances, and a last balance equal to the wallet's. */
async function expectRunningSum(accountId: string): Promise<TransactionRow[]> {
  const ledger = await ledgerOf(accountId)
  let sum = 0n
  const expected = ledger.map((row, i) => [i + 1, (sum += row.amount_cents)])
  expect(ledger.map((row) => [row.number, row.balance_after_cents])).toEqual(expected)
  expect(await balanceOf(app.db, accountId)).toBe(sum)
  return ledger
}

/** Uses 50 connections, so that the actions contend for the wallet's row lock. */
async function atOnce(actions: ((db: Db) => Promise<unknown>)[]): Promise<PromiseSettledResult<unknown>[]> {
  const db = openDb({ url: app.db.url, maxConnections: 50, onError: () => {} })
  return Promise.allSettled(actions.map((act) => act(db))).finally(() => db.close())
}

const codesOf = (results: PromiseSettledResult<unknown>[]): string[] =>
  results.filter((each) => each.status === 'rejected').map(({ reason }) => String((reason as { code: string }).code))

describe('wallet', () => {
  test('has balance 0.00 before it exists', async () => {
    const { accountId } = await app.given.customer()
    expect(await balanceOf(app.db, accountId)).toBe(0n)
    await expect(take(accountId, 1n)).rejects.toMatchObject({
      code: 'insufficient_funds',
      status: 402,
      message: 'Insufficient wallet balance: 0.01 USD required, 0.00 USD available',
    })
    expect(await ledgerOf(accountId)).toEqual([])
  })

  test('is credited, charged and refunded', async () => {
    const { accountId } = await app.given.customer()
    const vm = newId()
    await put(accountId, 1_000n)
    await take(accountId, 360n, { vm })
    const row = await giveBack(accountId, 100n, vm)
    expect(row).toEqual({
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      account_id: accountId,
      number: 3,
      type: 'VM_REFUND',
      amount_cents: 100n,
      balance_after_cents: 740n,
      description: 'VM web-1',
      reference_type: 'VM',
      reference_id: vm,
      created_at: app.clock.now(),
      price_parts: null,
      project_id: null,
      project_name: null,
    })
    expect((await expectRunningSum(accountId)).map((each) => each.amount_cents)).toEqual([1_000n, -360n, 100n])
  })

  test('can be emptied to the cent and not beyond', async () => {
    const { accountId } = await app.given.customer()
    await put(accountId, 350n)
    const tooMuch = take(accountId, 1_200n)
    await expect(tooMuch).rejects.toThrow('Insufficient wallet balance: 12.00 USD required, 3.50 USD available')
    await expect(take(accountId, 351n)).rejects.toMatchObject({ code: 'insufficient_funds' })
    expect((await take(accountId, 350n)).balance_after_cents).toBe(0n)
    expect((await expectRunningSum(accountId)).length).toBe(2)
  })

  test('requireFunds throws only when the balance is too low', async () => {
    const { accountId } = await app.given.customer({ credit: '3.50' })
    expect(await requireFunds(app.db, app.clock.now(), accountId, 350n, 'USD')).toBeUndefined()
    const asking = requireFunds(app.db, app.clock.now(), accountId, 1_200n, 'USD')
    await expect(asking).rejects.toThrow('Insufficient wallet balance: 12.00 USD required, 3.50 USD available')
  })

  test('names the given currency in the 402 message', async () => {
    const { accountId } = await app.given.customer()
    const charging = app.db.tx((tx) => charge(tx, app.clock.now(), accountId, 500n, { ...forVm('cvm000001'), currency: 'EUR' }))
    await expect(charging).rejects.toThrow('5.00 EUR required, 0.00 EUR available')
  })

  test('records a charge of 0.00, also before the first deposit', async () => {
    const { accountId } = await app.given.customer()
    expect(await take(accountId, 0n)).toMatchObject({ number: 1, amount_cents: 0n, balance_after_cents: 0n })
    expect(await giveBack(accountId, 0n)).toMatchObject({ number: 2, amount_cents: 0n })
    await expectRunningSum(accountId)
  })

  test.each([[0n], [-1n]])('rejects a credit of %s', async (cents) => {
    const { accountId } = await app.given.customer()
    await expect(put(accountId, cents)).rejects.toThrow('Validation failed: amount must be more than 0.00')
    expect(await ledgerOf(accountId)).toEqual([])
  })

  test('rejects a negative charge or refund', async () => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    await expect(take(accountId, -1n)).rejects.toThrow('BUG: a negative amount, -0.01')
    await expect(giveBack(accountId, -1n)).rejects.toThrow('BUG: a negative amount, -0.01')
    expect(await balanceOf(app.db, accountId)).toBe(1_000n)
  })

  test('refunds at most what was charged for the reference', async () => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    const [vm, other] = [newId(), newId()]
    await take(accountId, 600n, { vm })
    await take(accountId, 400n, { vm: other })
    await giveBack(accountId, 200n, vm)
    expect(await app.db.tx((tx) => refundable(tx, accountId, vm))).toBe(400n)
    await expect(giveBack(accountId, 401n, vm)).rejects.toThrow(`BUG: refund of 4.01 for ${vm}, of which 4.00 is paid`)
    expect((await giveBack(accountId, 400n, vm)).balance_after_cents).toBe(600n)
    await expect(giveBack(accountId, 1n, vm)).rejects.toThrow(`BUG: refund of 0.01 for ${vm}, of which 0.00 is paid`)
  })

  test('rolls back with the transaction', async () => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    const failing = app.db.tx(async (tx) => {
      await charge(tx, app.clock.now(), accountId, 1_000n, forVm('cvm000001'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect((await expectRunningSum(accountId)).length).toBe(1)
  })
})

describe('ledger', () => {
  const changes: [string, (tx: Tx, accountId: string) => Promise<unknown>][] = [
    ['update', (tx, id) => tx.run(sql`update wallet_transactions set amount_cents = 1 where account_id = ${id}`)],
    ['delete', (tx, id) => tx.run(sql`delete from wallet_transactions where account_id = ${id}`)],
  ]
  test.each(changes)('rejects an %s', async (operation, change) => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    const changing = app.db.tx((tx) => change(tx, accountId))
    await expect(changing).rejects.toThrow(`the ledger is append-only: ${operation.toUpperCase()} is not allowed`)
    expect((await expectRunningSum(accountId)).length).toBe(1)
  })

  test('rejects a balance below zero and a duplicate number', async () => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    const overdraw = app.db.run(sql`update wallets set balance_cents = -1 where account_id = ${accountId}`)
    await expect(overdraw).rejects.toThrow(/wallets_balance_cents_check/)
    const again = app.db.run(sql`
      insert into wallet_transactions select ${newId()}, account_id, number, type, amount_cents, balance_after_cents, description,
        reference_type, reference_id, created_at from wallet_transactions where account_id = ${accountId}`)
    await expect(again).rejects.toThrow(/wallet_transactions_account_id_number_key/)
  })
})

describe('concurrent changes', () => {
  test('400 charges of 1.00 against 100.00 succeed 100 times', async () => {
    const { accountId } = await app.given.customer({ credit: '100.00' })
    const results = await atOnce(Array.from({ length: 400 }, () => (db: Db) => take(accountId, 100n, { db })))
    expect(results.filter((each) => each.status === 'fulfilled').length).toBe(100)
    expect(codesOf(results)).toEqual(Array.from({ length: 300 }, () => 'insufficient_funds'))
    expect((await expectRunningSum(accountId)).length).toBe(101)
    expect(await balanceOf(app.db, accountId)).toBe(0n)
  })

  test('50 first credits create one wallet', async () => {
    const { accountId } = await app.given.customer()
    const results = await atOnce(Array.from({ length: 50 }, () => (db: Db) => put(accountId, 7n, db)))
    expect(codesOf(results)).toEqual([])
    await expectRunningSum(accountId)
    expect(await balanceOf(app.db, accountId)).toBe(350n)
  })

  test('credits and charges keep every balance a running sum', async () => {
    const { accountId } = await app.given.customer()
    const actions = Array.from({ length: 200 }, (_, i) => (db: Db) => {
      const cents = BigInt((i * 37) % 90) + 1n
      return i % 2 ? take(accountId, cents, { db }) : put(accountId, cents, db)
    })
    const results = await atOnce(actions)
    const codes = codesOf(results)
    expect(new Set(codes)).toEqual(new Set(codes.length > 0 ? ['insufficient_funds'] : []))
    expect((await expectRunningSum(accountId)).length).toBe(200 - codes.length)
  })

  test('20 refunds of one charge refund it once', async () => {
    const { accountId } = await app.given.customer({ credit: '10.00' })
    const vm = newId()
    await take(accountId, 600n, { vm })
    const results = await atOnce(Array.from({ length: 20 }, () => (db: Db) => giveBack(accountId, 600n, vm, db)))
    expect(results.filter((each) => each.status === 'fulfilled').length).toBe(1)
    await expectRunningSum(accountId)
    expect(await balanceOf(app.db, accountId)).toBe(1_000n)
  })
})

describe('any sequence of changes', () => {
  const cents = fc.bigInt(0n, 2_000n)
  const vm = fc.constantFrom('cvm000001', 'cvm000002')
  const step = fc.oneof(
    fc.record({ act: fc.constant('credit' as const), cents, vm }),
    fc.record({ act: fc.constant('charge' as const), cents, vm }),
    fc.record({ act: fc.constant('refund' as const), cents, vm }),
  )
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  /** The expected ledger amounts of each step; a rejected step has none. */
  function modelOf(steps: Step[]): bigint[] {
    const paid = new Map<string, bigint>()
    const amounts: bigint[] = []
    let balance = 0n
    for (const { act, cents: amount, vm: id } of steps) {
      const owed = paid.get(id) ?? 0n
      if (act === 'credit' ? amount === 0n : amount > (act === 'charge' ? balance : owed)) continue
      const change = act === 'charge' ? -amount : amount
      if (act !== 'credit') paid.set(id, owed - change)
      balance += change
      amounts.push(change)
    }
    return amounts
  }

  const EXPECTED = /^(done|Insufficient wallet balance|BUG: refund|Validation failed)/

  function carryOut(accountId: string, { act, cents: amount, vm: id }: Step): Promise<string> {
    const acts = {
      credit: () => put(accountId, amount),
      charge: () => take(accountId, amount, { vm: id }),
      refund: () => giveBack(accountId, amount, id),
    }
    return acts[act]().then(
      () => 'done',
      (error: Error) => error.message,
    )
  }

  test('matches a simple model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { accountId } = await app.given.customer()
        const outcomes = []
        for (const each of steps) outcomes.push(await carryOut(accountId, each))
        expect(outcomes.filter((each) => !EXPECTED.test(each))).toEqual([])
        expect((await expectRunningSum(accountId)).map((row) => row.amount_cents)).toEqual(modelOf(steps))
      }),
      { numRuns: 30 },
    )
  })
})
