// Applies changed ports. Each host has its own lane, because an unreachable one does not confirm its ports and must not delay others; a lane
// applies the ports of several VMs at once, and looks for more while it does. Round robin by account keeps one account's many VMs from
// delaying another account, and turns keep its long filters from it (long-filters.ts).
import { isDriverError } from '../../../hypervisor/driver.ts'
import type { PortSpec } from '../../../hypervisor/network-controller.ts'
import { addDuration, sleep } from '../../../kernel/clock.ts'
import type { Queries } from '../../../kernel/database/db.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { filterSizes, type FilterSize } from '../../firewalls/service.ts'
import { callController, CLAIM, isUnreachable, retryDelay } from '../../hosts/service.ts'
import {
  APPLY_PORTS,
  bumpDesiredVersion,
  claimPorts,
  findPortState,
  hostsWithPendingPorts,
  pendingPortsOn,
  recordApplied,
  recordFailed,
  type PendingPorts,
} from '../../ports/service.ts'
import { ensureEach, ensureNetworks, isPlaced, portSpecsOf } from '../model/ports.ts'
import { vmsById, type VmDetails } from '../model/sql.ts'
import { begin, end, LONG, mayBegin } from './long-filters.ts'

/** VMs of one host whose ports are applied at once. */
const CONCURRENCY = 32
const LOOK_EVERY_MS = 50
/** While all that waits has to. */
const REST_MS = 200

export const applyPorts = keyedReconciler(APPLY_PORTS, '5s', {
  busy: async ({ db, clock }) => (await hostsWithPendingPorts(db, clock.now())).map((row) => row.host_id),
  runOnce: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const pick = roundRobinByPayer()
  const running = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  let isAway = false
  for (;;) {
    const isOver = stopping.aborted || isAway || failures.length > 0
    const waiting = isOver ? [] : (await pendingPortsOn(db, hostId, clock.now())).filter(({ vm_id }) => !running.has(vm_id))
    const look = Symbol()
    const long = await longFiltersOf(db, waiting)
    const mayGo = ({ vm_id }: PendingPorts): boolean => !long.has(vm_id) || mayBegin(look, long.get(vm_id)!)
    const picked: string[] = []
    for (
      let next;
      running.size + picked.length < CONCURRENCY && (next = pick(waiting.filter(mayGo)));
      waiting.splice(waiting.indexOf(next), 1)
    ) {
      picked.push(next.vm_id)
      if (long.has(next.vm_id)) begin(look, long.get(next.vm_id)!)
    }
    const release = (vmId: string): void => void (long.has(vmId) && end(long.get(vmId)!))
    const claims = await claim(deps, picked).catch((error: unknown) => {
      picked.forEach(release)
      throw error
    })
    for (const vmId of picked) if (!claims.some(({ vm }) => vm.id === vmId)) release(vmId)
    for (const claimed of claims) {
      const applied = applyClaimed(deps, claimed, stopping).then(
        (isReachable) => void (isAway ||= !isReachable),
        (error: unknown) => void failures.push(error),
      )
      running.set(
        claimed.vm.id,
        applied.finally(() => {
          running.delete(claimed.vm.id)
          release(claimed.vm.id)
        }),
      )
    }
    if (running.size === 0 && waiting.every(mayGo)) break
    await Promise.race([...running.values(), sleep(running.size > 0 ? LOOK_EVERY_MS : REST_MS)])
  }
  if (failures.length > 0) throw failures[0]
}

async function longFiltersOf(db: Queries, rows: PendingPorts[]): Promise<Map<string, PendingPorts & FilterSize>> {
  const sizes = new Map(
    (
      await filterSizes(
        db,
        rows.map(({ vm_id }) => vm_id),
      )
    ).map((row) => [row.vm_id, row]),
  )
  return new Map(
    rows.flatMap((row) => ((sizes.get(row.vm_id)?.lines ?? 0) > LONG ? [[row.vm_id, { ...row, ...sizes.get(row.vm_id)! }]] : [])),
  )
}

/** Picks a row of the least recently picked payer. */
function roundRobinByPayer(): (rows: PendingPorts[]) => PendingPorts | undefined {
  const last = new Map<string, number>()
  let turn = 0
  return (rows) => {
    const [next] = rows.toSorted((a, b) => (last.get(a.payer_id) ?? 0) - (last.get(b.payer_id) ?? 0))
    if (next) last.set(next.payer_id, ++turn)
    return next
  }
}

/**
 * Applies the ports of the VM now, for a caller that has just marked them. Waits for another process that does. Returns what is in the way
 * until the signal aborts, else null: they are applied, or a workflow of the VM is about to.
 */
export async function applyPortsNow(deps: Deps, vmId: string, signal: AbortSignal): Promise<string | null> {
  for (;;) {
    for (const claimed of await claim(deps, [vmId])) await applyClaimed(deps, claimed, signal)
    const state = await findPortState(deps.db, vmId)
    if (!state?.isManaged || state.isApplied) return null
    if (signal.aborted || state.error !== null) return state.error ?? 'The host of this VM has not confirmed its ports yet.'
    await sleep(LOOK_EVERY_MS)
  }
}

interface ClaimedPorts {
  vm: VmDetails
  ports: PortSpec[]
  version: number
  until: Date
}

/** Claims the ports of VMs, and reads what they are: with as many statements as for one VM. */
async function claim({ db, clock }: Deps, vmIds: readonly string[]): Promise<ClaimedPorts[]> {
  if (vmIds.length === 0) return []
  const until = addDuration(clock.now(), CLAIM)
  const versions = new Map((await claimPorts(db, vmIds, clock.now(), until)).map((row) => [row.vm_id, row.desired_version]))
  const vms = (await vmsById(db, [...versions.keys()])).filter(isPlaced)
  const specs = await portSpecsOf(db, vms)
  return vms.map((vm) => ({ vm, ports: specs.get(vm.id)!, version: versions.get(vm.id)!, until }))
}

/** Returns false when the host or the controller is unreachable; the other ports then wait for the next run. */
async function applyClaimed(deps: Deps, { vm, ports, version, until }: ClaimedPorts, stopping: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const error = await callController(deps, vm.region_id, stopping, async (controller, signal) => {
    const missesNetwork = await ensureEach(controller, ports, signal).then(
      () => false,
      (failure: unknown) => {
        if (isDriverError(failure, 'not_found')) return true
        throw failure
      },
    )
    if (!missesNetwork) return
    await ensureNetworks(deps, vm, signal)
    await ensureEach(controller, ports, signal)
  })
  const isRecorded = !error
    ? await recordApplied(db, vm.id, until, version, clock.now())
    : stopping.aborted
      ? await recordFailed(db, vm.id, until, null, clock.now())
      : await recordFailed(db, vm.id, until, error.userMessage, addDuration(clock.now(), retryDelay(error)))
  if (!isRecorded) await bumpDesiredVersion(db, vm.id)
  return !error || !isUnreachable(error)
}
