// What this process last saw of the counters of each host. The counters of a guest that switches itself off, or crashes, are gone with its interface:
// libvirt keeps neither. So of machines that have ended, what was last seen counts. All are read once a minute, without a write for those that moved
// little since they were counted; those that are busy, have ended lately or have an open action every few seconds, so that nobody gets more than one short
// life uncounted.
import type { Driver, NicCounters } from '../../hypervisor/driver.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { countRead, type CountDeps } from './metering.ts'
import { nextTick, vmsInAction } from './sql.ts'

/** Of a minute: from here on a VM is busy. */
const BUSY_BYTES = 60_000_000n
/** Less than this may wait to be counted, but not for long. */
const LITTLE_BYTES = 10_000_000n
const COUNT_EVERY_MS = parseDurationMs('15m')
const SUSPECT_MS = parseDurationMs('24h')

interface Seen {
  sample: NicCounters
  /** Of the reading. */
  tick: bigint
  /** What of it was counted last, and when. */
  counted: { bytes: bigint; at: number } | null
}

interface HostLooks {
  /** By interface. */
  seen: Map<string, Seen>
  /** VMs that are looked at often. */
  watched: Set<string>
}

const hosts = new WeakMap<Driver, HostLooks>()

function looksOf(driver: Driver): HostLooks {
  const looks = hosts.get(driver) ?? { seen: new Map(), watched: new Set() }
  hosts.set(driver, looks)
  return looks
}

interface FleetLooks {
  /** VMs whose machine has ended, on whatever host, and when that was seen. */
  suspects: Map<string, number>
  /** Hosts with VMs that are looked at often. */
  watchedHosts: Set<string>
  /** By host: VMs with an open action, which may move them. */
  inAction: Map<string, string[]>
}

const fleets = new WeakMap<CountDeps['db'], FleetLooks>()

function fleetOf({ db }: Pick<CountDeps, 'db'>): FleetLooks {
  const fleet = fleets.get(db) ?? { suspects: new Map(), watchedHosts: new Set(), inAction: new Map() }
  fleets.set(db, fleet)
  return fleet
}

/** Hosts with somebody to look at. */
export async function findWatchedHosts(deps: Pick<CountDeps, 'db'>): Promise<string[]> {
  const fleet = fleetOf(deps)
  fleet.inAction = new Map()
  for (const { host_id, id } of await vmsInAction(deps.db)) fleet.inAction.set(host_id, [...(fleet.inAction.get(host_id) ?? []), id])
  return [...new Set([...fleet.watchedHosts, ...fleet.inAction.keys()])]
}

const keyOf = ({ vmId, mac }: NicCounters): string => `${vmId} ${mac}`
const bytesOf = ({ receivedBytes, sentBytes }: NicCounters): bigint => receivedBytes + sentBytes

/** Whether the little counts too that has moved, and those are looked at who are idle. */
type Thoroughness = 'thorough' | 'thrifty'

/** Counts what has moved since it was counted, and what machines that have ended were last seen with. */
export async function meterHost(deps: CountDeps, driver: Driver, how: Thoroughness, signal: AbortSignal): Promise<void> {
  const [looks, fleet] = [looksOf(driver), fleetOf(deps)]
  const before = new Map(looks.seen)
  const tick = await look(deps, driver, 'all', signal)
  const now = deps.clock.now().getTime()
  for (const [vmId, since] of fleet.suspects) if (now - since > SUSPECT_MS) fleet.suspects.delete(vmId)
  looks.watched.clear()
  const due: Seen[] = []
  for (const [key, each] of looks.seen) {
    const { sample, counted } = each
    const [bytes, last] = [bytesOf(sample), before.get(key)]
    const isBusy = last !== undefined && bytes - bytesOf(last.sample) >= BUSY_BYTES
    if (isBusy || fleet.suspects.has(sample.vmId)) looks.watched.add(sample.vmId)
    if (how === 'thorough' || !counted || bytes - counted.bytes >= LITTLE_BYTES || now - counted.at >= COUNT_EVERY_MS) due.push(each)
  }
  if (looks.watched.size > 0) fleet.watchedHosts.add(driver.hostId)
  else fleet.watchedHosts.delete(driver.hostId)
  const read = due.map(({ sample }) => sample)
  await countRead(deps, driver.hostId, tick, read)
  for (const each of due) each.counted = { bytes: bytesOf(each.sample), at: now }
}

/** Looks at those of which much could be lost. */
export async function watchHost(deps: CountDeps, driver: Driver, how: Thoroughness, signal: AbortSignal): Promise<void> {
  const which = new Set([...looksOf(driver).watched, ...(fleetOf(deps).inAction.get(driver.hostId) ?? [])])
  await look(deps, driver, how === 'thorough' ? 'all' : which, signal)
}

async function look(deps: CountDeps, driver: Driver, which: ReadonlySet<string> | 'all', signal: AbortSignal): Promise<bigint> {
  const [{ seen }, { suspects }] = [looksOf(driver), fleetOf(deps)]
  const tick = await nextTick(deps.db)
  const found = new Map<string, NicCounters>()
  for await (const sample of driver.counters(which === 'all' ? 'all' : [...which], signal)) found.set(keyOf(sample), sample)
  const isGone = (key: string, { vmId, epoch }: NicCounters): boolean =>
    (which === 'all' || which.has(vmId)) && found.get(key)?.epoch !== epoch
  const ended = [...seen].filter(([key, { sample }]) => isGone(key, sample))
  for (const [seenAt, each] of Map.groupBy(ended, ([, last]) => last.tick)) {
    const samples = each.map(([, { sample }]) => sample)
    await countRead(deps, driver.hostId, seenAt, samples)
  }
  for (const [key, { sample }] of ended) {
    seen.delete(key)
    suspects.set(sample.vmId, deps.clock.now().getTime())
  }
  for (const [key, sample] of found) seen.set(key, { sample, tick, counted: seen.get(key)?.counted ?? null })
  return tick
}
