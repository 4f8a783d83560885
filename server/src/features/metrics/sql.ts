import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { Point } from './rates.ts'
import type { Window } from './time-range.ts'

/** Reachable hosts without a sample in this minute. */
export const unsampledHosts = (db: Queries, minute: Date) =>
  db.many<{ id: string }>(sql`
    select h.id from hosts h left join metrics_sample_claims m on m.host_id = h.id
    where h.unreachable_since is null and (m.minute is null or m.minute <> ${minute}) order by h.id`)

/** True for exactly one of the concurrent workers. */
export const claimMinute = async (db: Queries, hostId: string, minute: Date): Promise<boolean> =>
  (await db.run(sql`
    insert into metrics_sample_claims as m (host_id, minute) values (${hostId}, ${minute})
    on conflict (host_id) do update set minute = excluded.minute where m.minute <> excluded.minute`)) > 0

export const findCounters = (db: Queries, hostId: string) =>
  db.maybe<{ sampled_at: Date; counters: string }>(sql`select sampled_at, counters from metrics_counters where host_id = ${hostId}`)

export const storeCounters = (db: Queries, hostId: string, at: Date, counters: string) =>
  db.run(sql`
    insert into metrics_counters (host_id, sampled_at, counters) values (${hostId}, ${at}, ${counters})
    on conflict (host_id) do update set sampled_at = excluded.sampled_at, counters = excluded.counters`)

/** One statement per thousand VMs: of those that are on this host. */
export const storePoints = (db: Queries, hostId: string, minute: Date, points: Point[]) =>
  db.run(sql`
    insert into metrics_1m (vm_id, at, cpu_percent, ram_used_mib, ram_mib, disk_read_rate, disk_write_rate, network_in_rate, network_out_rate)
    select p.vm_id, ${minute}, cpu, ram_used, ram, disk_read, disk_write, network_in, network_out
    from unnest(${points.map((each) => each.vmId)}::text[], ${points.map((each) => each.cpuPercent)}::float8[],
      ${points.map((each) => each.ramUsedMiB)}::int[], ${points.map((each) => each.ramMiB)}::int[],
      ${points.map((each) => each.diskReadRate)}::float8[], ${points.map((each) => each.diskWriteRate)}::float8[],
      ${points.map((each) => each.networkInRate)}::float8[], ${points.map((each) => each.networkOutRate)}::float8[])
      as p(vm_id, cpu, ram_used, ram, disk_read, disk_write, network_in, network_out)
      join vms v on v.id = p.vm_id and v.host_id = ${hostId}
    order by p.vm_id on conflict do nothing`)

/** metrics_latest, which the version before fills. */
export const forgetLatestBefore = (db: Queries, time: Date) => db.run(sql`delete from metrics_latest where sampled_at < ${time}`)

const rolledUp = sql`coalesce((select until from metrics_rollup), 'epoch')`

export const rolledUpUntil = async (db: Queries): Promise<Date> => (await db.one<{ until: Date }>(sql`select ${rolledUp} as until`)).until

/** False while another worker rolls up, or when it has finished. Holds the lock until the transaction ends. */
export const moveRollup = async (tx: Tx, from: Date, until: Date): Promise<boolean> => {
  const { isMine } = await tx.one<{ isMine: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended('metrics rollup', 0)) as "isMine"`,
  )
  if (!isMine) return false
  const moved = await tx.run(sql`
    insert into metrics_rollup as r (until) values (${until})
    on conflict (is_only) do update set until = excluded.until where r.until = ${from}`)
  return moved > 0
}

const averaged = sql`
  avg(cpu_percent), max(cpu_percent), avg(ram_used_mib), max(ram_used_mib), max(ram_mib), avg(disk_read_rate), max(disk_read_rate),
  avg(disk_write_rate), max(disk_write_rate), avg(network_in_rate), max(network_in_rate), avg(network_out_rate), max(network_out_rate)`

export const rollUp = (tx: Tx, from: Date, to: Date) =>
  tx.run(sql`
    insert into metrics_15m (vm_id, at, rate_samples, ram_samples, cpu_percent, cpu_percent_max, ram_used_mib, ram_used_mib_max, ram_mib,
      disk_read_rate, disk_read_rate_max, disk_write_rate, disk_write_rate_max, network_in_rate, network_in_rate_max,
      network_out_rate, network_out_rate_max)
    select vm_id, date_bin('15 minutes', at, 'epoch'), count(cpu_percent), count(ram_used_mib), ${averaged}
    from metrics_1m where at >= ${from} and at < ${to} group by 1, 2
    on conflict do nothing`)

export interface PointRow {
  at: Date
  cpu: number | null
  cpu_max: number | null
  ram_used: number | null
  ram_used_max: number | null
  ram: number
  disk_read: number | null
  disk_read_max: number | null
  disk_write: number | null
  disk_write_max: number | null
  network_in: number | null
  network_in_max: number | null
  network_out: number | null
  network_out_max: number | null
}

/** Minutes in the form of 15-minute rows with one sample. */
const minutesAsQuarters = sql`
  select at, (cpu_percent is not null)::int, (ram_used_mib is not null)::int, cpu_percent, cpu_percent, ram_used_mib, ram_used_mib, ram_mib,
    disk_read_rate, disk_read_rate, disk_write_rate, disk_write_rate, network_in_rate, network_in_rate, network_out_rate, network_out_rate
  from metrics_1m`
const quarters = sql`
  select at, rate_samples, ram_samples, cpu_percent, cpu_percent_max, ram_used_mib, ram_used_mib_max, ram_mib, disk_read_rate,
    disk_read_rate_max, disk_write_rate, disk_write_rate_max, network_in_rate, network_in_rate_max, network_out_rate, network_out_rate_max
  from metrics_15m`

/** Reads minutes alone where they cover the whole range; else 15-minute rows, followed by minutes not yet rolled up. */
export const readPoints = (db: Queries, vmId: string, { from, to, step, isFine }: Window) => {
  const minutesFrom = isFine ? sql`${from}::timestamptz` : rolledUp
  const range = sql`vm_id = ${vmId} and at >= ${from} and at < ${to}`
  return db.many<PointRow>(sql`
    with source (at, rates, rams, cpu, cpu_max, ram_used, ram_used_max, ram, disk_read, disk_read_max, disk_write, disk_write_max,
      network_in, network_in_max, network_out, network_out_max) as (
      ${minutesAsQuarters} where ${range} and at >= ${minutesFrom} union all ${quarters} where ${range} and at < ${minutesFrom})
    select date_bin(make_interval(secs => ${step}), at, ${from}) as at,
      sum(cpu * rates) / nullif(sum(rates), 0) as cpu, max(cpu_max) as cpu_max,
      sum(ram_used * rams) / nullif(sum(rams), 0) as ram_used, max(ram_used_max) as ram_used_max, max(ram) as ram,
      sum(disk_read * rates) / nullif(sum(rates), 0) as disk_read, max(disk_read_max) as disk_read_max,
      sum(disk_write * rates) / nullif(sum(rates), 0) as disk_write, max(disk_write_max) as disk_write_max,
      sum(network_in * rates) / nullif(sum(rates), 0) as network_in, max(network_in_max) as network_in_max,
      sum(network_out * rates) / nullif(sum(rates), 0) as network_out, max(network_out_max) as network_out_max
    from source group by 1`)
}
