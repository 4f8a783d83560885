import type { MetricsSample } from '../../hypervisor/driver.ts'
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
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

/**
 * One statement per thousand VMs. A rate needs a sample of about a minute ago from the same boot whose counters are not higher: there is
 * none after a restart, a gap or a clock change.
 */
export const storeSamples = (db: Queries, hostId: string, minute: Date, at: Date, samples: MetricsSample[]) =>
  db.run(sql`
    with sample as (
      select vm_id, epoch, vcpu, cpu_ns, ram_mib, ram_used_mib, disk_read, disk_written, received, sent
      from unnest(${samples.map((each) => each.vmId)}::text[], ${samples.map((each) => each.epoch)}::text[],
        ${samples.map((each) => each.vcpu)}::int[], ${samples.map((each) => each.cpuNs)}::int8[],
        ${samples.map((each) => each.ramMiB)}::int[], ${samples.map((each) => each.ramUsedMiB)}::int[],
        ${samples.map((each) => each.diskReadBytes)}::int8[], ${samples.map((each) => each.diskWrittenBytes)}::int8[],
        ${samples.map((each) => each.receivedBytes)}::int8[], ${samples.map((each) => each.sentBytes)}::int8[])
        as s(vm_id, epoch, vcpu, cpu_ns, ram_mib, ram_used_mib, disk_read, disk_written, received, sent)),
    known as (
      select s.vm_id, s.epoch, s.vcpu, s.cpu_ns, s.ram_mib, s.ram_used_mib, s.disk_read, s.disk_written, s.received, s.sent,
        s.cpu_ns - l.cpu_ns as cpu_step, s.disk_read - l.disk_read_bytes as read_step,
        s.disk_written - l.disk_written_bytes as written_step, s.received - l.received_bytes as received_step, s.sent - l.sent_bytes as sent_step,
        case when s.epoch = l.epoch then extract(epoch from ${at}::timestamptz - l.sampled_at)::float8 end as seconds
      from sample s join vms v on v.id = s.vm_id and v.host_id = ${hostId} left join metrics_latest l on l.vm_id = s.vm_id),
    timed as (
      select vm_id, epoch, vcpu, cpu_ns, ram_mib, ram_used_mib, disk_read, disk_written, received, sent,
        cpu_step, read_step, written_step, received_step, sent_step, case when seconds between 10 and 150 and least(cpu_step, read_step, written_step, received_step, sent_step) >= 0
        then seconds end as span
      from known order by vm_id),
    moved as (
      insert into metrics_latest (vm_id, sampled_at, epoch, cpu_ns, disk_read_bytes, disk_written_bytes, received_bytes, sent_bytes)
      select vm_id, ${at}, epoch, cpu_ns, disk_read, disk_written, received, sent from timed
      on conflict (vm_id) do update set sampled_at = excluded.sampled_at, epoch = excluded.epoch, cpu_ns = excluded.cpu_ns,
        disk_read_bytes = excluded.disk_read_bytes, disk_written_bytes = excluded.disk_written_bytes,
        received_bytes = excluded.received_bytes, sent_bytes = excluded.sent_bytes)
    insert into metrics_1m (vm_id, at, cpu_percent, ram_used_mib, ram_mib, disk_read_rate, disk_write_rate, network_in_rate, network_out_rate)
    select vm_id, ${minute}, case when span > 0 then least(100, cpu_step / (span * 1e7 * vcpu)) end, ram_used_mib, ram_mib, read_step / span, written_step / span,
      received_step / span, sent_step / span
    from timed on conflict do nothing`)

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
