// Chooses the host for a VM: a pure function over the host rows, with a reason for every rejected host.
import { TEN_GIGABIT, type HostRow } from './sql.ts'

export interface Need {
  vcpu: number
  ramMiB: number
  /** On the host; 0 where the disk is in a storage backend. */
  diskGiB: number
  /** What the disk is made from. */
  copy?: CopyNeed
  /** The architecture of the image. */
  arch: string
  /** Only a host with such a card will do. */
  network10g: boolean
  /** Only a host whose card is as fast will do, or one of unknown speed; 0 where no speed was bought. */
  boughtMbps: number
  /** Such a host is only preferred: for a VM that has lost its own. */
  isSpeedOptional?: boolean
  /** Without one, only a host that has IPv6 addresses will do. */
  publicIpv4: boolean
  /** Of its placement group, if it has one. */
  rule?: PlacementRule | null
  /** Hosts that are chosen only where no other fits: those with backups of the VM. */
  avoid?: ReadonlySet<string>
}

export interface PlacementRule {
  policy: 'SPREAD' | 'STRICT_SPREAD' | 'TOGETHER'
  /** How many other VMs of the group are on which host. */
  vmsByHost: ReadonlyMap<string, number>
}

/** A copy that is brought to the host for a time, unless it is there. */
export interface CopyNeed {
  gib: number
  storedOn: string | null
}

export const copyGiBOn = (hostId: string, copy: CopyNeed | undefined): number => (copy && copy.storedOn !== hostId ? copy.gib : 0)

export type Rejection =
  | 'full'
  | 'in maintenance'
  | 'unreachable'
  | 'of another architecture'
  | 'without a 10G card'
  | 'without a network card for this speed'
  | 'without IPv6 addresses'
  | 'with a VM of its placement group'

export interface HostRanking {
  /** Hosts that fit, best first. */
  fitting: HostRow[]
  rejected: Map<Rejection, number>
}

/** `withIpv6`: ids of the hosts that have IPv6 addresses. */
export function rankHosts(hosts: HostRow[], need: Need, withIpv6: ReadonlySet<string> = new Set()): HostRanking {
  const rejected = new Map<Rejection, number>()
  const fitting = hosts.filter((host) => {
    const reason = need.publicIpv4 || withIpv6.has(host.id) ? rejection(host, need) : 'without IPv6 addresses'
    if (reason) rejected.set(reason, (rejected.get(reason) ?? 0) + 1)
    return !reason
  })
  return { fitting: fitting.sort((a, b) => compareHosts(a, b, need) || share(a, need) - share(b, need)), rejected }
}

/** Below 0: the first is better, whatever room each has. */
const compareHosts = (a: HostRow, b: HostRow, need: Need): number =>
  Number(need.avoid?.has(a.id) ?? false) - Number(need.avoid?.has(b.id) ?? false) ||
  Number(isTooSlow(a, need)) - Number(isTooSlow(b, need)) ||
  preference(a, need) - preference(b, need)

const isTooSlow = (host: HostRow, need: Need): boolean => lacks10g(host, need) || !carries(host, need.boughtMbps)

const lacks10g = (host: HostRow, { network10g }: Need): boolean => network10g && !has10g(host)

function rejection(host: HostRow, need: Need): Rejection | null {
  if (!supportsArch(host, need.arch)) return 'of another architecture'
  if (!need.isSpeedOptional && lacks10g(host, need)) return 'without a 10G card'
  if (!need.isSpeedOptional && !carries(host, need.boughtMbps)) return 'without a network card for this speed'
  if (host.maintenance) return 'in maintenance'
  if (host.unreachable_since) return 'unreachable'
  if (need.rule?.policy === 'STRICT_SPREAD' && need.rule.vmsByHost.has(host.id)) return 'with a VM of its placement group'
  return hasRoom(host, need) ? null : 'full'
}

/** By its placement group; lower is better. */
function preference({ id }: HostRow, { rule }: Need): number {
  const others = rule?.vmsByHost.get(id) ?? 0
  return rule?.policy === 'TOGETHER' ? -others : others
}

/** A simulated host has no architecture of its own. */
export const supportsArch = (host: Pick<HostRow, 'arch'>, arch: string): boolean => host.arch === null || host.arch === arch

export const has10g = ({ uplink_mbps }: Pick<HostRow, 'uplink_mbps'>): boolean => (uplink_mbps ?? 0) >= TEN_GIGABIT

/** A card of unknown speed is trusted. */
export const carries = ({ uplink_mbps }: Pick<HostRow, 'uplink_mbps'>, mbps: number): boolean => uplink_mbps === null || uplink_mbps >= mbps

function hasRoom(host: HostRow, need: Need): boolean {
  const copyGiB = copyGiBOn(host.id, need.copy)
  return (
    host.vcpu_used + need.vcpu <= host.vcpu_total * host.vcpu_overcommit &&
    host.ram_used_mib + need.ramMiB <= host.ram_total_mib &&
    (need.diskGiB <= 0 || hasDiskRoom(host, need.diskGiB)) &&
    (copyGiB === 0 || hasRoomForATime(host, need.diskGiB + copyGiB))
  )
}

type DiskOf = Pick<HostRow, 'disk_used_gib' | 'disk_total_gib' | 'disk_reserve_gib' | 'disk_free_gib'>

/** Below the reserve nothing new is written: what is booked counts, and what the host has measured. */
export const hasDiskRoom = (host: DiskOf, gib: number): boolean => bookableGiB(host) >= gib && measuredRoomGiB(host) >= 0

/** The same rule as in capacity.ts: what a restore takes for a time is taken from what is free above the reserve. */
const hasRoomForATime = (
  { disk_used_gib, disk_total_gib, disk_free_gib, disk_reserve_gib, disk_restoring_gib }: HostRow,
  gib: number,
): boolean => (disk_free_gib === null ? disk_total_gib - disk_used_gib : disk_free_gib - disk_reserve_gib - disk_restoring_gib) >= gib

/** How much more can be written: the less of what can be booked and what the host has measured. Negative below the reserve. */
export const aboveReserveGiB = (host: DiskOf): number => Math.min(bookableGiB(host), measuredRoomGiB(host))

const bookableGiB = ({ disk_used_gib, disk_total_gib, disk_reserve_gib }: DiskOf): number =>
  disk_total_gib - disk_reserve_gib - disk_used_gib

const measuredRoomGiB = ({ disk_free_gib, disk_total_gib, disk_reserve_gib }: DiskOf): number =>
  (disk_free_gib ?? disk_total_gib) - disk_reserve_gib

/** Utilisation of the host's scarcest resource after placement; lower is better. */
const share = (host: HostRow, need: Need): number =>
  Math.max((host.ram_used_mib + need.ramMiB) / host.ram_total_mib, (host.disk_used_gib + need.diskGiB) / host.disk_total_gib)

/** "No capacity in fra1 for 4 GiB RAM and 80 GiB disk: 3 hosts checked, 2 full, 1 in maintenance" */
export function noCapacity(regionSlug: string, need: Need, checked: number, rejected: Map<Rejection, number>): string {
  const reasons = [...rejected].map(([reason, count]) => `${count} ${reason}`)
  const size = need.ramMiB % 1024 === 0 ? `${need.ramMiB / 1024} GiB` : `${need.ramMiB} MiB`
  const disk = need.diskGiB > 0 ? ` and ${need.diskGiB} GiB disk` : ''
  const copy = need.copy ? ` with ${need.copy.gib} GiB for a time for the copy it is made from` : ''
  const advice = rejected.has('with a VM of its placement group')
    ? '. A STRICT_SPREAD group has one VM on a host at most: choose a SPREAD group, or another region'
    : ''
  return `No capacity in ${regionSlug} for ${size} RAM${disk}${copy}: ${[`${checked} host${checked === 1 ? '' : 's'} checked`, ...reasons].join(', ')}${advice}`
}
