// Probes every host. An unreachable host gets no new VMs; one that comes back has time to settle before its VMs are compared.
import type { Driver, HostFacts } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { reconciler } from '../deps.ts'
import { markPortsOfHostDirty } from '../ports/service.ts'
import { measureCapacity } from './measure-capacity.ts'
import { aboveReserveGiB, listHosts, type HostRow } from './service.ts'

/** When this process last read each host's facts; the kernel may have changed while the host was unreachable. */
const asked = new WeakMap<Driver, Date>()
const ASK_EVERY = '60s'
/** When this process last measured what each host can sell: at its start, and daily. */
const measured = new WeakMap<Driver, Date>()
const MEASURE_EVERY = '24h'

export const heartbeat = reconciler('hosts.heartbeat', '10s', async ({ db, clock, hypervisors, log, metrics }) => {
  /** Those that were reachable before, written together in the end. */
  const seen = new Map<string, Date>()
  /** Returns the host's problems, or null when it is unreachable. */
  const ask = async (host: HostRow): Promise<string[] | null> => {
    try {
      const driver = await hypervisors.get(host.id)
      const { problems } = await driver.health(AbortSignal.timeout(8_000))
      problems.push(...diskProblem(host))
      if (problems.length > 0) log.warn({ host: host.name, problems }, 'host health check reported problems')
      if (host.unreachable_since !== null) await markReachable(db, new Map([[host.id, clock.now()]]))
      else seen.set(host.id, clock.now())
      void learnFacts(host, driver)
      return problems
    } catch (error) {
      log.warn({ err: error, host: host.name }, 'host heartbeat failed; marked unreachable')
      await markUnreachable(db, host.id, clock.now())
      return null
    }
  }
  /** Runs beside the heartbeat: detecting acceleration boots a probe domain once, which takes longer than a heartbeat may. */
  const learnFacts = async (host: HostRow, driver: Driver): Promise<void> => {
    const last = asked.get(driver)
    if (host.driver === 'simulated' || (last && addDuration(last, ASK_EVERY) > clock.now())) return
    asked.set(driver, clock.now())
    try {
      const facts = await driver.facts(AbortSignal.timeout(90_000))
      await writeFacts(db, host.id, facts)
      await followHostname(db, host.id, facts.hostname)
      const measuredAt = measured.get(driver)
      if (measuredAt && addDuration(measuredAt, MEASURE_EVERY) > clock.now()) return
      await measureCapacity({ db, log }, host, driver, facts, AbortSignal.timeout(90_000))
      measured.set(driver, clock.now())
    } catch (error) {
      log.warn({ err: error, host: host.name }, 'reading host facts failed')
      asked.delete(driver)
    }
  }
  const hosts = await listHosts(db)
  const answers = await Promise.all(hosts.map(ask))
  await markReachable(db, seen)
  report(metrics, hosts, answers)
})

/** Resets the gauges first, so that removed hosts and outdated maintenance labels disappear. */
function report({ hostUp, hostProblems, hostDiskRoom, hostRoom }: Metrics, hosts: HostRow[], answers: (string[] | null)[]): void {
  hostUp.reset()
  hostProblems.reset()
  hostDiskRoom.reset()
  hostRoom.reset()
  hosts.forEach((row, i) => {
    const { name: host, maintenance } = row
    hostDiskRoom.set({ host }, aboveReserveGiB(row) / row.disk_total_gib)
    hostRoom.set({ host, resource: 'vcpu' }, 1 - row.vcpu_used / Math.max(1, row.vcpu_sellable))
    hostRoom.set({ host, resource: 'ram' }, 1 - row.ram_used_mib / row.ram_sellable_mib)
    const problems = answers[i]
    hostUp.set({ host, maintenance: String(maintenance) }, problems ? 1 : 0)
    if (problems) hostProblems.set({ host }, problems.length)
  })
}

/** Warns before the reserve is reached: what is left above it is less than a twentieth of the disk. */
function diskProblem(host: HostRow): string[] {
  const left = aboveReserveGiB(host)
  if (left > host.disk_total_gib / 20) return []
  const room = left < 0 ? 'is used up: nothing new is written' : `has ${left} GiB left before nothing new is written`
  return [
    `The disk above its reserve of ${host.disk_reserve_gib} GiB ${room}. Delete copies or VMs, add a disk, or lower the reserve with \`berthd host set --disk-reserve\``,
  ]
}

const markReachable = (db: Db, seen: Map<string, Date>) =>
  db.run(sql`
    update hosts h set last_seen_at = s.at, reachable_since = case when unreachable_since is null then reachable_since else s.at end,
      unreachable_since = null
    from unnest(${[...seen.keys()]}::text[], ${[...seen.values()]}::timestamptz[]) as s(id, at) where h.id = s.id`)

const markUnreachable = (db: Db, id: string, now: Date) =>
  db.run(sql`update hosts set unreachable_since = coalesce(unreachable_since, ${now}) where id = ${id}`)

/** ext4 reserves 5 % for root: libvirt reports it as free, but guests cannot use it. */
const usableFree = ({ diskFreeGiB, diskGiB }: HostFacts): number => Math.max(0, diskFreeGiB - Math.ceil(diskGiB / 20))

/** A link speed set by the operator stays where the host does not know its own. */
function writeFacts(db: Db, id: string, facts: HostFacts): Promise<number> {
  const { acceleration, arch, guestTypes, uplinkMbps, cpuNodes } = facts
  const free = usableFree(facts)
  return db.run(sql`
    update hosts set acceleration = ${acceleration}, arch = ${arch}, disk_free_gib = ${free}, uplink_mbps = coalesce(${uplinkMbps}, uplink_mbps),
      cpu_nodes = ${cpuNodes}, guest_types = ${guestTypes}
    where id = ${id} and (acceleration, arch, disk_free_gib, uplink_mbps, cpu_nodes, guest_types)
      is distinct from (${acceleration}, ${arch}, ${free}::int, coalesce(${uplinkMbps}, uplink_mbps), ${cpuNodes}::int[], ${guestTypes}::text[])`)
}

/** The ports of a host's VMs name it. */
export const followHostname = (db: Db, id: string, hostname: string): Promise<void> =>
  db.tx(async (tx) => {
    if (await tx.run(sql`update hosts set hostname = ${hostname} where id = ${id} and hostname <> ${hostname}`))
      await markPortsOfHostDirty(tx, id)
  })
