// A host that was fenced answers again. It starts nothing by itself: libvirt's autostart is never set for machines. What it still has of VMs that are
// elsewhere is removed, never their images; guests whose storage was blocked are stopped, because their QEMU does not recover from it. Only then
// is it unblocked, and what is still placed on it starts again.
import type { Machine } from '../../hypervisor/driver.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import type { Deps } from '../deps.ts'
import { callHost, markUnfenced, type HostRow } from '../hosts/service.ts'
import { clearStaleMachine, lockVmById, recordStaleMachine, startRunOf, startVm } from '../vms/service.ts'
import * as sql from './fences.sql.ts'
import { unblock } from './fencing.ts'
import { endOpenRun } from './service.ts'

const CLEAN_MS = 120_000
/** With VMs that are busy; the others do not wait for them any longer. */
const PATIENCE_MS = 60_000

/** Returns what keeps it from being done, or null. */
export async function cleanHost(deps: Deps, host: HostRow, stopping: AbortSignal): Promise<string | null> {
  const { db } = deps
  if (await sql.isMigrationTarget(db, host.id)) return 'A migration to it has to end first'
  const images = new Set((await sql.vmsWithImages(db, host.id)).map(({ id }) => id))
  const isPatient = deps.clock.now().getTime() - (host.reachable_since?.getTime() ?? 0) < PATIENCE_MS
  for (const id of images) if ((await db.tx((tx) => endOpenRun(tx, deps, id))) && isPatient) return `An action of VM ${id} has to end first`
  const error = await callHost(
    deps,
    host.id,
    stopping,
    async (driver, signal) => {
      const present: Machine[] = []
      for await (const machine of driver.listMachines(signal)) present.push(machine)
      const ids = present.flatMap(({ vmId }) => vmId ?? [])
      for (const vmId of await sql.strangersTo(db, host.id, ids)) {
        await driver.ensurePurgedKeepBackups(vmId, signal)
        await clearStaleMachine(db, vmId, host.id)
        deps.log.warn({ hostId: host.id, vmId }, 'stale machine removed from host')
      }
      for (const vmId of ids) if (images.has(vmId)) await driver.ensureStopped(vmId, { graceMs: 0 }, signal)
      await unblock(deps, host.id, signal)
    },
    CLEAN_MS,
  )
  if (error) return error.message
  await unfence(deps, host, [...images])
  return null
}

const unfence = (deps: Deps, host: HostRow, vmIds: string[]): Promise<void> =>
  deps.db.tx(async (tx) => {
    await sql.lockFence(tx, host.id)
    for (const id of vmIds) {
      const vm = await lockVmById(tx, id)
      const isWanted =
        vm?.host_id === host.id && vm.desired_running && vm.status !== 'SUSPENDED' && !vm.account_suspended && !vm.pending_hold
      // One that is busy is put right when its action has ended: nobody else waits for it.
      if (vm?.host_id === host.id && (await openRunOf(tx, id))) await recordStaleMachine(tx, deps.clock.now(), id, host.id)
      else if (isWanted) await startRunOf(tx, deps, vm, 'START')(startVm, { vmId: id })
    }
    await sql.deleteFence(tx, host.id)
    await sql.forgetClients(tx, host.id)
    await markUnfenced(tx, host.id)
  })
