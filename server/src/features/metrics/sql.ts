import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { NOTHING, POINT_BYTES, WAIT_BYTES, type Summary } from './points.ts'
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
  db.maybe<{ sampled_at: Date; counters: Buffer; waits: Buffer | null }>(sql`
    select sampled_at, counters, case when waits_at = sampled_at then waits end as waits from metrics_samples where host_id = ${hostId}`)

interface StoredMinute {
  points: Buffer
  waits: Buffer
  counters: Buffer
  waitCounters: Buffer
}

export const findSlots = (db: Queries, hostId: string, _minute: Date, vmIds: string[]) =>
  db.many<{ vm_id: string; slot: number }>(sql`
    select vm_id, slot from metrics_slots where host_id = ${hostId} and vm_id = any(${vmIds}::text[]) and left_at is null`)

/** For those of the VMs that are on this host: the lowest slots that nobody has. What is left of them elsewhere counts no more. */
export const takeSlots = (db: Queries, hostId: string, minute: Date, vmIds: string[]) =>
  db.many<{ vm_id: string; slot: number }>(sql`
    with newcomer as (
      select id, row_number() over (order by id) as place from vms where id = any(${vmIds}::text[]) and host_id = ${hostId}),
    free as (
      select slot, row_number() over (order by slot) as place
      from generate_series(0, (select count(*)::int from metrics_slots where host_id = ${hostId}) + cardinality(${vmIds}::text[])) slot
      where slot not in (select slot from metrics_slots where host_id = ${hostId})),
    moved as (
      update metrics_slots s set left_at = ${minute} from newcomer n where s.vm_id = n.id and s.host_id <> ${hostId} and s.left_at is null)
    insert into metrics_slots (host_id, slot, vm_id, since) select ${hostId}, slot, id, ${minute} from newcomer join free using (place)
    on conflict (host_id, vm_id) do update set left_at = null
    returning vm_id, slot`)

/** One statement per host. */
export const storeMinute = (db: Queries, hostId: string, minute: Date, at: Date, { points, waits, counters, waitCounters }: StoredMinute) =>
  db.run(sql`
    with counted as (
      insert into metrics_samples (host_id, sampled_at, counters, waits_at, waits) values (${hostId}, ${at}, ${counters}, ${at}, ${waitCounters})
      on conflict (host_id) do update set sampled_at = excluded.sampled_at, counters = excluded.counters,
        waits_at = excluded.waits_at, waits = excluded.waits)
    insert into metrics_minutes (host_id, at, points, waits) values (${hostId}, ${minute}, ${points}, ${waits}) on conflict do nothing`)

/** Notes which VMs are on their host no more, and frees slots of which nothing is kept. */
export const releaseSlots = async (db: Queries, now: Date, leftBefore: Date): Promise<void> => {
  await db.run(sql`
    update metrics_slots s set left_at = case when left_at is null then ${now}::timestamptz end
    where (left_at is null) <> exists (select from vms v where v.id = s.vm_id and v.host_id = s.host_id)`)
  await db.run(sql`delete from metrics_slots where left_at < ${leftBefore}`)
}

/** metrics_latest, which the version before fills. */
export const forgetLatestBefore = (db: Queries, time: Date) => db.run(sql`delete from metrics_latest where sampled_at < ${time}`)

const rolledUp = sql`coalesce((select coalesce(minutes_until, until) from metrics_rollup), 'epoch')`

export const rolledUpUntil = async (db: Queries): Promise<Date> => (await db.one<{ until: Date }>(sql`select ${rolledUp} as until`)).until

/** False while another worker rolls up, or when it has finished. Holds the lock until the transaction ends. */
export const moveRollup = async (tx: Tx, from: Date, until: Date): Promise<boolean> => {
  const { isMine } = await tx.one<{ isMine: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended('metrics rollup', 0)) as "isMine"`,
  )
  if (!isMine) return false
  const moved = await tx.run(sql`
    insert into metrics_rollup as r (until, minutes_until) values (${until}, ${until})
    on conflict (is_only) do update set until = greatest(r.until, excluded.until), minutes_until = excluded.minutes_until
    where coalesce(r.minutes_until, r.until) = ${from}`)
  return moved > 0
}

const averaged = sql`
  avg(cpu_percent), max(cpu_percent), avg(ram_used_mib), max(ram_used_mib), max(ram_mib), avg(disk_read_rate), max(disk_read_rate),
  avg(disk_write_rate), max(disk_write_rate), avg(network_in_rate), max(network_in_rate), avg(network_out_rate), max(network_out_rate)`

/** What the version before has sampled. */
export const rollUpRows = (tx: Tx, from: Date, to: Date) =>
  tx.run(sql`
    insert into metrics_15m (vm_id, at, rate_samples, ram_samples, cpu_percent, cpu_percent_max, ram_used_mib, ram_used_mib_max, ram_mib,
      disk_read_rate, disk_read_rate_max, disk_write_rate, disk_write_rate_max, network_in_rate, network_in_rate_max,
      network_out_rate, network_out_rate_max)
    select vm_id, date_bin('15 minutes', at, 'epoch'), count(cpu_percent), count(ram_used_mib), ${averaged}
    from metrics_1m where at >= ${from} and at < ${to} group by 1, 2
    on conflict do nothing`)

/** Of which hosts there are minutes, and in which quarter-hours. */
export const quartersOfHosts = (tx: Tx, from: Date, to: Date) =>
  tx.many<{ host_id: string; quarter: Date }>(sql`
    select distinct host_id, date_bin('15 minutes', at, 'epoch') as quarter from metrics_minutes
    where at >= ${from} and at < ${to} order by host_id, quarter`)

/** With the vCPU of each VM as it is now; null of one that is gone. */
export const sizesOfSlots = (db: Queries, hostId: string, from: Date) =>
  db.many<{ slot: number; since: Date; left_at: Date | null; vcpu: number | null }>(sql`
    select s.slot, s.since, s.left_at, v.vcpu from metrics_slots s left join vms v on v.id = s.vm_id
    where s.host_id = ${hostId} and (s.left_at is null or s.left_at > ${from})`)

export const minutesOfHost = (tx: Queries, hostId: string, from: Date, to: Date) =>
  tx.many<{ at: Date; points: Buffer; waits: Buffer | null }>(sql`
    select at, points, waits from metrics_minutes where host_id = ${hostId} and at >= ${from} and at < ${to} order by at`)

/** Of VMs that were there at a time. */
export const listSlots = (tx: Tx, hostId: string, from: Date, to: Date) =>
  tx.many<Pick<Row<'metrics_slots'>, 'vm_id' | 'slot' | 'since' | 'left_at'>>(sql`
    select vm_id, slot, since, left_at from metrics_slots
    where host_id = ${hostId} and since < ${to} and (left_at is null or left_at > ${from})`)

/** Of the part of a quarter-hour that is there, `q`, and another one. */
const mean = (before: Sql, added: Sql) => sql`
  (coalesce(${before}, 0) * q.rate_samples + coalesce(${added}, 0) * excluded.rate_samples) / nullif(q.rate_samples + excluded.rate_samples, 0)`

/** A VM that has moved within it has two parts. */
export const addQuarters = (tx: Tx, rows: Row<'metrics_15m'>[]) =>
  tx.run(sql`
    insert into metrics_15m as q (${allColumns('metrics_15m')})
    select ${allColumns('metrics_15m')} from json_populate_recordset(null::metrics_15m, ${json(rows)}::json)
    on conflict (vm_id, at) do update set rate_samples = q.rate_samples + excluded.rate_samples,
      ram_samples = q.ram_samples + excluded.ram_samples, ram_mib = greatest(q.ram_mib, excluded.ram_mib),
      ram_used_mib = (coalesce(q.ram_used_mib, 0) * q.ram_samples + coalesce(excluded.ram_used_mib, 0) * excluded.ram_samples)
        / nullif(q.ram_samples + excluded.ram_samples, 0),
      ram_used_mib_max = greatest(q.ram_used_mib_max, excluded.ram_used_mib_max),
      cpu_percent = ${mean(sql`q.cpu_percent`, sql`excluded.cpu_percent`)},
      cpu_percent_max = greatest(q.cpu_percent_max, excluded.cpu_percent_max),
      disk_read_rate = ${mean(sql`q.disk_read_rate`, sql`excluded.disk_read_rate`)},
      disk_read_rate_max = greatest(q.disk_read_rate_max, excluded.disk_read_rate_max),
      disk_write_rate = ${mean(sql`q.disk_write_rate`, sql`excluded.disk_write_rate`)},
      disk_write_rate_max = greatest(q.disk_write_rate_max, excluded.disk_write_rate_max),
      network_in_rate = ${mean(sql`q.network_in_rate`, sql`excluded.network_in_rate`)},
      network_in_rate_max = greatest(q.network_in_rate_max, excluded.network_in_rate_max),
      network_out_rate = ${mean(sql`q.network_out_rate`, sql`excluded.network_out_rate`)},
      network_out_rate_max = greatest(q.network_out_rate_max, excluded.network_out_rate_max),
      cpu_steal_samples = q.cpu_steal_samples + excluded.cpu_steal_samples,
      cpu_steal_percent = (coalesce(q.cpu_steal_percent, 0) * q.cpu_steal_samples
        + coalesce(excluded.cpu_steal_percent, 0) * excluded.cpu_steal_samples) / nullif(q.cpu_steal_samples + excluded.cpu_steal_samples, 0),
      cpu_steal_percent_max = greatest(q.cpu_steal_percent_max, excluded.cpu_steal_percent_max),
      disk_request_samples = q.disk_request_samples + excluded.disk_request_samples,
      disk_request_rate = (coalesce(q.disk_request_rate, 0) * q.disk_request_samples
        + coalesce(excluded.disk_request_rate, 0) * excluded.disk_request_samples) / nullif(q.disk_request_samples + excluded.disk_request_samples, 0),
      disk_request_rate_max = greatest(q.disk_request_rate_max, excluded.disk_request_rate_max),
      disk_wait_samples = q.disk_wait_samples + excluded.disk_wait_samples,
      disk_wait_ms = (coalesce(q.disk_wait_ms, 0) * q.disk_wait_samples
        + coalesce(excluded.disk_wait_ms, 0) * excluded.disk_wait_samples) / nullif(q.disk_wait_samples + excluded.disk_wait_samples, 0),
      disk_wait_ms_max = greatest(q.disk_wait_ms_max, excluded.disk_wait_ms_max)`)

/** Minutes in the form of 15-minute rows with one sample. */
const minutesAsQuarters = sql`
  select at, (cpu_percent is not null)::int, (ram_used_mib is not null)::int, cpu_percent, cpu_percent, ram_used_mib, ram_used_mib, ram_mib,
    disk_read_rate, disk_read_rate, disk_write_rate, disk_write_rate, network_in_rate, network_in_rate, network_out_rate, network_out_rate,
    0, 0, 0, null::float8, null::real, null::float8, null::real, null::float8, null::real
  from metrics_1m`
const quarters = sql`
  select at, rate_samples, ram_samples, cpu_percent, cpu_percent_max, ram_used_mib, ram_used_mib_max, ram_mib, disk_read_rate,
    disk_read_rate_max, disk_write_rate, disk_write_rate_max, network_in_rate, network_in_rate_max, network_out_rate, network_out_rate_max,
    cpu_steal_samples, disk_request_samples, disk_wait_samples, cpu_steal_percent, cpu_steal_percent_max, disk_request_rate,
    disk_request_rate_max, disk_wait_ms, disk_wait_ms_max
  from metrics_15m`

const minutesFrom = ({ from, isFine }: Window): Sql => (isFine ? sql`${from}::timestamptz` : rolledUp)

/** Of each step, minutes alone where they cover the whole range; else 15-minute rows, and minutes not yet rolled up. */
export const readSummaries = (db: Queries, vmId: string, window: Window) => {
  const { from, to, step } = window
  const range = sql`vm_id = ${vmId} and at >= ${from} and at < ${to}`
  return db.many<Summary & { at: Date }>(sql`
    with source (at, rates, rams, cpu, cpu_max, ram_used, ram_used_max, ram, disk_read, disk_read_max, disk_write, disk_write_max,
      network_in, network_in_max, network_out, network_out_max, steals, requests, waits, steal, steal_max, request, request_max, wait, wait_max) as (
      ${minutesAsQuarters} where ${range} and at >= ${minutesFrom(window)} union all ${quarters} where ${range} and at < ${minutesFrom(window)})
    select date_bin(make_interval(secs => ${step}), at, ${from}) as at, sum(rates)::int as rate_samples, sum(rams)::int as ram_samples,
      sum(cpu * rates) / nullif(sum(rates), 0) as cpu_percent, max(cpu_max) as cpu_percent_max,
      sum(ram_used * rams) / nullif(sum(rams), 0) as ram_used_mib, max(ram_used_max) as ram_used_mib_max, max(ram) as ram_mib,
      sum(disk_read * rates) / nullif(sum(rates), 0) as disk_read_rate, max(disk_read_max) as disk_read_rate_max,
      sum(disk_write * rates) / nullif(sum(rates), 0) as disk_write_rate, max(disk_write_max) as disk_write_rate_max,
      sum(network_in * rates) / nullif(sum(rates), 0) as network_in_rate, max(network_in_max) as network_in_rate_max,
      sum(network_out * rates) / nullif(sum(rates), 0) as network_out_rate, max(network_out_max) as network_out_rate_max,
      sum(steals)::int as cpu_steal_samples, sum(requests)::int as disk_request_samples, sum(waits)::int as disk_wait_samples,
      sum(steal * steals) / nullif(sum(steals), 0) as cpu_steal_percent, max(steal_max) as cpu_steal_percent_max,
      sum(request * requests) / nullif(sum(requests), 0) as disk_request_rate, max(request_max) as disk_request_rate_max,
      sum(wait * waits) / nullif(sum(waits), 0) as disk_wait_ms, max(wait_max) as disk_wait_ms_max
    from source group by 1`)
}

const minuteRows = sql`
  metrics_slots s join metrics_minutes m on m.host_id = s.host_id and m.at >= s.since and (s.left_at is null or m.at < s.left_at),
    lateral (select substring(m.points from s.slot * ${POINT_BYTES}::int + 1 for ${POINT_BYTES}::int) as point) p`
const isThere = sql`length(p.point) = ${POINT_BYTES}::int and p.point <> ${NOTHING}::bytea`

/** The minutes of the same times in rows of hosts. */
export const readMinutes = (db: Queries, vmId: string, window: Window) =>
  db.many<{ at: Date; points: Buffer; waits: Buffer | null }>(sql`
    select distinct on (m.at) m.at, p.point as points, substring(m.waits from s.slot * ${WAIT_BYTES}::int + 1 for ${WAIT_BYTES}::int) as waits from ${minuteRows}
    where s.vm_id = ${vmId} and m.at >= ${window.from} and m.at < ${window.to} and m.at >= ${minutesFrom(window)} and ${isThere}
    order by m.at, s.since desc`)

export const readMinutesOf = (db: Queries, vmIds: string[], from: Date, to: Date) =>
  db.many<{ vm_id: string; at: Date; point: Buffer }>(sql`
    select distinct on (s.vm_id, m.at) s.vm_id, m.at, p.point from ${minuteRows}
    where s.vm_id = any(${vmIds}::text[]) and m.at >= ${from} and m.at < ${to} and ${isThere}
    order by s.vm_id, m.at, s.since desc`)

export interface RecentRow {
  vm_id: string
  /** Null, as everything else, of a VM without any. */
  at: Date | null
  samples: number
  cpu: number | null
  network: number | null
  /** A minute that is not rolled up yet has this instead. */
  point: Buffer | null
}

/** Of those of the VMs that the account has: quarter-hours, and the minutes that are not rolled up. */
export const readRecent = (db: Queries, accountId: string, vmIds: string[], from: Date, to: Date) =>
  db.many<RecentRow>(sql`
    with own as materialized (select id from vms where account_id = ${accountId} and id = any(${vmIds}::text[])),
    measured as (
      select q.vm_id, q.at, q.rate_samples as samples, q.cpu_percent as cpu, q.network_in_rate + q.network_out_rate as network, null::bytea as point
      from own join metrics_15m q on q.vm_id = own.id where q.at >= ${from} and q.at < ${to} and q.at < ${rolledUp}
      union all (select distinct on (s.vm_id, m.at) s.vm_id, m.at, 0, null, null, p.point from own, ${minuteRows}
        where s.vm_id = own.id and m.at >= ${from} and m.at < ${to} and m.at >= ${rolledUp} and ${isThere}
        order by s.vm_id, m.at, s.since desc))
    select own.id as vm_id, each.at, coalesce(each.samples, 0)::int as samples, each.cpu, each.network, each.point
    from own left join measured each on each.vm_id = own.id`)
