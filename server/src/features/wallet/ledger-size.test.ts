import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { rowsRead } from '../../../test/rows-read.ts'
import { sql, type Queries, type Sql } from '../../kernel/database/db.ts'
import { formatCents } from '../../kernel/money.ts'
import { listTransactions } from './service.ts'

const app = await testApp({ breaks: ['ledger.causes'] })

describe('a ledger of 100,000 transactions', async () => {
  const { accountId } = await app.given.customer()
  await app.db.run(sql`insert into wallets (account_id, balance_cents, transaction_count) values (${accountId}, 100000, 100000)`)
  await app.db.run(sql`
    insert into wallet_transactions select ${accountId} || n, ${accountId}, n, 'DEPOSIT', 1, n, 'Card payment', 'PAYMENT', 'cpayment1', now()
    from generate_series(1, 100000) n`)
  await app.db.raw('analyze wallet_transactions')

  /** Wraps the database to add up the rows that its query plans touch. */
  function counting(): { db: Queries; touched: () => number } {
    let touched = 0
    const explained = async (query: Sql): Promise<Sql> => {
      touched += await rowsRead(app.db, query)
      return query
    }
    const db: Queries = {
      ...app.db,
      many: async (query) => app.db.many(await explained(query)),
      one: async (query) => app.db.one(await explained(query)),
      maybe: async (query) => app.db.maybe(await explained(query)),
    }
    return { db, touched: () => touched }
  }

  test.each([1, 2_500, 5_000])('page %s reads no more rows than it shows', async (page) => {
    const { db, touched } = counting()
    const { total, items } = await listTransactions(db, { accountId, payerId: accountId }, {}, { page, limit: 20 })
    expect([total, items.length, items[0]!.balanceAfter]).toEqual([100_000, 20, formatCents(BigInt(100_000 - (page - 1) * 20))])
    expect(touched()).toBeLessThanOrEqual(5 * 20 + 2) // five plan nodes, and the wallet's row
  })
})
