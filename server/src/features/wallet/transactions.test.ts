import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { formatCents } from '../../kernel/money.ts'
import { TRANSACTION_TYPES, type TransactionType } from './schema.ts'
import { charge, credit, listTransactions } from './service.ts'

const app = await testApp({
  breaks: [
    'charges.refunds',
    'charges.first_month',
    'renewals.once',
    'renewals.addresses',
    'renewals.images',
    'renewals.volumes',
    'ledger.causes',
  ],
})

/** Writes a transaction of the given type and time; returns its id. */
async function given(accountId: string, type: TransactionType, at: string, cents = 100n): Promise<string> {
  const entry = { type, description: type, referenceType: 'VM', referenceId: 'cvm000001', currency: 'USD' } as const
  const now = new Date(at)
  const deps = { ...app.deps, clock: { now: () => now } }
  const write = (tx: Tx) => (cents > 0n ? credit(tx, deps, accountId, cents, entry) : charge(tx, now, accountId, -cents, entry))
  return (await app.db.tx(write)).id
}

describe('GET /wallet/transactions', () => {
  test('shows exactly the fields of a transaction', async () => {
    const customer = await app.given.customer({ credit: '10.00' })
    const id = await given(customer.accountId, 'VM_CHARGE', '2026-01-31T12:00:00Z', -360n)
    const { status, body } = await customer.get('/wallet/transactions?limit=1')
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: [
        {
          id,
          type: 'VM_CHARGE',
          description: 'VM_CHARGE',
          referenceType: 'VM',
          referenceId: 'cvm000001',
          createdAt: '2026-01-31T12:00:00.000Z',
          amount: '-3.60',
          balanceAfter: '6.40',
          project: null,
        },
      ],
      pagination: { page: 1, limit: 1, total: 2, totalPages: 2 },
      nextCursor: expect.any(String),
    })
  })

  test('lists newest first and paginates', async () => {
    const { accountId, ...customer } = await app.given.customer()
    for (let cents = 1n; cents <= 7n; cents++) await given(accountId, 'DEPOSIT', '2026-01-01T00:00:00Z', cents)
    const amounts = async (page: string) =>
      (await customer.get(`/wallet/transactions?limit=3&page=${page}`)).body.data.map((each: { amount: string }) => each.amount)
    expect(await amounts('1')).toEqual(['0.07', '0.06', '0.05'])
    expect(await amounts('2')).toEqual(['0.04', '0.03', '0.02'])
    expect(await amounts('3')).toEqual(['0.01'])
    expect(await amounts('4')).toEqual([])
    expect(await amounts('9007199254740991')).toEqual([])
  })

  test('returns the total on a page past the end, and 0 for an empty ledger', async () => {
    const customer = await app.given.customer({ credit: '1.00' })
    const past = await customer.get('/wallet/transactions?page=5')
    expect(past.body).toEqual({ success: true, data: [], pagination: { page: 5, limit: 20, total: 1, totalPages: 1 }, nextCursor: null })
    const poor = await app.given.customer()
    expect((await poor.get('/wallet/transactions')).body.pagination).toEqual({ page: 1, limit: 20, total: 0, totalPages: 0 })
  })

  test("does not show other accounts' transactions", async () => {
    await app.given.customer({ credit: '5.00' })
    const customer = await app.given.customer()
    for (const query of ['', '?type=CREDIT', '?dateFrom=2000-01-01'])
      expect((await customer.get(`/wallet/transactions${query}`)).body.data).toEqual([])
  })

  test.each(['limit=0', 'limit=101', 'page=0', 'page=-1', 'page=x', 'limit=1.5'])('rejects %s', async (query) => {
    const customer = await app.given.customer()
    expect((await customer.get(`/wallet/transactions?${query}`)).status).toBe(400)
  })
})

test('GET /wallet/transactions?referenceId= lists what was paid for one thing', async () => {
  const customer = await app.given.customer()
  const vm = await given(customer.accountId, 'VM_REFUND', '2026-01-01T00:00:00Z')
  const entry = { type: 'DEPOSIT', description: 'other', referenceType: 'PAYMENT', referenceId: 'cother0001', currency: 'USD' } as const
  await app.db.tx((tx) => credit(tx, app.deps, customer.accountId, 100n, entry))
  const idsFor = async (query: string) =>
    (await customer.get(`/wallet/transactions?${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await idsFor('referenceId=cvm000001')).toEqual([vm])
  expect(await idsFor('referenceId=cvm000001&type=DEPOSIT')).toEqual([])
  expect(await idsFor('referenceId=cnothing00')).toEqual([])
  const stranger = await app.given.customer()
  expect((await stranger.get('/wallet/transactions?referenceId=cvm000001')).body.data).toEqual([])
})

describe('GET /wallet/transactions?type=', () => {
  test.each(TRANSACTION_TYPES)('lists only %s', async (type) => {
    const { accountId, ...customer } = await app.given.customer()
    const ids: Record<string, string> = {}
    for (const each of TRANSACTION_TYPES) ids[each] = await given(accountId, each, '2026-01-01T00:00:00Z')
    const { body } = await customer.get(`/wallet/transactions?type=${type}`)
    expect(body.data.map((each: { id: string }) => each.id)).toEqual([ids[type]])
    expect(body.pagination.total).toBe(1)
  })

  test.each(['REFUND', 'deposit', ''])('rejects "%s" and names the allowed types', async (type) => {
    const customer = await app.given.customer()
    const { status, body } = await customer.get(`/wallet/transactions?type=${type}`)
    expect([status, body.error]).toEqual([400, `Validation failed: type must be one of ${TRANSACTION_TYPES.join(', ')}`])
  })
})

describe('GET /wallet/transactions?dateFrom=&dateTo=', async () => {
  const customer = await app.given.customer()
  const times = [
    '2026-01-30T23:59:59.999Z',
    '2026-01-31T00:00:00.000Z',
    '2026-01-31T12:00:00.000Z',
    '2026-01-31T23:59:59.999Z',
    '2026-02-01T00:00:00.000Z',
  ]
  for (const at of times) await given(customer.accountId, 'DEPOSIT', at)

  const found = async (query: Record<string, string>) => {
    const { status, body } = await customer.get(`/wallet/transactions?${new URLSearchParams(query).toString()}`)
    return status === 200 ? body.data.map((each: { createdAt: string }) => times.indexOf(each.createdAt)).toReversed() : body.error
  }

  test.each([
    [{ dateFrom: '2026-01-31' }, [1, 2, 3, 4]],
    [{ dateTo: '2026-01-31' }, [0, 1, 2, 3]],
    [{ dateFrom: '2026-01-31', dateTo: '2026-01-31' }, [1, 2, 3]],
    [{ dateFrom: '2026-01-31T12:00:00Z' }, [2, 3, 4]],
    [{ dateTo: '2026-01-31T12:00:00Z' }, [0, 1, 2]],
    [{ dateFrom: '2026-01-31T12:00:00Z', dateTo: '2026-01-31T12:00:00Z' }, [2]],
    [{ dateFrom: '2026-01-31T12:00:00.001Z' }, [3, 4]],
    [{ dateTo: '2026-01-31T11:59:59.999Z' }, [0, 1]],
    [{ dateFrom: '2026-01-31T12:00' }, [2, 3, 4]],
    [{ dateFrom: '2026-01-31T14:00:00+02:00' }, [2, 3, 4]],
    [{ dateFrom: '2026-01-31T02:00:00-10:00' }, [2, 3, 4]],
    [{ dateFrom: '2026-01-31T12:00:00Z', dateTo: '2026-01-31' }, [2, 3]],
    [{ dateFrom: '0000-01-01', dateTo: '9999-12-31' }, [0, 1, 2, 3, 4]],
    [{ dateFrom: '2028-02-29' }, []],
    [{ type: 'DEPOSIT', dateFrom: '2026-02-01' }, [4]],
    [{ type: 'CREDIT', dateFrom: '2026-01-01' }, []],
    [{ dateFrom: '2026-01-31', limit: '2', page: '2' }, [1, 2]],
  ])('%j finds %j', async (query, expected) => {
    expect(await found(query as Record<string, string>)).toEqual(expected)
  })

  test.each(
    ['', 'yesterday', '2026-02-30', '2026-13-01', '2026-1-1', '2026', '20260131', '2026-01-31T', '2026-01-31T25:00:00Z'].concat([
      '2026-01-31T12:00:00 02:00',
      '2026-01-31 12:00',
      '1769860800',
      '2026-01-31T12:60Z',
      '٢٠٢٦-01-31',
      '2026-02-29',
      '+002026-01-01',
    ]),
  )('rejects "%s"', async (date) => {
    for (const field of ['dateFrom', 'dateTo']) {
      const sentence = `Validation failed: ${field} must be an ISO date or date-time such as 2026-01-31 or 2026-01-31T12:00:00Z`
      expect(await found({ [field]: date })).toBe(sentence)
    }
  })

  test.each([
    ['2026-02-01', '2026-01-31'],
    ['2026-01-31T12:00:00.001Z', '2026-01-31T12:00:00Z'],
    ['2026-02-01T00:00:00Z', '2026-01-31'],
  ])('rejects the range from %s to %s', async (dateFrom, dateTo) => {
    expect(await found({ dateFrom, dateTo })).toBe('Validation failed: dateFrom must not be later than dateTo')
  })
})

describe('any filter and page', () => {
  const START = Date.parse('2026-01-01T00:00:00Z')
  const day = fc.option(fc.integer({ min: -1, max: 6 }), { nil: undefined })
  const dateOf = (days: number | undefined) =>
    days === undefined ? undefined : new Date(START + days * 86_400_000).toISOString().slice(0, 10)

  test('matches a simple model', async () => {
    const { accountId } = await app.given.customer()
    const rows: { type: TransactionType; at: Date; balance: bigint }[] = []
    for (let i = 0; i < 60; i++) {
      const [type, at] = [TRANSACTION_TYPES[(i * 7) % 4]!, new Date(START + ((i * 31) % 60) * 7_200_000)]
      await given(accountId, type, at.toISOString())
      rows.unshift({ type, at, balance: BigInt(i + 1) * 100n })
    }
    const query = fc.record({
      type: fc.option(fc.constantFrom(...TRANSACTION_TYPES.slice(0, 5)), { nil: undefined }),
      from: day,
      to: day,
      page: fc.integer({ min: 1, max: 6 }),
      limit: fc.integer({ min: 1, max: 25 }),
    })
    await fc.assert(
      fc.asyncProperty(query, async ({ type, from, to, page, limit }) => {
        fc.pre(from === undefined || to === undefined || from <= to)
        const [dateFrom, dateTo] = [dateOf(from), dateOf(to)]
        const filter = { ...(type && { type }), ...(dateFrom && { dateFrom }), ...(dateTo && { dateTo }) }
        const dayOf = (row: (typeof rows)[number]): string => row.at.toISOString().slice(0, 10)
        const matching = rows.filter(
          (row) => (!type || row.type === type) && (!dateFrom || dayOf(row) >= dateFrom) && (!dateTo || dayOf(row) <= dateTo),
        )
        const { total, items } = await listTransactions(app.db, { accountId, payerId: accountId }, filter, { page, limit })
        const expected = matching.slice((page - 1) * limit, page * limit)
        expect([total, items.map((item) => item.balanceAfter)]).toEqual([matching.length, expected.map((row) => formatCents(row.balance))])
      }),
      { numRuns: 150 },
    )
  })
})
