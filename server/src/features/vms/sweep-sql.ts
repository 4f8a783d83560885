// What the power sweep reads and notes.
import { sql, type Queries, type Sql } from '../../kernel/db.ts'
import type { VmRow } from './sql.ts'

export type ComparableVm = Pick<VmRow, 'id' | 'status' | 'wanted_on' | 'seen_power' | 'seen_at' | 'generation' | 'account_id'>

/** What the power sweep compares: VMs in a stable state without open work, but for those whose machine is to be put right first. */
const comparable = (hostId: string, which: Sql) => sql`
    select id, status, wanted_on, seen_power, seen_at, generation, account_id from vms v
    where host_id = ${hostId} and ${which} and status in ('RUNNING', 'STOPPED', 'SUSPENDED', 'ERROR') and provisioned
      and not exists (select from workflow_runs r where r.subject_id = v.id and (r.status in ('PENDING', 'RUNNING') or r.unwinding))
      and not exists (select from left_machines l where l.host_id = v.host_id and l.vm_id = v.id)`

export const idleVms = (db: Queries, hostId: string, ids: string[]) =>
  db.many<ComparableVm>(comparable(hostId, sql`id = any(${ids}::text[])`))

export const vmsOnHost = (db: Queries, hostId: string, after: string, limit: number) =>
  db.many<{ id: string }>(sql`select id from vms where host_id = ${hostId} and id > ${after} order by id limit ${limit}`)

/** What is not suspended although its account is; one that could not be, on a host that answers, a while after the last try. */
export const vmsToSuspend = (db: Queries, triedBefore: Date) =>
  db.many<{ id: string }>(sql`
    select v.id from accounts a join vms v on v.account_id = a.id join hosts h on h.id = v.host_id
    where a.suspended_at is not null and v.status in ('RUNNING', 'STOPPED') and h.unreachable_since is null
      and not exists (select from workflow_runs r where r.subject_id = v.id and r.label = 'SUSPEND'
        and (r.status in ('PENDING', 'RUNNING') or (r.status = 'FAILED' and r.created_at > ${triedBefore})))
    order by v.id limit 500`)

export const recordObservedPower = (db: Queries, id: string, power: string | null, at: Date | null) =>
  db.run(sql`update vms set seen_power = ${power}, seen_at = ${at} where id = ${id}`)
