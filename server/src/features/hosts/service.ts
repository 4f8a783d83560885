import type { Config } from '../../config.ts'
import { DriverError } from '../../hypervisor/driver.ts'
import { LOCAL_CONTROLLER } from '../../hypervisor/network-controller-address.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { CatalogHost } from '../catalog/seed.ts'
import { getRegion, type RegionRow } from '../catalog/service.ts'
import { joinLibvirtRegion, joinSimulatedRegion } from './registration.ts'
import type { Node } from './schema.ts'
import { carries, has10g } from './placement.ts'
import * as sql from './sql.ts'

export * from './host-call.ts'
export {
  BUNDLE_PATH,
  bundleIdOf,
  createEnrollment,
  endOf,
  isBundleToken,
  listEnrollments,
  type ListedEnrollment,
  openBundle,
  prepareEnrollment,
  revokeEnrollment,
  stateOf as enrollmentStateOf,
} from './enrollments.ts'
export { certificatesOf, chassisOf, type CertificateRow, type ChassisRow } from './identity.sql.ts'
export { addSimulatedHost } from './simulated-hosts.ts'
export {
  APPLY_CPUS,
  changeHost,
  changeNetworkController,
  countHostResources,
  rangesInUse,
  registerHost,
  removeHost,
  type Registration,
} from './registration.ts'
export { syncDriverPool } from './driver-pool-sync.ts'
export { imageNeedsOf, oversoldBy, PROVE, readRoom, type RegionRoom, releaseCapacity, reserveCapacity, toCapacity } from './capacity.ts'
export { countPins, cpuSetOf, freeCpusIn, pickNode } from './cpus.ts'
export {
  aboveReserveGiB,
  carries,
  findLacking,
  has10g,
  hasDiskRoom,
  describeRejected,
  rankHosts,
  findMissingGuestType,
  guestNeed,
  imageGiBOn,
  imagesFor,
  type ImageNeed,
  type Need,
  type PlacementRule,
} from './placement.ts'
export type { HostRow } from './sql.ts'
export { requireIpv6 } from './ipv6-ranges.ts'
export {
  addPool,
  findOverlappingPool,
  listPools,
  listRanges,
  publicNetworkSpec,
  removePool,
  RESOLVERS,
  SNAT_GATEWAY,
  SNAT_RANGE,
  type ListedPool,
} from './public-addresses.ts'

export const listHosts = sql.listHosts
export const findHost = sql.findHost
export const {
  drainedHosts,
  findHostIdIn,
  hostsWithChangedCpus,
  listHostsAndDestroyed,
  listHostsIn,
  markCpusApplied,
  markFenced,
  markLost,
  markUnfenced,
  regionsWithHosts,
} = sql
export { clientsOf, guestsOn, imageOwnersOn, isSilent, lostSince, pathsOf, recordClients, sharedAddresses, type HostPath } from './paths.ts'
export { changePower, openPower, requirePower, requireSystem } from './power.ts'

/** The driver pool asks by it: nothing is sent to a destroyed host, whose address another machine may have by now. */
export async function findHostToCall(db: Queries, id: string): Promise<sql.HostRow | undefined> {
  const host = await sql.findHost(db, id)
  if (!host?.lost_at) return host
  throw new DriverError('permanent', `Host ${host.name} was declared destroyed`, { userMessage: 'The host of this VM was destroyed.' })
}

const SETTLING_MS = 30_000

/** Whether the host is reachable. One that has just come back has time to settle, until libvirt has found its machines again. One that was fenced is
 *  cleaned first. */
export const isStable = (host: sql.HostRow, now: Date): boolean => host.fenced_at === null && isBack(host, now)

/** Of a host that was fenced too. */
export const isBack = ({ unreachable_since, reachable_since }: sql.HostRow, now: Date): boolean =>
  unreachable_since === null && (reachable_since === null || now.getTime() - reachable_since.getTime() >= SETTLING_MS)

/** Longer than a host reboot takes. */
const LOST_AFTER_MS = 5 * 60_000

/** Whether a host counts as lost: its VMs may be evacuated, or deleted without calling it. */
export async function isHostLost(db: Queries, hostId: string, now: Date): Promise<boolean> {
  const { unreachable_since, removed_at, lost_at } = await getHost(db, hostId)
  if (lost_at !== null) return true
  return removed_at === null && unreachable_since !== null && now.getTime() - unreachable_since.getTime() >= LOST_AFTER_MS
}

export async function getHost(db: Queries, idOrName: string): Promise<sql.HostRow> {
  const row = await sql.findHost(db, idOrName)
  if (!row) throw notFound('Host')
  return row
}

/** Full hosts and hosts in maintenance count: whether there is room is decided at placement. */
export async function require10g(db: Queries, region: RegionRow): Promise<void> {
  if (!(await sql.listHostsIn(db, region.id)).some(has10g))
    throw apiError('unavailable', `10G is not available in ${region.slug}: no host there has such a network card`)
}

export async function requireSpeed(db: Queries, region: RegionRow, mbps: number): Promise<void> {
  if (!(await sql.listHostsIn(db, region.id)).some((host) => carries(host, mbps)))
    throw apiError(
      'unavailable',
      `A networkSpeed of ${mbps} Mbit/s is not available in ${region.slug}: no host there has such a network card`,
    )
}

/** The public API's view of a region's hosts. */
export async function listNodes(db: Queries, regionId: string): Promise<Node[]> {
  const region = await getRegion(db, regionId)
  const hosts = await sql.listHostsIn(db, region.id)
  return hosts.map(({ id, name, maintenance }) => ({ id, name, available: region.available && !maintenance }))
}

/**
 * Adds hosts of the catalog file that do not exist yet. This machine (`auto`) is seeded only while it is simulated: a real host is
 * registered with its measured capacity once it is prepared.
 */
export async function seedHosts(tx: Tx, now: Date, hosts: CatalogHost[], hypervisor: Config['hypervisor']): Promise<void> {
  for (const host of hosts) {
    if (host.driver === 'auto' && hypervisor !== 'simulated') continue
    const region = await getRegion(tx, host.region)
    const driver = host.driver === 'auto' ? 'simulated' : host.driver
    if (await sql.findHost(tx, host.name)) continue
    if (driver === 'simulated') await joinSimulatedRegion(tx, region)
    else await joinLibvirtRegion(tx, region, region.network_controller ?? LOCAL_CONTROLLER)
    await sql.insertHost(tx, {
      id: newId(),
      region_id: region.id,
      name: host.name,
      hostname: host.name,
      driver,
      uri: host.uri || `simulated:///?vcpu=${host.vcpu}&ramMiB=${host.ram}&diskGiB=${host.disk}`,
      vcpu_total: host.vcpu,
      ram_total_mib: host.ram,
      disk_total_gib: host.disk,
      created_at: now,
    })
  }
}
