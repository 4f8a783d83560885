// Hosts that were lost and came back still have machines of VMs that live elsewhere by now, and so do hosts that could not be asked to
// remove one: these go, before two of them answer. So do private interfaces that their VMs lost meanwhile. Machines of VMs that do live
// there, but as a change left them that failed, are made as their rows say.
import type { Machine } from '../../../hypervisor/driver.ts'
import { sql } from '../../../kernel/database/db.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { callHost, isStable, listHosts } from '../../hosts/service.ts'
import { attachmentsOf } from '../../networks/service.ts'
import { clearStaleMachine } from '../recovery/evacuate.ts'
import { matchesRecord, repairVm } from '../recovery/repair.ts'
import { lockVm } from '../model/sql.ts'

export const reconcileStaleMachines = keyedReconciler('vms.stale_machines', '30s', {
  busy: async ({ db, clock }) => {
    const left = new Set(
      (await db.many<{ host_id: string }>(sql`select host_id from stale_machines union select host_id from stale_nics`)).map(
        (row) => row.host_id,
      ),
    )
    return (await listHosts(db)).filter((host) => left.has(host.id) && isStable(host, clock.now())).map(({ id }) => id)
  },
  runOnce: async (...args) => {
    await removeMachines(...args)
    await putMachinesRight(...args)
    await removeNics(...args)
  },
})

async function removeMachines(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const left = (which = sql`true`) =>
    deps.db.many<{ vm_id: string }>(sql`
      select l.vm_id from stale_machines l left join vms v on v.id = l.vm_id
      where l.host_id = ${hostId} and v.host_id is distinct from ${hostId} and ${which}`)
  for (const { vm_id } of await left()) {
    if ((await left(sql`l.vm_id = ${vm_id}`)).length === 0) continue // it came to live here again meanwhile
    const error = await callHost(deps, hostId, stopping, (driver, signal) => driver.ensurePurgedKeepBackups(vm_id, signal))
    if (error) continue
    await clearStaleMachine(deps.db, vm_id, hostId)
    deps.log.warn({ hostId, vmId: vm_id }, 'stale machine removed from host')
  }
}

const hasOpenRun = sql`exists (select from workflow_runs r where r.subject_id = l.vm_id and (r.status in ('PENDING', 'RUNNING') or r.compensating))`

/** Never while an action works on the VM, nor of one that is out of our hands. */
async function putMachinesRight(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const left = await deps.db.many<{ vm_id: string }>(sql`
    select l.vm_id from stale_machines l join vms v on v.id = l.vm_id and v.host_id = l.host_id
    where l.host_id = ${hostId} and l.next_attempt_at <= ${deps.clock.now()} and v.status <> 'UNMANAGED' and not ${hasOpenRun}`)
  for (const { vm_id } of left) {
    let machine: Machine | null = null
    const look = callHost(deps, hostId, stopping, async (driver, signal) => (machine = await driver.findMachine(vm_id, signal)))
    if (!(await look)) await putRight(deps, hostId, vm_id, machine)
  }
}

async function putRight(deps: Deps, hostId: string, vmId: string, machine: Machine | null): Promise<void> {
  await deps.db.tx(async (tx) => {
    const vm = await lockVm(tx, vmId)
    if (!vm || vm.host_id !== hostId || vm.status === 'UNMANAGED' || (await openRunOf(tx, vmId))) return
    if (matchesRecord(vm, await attachmentsOf(tx, vmId), machine)) return void (await clearStaleMachine(tx, vmId, hostId))
    const isOn = vm.status === 'RUNNING'
    if (isOn && vm.account_suspended) return // it is switched off first
    const options = { label: isOn ? 'RESTART' : 'STOP', ownerId: vm.account_id, subjectId: vmId }
    await deps.workflows.start(tx, repairVm, { vmId, isOn }, options)
  })
}

/** The same of interfaces. */
async function removeNics(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const left = await deps.db.many<{ vm_id: string; mac: string }>(sql`
    select l.vm_id, l.mac from stale_nics l left join vms v on v.id = l.vm_id
    where l.host_id = ${hostId} and v.status is distinct from 'UNMANAGED' and not ${hasOpenRun}`)
  for (const { vm_id, mac } of left) {
    const error = await callHost(deps, hostId, stopping, (driver, signal) => driver.ensureNoInterface(vm_id, mac, signal))
    if (!error) await deps.db.run(sql`delete from stale_nics where host_id = ${hostId} and vm_id = ${vm_id} and mac = ${mac}`)
  }
}
