import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'

/** Running ones first. */
export const vmsOf = (db: Queries, hostId: string) =>
  db.many<{ id: string }>(sql`select id from vms where host_id = ${hostId} order by not desired_running, id`)

/** Runs that need the host and must not be waited for. A deletion does not wait for it. */
export const runsOn = (db: Queries, hostId: string) =>
  db.many<{ id: string }>(sql`
    select r.id from workflow_runs r left join vms v on v.id = r.subject_id left join volumes w on w.id = r.subject_id
    where ${isOpen} and r.name <> 'vm.delete' and ${hostId} in (v.host_id, w.host_id, r.input ->> 'hostId', r.input ->> 'destinationId') order by r.id`)

export const isAnyBusy = async (db: Queries, hostId: string): Promise<boolean> =>
  (await db.maybe(sql`
    select from workflow_runs r left join vms v on v.id = r.subject_id left join volumes w on w.id = r.subject_id
    where ${isOpen} and ${hostId} in (v.host_id, w.host_id) limit 1`)) !== undefined

export type RecoveryRun = Pick<Row<'workflow_runs'>, 'id' | 'status' | 'error' | 'compensating' | 'started_at' | 'completed_at'> & {
  vm_id: string
  vm_name: string
  host_name: string
  address: string | null
  recovery: string
}

/** Restores of VMs of the host elsewhere: those that are open, and those with these ids. */
export const recoveriesFrom = (db: Queries, hostId: string, ids: string[]) =>
  db.many<RecoveryRun>(sql`
    select r.id, r.status, r.error, r.compensating, r.started_at, r.completed_at, v.id as vm_id, v.name as vm_name, h.name as host_name,
      host(v.ip_address) as address, coalesce(r.input ->> 'recovery', '') as recovery
    from workflow_runs r join vms v on v.id = r.subject_id join hosts h on h.id = v.host_id
    where r.name = 'backup.restore' and r.input -> 'placeBefore' ->> 'host_id' = ${hostId} and (${isOpen} or r.id = any(${ids}::text[]))
    order by r.id`)

export const countSnapshots = async (db: Queries, hostId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from snapshots where host_id = ${hostId} and counted_gib > 0`)).count

export const lockHost = (tx: Tx, id: string) => tx.run(sql`select 1 from hosts where id = ${id} for update`)
