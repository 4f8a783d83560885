// What the power sweep reads and notes.
import { sql, type Queries, type Sql } from '../../kernel/db.ts'
import type { VmRow } from './sql.ts'

export type ComparableVm = Pick<VmRow, 'id' | 'status' | 'wanted_on' | 'seen_power' | 'seen_at' | 'generation' | 'account_id'>

/** What the power sweep compares: VMs in a stable state without open work. */
const comparable = (hostId: string, which: Sql) => sql`
    select id, status, wanted_on, seen_power, seen_at, generation, account_id from vms v
    where host_id = ${hostId} and ${which} and status in ('RUNNING', 'STOPPED', 'SUSPENDED', 'ERROR') and provisioned
      and not exists (select from workflow_runs r where r.subject_id = v.id and (r.status in ('PENDING', 'RUNNING') or r.unwinding))`

export const comparableVms = (db: Queries, hostId: string, ids: string[]) =>
  db.many<ComparableVm>(comparable(hostId, sql`id = any(${ids}::text[])`))

export const vmsOnHost = (db: Queries, hostId: string, after: string, limit: number) =>
  db.many<{ id: string }>(sql`select id from vms where host_id = ${hostId} and id > ${after} order by id limit ${limit}`)

export const noteSighting = (db: Queries, id: string, power: string | null, at: Date | null) =>
  db.run(sql`update vms set seen_power = ${power}, seen_at = ${at} where id = ${id}`)
