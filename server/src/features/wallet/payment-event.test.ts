import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { credit, type Entry } from './service.ts'

describe('billing.payment_received', async () => {
  const app = await testApp({ breaks: ['ledger.causes'] })
  const entry = { description: 'Card payment', referenceType: 'PAYMENT', referenceId: 'cpayment1', currency: 'USD' } as const
  const put = (accountId: string, type: Entry['type'], cents: bigint) =>
    app.db.tx((tx) => credit(tx, app.deps, accountId, cents, { ...entry, type }))
  const told = (accountId: string) =>
    app.db.many<{ type: string; data: unknown }>(sql`select type, data from events where account_id = ${accountId} order by number`)

  test.each([
    ['DEPOSIT', 'payment'],
    ['CREDIT', 'operator'],
  ] as const)('is recorded for a %s with its source, its transaction and the new balance', async (type, source) => {
    const { accountId, get } = await app.given.customer()
    await put(accountId, type, 1_250n)
    const [transaction] = (await get('/wallet/transactions')).body.data
    expect(await told(accountId)).toEqual([
      { type: 'billing.payment_received', data: { source, transaction, wallet: { balance: '12.50', currency: 'USD' } } },
    ])
  })

  test('is not recorded for an adjustment or a rolled-back deposit', async () => {
    const { accountId } = await app.given.customer()
    await put(accountId, 'ADJUSTMENT', 100n)
    const rolledBack = app.db.tx(async (tx) => {
      await credit(tx, app.deps, accountId, 100n, { ...entry, type: 'DEPOSIT' })
      throw new Error('changed my mind')
    })
    await expect(rolledBack).rejects.toThrow('changed my mind')
    expect(await told(accountId)).toEqual([])
  })

  test('is numbered without a gap under concurrency', async () => {
    const { accountId } = await app.given.customer()
    await Promise.all(Array.from({ length: 40 }, () => put(accountId, 'DEPOSIT', 100n)))
    const rows = await app.db.many<{ balance: string }>(
      sql`select data -> 'wallet' ->> 'balance' as balance from events where account_id = ${accountId} order by number`,
    )
    expect(rows.map((row) => row.balance)).toEqual(Array.from({ length: 40 }, (_, i) => `${i + 1}.00`))
  })
})
