// Renewal and dunning of addresses: a suspended one is unassigned, and released in the end.
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import type { Deps } from '../deps.ts'
import { chargeRenewal, GRACE, isOver, isTurnToTake, notCovered, renewalReconciler, RETENTION } from '../renewals/service.ts'
import { lockVmById } from '../vms/service.ts'
import { startMove } from './move.workflow.ts'
import { recordAddressEvent, removeAddress } from './service.ts'
import * as sql from './sql.ts'

const RENEW = 'addresses.renew'

export const triggerAddressRenewals = (tx: Tx) => triggerReconciler(tx, RENEW)

export const renewAddresses = renewalReconciler(RENEW, 'address', ({ db }, deadlines) => sql.dueAddresses(db, deadlines), runStep)

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
  const charged = await chargeRenewal(tx, now, row, { type: 'ADDRESS_RENEWAL', what: row.address, referenceType: 'ADDRESS' })
  if (!charged) return undefined
  await sql.insertPeriod(tx, row.id, charged.period, charged.transactionId)
  await sql.setPeriod(tx, now, row.id, charged.period)
  await recordAddressEvent(tx, deps, row.id, 'address.renewed')
  return charged.period.endsAt
}

async function markPastDue(tx: Tx, deps: Deps, now: Date, row: sql.ShownAddress): Promise<void> {
  await sql.markUnpaid(tx, now, row.id, 'PAST_DUE')
  const reason = `${notCovered(deps, row)}: it is unassigned on ${addDuration(now, GRACE).toISOString()} unless it is paid`
  await recordAddressEvent(tx, deps, row.id, 'address.past_due', { reason })
}

async function enforceGracePeriod(tx: Tx, deps: Deps, now: Date, row: sql.ShownAddress): Promise<void> {
  if (!isOver(now, row, GRACE)) return
  if (row.billing_status === 'PAST_DUE') await sql.markUnpaid(tx, now, row.id, 'SUSPENDED')
  // A move that failed has given it back to the VM.
  if (row.vm_id !== null) {
    if (await isTurnToTake(tx, now, row, row.id, 'ADDRESS_UNASSIGN')) await startMove(tx, deps, row, null)
  } else if (row.billing_status === 'SUSPENDED' && isOver(now, row, RETENTION))
    await removeAddress(tx, deps, now, row, 'Unpaid for too long')
}
