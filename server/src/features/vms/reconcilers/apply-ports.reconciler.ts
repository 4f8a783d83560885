// Applies changed ports. Each host has its own lane, because an unreachable one does not confirm its ports and must not delay others; a lane
// applies the ports of several VMs at once. Round robin by account keeps one account's many VMs from delaying another account.
import { isDriverError } from '../../../hypervisor/driver.ts'
import { addDuration } from '../../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { callController, CLAIM, isUnreachable, retryDelay } from '../../hosts/service.ts'
import {
  APPLY_PORTS,
  bumpDesiredVersion,
  claimPorts,
  desiredVersion,
  hostsWithPendingPorts,
  pendingPortsOn,
  recordApplied,
  recordFailed,
  type PendingPorts,
} from '../../ports/service.ts'
import { ensureNetworks, ensurePorts } from '../model/ports.ts'
import { vmById } from '../model/sql.ts'

/** VMs of one host whose ports are applied at once. */
const CONCURRENCY = 4

export const applyPorts = keyedReconciler(APPLY_PORTS, '5s', {
  busy: async ({ db, clock }) => (await hostsWithPendingPorts(db, clock.now())).map((row) => row.host_id),
  runOnce: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const pick = roundRobinByAccount()
  let isAway = false
  const lane = async (): Promise<void> => {
    while (!stopping.aborted && !isAway) {
      const next = pick(await pendingPortsOn(db, hostId, clock.now()))
      if (!next) return
      if (!(await applyOne(deps, next.vm_id, stopping))) isAway = true
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
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
