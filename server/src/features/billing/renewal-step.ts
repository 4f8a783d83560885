// Renewal and dunning of one VM: unpaid it becomes past due, a day later suspended, a week later deleted. Periods are charged one by one,
// including those missed while no scheduler ran, because the VM was running. A suspended VM was not, so its new period starts at the
// payment.
import type { Tx } from '../../kernel/database/db.ts'
import { formatCents } from '../../kernel/money.ts'
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { startPeriod } from '../bandwidth/service.ts'
import { catalogNumbers } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { reserveLog } from '../events/service.ts'
import {
  deleteUnpaidVm,
  lockVmById,
  nextRenewal,
  recordVmEvent,
  renewalParts,
  setCopyPrices,
  suspendUnpaid,
  unsuspend,
  type VmDetails,
} from '../vms/service.ts'
import { tryCharge } from '../wallet/service.ts'
import * as sql from './sql.ts'

export const GRACE = '24h'
export const RETENTION = '7d'

/** Interval between attempts to suspend, unsuspend or delete. */
export const RETRY = '10m'

/** Runs one step in the given transaction. Returns whether another step is due at once. */
export async function runBillingStep(tx: Tx, deps: Deps, vmId: string): Promise<boolean> {
  const now = deps.clock.now()
  const [vm, isDecided] = await Promise.all([lockVmById(tx, vmId), sql.hasRecentLifecycleRun(tx, vmId, now)])
  if (!vm || !isDue(vm, now) || isDecided) return false
  const paidUntil = await renew(tx, deps, now, vm)
  if (paidUntil) return paidUntil <= now
  if (vm.billing_status === 'ACTIVE') await markVmPastDue(tx, deps, now, vm)
  else if (!(await sql.hasRecentLifecycleRun(tx, vmId, subtractDuration(now, RETRY)))) await enforceGracePeriod(tx, deps, now, vm)
  return false
}

async function enforceGracePeriod(tx: Tx, deps: Deps, now: Date, vm: VmDetails): Promise<void> {
  if (vm.billing_status === 'PAST_DUE' && isOver(now, vm.past_due_at, GRACE)) await suspendUnpaid(tx, deps, vm)
  if (vm.billing_status === 'SUSPENDED' && isOver(now, vm.suspended_at, RETENTION)) await deleteUnpaidVm(tx, deps, vm)
}

const owner = (vm: VmDetails) => ({ accountId: vm.account_id })

const isOver = (now: Date, since: Date | null, duration: string): boolean => since !== null && addDuration(since, duration) <= now

/**
 * Re-checks under the lock: another process may have done the step, or an operator may have suspended or unmanaged the VM or its
 * account. During an upgrade the next price is unknown; the VM is renewed after it, from the same due date.
 */
function isDue(vm: VmDetails, now: Date): boolean {
  if (vm.status === 'UPGRADING') return false
  const heldByOperator =
    vm.account_suspended ||
    (vm.pending_hold ?? 'UNPAID') !== 'UNPAID' ||
    vm.status === 'UNMANAGED' ||
    (vm.status === 'SUSPENDED' && vm.billing_status !== 'SUSPENDED')
  return vm.provisioned && vm.billing_status !== 'CANCELLED' && !heldByOperator && vm.next_renewal_at <= now
}

/** Returns the end of the paid period, or undefined when the balance is too low. Lock order: the event log before the wallet. */
async function renew(tx: Tx, deps: Deps, now: Date, vm: VmDetails): Promise<Date | undefined> {
  const period = nextPeriod(vm, now)
  const description = `Renewal of ${vm.name} from ${day(period.startsAt)} to ${day(period.endsAt)}`
  const parts = renewalParts(await catalogNumbers(tx), vm)
  const entry = { type: 'VM_RENEWAL', description, referenceType: 'VM', referenceId: vm.id, ...parts } as const
  const [, paid] = await Promise.all([reserveLog(tx, vm.account_id), tryCharge(tx, now, vm.account_id, period.priceCents, entry)])
  if (!paid) return undefined
  await Promise.all([
    sql.insertRenewal(tx, vm.id, period, paid.id),
    sql.setPeriod(tx, now, vm.id, period),
    setCopyPrices(tx, vm.id),
    startPeriod(tx, deps, vm.id),
  ])
  await recordVmEvent(tx, deps, vm.id, 'vm.renewed')
  if (vm.status === 'SUSPENDED') await unsuspend(tx, deps, owner(vm), vm.id)
  return period.endsAt
}

function nextPeriod(vm: VmDetails, now: Date): sql.Period {
  const startsAt = vm.billing_status === 'SUSPENDED' ? now : vm.next_renewal_at
  const renewalDay = vm.billing_status === 'SUSPENDED' ? now.getUTCDate() : vm.renewal_day
  return {
    startsAt,
    endsAt: nextRenewal(startsAt, renewalDay),
    renewalDay,
    priceCents: vm.renewal_price_cents,
    copiesCents: vm.copies_price_cents,
  }
}

const day = (date: Date): string => date.toISOString().slice(0, 10)

async function markVmPastDue(tx: Tx, deps: Deps, now: Date, vm: VmDetails): Promise<void> {
  await sql.markPastDue(tx, now, vm.id)
  const price = `${formatCents(vm.renewal_price_cents)} ${deps.config.currency}`
  const reason = `The wallet does not cover its renewal of ${price}: it is suspended on ${addDuration(now, GRACE).toISOString()} unless it is paid`
  await recordVmEvent(tx, deps, vm.id, 'vm.past_due', { reason })
}
