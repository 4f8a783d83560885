// Stale machines and interfaces: the host was unreachable when they should have been removed or changed, or a change failed and its
// compensation failed too. The stale-machines reconciler removes or repairs them when the host answers again.
import { addDuration } from '../../../kernel/clock.ts'
import { sql, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { hasOpenRun } from '../../../workflow/run-store.ts'

/** The reconciler. */
export const STALE_MACHINES = 'vms.stale_machines'

/**
 * No-op for a host that is deleted, and for one that is destroyed. `mayRun`: it may have been started there; a host that was declared destroyed may
 * still run it.
 */
export const recordStaleMachine = (tx: Tx, now: Date, vmId: string, hostId: string, mayRun = false) =>
  tx.run(sql`
    insert into stale_machines (host_id, vm_id, next_attempt_at, may_run) select id, ${vmId}, ${now}, ${mayRun} from hosts
    where id = ${hostId} and (lost_at is null or ${mayRun})
    on conflict (host_id, vm_id) do update set may_run = stale_machines.may_run or excluded.may_run`)

/** Storage backends that a machine of the VM writes to. */
const backendsOf = (vmId: Sql): Sql => sql`
  (select storage_id from vms where id = ${vmId} and storage_id is not null
    union select storage_id from volumes where vm_id = ${vmId} and storage_id is not null)`

/** And those that it may still write to, of volumes that were taken from the VM. */
const backendsEver = (vmId: Sql): Sql =>
  sql`(select storage_id from ${backendsOf(vmId)} now union select storage_id from volumes where left_vm_id = ${vmId} and storage_id is not null)`

/**
 * A fence keeps the host `h` from writing to the backends of the VM, or kept it from that when the VM left it. Others were fenced by what their own VMs
 * have open, which may be nothing.
 */
const isFencedOff = (vmId: Sql, backends: Sql): Sql => sql`
  (h.fenced_at is not null and (h.reachable_since is null or h.reachable_since <= h.fenced_at) and (
    exists (select from host_fences f where f.host_id = h.id and 'POWER' = any(f.means))
    or not exists (select from ${backends} b where not exists (
      select from host_blocks k where k.host_id = h.id and k.storage_id = b.storage_id and k.client like '%:0/0'))
    or exists (select from workflow_runs r where r.subject_id = ${vmId} and (
      r.name = 'vm.recover' and r.input ->> 'sourceId' = h.id and r.created_at >= h.fenced_at
      or r.name in ('vm.unshelve', 'vm.unshelve_in_pool') and h.fenced_at between r.created_at and r.completed_at))))`

/** Of a VM that is given by its id. */
const isFencedOffOf = (vmId: string): Sql => isFencedOff(sql`${vmId}::text`, backendsOf(sql`${vmId}::text`))

/** Another host than `hostId` that has remains of the VM and may write to its disk. */
export const findStaleElsewhere = (db: Queries, vmId: string, hostId: string | null) =>
  db.maybe<{ name: string }>(sql`
    select h.name from stale_machines l join hosts h on h.id = l.host_id
    where l.vm_id = ${vmId} and h.id is distinct from ${hostId} and (h.lost_at is null or l.may_run)
      and not ${isFencedOffOf(vmId)} order by h.name limit 1`)

export const MAY_RUN_ELSEWHERE =
  'A host that this VM was being started on stopped answering, and may still run it: the VM can be started when that host answers again or is cut off'

/** Whether a machine of the VM may be running on another host than `hostId`, and writes to what is in a storage backend. */
export const mayRunElsewhere = async (db: Queries, vmId: string, hostId: string | null): Promise<boolean> =>
  (
    await db.one<{ may: boolean }>(sql`
      select exists (select from stale_machines l join hosts h on h.id = l.host_id where l.vm_id = ${vmId} and l.may_run
        and h.id is distinct from ${hostId} and not ${isFencedOffOf(vmId)} and exists (select from ${backendsOf(sql`${vmId}::text`)} b)) as may`)
  ).may

/** Whether a machine of the VM that the host may have writes to a storage backend. */
export const mayWriteOn = async (db: Queries, vmId: string, hostId: string): Promise<boolean> =>
  (
    await db.one<{ may: boolean }>(sql`
      select exists (select from hosts h where h.id = ${hostId} and not ${isFencedOffOf(vmId)}
        and exists (select from ${backendsOf(sql`${vmId}::text`)} b)) as may`)
  ).may

/** Another host than `hostId` that may still run the VM, and write to volumes that are taken from it. */
export const findOtherRunner = async (db: Queries, vmId: string, hostId: string | null): Promise<string | null> =>
  (
    await db.maybe<{ host_id: string }>(sql`
      select l.host_id from stale_machines l where l.vm_id = ${vmId} and l.may_run and l.host_id is distinct from ${hostId} order by 1 limit 1`)
  )?.host_id ?? null

/** Of destroyed hosts, which never answer: those that write to no storage backend. */
export const forgetHarmlessMachines = (db: Queries) =>
  db.run(sql`
    delete from stale_machines l using hosts h where h.id = l.host_id and h.lost_at is not null and l.may_run and (
      not exists (select from ${backendsEver(sql`l.vm_id`)} b) or ${isFencedOff(sql`l.vm_id`, backendsEver(sql`l.vm_id`))})`)

export const clearStaleMachine = (db: Queries, vmId: string, hostId: string) =>
  db.run(sql`delete from stale_machines where host_id = ${hostId} and vm_id = ${vmId}`)

/** Schedules the next repair attempt. */
export const postponeStaleMachine = (tx: Tx, vmId: string, hostId: string, until: Date) =>
  tx.run(sql`update stale_machines set next_attempt_at = ${until} where host_id = ${hostId} and vm_id = ${vmId}`)

/** Whether the VM's machine on its current host awaits repair. */
export const isStale = (vmId: Sql, hostId: Sql): Sql =>
  sql`exists (select from stale_machines l where l.host_id = ${hostId} and l.vm_id = ${vmId})`

export const hasStaleMachine = async (db: Queries, vmId: string, hostId: string | null): Promise<boolean> =>
  (await db.one<{ stale: boolean }>(sql`select ${isStale(sql`${vmId}`, sql`${hostId}`)} as stale`)).stale

/** Records interfaces that the VM's machine still has although they were detached. */
export async function recordStaleNics(tx: Tx, vmId: string, hostId: string, nics: { mac: string }[]): Promise<void> {
  for (const { mac } of nics)
    await tx.run(sql`insert into stale_nics (host_id, vm_id, mac) values (${hostId}, ${vmId}, ${mac}) on conflict do nothing`)
}

/** With their machine. */
export const moveStaleNics = (tx: Tx, vmId: string, from: string, to: string) =>
  tx.run(sql`update stale_nics set host_id = ${to} where vm_id = ${vmId} and host_id = ${from}`)

export const clearStaleNic = (db: Queries, hostId: string, vmId: string, mac: string) =>
  db.run(sql`delete from stale_nics where host_id = ${hostId} and vm_id = ${vmId} and mac = ${mac}`)

export const hostsWithStaleMachines = async (db: Queries): Promise<Set<string>> =>
  new Set(
    (await db.many<{ host_id: string }>(sql`select host_id from stale_machines union select host_id from stale_nics`)).map(
      (row) => row.host_id,
    ),
  )

/**
 * Of actions whose cleanup failed nothing is left where their VM has no stale machine: they record one when they end, unless the host is destroyed.
 * Which host has the newest disk after a migration, an operator has to look, unless the VM was deleted.
 */
export const forgetFailedCleanups = (db: Queries) =>
  db.run(sql`
    update workflow_runs r set cleanup_failed = false
    where cleanup_failed and not compensating and completed_at is not null
      and (name <> 'vm.migrate' or not exists (select from vms v where v.id = r.subject_id))
      and (name like 'vm.%' or name in ('snapshot.restore', 'backup.restore'))
      and not exists (select from stale_machines l where l.vm_id = r.subject_id)
      and not exists (select from stale_nics l where l.vm_id = r.subject_id)`)

/** How long a call that was not answered may still take effect on its host. */
const LATE = '10m'

/** Of an action that failed without an answer of its host: until then the machine may appear again. */
export const recordLateMachine = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  recordStaleMachine(tx, addDuration(now, LATE), vmId, hostId)

/** Stale machines of VMs that are placed on another host or deleted. `may_return`: it may appear again. */
export const removableMachines = (db: Queries, now: Date, hostId: string, vmId: string | null = null) =>
  db.many<{ vm_id: string; may_return: boolean }>(sql`
    select l.vm_id, l.next_attempt_at > ${now} as may_return from stale_machines l left join vms v on v.id = l.vm_id
    where l.host_id = ${hostId} and v.host_id is distinct from ${hostId} and (${vmId}::text is null or l.vm_id = ${vmId})`)

const hasAction = hasOpenRun(sql`l.vm_id`)

/** Stale machines of VMs placed on this host, except UNMANAGED ones and those with an open action. */
export const repairableMachines = (db: Queries, hostId: string, now: Date) =>
  db.many<{ vm_id: string }>(sql`
    select l.vm_id from stale_machines l join vms v on v.id = l.vm_id and v.host_id = l.host_id
    where l.host_id = ${hostId} and l.next_attempt_at <= ${now} and v.status <> 'UNMANAGED' and not ${hasAction}`)

export const removableNics = (db: Queries, hostId: string) =>
  db.many<{ vm_id: string; mac: string }>(sql`
    select l.vm_id, l.mac from stale_nics l left join vms v on v.id = l.vm_id
    where l.host_id = ${hostId} and v.status is distinct from 'UNMANAGED' and not ${hasAction}`)
