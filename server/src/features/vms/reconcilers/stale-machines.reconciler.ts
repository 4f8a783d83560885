// Purges stale machines from hosts that came back: their VMs are placed elsewhere or deleted, and two machines must not answer for one
// VM. Removes stale private interfaces. Repairs machines of VMs that are still placed there but differ from their rows after a failed
// change.
import type { Driver, Machine } from '../../../hypervisor/driver.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { callHost, isStable, listHosts } from '../../hosts/service.ts'
import { attachmentsOf } from '../../networks/service.ts'
import { volumesOnMachine } from '../../storage/service.ts'
import {
  clearStaleMachine,
  clearStaleNic,
  forgetFailedCleanups,
  forgetHarmlessMachines,
  hostsWithStaleMachines,
  removableMachines,
  removableNics,
  repairableMachines,
  STALE_MACHINES,
} from '../model/stale-machines.ts'
import { matchesRecord, repairVm } from '../recovery/repair.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import { findIso } from '../model/iso.ts'
import { findRescue } from '../model/rescue.ts'
import { lockVmById } from '../model/sql.ts'

export const reconcileStaleMachines = keyedReconciler(STALE_MACHINES, '30s', {
  busy: async ({ db, clock }) => {
    await forgetHarmlessMachines(db)
    await forgetFailedCleanups(db)
    const stale = await hostsWithStaleMachines(db)
    return (await listHosts(db)).filter((host) => stale.has(host.id) && isStable(host, clock.now())).map(({ id }) => id)
  },
  runOnce: async (...args) => {
    await removeMachines(...args)
    await repairMachines(...args)
    await removeNics(...args)
  },
})

async function removeMachines(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const now = deps.clock.now()
  for (const { vm_id, may_return } of await removableMachines(deps.db, now, hostId)) {
    if ((await removableMachines(deps.db, now, hostId, vm_id)).length === 0) continue // placed here again in the meantime
    const error = await callHost(deps, hostId, stopping, (driver, signal) => driver.ensurePurgedKeepBackups(vm_id, signal))
    if (error || may_return) continue
    await clearStaleMachine(deps.db, vm_id, hostId)
    deps.log.warn({ hostId, vmId: vm_id }, 'stale machine removed from host')
  }
}

async function repairMachines(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  for (const { vm_id } of await repairableMachines(deps.db, hostId, deps.clock.now())) {
    let machine: Machine | null = null
    const look = callHost(deps, hostId, stopping, async (driver, signal) => (machine = await driver.findMachine(vm_id, signal)))
    if (!(await look)) await repair(deps, hostId, vm_id, machine, stopping)
  }
}

async function repair(deps: Deps, hostId: string, vmId: string, machine: Machine | null, stopping: AbortSignal): Promise<void> {
  const isRight = await deps.db.tx(async (tx) => {
    const vm = await lockVmById(tx, vmId)
    if (!vm || vm.host_id !== hostId || vm.status === 'UNMANAGED' || (await openRunOf(tx, vmId))) return false
    const volumes = await volumesOnMachine(tx, vmId, hostId)
    const rescueGeneration = vm.in_rescue ? (await findRescue(tx, vmId))!.generation : null
    const isoId = (await findIso(tx, vmId))?.image_id ?? null
    if (matchesRecord(vm, await attachmentsOf(tx, vmId), volumes, rescueGeneration, isoId, machine)) return true
    const isOn = vm.status === 'RUNNING'
    if (isOn && vm.account_suspended) return false // enforce-suspension stops it first
    const options = { label: isOn ? 'RESTART' : 'STOP', ownerId: vm.account_id, subjectId: vmId }
    await deps.workflows.start(tx, repairVm, { vmId, isOn }, options)
    return false
  })
  // What a machine does not show: its disk may have to grow, which needs no restart.
  const define = async (driver: Driver, signal: AbortSignal) =>
    driver.ensureDefined(await machineSpec(deps, await getVmRow(deps.db, vmId)), signal)
  if (!isRight || (machine && (await callHost(deps, hostId, stopping, define)))) return
  await deps.db.tx(async (tx) => {
    if ((await lockVmById(tx, vmId))?.host_id === hostId && !(await openRunOf(tx, vmId))) await clearStaleMachine(tx, vmId, hostId)
  })
}

/** Removes stale interfaces. */
async function removeNics(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  for (const { vm_id, mac } of await removableNics(deps.db, hostId)) {
    const error = await callHost(deps, hostId, stopping, (driver, signal) => driver.ensureNoInterface(vm_id, mac, signal))
    if (!error) await clearStaleNic(deps.db, hostId, vm_id, mac)
  }
}
