// Renewal and dunning of images: no VM can be made from a suspended one, which is taken out of the CD drives of VMs, and it is deleted in the end, unless VMs need it.
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { lockTemplateUse, setOwnTemplate } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { chargeRenewal, GRACE, isOver, isTurnToTake, notCovered, renewalReconciler, RETENTION } from '../renewals/service.ts'
import { DETACH_ISO, lockVmById, takeUnpaidIso, vmsWithIso } from '../vms/service.ts'
import { recordImageEvent } from './events.ts'
import { RENEW } from './reconciler-names.ts'
import { retireImage } from './service.ts'
import * as sql from './sql.ts'

export const triggerImageRenewals = (tx: Tx) => triggerReconciler(tx, RENEW)

export const renewImages = renewalReconciler(RENEW, 'image', ({ db }, deadlines) => sql.dueImages(db, deadlines), runStep)

async function runStep(tx: Tx, deps: Deps, id: string): Promise<boolean> {
  const now = deps.clock.now()
  const vmIds = await vmsWithIso(tx, id)
  for (const vmId of vmIds) await lockVmById(tx, vmId)
  const row = await sql.lockImageById(tx, id)
  if (!row || !sql.isAvailable(row) || row.next_renewal_at > now) return false
  const paidUntil = await renew(tx, deps, now, row)
  if (paidUntil) return paidUntil <= now
  if (row.billing_status === 'ACTIVE') await markPastDue(tx, deps, now, row)
  else return enforceGracePeriod(tx, deps, now, row, vmIds)
  return false
}

async function renew(tx: Tx, deps: Deps, now: Date, row: sql.AvailableImage): Promise<Date | undefined> {
  const charged = await chargeRenewal(tx, now, row, { type: 'IMAGE_RENEWAL', what: `image ${row.name}`, referenceType: 'IMAGE' })
  if (!charged) return undefined
  await sql.insertPeriod(tx, row.id, charged.period, charged.transactionId)
  await sql.setPeriod(tx, now, row.id, charged.period)
  await setOwnTemplate(tx, row.id, { name: row.name, available: true })
  await recordImageEvent(tx, deps, row.id, 'image.renewed')
  return charged.period.endsAt
}

async function markPastDue(tx: Tx, deps: Deps, now: Date, row: sql.AvailableImage): Promise<void> {
  await sql.markUnpaid(tx, now, row.id, 'PAST_DUE')
  const until = addDuration(now, GRACE).toISOString()
  const loss = row.kind === 'ISO' ? `it is detached from VMs on ${until}` : `no VM can be made from it from ${until} on`
  const reason = `${notCovered(deps, row)}: ${loss} unless it is paid`
  await recordImageEvent(tx, deps, row.id, 'image.past_due', { reason })
}

/** A busy VM refuses to give it up, so the suspension is a step of its own. `vmIds`: those that have it in their drives, locked. */
async function enforceGracePeriod(tx: Tx, deps: Deps, now: Date, row: sql.AvailableImage, vmIds: string[]): Promise<boolean> {
  if (row.billing_status === 'PAST_DUE' && isOver(now, row, GRACE)) {
    await sql.markUnpaid(tx, now, row.id, 'SUSPENDED')
    await setOwnTemplate(tx, row.id, { name: row.name, available: false })
    return vmIds.length > 0
  }
  if (row.billing_status !== 'SUSPENDED') return false
  for (const vmId of vmIds)
    if (await isTurnToTake(tx, now, row, vmId, DETACH_ISO)) await tx.attempt(() => takeUnpaidIso(tx, deps, row, vmId)).catch(ignoreIfBusy)
  if (vmIds.length > 0 || !isOver(now, row, RETENTION)) return false
  const { vms, copies } = await lockTemplateUse(tx, row.id)
  if (vms === 0n && copies === 0n) await retireImage(tx, deps, row, 'Unpaid for too long')
  return false
}

/** It is taken a little later. */
function ignoreIfBusy(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}
