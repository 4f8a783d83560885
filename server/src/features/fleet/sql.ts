import { json, sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'

export type DrainRow = Row<'drains'>

export interface PlannedRow extends Pick<
  Row<'vms'>,
  | 'id'
  | 'name'
  | 'status'
  | 'vcpu'
  | 'ram_mib'
  | 'disk_gib'
  | 'storage_id'
  | 'plan_id'
  | 'network_mbps'
  | 'network_10g'
  | 'public_ipv4'
  | 'dedicated_cpu'
> {
  host_id: NotNull<string>
  arch: string
  guest_types: string[]
  /** Of its plan. */
  traits: string[]
  group_id: string | null
  backup_hosts: string[]
  stale_hosts: string[]
  /** Has an address that is of one host alone. */
  is_bound: boolean
}

/** What the planner needs to know of VMs on the host, or of all of the region. */
export const vmsToPlan = (db: Queries, { regionId, hostId }: { regionId: string; hostId: string | null }) =>
  db.many<PlannedRow>(sql`
    select v.id, v.name, v.host_id, v.status, v.vcpu, v.ram_mib, v.disk_gib, v.storage_id, v.plan_id, v.network_mbps, v.network_10g, v.public_ipv4, v.dedicated_cpu, t.arch, t.guest_types,
      coalesce((select p.traits from plans p where p.id = v.plan_id), '{}') as traits,
      (select m.group_id from placement_group_members m where m.vm_id = v.id) as group_id,
      array(select distinct b.host_id from backups b where b.vm_id = v.id and b.host_id is not null and b.status not in ('DELETING', 'FAILED')) as backup_hosts,
      array(select s.host_id from stale_machines s where s.vm_id = v.id) as stale_hosts,
      exists (select from address_pools p where p.host_id is not null and (p.id in (v.address_pool_id, v.ipv6_pool_id)
        or exists (select from addresses a where a.vm_id = v.id and a.pool_id = p.id))) as is_bound
    from vms v join os_templates t on t.id = v.os_template_id
    where v.region_id = ${regionId} and v.host_id is not null and (${hostId}::text is null or v.host_id = ${hostId}) order by v.id`)

/** Where VMs of groups are, or on their way to. */
export const groupsIn = (db: Queries, groupIds: string[]) =>
  db.many<{ id: string; name: string; policy: Row<'placement_groups'>['policy']; host_id: NotNull<string>; vms: number }>(sql`
    select g.id, g.name, g.policy, p.host_id, count(*)::int as vms from placement_groups g join (
      select m.group_id, m.vm_id, v.host_id from placement_group_members m join vms v on v.id = m.vm_id where m.group_id = any(${groupIds}::text[])
      union select m.group_id, m.vm_id, r.input ->> 'destinationId' from placement_group_members m join workflow_runs r on r.subject_id = m.vm_id
      where m.group_id = any(${groupIds}::text[]) and r.name in ('vm.migrate', 'vm.resize_elsewhere') and ${isOpen}) p on p.group_id = g.id
    where p.host_id is not null group by 1, 2, 3, 4`)

/** The last migrations of the region, with how much they had to send. */
export const measuredMigrations = (db: Queries, regionId: string) =>
  db.many<{ bytes: number; source: string; startedAt: NotNull<Date>; completedAt: NotNull<Date> }>(sql`
    select (s.result ->> 'bytes')::float8 as bytes, r.input ->> 'sourceId' as source, r.started_at as "startedAt", r.completed_at as "completedAt"
    from workflow_runs r join workflow_steps s on s.run_id = r.id and s.name = 'move' join hosts h on h.id = r.input ->> 'destinationId'
    where r.name = 'vm.migrate' and r.status = 'COMPLETED' and h.region_id = ${regionId} and s.result ? 'bytes' order by r.id desc limit 30`)

export const insertDrain = (tx: Tx, row: Pick<DrainRow, 'id' | 'host_id' | 'stops_others' | 'concurrency' | 'vm_count' | 'created_at'>) =>
  tx.run(sql`
    insert into drains (id, host_id, stops_others, concurrency, vm_count, created_at)
    values (${row.id}, ${row.host_id}, ${row.stops_others}, ${row.concurrency}, ${row.vm_count}, ${row.created_at})`)

export const openDrains = (db: Queries) =>
  db.many<DrainRow>(sql`select ${allColumns('drains')} from drains where status = 'RUNNING' order by id`)

export const lastDrainOf = (db: Queries, hostId: string) =>
  db.maybe<DrainRow>(sql`select ${allColumns('drains')} from drains where host_id = ${hostId} order by created_at desc, id desc limit 1`)

/** Nothing where it has ended. */
export const lockOpenDrain = (tx: Tx, id: string) =>
  tx.maybe<DrainRow>(sql`select ${allColumns('drains')} from drains where id = ${id} and status = 'RUNNING' for update`)

export const endDrain = (tx: Tx, now: Date, id: string, status: DrainRow['status'], remaining: object[]) =>
  tx.run(
    sql`update drains set status = ${status}, remaining = ${json(remaining)}, ended_at = ${now} where id = ${id} and status = 'RUNNING'`,
  )

/** Of all that decide on starting one: two at once would both see the last place free. */
export const queueForStart = (tx: Tx) => tx.run(sql`select pg_advisory_xact_lock(hashtextextended('drain', 0))`)

/** Open migrations that leave the host, or go to it. Those that customers begin by resizing do not hold up a drain. */
const countOpen = (side: Sql, hostId: string): Sql =>
  sql`(select count(*)::int from workflow_runs r where r.name = 'vm.migrate' and ${isOpen} and r.input ->> ${side} = ${hostId})`

export const openMigrations = (db: Queries, sourceId: string, destinationId: string) =>
  db.one<{ leaving: number; arriving: number }>(sql`
    select ${countOpen(sql`'sourceId'`, sourceId)} as leaving, ${countOpen(sql`'destinationId'`, destinationId)} as arriving`)

export const insertMove = (tx: Tx, move: Row<'drain_moves'>) =>
  tx.run(sql`
    insert into drain_moves (run_id, drain_id, vm_id, vm_name) values (${move.run_id}, ${move.drain_id}, ${move.vm_id}, ${move.vm_name})`)

export type MoveRow = Pick<Row<'drain_moves'>, 'run_id' | 'vm_id' | 'vm_name'> &
  Pick<Row<'workflow_runs'>, 'status' | 'error' | 'started_at' | 'completed_at'> & {
    host_id: NotNull<string>
    host_name: NotNull<string>
    restarts: boolean
  }

/** What became of its migrations, oldest first. */
export const movesOf = (db: Queries, drainId: string) =>
  db.many<MoveRow>(sql`
    select m.run_id, m.vm_id, m.vm_name, r.status, r.error, r.started_at, r.completed_at, h.id as host_id, h.name as host_name,
      coalesce(r.input @> '{"restarts": true}', false) as restarts
    from drain_moves m join workflow_runs r on r.id = m.run_id join hosts h on h.id = r.input ->> 'destinationId'
    where m.drain_id = ${drainId} order by r.id`)

/** Backups of VMs elsewhere that stay on the host. */
export const countBackupsOn = async (db: Queries, hostId: string): Promise<number> =>
  (
    await db.one<{ count: number }>(
      sql`select count(*)::int as count from backups where host_id = ${hostId} and status not in ('DELETING', 'FAILED')`,
    )
  ).count

/** What guests that prove backups have booked. */
export const proofRooms = (db: Queries) =>
  db.many<Pick<Row<'backup_proofs'>, 'host_id' | 'vcpu' | 'ram_mib' | 'disk_gib'>>(
    sql`select host_id, vcpu, ram_mib, disk_gib from backup_proofs where vcpu > 0`,
  )
