import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { selectedBy, type Labels } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type GroupRow = Row<'placement_groups'>

export interface ShownGroup extends GroupRow {
  vms: { id: string; name: string }[]
  host_count: number
}

const shown = sql`${allColumns('placement_groups', 'g')},
  (select coalesce(json_agg(json_build_object('id', v.id, 'name', v.name) order by v.id), '[]')
    from placement_group_members m join vms v on v.id = m.vm_id where m.group_id = g.id) as vms,
  (select count(distinct v.host_id)::int from placement_group_members m join vms v on v.id = m.vm_id where m.group_id = g.id) as host_count`

export const insertGroup = (tx: Tx, row: GroupRow) =>
  tx.run(sql`
    insert into placement_groups (id, account_id, name, labels, policy, created_at)
    values (${row.id}, ${row.account_id}, ${row.name}, ${json(row.labels)}, ${row.policy}, ${row.created_at})`)

const listed = (accountId: string, labelSelector: string | undefined) =>
  sql`g.account_id = ${accountId} ${selectedBy(sql`g.labels`, labelSelector)}`

export const countGroups = async (db: Queries, accountId: string, labelSelector: string | undefined): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from placement_groups g where ${listed(accountId, labelSelector)}`)).count)

export const listGroups = (db: Queries, accountId: string, labelSelector: string | undefined, range: PageRange) =>
  db.many<ShownGroup>(sql`select ${shown} from placement_groups g where ${listed(accountId, labelSelector)} ${newestFirst(sql`id`, range)}`)

export const findGroup = (db: Queries, accountId: string, id: string) =>
  db.maybe<ShownGroup>(sql`select ${shown} from placement_groups g where id = ${id} and account_id = ${accountId}`)

/** What is null stays. */
export const describeGroup = (tx: Tx, accountId: string, id: string, name: string | null, labels: Labels | null) =>
  tx.maybe<ShownGroup>(sql`
    update placement_groups g set name = coalesce(${name}, name), labels = coalesce(${labels && json(labels)}::jsonb, labels)
    where id = ${id} and account_id = ${accountId} returning ${shown}`)

export const deleteGroup = (tx: Tx, id: string) => tx.run(sql`delete from placement_groups where id = ${id}`)

export const lockGroup = (tx: Tx, accountId: string, id: string) =>
  tx.maybe<GroupRow>(sql`
    select ${allColumns('placement_groups')} from placement_groups where id = ${id} and account_id = ${accountId} for update`)

export const lockGroupOf = (tx: Tx, vmId: string) =>
  tx.maybe<GroupRow>(sql`
    select ${allColumns('placement_groups', 'g')} from placement_groups g join placement_group_members m on m.group_id = g.id
    where m.vm_id = ${vmId} for update of g`)

export const setGroup = (tx: Tx, vmId: string, groupId: string) =>
  tx.run(sql`
    insert into placement_group_members (vm_id, group_id) values (${vmId}, ${groupId})
    on conflict (vm_id) do update set group_id = excluded.group_id`)

export const clearGroup = (tx: Tx, vmId: string) => tx.run(sql`delete from placement_group_members where vm_id = ${vmId}`)

/** How many VMs of the group are on which host, or on their way to it, without this one. */
export const countByHost = (tx: Tx, groupId: string, exceptVmId: string | null) =>
  tx.many<{ host_id: string | null; vms: number }>(sql`
    select host_id, count(*)::int as vms from (
      select m.vm_id, v.host_id from placement_group_members m join vms v on v.id = m.vm_id where m.group_id = ${groupId}
      union select m.vm_id, r.input ->> 'destinationId' from placement_group_members m join workflow_runs r on r.subject_id = m.vm_id
      where m.group_id = ${groupId} and r.name in ('vm.migrate', 'vm.resize_elsewhere') and (r.status in ('PENDING', 'RUNNING') or r.compensating)) placed
    where host_id is not null and vm_id is distinct from ${exceptVmId} group by 1`)

/** The host of the VM, and the one that it is on its way to. */
export const hostsOfVm = (tx: Tx, vmId: string) =>
  tx.many<{ host_id: string | null }>(sql`
    select host_id from vms where id = ${vmId}
    union select input ->> 'destinationId' from workflow_runs
    where subject_id = ${vmId} and name in ('vm.migrate', 'vm.resize_elsewhere') and (status in ('PENDING', 'RUNNING') or compensating)`)

/** Subquery: the group of a VM as JSON. */
export const groupAsJson = (vmId: Sql) => sql`
  (select json_build_object('id', g.id, 'name', g.name)
    from placement_group_members m join placement_groups g on g.id = m.group_id where m.vm_id = ${vmId})`
