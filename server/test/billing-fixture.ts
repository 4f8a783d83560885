// Helpers for billing tests: advance the clock day by day and read what the customer and the ledger show.
import { openDb, sql, type Db } from '../src/kernel/database/db.ts'
import type { Deps } from '../src/features/deps.ts'
import { renewals } from '../src/features/billing/renew.reconciler.ts'
import { parseCents } from '../src/kernel/money.ts'
import { deposit } from './deposit.ts'
import type { TestApp } from './harness.ts'

type Customer = Awaited<ReturnType<TestApp['given']['customer']>>

export async function billingFixture(app: TestApp) {
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 100000, ram_total_mib = 10000000, disk_total_gib = 1000000`)

  const vm = async (customer: Customer, id: string) => (await customer.get(`/vms/${id}`)).body.data
  /** One run of the reconciler, and the actions it starts. */
  const turn = async () => {
    await renewals.runOnce(app.deps)
    await app.settle()
  }
  const toRenewal = async (customer: Customer, id: string) =>
    app.clock.set(new Date((await vm(customer, id)).billing.nextRenewalAt as string))
  return {
    vm,
    pass: () => renewals.runOnce(app.deps),
    turn,
    toRenewal,
    /** For a customer without funds: reaches the renewal and the end of the grace period. */
    beyondGrace: async (customer: Customer, id: string) => {
      await toRenewal(customer, id)
      await turn()
      app.clock.advance('24h')
      await turn()
    },
    deposit: (customer: Customer, amount: string) => deposit(app.deps, customer.accountId, parseCents(amount)),
    balance: async (customer: Customer) => (await customer.get('/wallet')).body.data.balance as string,
    /** Oldest first. */
    renewalsOf: async (customer: Customer, id: string) => {
      const all: Record<string, string>[] = []
      for (let page = 1, pages = 1; page <= pages; page++) {
        const { body } = await customer.get(`/wallet/transactions?type=VM_RENEWAL&limit=100&page=${page}`)
        all.push(...(body.data as Record<string, string>[]))
        pages = body.pagination.totalPages
      }
      return all.filter((each) => each['referenceId'] === id).toReversed()
    },
    events: async (id: string, like = '%') =>
      (
        await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} and type like ${like} order by number`)
      ).map((event) => event.type),
    /** `count` processes, each with its own connections. */
    schedulers: async (count: number): Promise<void> => {
      const pools: Db[] = Array.from({ length: count }, () => openDb({ url: app.db.url, maxConnections: 5, onError: () => {} }))
      const processes = pools.map((db): Deps => ({ ...app.deps, db }))
      await Promise.all(processes.map((deps) => renewals.runOnce(deps))).finally(() => Promise.all(pools.map((db) => db.close())))
    },
  }
}
