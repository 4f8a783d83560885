import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { stopwatch } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'

const ROUNDS = 400

test('page 1 of 100,000 transactions costs at most 1.5 times page 1 of 100', async () => {
  const app = await testApp({ breaks: ['ledger.causes'] })
  const customerWith = async (transactions: number) => {
    const customer = await app.given.customer()
    await app.db.run(sql`
      insert into wallets (account_id, balance_cents, transaction_count) values (${customer.accountId}, ${transactions}, ${transactions})`)
    await app.db.run(sql`
      insert into wallet_transactions
      select ${customer.accountId} || n, ${customer.accountId}, n, 'DEPOSIT', 1, n, 'Card payment', 'PAYMENT', 'cpayment1', now()
      from generate_series(1, ${transactions}::int) n`)
    return customer
  }
  const [small, large] = [await customerWith(100), await customerWith(100_000)]
  await app.db.raw('vacuum analyze wallet_transactions')

  const timeOf = async (customer: typeof small): Promise<number> => {
    const elapsed = stopwatch()
    const { body } = await customer.get('/wallet/transactions')
    expect(body.data.length).toBe(20)
    return elapsed()
  }
  const times: [number, number][] = []
  for (let round = 0; round < ROUNDS; round++) times.push([await timeOf(small), await timeOf(large)])
  const median = (which: 0 | 1): number => times.map((pair) => pair[which]).sort((a, b) => a - b)[ROUNDS / 2]!
  console.log(`page 1 of 100: ${median(0).toFixed(3)} ms, of 100,000: ${median(1).toFixed(3)} ms`)
  expect(median(1) / median(0)).toBeLessThanOrEqual(1.5)
})
