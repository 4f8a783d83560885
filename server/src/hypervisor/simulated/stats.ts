// Traffic and load, computed from the time a machine has been running; nothing is written meanwhile.
import { crc32 } from 'node:zlib'
import { sql, type NotNull, type Sql } from '../../kernel/database/db.ts'
import type { MetricsSample, NicCounters, Monitoring } from '../driver.ts'
import type { SimulatedHost } from './host.ts'
import { paged } from './inventory.ts'

/** Bytes received since they were last counted: at the interface's own rate, never above its limit. A quarter as much is sent. */
const flowed = (now: Date): Sql => sql`coalesce(greatest(0, floor(extract(epoch from ${now}::timestamptz - counted_at)
  * least(bytes_per_second, limit_mbps * 125000))), 0)::int8`

/** Called before the rate changes. */
export const countNow = (now: Date): Sql => sql`received_bytes = received_bytes + ${flowed(now)},
  sent_bytes = sent_bytes + ${flowed(now)} / 4, counted_at = case when counted_at is null then null else ${now}::timestamptz end`

interface CounterRow {
  machine: string
  mac: string
  epoch: bigint
  received: bigint
  sent: bigint
}

interface LoadRow {
  name: string
  epoch: bigint
  vcpu: number
  ram_mib: number
  has_agent: boolean
  started_at: NotNull<Date>
  received: bigint
  sent: bigint
}

export function statsMethods(host: SimulatedHost): Pick<Monitoring, 'counters' | 'metrics'> {
  const { hostId, db, clock } = host
  const only = (vmIds: string[] | 'all', column: Sql): Sql => (vmIds === 'all' ? sql`true` : sql`${column} = any(${vmIds})`)
  const bytes = (now: Date): Sql => sql`received_bytes + ${flowed(now)} as received, sent_bytes + ${flowed(now)} / 4 as sent`

  // The state is a subquery on purpose: as a join, a page would read every machine that is left.
  const counterPage = (vmIds: string[] | 'all', last: CounterRow | undefined): Promise<CounterRow[]> =>
    db.many<CounterRow>(sql`select machine, mac, epoch, ${bytes(clock.now())} from simulated.nics n
      where host_id = ${hostId} and (machine, mac) > (${last?.machine ?? ''}, ${last?.mac ?? ''}) and ${only(vmIds, sql`machine`)}
        and (select power <> 'stopped' and vm_id is not null from simulated.machines m where m.host_id = n.host_id and m.name = n.machine)
      order by machine, mac limit 1000`)

  const loadPage = (vmIds: string[] | 'all', last: LoadRow | undefined): Promise<LoadRow[]> =>
    db.many<LoadRow>(sql`select m.name, m.epoch, m.vcpu, m.ram_mib, m.has_agent, m.started_at,
        coalesce(t.received, 0)::int8 as received, coalesce(t.sent, 0)::int8 as sent
      from simulated.machines m, lateral (select sum(received) as received, sum(sent) as sent from
        (select ${bytes(clock.now())} from simulated.nics n where n.host_id = m.host_id and n.machine = m.name) each) t
      where m.host_id = ${hostId} and m.name > ${last?.name ?? ''} and m.vm_id is not null and m.power = 'running'
        and ${only(vmIds, sql`m.name`)} order by m.name limit 1000`)

  return {
    counters: (vmIds, signal) => paged(host, 'counters', signal, 1000, (last) => counterPage(vmIds, last), toCounters),
    metrics: (vmIds, signal) =>
      paged<LoadRow, MetricsSample>(
        host,
        'metrics',
        signal,
        1000,
        (last) => loadPage(vmIds, last),
        (row) => toSample(row, clock.now()),
      ),
  }
}

const toCounters = (row: CounterRow): NicCounters => ({
  vmId: row.machine,
  mac: row.mac,
  epoch: String(row.epoch),
  receivedBytes: row.received,
  sentBytes: row.sent,
})

const DAY_SECONDS = 86_400

/** Busy by day and quiet by night, each VM with a day of its own; the total only ever grows. */
function toSample({ name, epoch, vcpu, ram_mib, has_agent, started_at, received, sent }: LoadRow, now: Date): MetricsSample {
  const seconds = Math.max(0, (now.getTime() - started_at.getTime()) / 1000)
  const phase = (2 * Math.PI * (crc32(name) % DAY_SECONDS)) / DAY_SECONDS
  const angle = phase + (2 * Math.PI * seconds) / DAY_SECONDS
  const busySeconds = 0.1 * seconds + (0.08 * DAY_SECONDS * (Math.sin(angle) - Math.sin(phase))) / (2 * Math.PI)
  return {
    vmId: name,
    epoch: String(epoch),
    vcpu,
    cpuNs: BigInt(Math.round(busySeconds * vcpu * 1e9)),
    cpuWaitNs: BigInt(Math.round(0.02 * busySeconds * vcpu * 1e9)),
    ramMiB: ram_mib,
    ramUsedMiB: has_agent ? Math.round(ram_mib * (0.35 + 0.15 * Math.cos(angle))) : null,
    diskReadBytes: BigInt(200_000_000 + Math.round(seconds * 4_000)),
    diskWrittenBytes: BigInt(50_000_000 + Math.round(seconds * 12_000)),
    diskRequests: BigInt(20_000 + Math.round(seconds * 4)),
    diskNs: BigInt((20_000 + Math.round(seconds * 4)) * 800_000),
    receivedBytes: received,
    sentBytes: sent,
  }
}
