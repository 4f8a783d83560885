// Renewal and dunning of volumes: a suspended one is detached, and deleted in the end.
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { Deps } from '../deps.ts'
import { chargeRenewal, GRACE, isOver, isTurnToTake, notCovered, renewalReconciler, RETENTION } from '../renewals/service.ts'
import { lockVmById } from '../vms/service.ts'
import { DETACH, takeVolume } from './attach.workflow.ts'
import { recordVolumeEvent } from './events.ts'
import { removeVolume } from './service.ts'
import * as sql from './sql.ts'

const RENEW = 'volumes.renew'

export const triggerVolumeRenewals = (tx: Tx) => triggerReconciler(tx, RENEW)

export const renewVolumes = renewalReconciler(RENEW, 'volume', ({ db }, deadlines) => sql.dueVolumes(db, deadlines), runStep)

async function runStep(tx: Tx, deps: Deps, id: string): Promise<boolean> {
  const now = deps.clock.now()
  const before = await sql.volumeById(tx, id)
  if (before?.vm_id) await lockVmById(tx, before.vm_id)
  const row = await sql.lockVolumeById(tx, id)
  if (!row || row.deleted_at !== null || sql.isGrowing(row) || row.next_renewal_at > now || row.vm_id !== before?.vm_id) return false
  const paidUntil = await renew(tx, deps, now, row)
  if (paidUntil) return paidUntil <= now
  if (row.billing_status === 'ACTIVE') await markPastDue(tx, deps, now, row)
  else return enforceGracePeriod(tx, deps, now, row)
  return false
}

async function renew(tx: Tx, deps: Deps, now: Date, row: sql.ShownVolume): Promise<Date | undefined> {
  const charged = await chargeRenewal(tx, now, row, { type: 'VOLUME_RENEWAL', what: `volume ${row.name}`, referenceType: 'VOLUME' })
  if (!charged) return undefined
  await sql.insertPeriod(tx, row.id, charged.period, charged.transactionId)
  await sql.setPeriod(tx, now, row.id, charged.period)
  await sql.setSnapshotPrices(tx, row.id)
  await recordVolumeEvent(tx, deps, row.id, 'volume.renewed')
  return charged.period.endsAt
}

async function markPastDue(tx: Tx, deps: Deps, now: Date, row: sql.ShownVolume): Promise<void> {
  await sql.markUnpaid(tx, now, row.id, 'PAST_DUE')
  const [detached, deleted] = [GRACE, RETENTION].map((duration) => addDuration(now, duration).toISOString())
  const reason = `${notCovered(deps, row)}: unless it is paid, it is detached on ${detached} and deleted on ${deleted}`
  await recordVolumeEvent(tx, deps, row.id, 'volume.past_due', { reason })
}

/** A busy VM refuses to give it up, so the suspension is a step of its own. */
async function enforceGracePeriod(tx: Tx, deps: Deps, now: Date, row: sql.ShownVolume): Promise<boolean> {
  if (!isOver(now, row, GRACE)) return false
  if (row.billing_status === 'PAST_DUE') {
    await sql.markUnpaid(tx, now, row.id, 'SUSPENDED')
    return true
  }
  // An action that failed has left it with the VM.
  const { vm_id } = row
  if (vm_id !== null) {
    if (row.run_id === null && (await isTurnToTake(tx, now, row, vm_id, DETACH))) await takeVolume(tx, deps, { ...row, vm_id })
  } else if (isOver(now, row, RETENTION)) await removeVolume(tx, deps, now, row, 'Unpaid for too long')
  return false
}
