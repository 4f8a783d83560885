// Renewal and dunning of addresses: unpaid they become past due, a day later they are unassigned, a week later released. Periods are charged
// one by one, those of a suspended address from the payment on.
import { addDuration, parseDurationMs, subtractDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { formatCents } from '../../kernel/money.ts'
import { failedRunsOf, openRunOf } from '../../workflow/run-store.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { reconciler, type Deps } from '../deps.ts'
import { reserveLog } from '../events/service.ts'
import { lockVmById, nextRenewal } from '../vms/service.ts'
import { tryCharge } from '../wallet/service.ts'
import { startMove } from './move.workflow.ts'
import { GRACE, recordAddressEvent, removeAddress } from './service.ts'
import * as sql from './sql.ts'

const RENEW = 'addresses.renew'
/** From the due date on: the grace period, and a week. */
const RETENTION = '8d'
/** Between attempts to take an unpaid address from its VM. */
const RETRY = { first: '30s', last: '1h' }

export const triggerAddressRenewals = (tx: Tx) => triggerReconciler(tx, RENEW)

export const renewAddresses = reconciler(RENEW, '30s', async (deps: Deps) => {
  const now = deps.clock.now()
  const deadlines = { now, graceOver: subtractDuration(now, GRACE), retentionOver: subtractDuration(now, RETENTION) }
  for (const { id } of await sql.dueAddresses(deps.db, deadlines)) {
    try {
      while (await deps.db.tx((tx) => runStep(tx, deps, id)));
    } catch (error) {
      if (error instanceof ApiError) deps.log.info({ addressId: id, code: error.code }, 'renewal of address postponed')
      else deps.log.error({ err: error, addressId: id }, 'renewal of address failed; will retry')
    }
  }
})

/** Whether another step is due at once. */
async function runStep(tx: Tx, deps: Deps, id: string): Promise<boolean> {
  const now = deps.clock.now()
  const before = await sql.addressById(tx, id)
  if (before?.vm_id) await lockVmById(tx, before.vm_id)
  const row = await sql.lockAddressById(tx, id)
  if (!row || row.next_renewal_at > now || row.vm_id !== before?.vm_id) return false
  const paidUntil = await renew(tx, deps, now, row)
  if (paidUntil) return paidUntil <= now
  if (row.billing_status === 'ACTIVE') await markPastDue(tx, deps, now, row)
  else if (row.releasing_vm_id === null && !(await openRunOf(tx, id))) await enforceGracePeriod(tx, deps, now, row)
  return false
}

async function renew(tx: Tx, deps: Deps, now: Date, row: sql.ShownAddress): Promise<Date | undefined> {
  const isSuspended = row.billing_status === 'SUSPENDED'
  const startsAt = isSuspended ? now : row.next_renewal_at
  const renewalDay = isSuspended ? now.getUTCDate() : row.renewal_day
  const period = { startsAt, endsAt: nextRenewal(startsAt, renewalDay), renewalDay, priceCents: row.renewal_price_cents }
  const day = (date: Date): string => date.toISOString().slice(0, 10)
  const description = `Renewal of ${row.address} from ${day(startsAt)} to ${day(period.endsAt)}`
  const entry = { type: 'ADDRESS_RENEWAL', description, referenceType: 'ADDRESS', referenceId: row.id } as const
  await reserveLog(tx, row.account_id)
  const paid = await tryCharge(tx, now, row.account_id, period.priceCents, entry)
  if (!paid) return undefined
  await sql.insertPeriod(tx, row.id, period, paid.id)
  await sql.setPeriod(tx, now, row.id, period)
  await recordAddressEvent(tx, deps, row.id, 'address.renewed')
  return period.endsAt
}

async function markPastDue(tx: Tx, deps: Deps, now: Date, row: sql.ShownAddress): Promise<void> {
  await sql.markUnpaid(tx, now, row.id, 'PAST_DUE')
  const price = `${formatCents(row.renewal_price_cents)} ${deps.config.currency}`
  const reason = `The wallet does not cover its renewal of ${price}: it is unassigned on ${addDuration(now, GRACE).toISOString()} unless it is paid`
  await recordAddressEvent(tx, deps, row.id, 'address.past_due', { reason })
}

async function enforceGracePeriod(tx: Tx, deps: Deps, now: Date, row: sql.ShownAddress): Promise<void> {
  const isOver = (duration: string): boolean => row.past_due_at !== null && addDuration(row.past_due_at, duration) <= now
  if (!isOver(GRACE)) return
  if (row.billing_status === 'PAST_DUE') await sql.markUnpaid(tx, now, row.id, 'SUSPENDED')
  // A move that failed has given it back to the VM.
  if (row.vm_id !== null) {
    if (await isTurnToUnassign(tx, now, row)) await startMove(tx, deps, row, null)
  } else if (row.billing_status === 'SUSPENDED' && isOver(RETENTION)) await removeAddress(tx, deps, now, row, 'Unpaid for too long')
}

/** After a failure it waits, twice as long each time. */
async function isTurnToUnassign(tx: Tx, now: Date, { id, past_due_at }: sql.ShownAddress): Promise<boolean> {
  const { count, last } = await failedRunsOf(tx, id, 'ADDRESS_UNASSIGN', addDuration(past_due_at!, GRACE))
  if (last === null) return true
  const waitMs = Math.min(parseDurationMs(RETRY.first) * 2 ** (count - 1), parseDurationMs(RETRY.last))
  return now.getTime() >= last.getTime() + waitMs
}
