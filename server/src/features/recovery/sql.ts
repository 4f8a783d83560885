import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'

/** Running ones first, and of these the oldest. */
export const vmIdsOf = async (db: Queries, hostId: string): Promise<string[]> =>
  (await db.many<{ id: string }>(sql`select id from vms where host_id = ${hostId} order by not desired_running, created_at, id`)).map(
    ({ id }) => id,
  )

/** Also one that is being undone. */
export const openRunsOf = (db: Queries, subjectId: string) =>
  db.many<{ id: string; name: string; label: string }>(
    sql`select r.id, r.name, r.label from workflow_runs r where r.subject_id = ${subjectId} and ${isOpen} order by r.id`,
  )

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

/** Restores of VMs of the host elsewhere, and starts: those that are open, those with these ids, and the last one of each of the VMs `had` that has left the host. */
export const recoveriesFrom = (db: Queries, hostId: string, ids: string[], had: string[] = []) =>
  db.many<RecoveryRun>(sql`
    select r.id, r.status, r.error, r.compensating, r.started_at, r.completed_at, v.id as vm_id, v.name as vm_name, h.name as host_name,
      host(v.ip_address) as address, coalesce(r.input ->> 'recovery', '') as recovery
    from workflow_runs r join vms v on v.id = r.subject_id join hosts h on h.id = v.host_id
    where (r.name = 'backup.restore' and r.input -> 'placeBefore' ->> 'host_id' = ${hostId} or r.name = 'vm.recover' and r.input ->> 'sourceId' = ${hostId}) and (${isOpen} or r.id = any(${ids}::text[])
      or v.id = any(${had}::text[]) and v.host_id <> ${hostId} and not exists (
        select from workflow_runs later where later.subject_id = v.id and later.name = r.name and later.id > r.id))
    order by r.id`)

export const countSnapshots = async (db: Queries, hostId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from snapshots where host_id = ${hostId} and counted_gib > 0`)).count

export const lockHost = (tx: Tx, id: string) => tx.run(sql`select 1 from hosts where id = ${id} for update`)

export interface WaitingRecovery {
  vm_id: string
  vm_name: string
  /** Its id where it was removed since. */
  source: string
  host_name: string | null
  failures: number
  /** Null where only a command tries it again. */
  next_attempt_at: Date | null
  action_id: string | null
  is_under_way: boolean
  step: string | null
  problem: string | null
}

/** VMs of lost hosts that another could not start, with the last action of each and why one failed last. */
export const listFailedStarts = (db: Queries) =>
  db.many<WaitingRecovery>(sql`
    select f.vm_id, v.name as vm_name, coalesce(s.name, f.source_id) as source, h.name as host_name, f.failures, f.next_attempt_at,
      last.id as action_id, coalesce(last.is_open, false) as is_under_way, failed.step, failed.error as problem
    from failed_recoveries f join vms v on v.id = f.vm_id left join hosts s on s.id = f.source_id left join hosts h on h.id = v.host_id
      left join lateral (select r.id, ${isOpen} as is_open from workflow_runs r
        where r.subject_id = f.vm_id and r.name = 'vm.recover' order by r.id desc limit 1) last on true
      left join lateral (
        select r.error, (select s.name from workflow_steps s where s.run_id = r.id and s.error is not null order by s.position limit 1) as step from workflow_runs r
        where r.subject_id = f.vm_id and r.name = 'vm.recover' and r.error is not null order by r.id desc limit 1) failed on true
    order by f.next_attempt_at, f.vm_id`)

type Unmoved = Omit<WaitingRecovery, 'host_name' | 'failures' | 'action_id' | 'is_under_way' | 'step'> &
  Pick<Row<'vms'>, 'provisioned' | 'status' | 'storage_id' | 'host_id'>

/** VMs that are to be started elsewhere, and are still on the host that is lost: a worker tries those on replicated storage again. */
export const listUnmoved = (db: Queries) =>
  db.many<Unmoved>(sql`
    select v.id as vm_id, v.name as vm_name, h.name as source, v.host_id, v.provisioned, v.status, v.storage_id, v.status_reason as problem,
      case when f.recovers and h.fenced_at is not null and v.storage_id is not null then f.next_attempt_at end as next_attempt_at
    from hosts h join vms v on v.host_id = h.id left join host_fences f on f.host_id = h.id
    where (h.lost_at is not null or h.unreachable_since is not null and f.recovers and v.storage_id is not null)
      and not exists (select from failed_recoveries each where each.vm_id = v.id)
    order by h.name, v.name, v.id`)
