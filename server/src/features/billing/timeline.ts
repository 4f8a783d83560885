// The balance day by day: as the ledger has it, and as the renewals to come leave it.
import type { Queries } from '../../kernel/database/db.ts'
import { formatCents, type Cents } from '../../kernel/money.ts'
import { nextRenewal } from '../vms/service.ts'
import { balanceOf, balancesOf } from '../wallet/service.ts'
import type { WalletTimeline } from './schema.ts'
import * as sql from './sql.ts'

const DAY_MS = 86_400_000

interface TimelineDeps {
  db: Queries
  now: Date
  currency: string
}

export async function getTimeline({ db, now, currency }: TimelineDeps, accountId: string, days = 90): Promise<WalletTimeline> {
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
  const since = new Date(today.getTime() - (days - 1) * DAY_MS)
  const [balance, past, renewals] = await Promise.all([
    balanceOf(db, accountId),
    balancesOf(db, accountId, since, days),
    sql.renewalDays(db, accountId, now),
  ])
  return {
    currency,
    balance: formatCents(balance),
    monthly: formatCents(renewals.reduce((sum, { cents }) => sum + cents, 0n)),
    past: past.map(({ day, balance_cents }) => ({ date: day, balance: formatCents(balance_cents) })),
    upcoming: project(renewals, { balance, today, days }),
  }
}

/** Each renews every month, on its day. */
function project(renewals: sql.RenewalDay[], { balance, today, days }: { balance: Cents; today: Date; days: number }) {
  const charges = Array.from({ length: days }, () => 0n)
  const dayOf = (at: Date): number => Math.floor((at.getTime() - today.getTime()) / DAY_MS)
  for (const { renews_at, renewal_day, cents } of renewals)
    for (let at = renews_at; dayOf(at) < days; at = nextRenewal(at, renewal_day)) charges[dayOf(at)]! += cents
  let left = balance
  return charges.map((cents, index) => {
    left -= cents
    return {
      date: new Date(today.getTime() + index * DAY_MS).toISOString().slice(0, 10),
      charge: formatCents(cents),
      balance: formatCents(left),
    }
  })
}
