import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { isOpen } from '../../workflow/run-store.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type HostRow = Row<'hosts'>

/** Link speed in Mbit/s of a card that 10G can be sold on. */
export const TEN_GIGABIT = 10_000

export type NewHost = Pick<
  HostRow,
  'id' | 'region_id' | 'name' | 'hostname' | 'driver' | 'uri' | 'vcpu_total' | 'ram_total_mib' | 'disk_total_gib' | 'created_at'
>

export const insertHost = (tx: Tx, row: NewHost) =>
  tx.run(sql`
    insert into hosts (id, region_id, name, hostname, driver, uri, vcpu_total, ram_total_mib, disk_total_gib, uplink_mbps, created_at)
    values (${row.id}, ${row.region_id}, ${row.name}, ${row.hostname}, ${row.driver}, ${row.uri}, ${row.vcpu_total}, ${row.ram_total_mib},
      ${row.disk_total_gib}, ${row.driver === 'simulated' ? TEN_GIGABIT : null}, ${row.created_at})
    on conflict (name) do nothing`)

export const listHosts = (db: Queries) =>
  db.many<HostRow & { region_slug: string }>(
    sql`select ${allColumns('hosts', 'h')}, r.slug as region_slug from hosts h join regions r on r.id = h.region_id where h.removed_at is null order by h.name`,
  )

/** And those that were destroyed, while VMs of theirs wait. */
export const listHostsAndDestroyed = (db: Queries) =>
  db.many<HostRow & { region_slug: string }>(
    sql`select ${allColumns('hosts', 'h')}, r.slug as region_slug from hosts h join regions r on r.id = h.region_id
      where h.removed_at is null or h.lost_at is not null order by h.name`,
  )

export const listHostsIn = (db: Queries, regionId: string) =>
  db.many<HostRow>(sql`select ${allColumns('hosts')} from hosts where region_id = ${regionId} and removed_at is null order by name`)

/** By the name that the host gives itself. */
export const findHostIdIn = async (db: Queries, regionId: string, hostname: string): Promise<string | undefined> =>
  (
    await db.maybe<{ id: string }>(
      sql`select id from hosts where region_id = ${regionId} and hostname = ${hostname} and removed_at is null limit 1`,
    )
  )?.id

export const regionsWithHosts = async (db: Queries): Promise<string[]> =>
  (await db.many<{ region_id: string }>(sql`select distinct region_id from hosts where removed_at is null order by region_id`)).map(
    (row) => row.region_id,
  )

export const findHost = (db: Queries, idOrName: string) =>
  db.maybe<HostRow>(sql`select ${allColumns('hosts')} from hosts where id = ${idOrName} or name = ${idOrName}`)

/** Facts of a host that is new or has come back. */
export const writeFacts = (tx: Tx, id: string, host: Pick<HostRow, 'hostname' | 'uri' | 'arch' | 'acceleration' | 'guest_types'>) =>
  tx.run(sql`
    update hosts set hostname = ${host.hostname}, uri = ${host.uri}, arch = ${host.arch}, acceleration = ${host.acceleration}, guest_types = ${host.guest_types}, removed_at = null, unreachable_since = null
    where id = ${id}`)

/** Where less is found than is sold, nothing more is. Of the disk never less than is booked. */
export const writeCapacity = (tx: Tx, id: string, size: { vcpu: number; ramMiB: number; diskGiB: number }) =>
  tx.run(sql`
    update hosts set ram_total_mib = ${size.ramMiB}, disk_total_gib = greatest(disk_used_gib, ${size.diskGiB}), vcpu_total = ${size.vcpu}
    where id = ${id}`)

export const writeMaintenance = (tx: Tx, id: string, maintenance: boolean) =>
  tx.run(sql`update hosts set maintenance = ${maintenance} where id = ${id}`)

/** Ids of the hosts whose VMs are being moved away. */
export const drainedHosts = async (db: Queries): Promise<Set<string>> =>
  new Set((await db.many<{ host_id: string }>(sql`select host_id from drains where status = 'RUNNING'`)).map(({ host_id }) => host_id))

export const writeDiskReserve = (tx: Tx, id: string, percent: number) =>
  tx.run(sql`update hosts set disk_reserve_percent = ${percent} where id = ${id}`)

export const writeUplink = (tx: Tx, id: string, mbps: number) => tx.run(sql`update hosts set uplink_mbps = ${mbps} where id = ${id}`)

/** Below what is sold, nothing more is. */
export const writeOvercommit = (
  tx: Tx,
  { id, vcpu_overcommit, ram_overcommit }: Pick<HostRow, 'id' | 'vcpu_overcommit' | 'ram_overcommit'>,
) => tx.run(sql`update hosts set vcpu_overcommit = ${vcpu_overcommit}, ram_overcommit = ${ram_overcommit} where id = ${id}`)

export const writeTraits = (tx: Tx, id: string, traits: string[]) => tx.run(sql`update hosts set traits = ${traits} where id = ${id}`)

/** Machines that run follow when the reconciler comes by. */
export const writeDedicatedCpus = (tx: Tx, id: string, cpus: number[]) =>
  tx.run(sql`update hosts set dedicated_cpus = ${cpus}, cpus_version = cpus_version + 1 where id = ${id}`)

export const lockHost = (tx: Tx, id: string) => tx.one<HostRow>(sql`select ${allColumns('hosts')} from hosts where id = ${id} for update`)

/** Machines that run may be on CPUs that they should not be on. */
export const hostsWithChangedCpus = (db: Queries) =>
  db.many<HostRow>(
    sql`select ${allColumns('hosts')} from hosts where cpus_applied < cpus_version and removed_at is null and unreachable_since is null order by id`,
  )

export const markCpusApplied = (db: Queries, { id, cpus_version }: Pick<HostRow, 'id' | 'cpus_version'>) =>
  db.run(sql`update hosts set cpus_applied = ${cpus_version} where id = ${id}`)

export const markRemoved = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update hosts set removed_at = ${now}, unreachable_since = ${now}, maintenance = true where id = ${id}`)

/** It is never asked for anything again. */
export const markLost = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`
    update hosts set lost_at = coalesce(lost_at, ${now}), removed_at = coalesce(removed_at, ${now}),
      unreachable_since = coalesce(unreachable_since, ${now}), maintenance = true
    where id = ${id}`)

/** Nothing new is placed on it until an operator says so, also when it has come back. */
export const markFenced = (tx: Tx, id: string, at: Date) =>
  tx.run(sql`update hosts set fenced_at = ${at}, maintenance = true where id = ${id}`)

export const markUnfenced = (tx: Tx, id: string) => tx.run(sql`update hosts set fenced_at = null where id = ${id}`)

export const writePower = (
  tx: Tx,
  id: string,
  power: Pick<HostRow, 'power_url' | 'power_user' | 'sealed_power_password' | 'power_ca' | 'power_system_uuid'>,
) =>
  tx.run(sql`
    update hosts set power_url = ${power.power_url}, power_user = ${power.power_user}, sealed_power_password = ${power.sealed_power_password},
      power_ca = ${power.power_ca}, power_system_uuid = ${power.power_system_uuid}
    where id = ${id}`)

export const deleteHost = (tx: Tx, id: string) => tx.run(sql`delete from hosts where id = ${id}`)

export const writeNetworkController = (tx: Tx, regionId: string, controller: string | null) =>
  tx.run(sql`update regions set network_controller = ${controller} where id = ${regionId}`)

/** VMs and networks of the region, which the network controller of the region connects. */
export const countConnected = (tx: Tx, regionId: string) =>
  tx.one<{ vms: number; networks: number }>(sql`
    select (select count(*)::int from vms where region_id = ${regionId} and host_id is not null) as vms,
      (select count(*)::int from networks where region_id = ${regionId}) as networks`)

/**
 * Resources that would be lost with the host: VMs with data on it, private networks where it is the only host of their region, backups of
 * VMs on other hosts, and VMs that are evacuated, which a rollback would return to it, or migrated to it.
 */
export const countHostResources = (tx: Queries, id: string) =>
  tx.one<{ vms: number; networks: number; backups: number; volumes: number; leaving: number; unfenced: number }>(sql`
    select (select count(*)::int from vms where host_id = ${id}) as vms,
      (select count(*)::int from networks n join hosts h on h.region_id = n.region_id where h.id = ${id} and not exists (
        select from hosts o where o.region_id = h.region_id and o.id <> h.id and o.removed_at is null)) as networks,
      (select count(*)::int from backups where host_id = ${id}) as backups,
      (select count(*)::int from volumes where host_id = ${id}) as volumes,
      (select count(*)::int from workflow_runs r where ${isOpen}
        and ${id} in (input -> 'placeBefore' ->> 'host_id', input ->> 'destinationId')) as leaving,
      (select count(*)::int from stale_machines l join hosts h on h.id = l.host_id
        where h.id = ${id} and l.may_run and h.lost_at is not null) as unfenced`)
