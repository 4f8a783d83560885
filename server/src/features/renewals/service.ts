// What is paid by the month apart from VMs: floating addresses, images and volumes. Unpaid they become past due, a day later suspended, a week later
// removed; what that means is theirs. Periods are charged one by one, those of a suspended one from the payment on.
import { DryRunResult } from '../../http/api/api.ts'
import { addDuration, parseDurationMs, subtractDuration } from '../../kernel/clock.ts'
import { sql, type Sql, type Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { formatCents, prorateDown, type Cents } from '../../kernel/money.ts'
import { failedRunsOf } from '../../workflow/run-store.ts'
import { catalogNumbers } from '../catalog/service.ts'
import { reconciler, type Deps } from '../deps.ts'
import { reserveLog } from '../events/service.ts'
import { nextRenewal, wholeDaysBetween } from '../vms/service.ts'
import type { ReferenceType, TransactionType } from '../wallet/schema.ts'
import { balanceOf, type Quote, refund, refundable, toQuote, tryCharge } from '../wallet/service.ts'

/** From past due to suspended. */
export const GRACE = '24h'
/** From past due to removed: the grace period, and a week. */
export const RETENTION = '8d'
/** Between attempts to take something unpaid from its VM. */
const RETRY = { first: '30s', last: '1h' }

export interface Period {
  startsAt: Date
  endsAt: Date
  renewalDay: number
  priceCents: Cents
}

/** The columns that each of their tables has. */
export interface Renewing {
  id: string
  account_id: string
  billing_status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED'
  renewal_day: number
  period_started_at: Date
  period_price_cents: Cents
  next_renewal_at: Date
  past_due_at: Date | null
  renewal_price_cents: Cents
}

/** Of their tables: what a paid period sets. */
export const paid = (now: Date, { startsAt, endsAt, renewalDay, priceCents }: Period): Sql => sql`
  period_started_at = ${startsAt}, next_renewal_at = ${endsAt}, renewal_day = ${renewalDay}, period_price_cents = ${priceCents},
  billing_status = 'ACTIVE', past_due_at = null, updated_at = ${now}`

export const unpaid = (now: Date, status: 'PAST_DUE' | 'SUSPENDED'): Sql => sql`
  billing_status = ${status}, past_due_at = coalesce(past_due_at, ${now}), updated_at = ${now}`

export interface Deadlines {
  now: Date
  graceOver: Date
  retentionOver: Date
}

export const firstPeriod = (now: Date, priceCents: Cents): Period => ({
  startsAt: now,
  endsAt: nextRenewal(now, now.getUTCDate()),
  renewalDay: now.getUTCDate(),
  priceCents,
})

interface Bill {
  type: TransactionType
  /** Of the text of the transaction. */
  what: string
  referenceType: ReferenceType
}

/** Undefined where the wallet does not cover it. Lock order: the event log before the wallet. */
export async function chargeRenewal(
  tx: Tx,
  now: Date,
  row: Renewing,
  { type, what, referenceType }: Bill,
): Promise<{ period: Period; transactionId: string } | undefined> {
  const isSuspended = row.billing_status === 'SUSPENDED'
  const startsAt = isSuspended ? now : row.next_renewal_at
  const renewalDay = isSuspended ? now.getUTCDate() : row.renewal_day
  const period = { startsAt, endsAt: nextRenewal(startsAt, renewalDay), renewalDay, priceCents: row.renewal_price_cents }
  const description = `Renewal of ${what} from ${day(startsAt)} to ${day(period.endsAt)}`
  await reserveLog(tx, row.account_id)
  const charged = await tryCharge(tx, now, row.account_id, period.priceCents, { type, description, referenceType, referenceId: row.id })
  return charged && { period, transactionId: charged.id }
}

const day = (date: Date): string => date.toISOString().slice(0, 10)

/** The reason of a past due event. */
export const notCovered = ({ config }: Deps, { renewal_price_cents }: Renewing): string =>
  `The wallet does not cover its renewal of ${formatCents(renewal_price_cents)} ${config.currency}`

export const isOver = (now: Date, { past_due_at }: Pick<Renewing, 'past_due_at'>, duration: string): boolean =>
  past_due_at !== null && addDuration(past_due_at, duration) <= now

/** `runStep` returns whether another step is due at once. */
export const renewalReconciler = (
  name: string,
  what: string,
  due: (deps: Deps, deadlines: Deadlines) => Promise<{ id: string }[]>,
  runStep: (tx: Tx, deps: Deps, id: string) => Promise<boolean>,
) =>
  reconciler(name, '30s', async (deps) => {
    const now = deps.clock.now()
    const deadlines = { now, graceOver: subtractDuration(now, GRACE), retentionOver: subtractDuration(now, RETENTION) }
    for (const { id } of await due(deps, deadlines)) {
      try {
        while (await deps.db.tx((tx) => runStep(tx, deps, id)));
      } catch (error) {
        if (error instanceof ApiError) deps.log.info({ [`${what}Id`]: id, code: error.code }, `renewal of ${what} postponed`)
        else deps.log.error({ err: error, [`${what}Id`]: id }, `renewal of ${what} failed; will retry`)
      }
    }
  })

/** Whether to take it from its VM: after a failure that waits, twice as long each time. */
export async function isTurnToTake(tx: Tx, now: Date, { past_due_at }: Renewing, subjectId: string, label: string): Promise<boolean> {
  const { count, last } = await failedRunsOf(tx, subjectId, label, addDuration(past_due_at!, GRACE))
  if (last === null) return true
  const waitMs = Math.min(parseDurationMs(RETRY.first) * 2 ** (count - 1), parseDurationMs(RETRY.last))
  return now.getTime() >= last.getTime() + waitMs
}

/** What the unused whole days of its period cost; nothing where it is not paid. */
export async function unusedDays(tx: Tx, now: Date, row: Renewing): Promise<Cents> {
  if (row.billing_status !== 'ACTIVE' || (await catalogNumbers(tx))('setting.refund_unused_days') === 0n) return 0n
  const all = wholeDaysBetween(row.period_started_at, row.next_renewal_at)
  return all === 0n ? 0n : prorateDown(row.period_price_cents, wholeDaysBetween(now, row.next_renewal_at), all)
}

export async function quoteRemoval(tx: Tx, { config }: Deps, accountId: string, unused: Cents): Promise<DryRunResult<Quote>> {
  const balanceAfter = (await balanceOf(tx, accountId)) + unused
  return new DryRunResult(toQuote(tx, config.currency, { charge: -unused, monthly: 0n, balanceAfter }))
}

/** No more than was paid for it. */
export async function refundUnused(tx: Tx, now: Date, row: Renewing, unused: Cents, { type, what, referenceType }: Bill): Promise<void> {
  const most = unused > 0n ? await refundable(tx, row.account_id, row.id) : 0n
  const amount = unused < most ? unused : most
  if (amount > 0n)
    await refund(tx, now, row.account_id, amount, { type, description: `Unused days of ${what}`, referenceType, referenceId: row.id })
}
