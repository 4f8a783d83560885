// Stale machines and interfaces: the host was unreachable when they should have been removed or changed, or a change failed and its
// compensation failed too. The stale-machines reconciler removes or repairs them when the host answers again.
import { addDuration } from '../../../kernel/clock.ts'
import { sql, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { hasOpenRun } from '../../../workflow/run-store.ts'

/** The reconciler. */
export const STALE_MACHINES = 'vms.stale_machines'

/** No-op for a host that is destroyed or deleted. */
export const recordStaleMachine = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  tx.run(sql`
    insert into stale_machines (host_id, vm_id, next_attempt_at) select id, ${vmId}, ${now} from hosts where id = ${hostId} and lost_at is null on conflict do nothing`)

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
 * Which host has the newest disk after a migration, an operator has to look.
 */
export const forgetFailedCleanups = (db: Queries) =>
  db.run(sql`
    update workflow_runs r set cleanup_failed = false
    where cleanup_failed and not compensating and completed_at is not null and name <> 'vm.migrate'
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
