// Applies queued bandwidth limits to interfaces and retries until the host has applied them.
import { addDuration } from '../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, CLAIM, isUnreachable, retryDelay } from '../hosts/service.ts'
import { speedLimit, vmById } from '../vms/service.ts'
import { APPLY_LIMITS, claimOrder, completeLimitUpdate, hostsWithOrders, postponeOrder, type LimitUpdate } from './limit-queue.ts'

export const applyLimits = keyedReconciler(APPLY_LIMITS, '5s', {
  busy: async ({ db, clock }) => (await hostsWithOrders(db, clock.now())).map((row) => row.host_id),
  runOnce: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  while (!stopping.aborted) {
    const now = clock.now()
    const order = await claimOrder(db, hostId, now, addDuration(now, CLAIM))
    if (!order || !(await applyOne(deps, hostId, order, stopping))) return
  }
}

/**
 * Reads the desired limit after claiming the update, so the limit is at least as new. Returns false when the host is unreachable; its
 * other updates then wait for the next run.
 */
async function applyOne(deps: Deps, hostId: string, order: LimitUpdate, stopping: AbortSignal): Promise<boolean> {
  const { db, clock, log } = deps
  const vm = await vmById(db, order.vm_id)
  if (!vm?.mac || vm.host_id !== hostId) return true
  const { id, mac } = vm
  const error = await callHost(deps, hostId, stopping, async (driver, signal) => {
    const { limited } = await driver.ensureLimit(id, mac, speedLimit(vm), signal)
    if (!limited) log.warn({ hostId, vmId: id }, 'bandwidth limit not applied: host kernel lacks tc modules')
  })
  if (error) await postponeOrder(db, order, stopping.aborted ? clock.now() : addDuration(clock.now(), retryDelay(error)))
  else await completeLimitUpdate(db, order)
  return !error || !isUnreachable(error)
}
