// Applies changed ports. Each host has its own lane, because an unreachable one does not confirm its ports and must not delay others; a lane
// applies the ports of several VMs at once, and looks for more while it does. Round robin by account keeps one account's many VMs from
// delaying another account.
import { isDriverError } from '../../../hypervisor/driver.ts'
import { addDuration, sleep } from '../../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { callController, CLAIM, isUnreachable, retryDelay } from '../../hosts/service.ts'
import {
  APPLY_PORTS,
  bumpDesiredVersion,
  claimPorts,
  desiredVersion,
  findPortState,
  hostsWithPendingPorts,
  pendingPortsOn,
  recordApplied,
  recordFailed,
  type PendingPorts,
} from '../../ports/service.ts'
import { ensureNetworks, ensurePorts } from '../model/ports.ts'
import { vmById } from '../model/sql.ts'

/** VMs of one host whose ports are applied at once. */
const CONCURRENCY = 32
const LOOK_EVERY_MS = 50

export const applyPorts = keyedReconciler(APPLY_PORTS, '5s', {
  busy: async ({ db, clock }) => (await hostsWithPendingPorts(db, clock.now())).map((row) => row.host_id),
  runOnce: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const pick = roundRobinByAccount()
  const running = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  let isAway = false
  const start = (vmId: string): void => {
    const applied = applyOne(deps, vmId, stopping).then(
      (isReachable) => void (isAway ||= !isReachable),
      (error: unknown) => void failures.push(error),
    )
    running.set(
      vmId,
      applied.finally(() => running.delete(vmId)),
    )
  }
  for (;;) {
    const isOver = stopping.aborted || isAway || failures.length > 0
    const waiting = isOver ? [] : await pendingPortsOn(db, hostId, clock.now())
    while (running.size < CONCURRENCY) {
      const next = pick(waiting.filter(({ vm_id }) => !running.has(vm_id)))
      if (!next) break
      waiting.splice(waiting.indexOf(next), 1)
      start(next.vm_id)
    }
    if (running.size === 0) break
    await Promise.race([...running.values(), sleep(LOOK_EVERY_MS)])
  }
  if (failures.length > 0) throw failures[0]
}

/** Picks a row of the least recently picked account. */
function roundRobinByAccount(): (rows: PendingPorts[]) => PendingPorts | undefined {
  const last = new Map<string, number>()
  let turn = 0
  return (rows) => {
    const [next] = rows.toSorted((a, b) => (last.get(a.account_id) ?? 0) - (last.get(b.account_id) ?? 0))
    if (next) last.set(next.account_id, ++turn)
    return next
  }
}

/**
 * Applies the ports of the VM now, for a caller that has just marked them. Waits for another process that does. Returns what is in the way
 * until the signal aborts, else null: they are applied, or a workflow of the VM is about to.
 */
export async function applyPortsNow(deps: Deps, vmId: string, signal: AbortSignal): Promise<string | null> {
  for (;;) {
    await applyOne(deps, vmId, signal)
    const state = await findPortState(deps.db, vmId)
    if (!state?.isManaged || state.isApplied) return null
    if (signal.aborted || state.error !== null) return state.error ?? 'The host of this VM has not confirmed its ports yet.'
    await sleep(LOOK_EVERY_MS)
  }
}

/** Returns false when the host or the controller is unreachable; the other ports then wait for the next run. */
async function applyOne(deps: Deps, vmId: string, stopping: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const claim = addDuration(clock.now(), CLAIM)
  if (!(await claimPorts(db, vmId, clock.now(), claim))) return true
  const version = await desiredVersion(db, vmId)
  const vm = await vmById(db, vmId)
  if (!vm?.host_id) return true
  const error = await callController(deps, vm.region_id, stopping, async (_, signal) => {
    const missesNetwork = await ensurePorts(deps, vm, signal).then(
      () => false,
      (failure: unknown) => {
        if (isDriverError(failure, 'not_found')) return true
        throw failure
      },
    )
    if (!missesNetwork) return
    await ensureNetworks(deps, vm, signal)
    await ensurePorts(deps, vm, signal)
  })
  const isRecorded = !error
    ? await recordApplied(db, vmId, claim, version, clock.now())
    : stopping.aborted
      ? await recordFailed(db, vmId, claim, null, clock.now())
      : await recordFailed(db, vmId, claim, error.userMessage, addDuration(clock.now(), retryDelay(error)))
  if (!isRecorded) await bumpDesiredVersion(db, vmId)
  return !error || !isUnreachable(error)
}
