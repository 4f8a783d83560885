// Counts customers, their VMs and their money for the dashboards of the provider. Every worker reports the same numbers.
import { idsSince } from '../../kernel/ids.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import * as sql from './sql.ts'

export const measureBusiness = reconciler('business.measure', '5m', async ({ db, clock, config, metrics }) => {
  const { currency } = config
  const [vms, counts, day] = await Promise.all([
    sql.vmsByStatus(db),
    sql.businessCounts(db),
    sql.sumTransactions(db, idsSince(subtractDuration(clock.now(), '1d'))),
  ])
  metrics.machines.reset() // what is no more must not stay
  for (const { region, status, billing, count } of vms) metrics.machines.set({ region, status, billing }, count)
  metrics.accounts.set({ state: 'active' }, counts.active)
  metrics.accounts.set({ state: 'suspended' }, counts.suspended)
  metrics.openTickets.set(counts.tickets)
  metrics.walletBalance.set({ currency }, toAmount(counts.balance_cents))
  metrics.walletDay.reset()
  for (const { type, cents } of day) metrics.walletDay.set({ type, currency }, toAmount(cents))
})

const toAmount = (cents: bigint): number => Number(cents) / 100
