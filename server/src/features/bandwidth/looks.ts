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
  /** Of the last look, which drew this tick. Changed in place: nearly all of them are the same machines every minute. */
  sample: NicCounters
  tick: bigint
  bytes: bigint
  /** Since the look before. */
  moved: bigint
  /** What of it was counted last, and when. */
  counted: { bytes: bigint; at: number } | null
}

interface HostLooks {
  /** By interface. */
  seen: Map<string, Seen>
  /** Whose machine has ended, and that are not counted yet. */
  ended: Seen[]
  /** VMs that are looked at often. */
  watched: Set<string>
}

const hosts = new WeakMap<Driver, HostLooks>()

function looksOf(driver: Driver): HostLooks {
  const looks = hosts.get(driver) ?? { seen: new Map(), ended: [], watched: new Set() }
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
  const tick = await look(deps, driver, 'all', signal)
  const now = deps.clock.now().getTime()
  for (const [vmId, since] of fleet.suspects) if (now - since > SUSPECT_MS) fleet.suspects.delete(vmId)
  looks.watched.clear()
  const due: Seen[] = []
  for (const each of looks.seen.values()) {
    const { sample, bytes, counted } = each
    if (each.moved >= BUSY_BYTES || fleet.suspects.has(sample.vmId)) looks.watched.add(sample.vmId)
    if (how === 'thorough' || !counted || bytes - counted.bytes >= LITTLE_BYTES || now - counted.at >= COUNT_EVERY_MS) due.push(each)
  }
  if (looks.watched.size > 0) fleet.watchedHosts.add(driver.hostId)
  else fleet.watchedHosts.delete(driver.hostId)
  const read = due.map(({ sample, bytes }) => ({ sample: { ...sample }, bytes })) // another look may change it meanwhile
  await countRead(
    deps,
    driver.hostId,
    tick,
    read.map(({ sample }) => sample),
  )
  due.forEach((each, i) => (each.counted = { bytes: read[i]!.bytes, at: now }))
}

/** Looks at those of which much could be lost. */
export async function watchHost(deps: CountDeps, driver: Driver, how: Thoroughness, signal: AbortSignal): Promise<void> {
  const which = new Set([...looksOf(driver).watched, ...(fleetOf(deps).inAction.get(driver.hostId) ?? [])])
  await look(deps, driver, how === 'thorough' ? 'all' : which, signal)
}

async function look(deps: CountDeps, driver: Driver, which: ReadonlySet<string> | 'all', signal: AbortSignal): Promise<bigint> {
  const looks = looksOf(driver)
  const tick = await nextTick(deps.db)
  for await (const sample of driver.counters(which === 'all' ? 'all' : [...which], signal)) note(looks, sample, tick)
  for (const [key, each] of looks.seen) {
    // One with a later tick was seen by another look meanwhile.
    if (each.tick >= tick || (which !== 'all' && !which.has(each.sample.vmId))) continue
    looks.ended.push(each)
    looks.seen.delete(key)
  }
  await countEnded(deps, driver)
  return tick
}

function note({ seen, ended }: HostLooks, sample: NicCounters, tick: bigint): void {
  const key = keyOf(sample)
  const known = seen.get(key)
  if (known && known.tick > tick) return
  const bytes = bytesOf(sample)
  if (known?.sample.epoch !== sample.epoch) {
    if (known) ended.push(known)
    seen.set(key, { sample, tick, bytes, moved: 0n, counted: null })
    return
  }
  known.sample.receivedBytes = sample.receivedBytes
  known.sample.sentBytes = sample.sentBytes
  known.moved = bytes - known.bytes
  known.bytes = bytes
  known.tick = tick
}

/** Of a machine that has ended, what was last seen counts. */
async function countEnded(deps: CountDeps, driver: Driver): Promise<void> {
  const { ended } = looksOf(driver)
  const mine = ended.splice(0)
  try {
    for (const [seenAt, each] of Map.groupBy(mine, ({ tick }) => tick)) {
      const samples = each.map(({ sample }) => sample)
      await countRead(deps, driver.hostId, seenAt, samples)
    }
  } catch (error) {
    ended.push(...mine) // until it works: what is counted already counts no more
    throw error
  }
  for (const { sample } of mine) fleetOf(deps).suspects.set(sample.vmId, deps.clock.now().getTime())
}
