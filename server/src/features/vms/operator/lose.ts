// The host of a VM was declared destroyed, and there is no backup of it. It is left as one that could not be provisioned: with its name,
// keys, firewalls and private networks, without host, disk and public address, and without a price.
import type { Tx } from '../../../kernel/database/db.ts'
import { formatCents } from '../../../kernel/money.ts'
import type { EventDeps } from '../../deps.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import { COMPARE_PORTS, pausePorts } from '../../ports/service.ts'
import type { CountedCopy } from '../billing/copies.ts'
import { refundUnused, unusedOf } from '../billing/refund.ts'
import { recordVmEvent } from '../model/events.ts'
import { releasePlacement } from '../model/placement.ts'
import { releaseIso } from '../model/iso.ts'
import { releaseRescue } from '../model/rescue.ts'
import * as sql from '../model/sql.ts'

/** Of a locked, idle VM. `release`: what else counts for it, before the capacity. */
export async function loseVm(
  tx: Tx,
  deps: EventDeps,
  vm: sql.VmDetails,
  reason: string,
  release: () => Promise<CountedCopy[]>,
): Promise<void> {
  const now = deps.clock.now()
  const copiesCents = (await release()).reduce((sum, { price_cents }) => sum + price_cents, 0n)
  const cents = await unusedOf(tx, now, vm, copiesCents)
  await pausePorts(tx, vm.id)
  await releaseRescue(tx, vm.id)
  await releaseIso(tx, vm.id)
  await releasePlacement(tx, now, vm, true)
  await sql.clearPlacement(tx, now, vm.id)
  await sql.markLost(tx, now, vm.id)
  await sql.setStatus(tx, now, vm.id, { status: 'ERROR', reason: `${reason}. Rebuild or delete it`, desiredRunning: false })
  await sql.setPendingHold(tx, vm.id, null)
  await recordVmEvent(tx, deps, vm.id, 'vm.lost', { reason: `${reason}. ${whatIsGone(vm, cents)}` })
  await refundUnused(tx, now, vm, copiesCents)
  await triggerReconciler(tx, COMPARE_PORTS) // nobody else removes its ports, which have addresses that are free from now on
}

function whatIsGone({ ip_address, ipv6_address }: sql.VmDetails, cents: bigint): string {
  const addresses = [ip_address, ipv6_address].filter((each) => each !== null)
  const gone = addresses.length > 0 ? `It no longer has ${addresses.join(' and ')}` : 'It had no public address'
  return `${gone}, and ${formatCents(cents)} was refunded for unused days`
}

/** Of a VM on a destroyed host that cannot be restored yet. Nobody is billed for it there. */
export async function markWaiting(tx: Tx, deps: EventDeps, vm: sql.VmDetails, reason: string): Promise<void> {
  if (vm.status !== 'RUNNING' && vm.status !== 'STOPPED') return
  await sql.setStatus(tx, deps.clock.now(), vm.id, { status: 'ERROR', reason, readiness: 'booting' })
  await recordVmEvent(tx, deps, vm.id, 'vm.error', { reason: 'host' })
}
