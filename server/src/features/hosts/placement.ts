// Chooses the host for a VM: a pure function over the host rows, with a reason for every rejected host.
import type { ApiError } from '../../kernel/errors.ts'
import { noCapacityError, type Missing } from '../../kernel/no-capacity.ts'
import { pickNode } from './cpus.ts'
import { TEN_GIGABIT, type HostRow } from './sql.ts'
import { counted } from '../../kernel/counted.ts'

export interface Need {
  vcpu: number
  /** The VM whose vCPUs get dedicated CPUs of the host, all of one NUMA node. */
  dedicatedFor?: string
  ramMiB: number
  /** On the host; 0 where the disk is in a storage backend. */
  diskGiB: number
  /** What the disk is made from. */
  copy?: CopyNeed
  /** Of accounts: what its disk is a layer on, and what is in its drive. */
  images?: readonly ImageNeed[]
  /** The architecture of the image. */
  arch: string
  /** What its guests need of a host beside the architecture, such as `x86_64:tpm`. */
  guestTypes?: readonly string[]
  /** Of its plan: only a host with all of them will do. */
  traits?: readonly string[]
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
  /** What else is sold in the region: its room is taken last. */
  forSale?: ForSale
}

export interface ForSale {
  /** Of all plans; undefined where none is sold. */
  largest?: LargestSize
  /** That some plan needs. */
  traits: readonly string[]
}

type LargestSize = Pick<Need, 'vcpu' | 'ramMiB' | 'diskGiB'>

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

/** On a host once, for all VMs there. */
export interface ImageNeed {
  id: string
  gib: number
  /** Hosts that have it. */
  on: ReadonlySet<string>
}

/** The images that are brought to the host. */
export const imagesFor = (hostId: string, { images = [] }: Pick<Need, 'images'>): ImageNeed[] => images.filter(({ on }) => !on.has(hostId))

export const imageGiBOn = (hostId: string, need: Pick<Need, 'images'>): number =>
  imagesFor(hostId, need).reduce((sum, { gib }) => sum + gib, 0)

export type Resource = 'vCPU' | 'RAM' | 'disk' | 'dedicated CPUs'

export type Rejection =
  | 'full'
  | 'in maintenance'
  | 'unreachable'
  | `of another architecture than ${string}`
  | 'without a 10G card'
  | 'without a network card for this speed'
  | 'without IPv6 addresses'
  | 'with a VM of its placement group'
  | `without ${string}`

export interface HostRanking {
  /** Hosts that fit, best first. */
  fitting: HostRow[]
  rejected: Map<Rejection, number>
  /** What those that are full have too little of. */
  lacking: Set<Resource>
}

/** What the rows of hosts do not say. */
export interface PlacementFacts {
  /** Ids of the hosts that have IPv6 addresses; asked where a VM has no IPv4 address. */
  withIpv6?: ReadonlySet<string>
  /** Dedicated CPUs that no VM has, by host and NUMA node; asked where a VM needs them. */
  freeCpus?: ReadonlyMap<string, ReadonlyMap<number, readonly unknown[]>>
}

/** The scheduler. Everything that places a VM asks it: create, rebuild, migration, drain, balance, recovery and restore. It reads nothing and changes nothing. */
export function rankHosts(hosts: readonly HostRow[], need: Need, facts: PlacementFacts = {}): HostRanking {
  const rejected = new Map<Rejection, number>()
  const lacking = new Set<Resource>()
  const fitting: Ranked[] = []
  for (const host of hosts) {
    const reason = rejection(host, need, facts, lacking)
    if (reason) rejected.set(reason, (rejected.get(reason) ?? 0) + 1)
    else fitting.push(rank(host, need))
  }
  return { fitting: fitting.sort(compareRanks).map(({ host }) => host), rejected, lacking }
}

/**
 * Hosts for several VMs that are placed at the same time, in the order of the needs: each is chosen as if those before it were there already. What stands in the way of
 * the first that has none, where there is one.
 */
export function chooseHosts(
  all: readonly HostRow[],
  needs: readonly Need[],
  { freeCpus, ...facts }: PlacementFacts,
): HostRow[] | HostRanking {
  const hosts = new Map(all.map((host) => [host.id, host]))
  const free = new Map(freeCpus)
  const together = new Map<string, number>()
  const chosen: HostRow[] = []
  for (const { rule, ...need } of needs) {
    const vmsByHost = new Map(rule?.vmsByHost)
    for (const [id, vms] of together) vmsByHost.set(id, vms + (vmsByHost.get(id) ?? 0))
    const ranking = rankHosts([...hosts.values()], { ...need, ...(rule && { rule: { ...rule, vmsByHost } }) }, { ...facts, freeCpus: free })
    const [best] = ranking.fitting
    if (!best) return ranking
    chosen.push(best)
    hosts.set(best.id, withVm(best, need))
    together.set(best.id, 1 + (together.get(best.id) ?? 0))
    if (need.dedicatedFor !== undefined) free.set(best.id, withoutCpus(free.get(best.id)!, need.vcpu))
  }
  return chosen
}

function withVm(host: HostRow, need: Need): HostRow {
  const copyGiB = copyGiBOn(host.id, need.copy)
  return {
    ...host,
    vcpu_used: host.vcpu_used + (need.dedicatedFor === undefined ? need.vcpu : 0),
    ram_used_mib: host.ram_used_mib + need.ramMiB,
    disk_used_gib: host.disk_used_gib + need.diskGiB + copyGiB,
    disk_restoring_gib: host.disk_restoring_gib + copyGiB,
  }
}

function withoutCpus(free: ReadonlyMap<number, readonly unknown[]>, count: number): Map<number, readonly unknown[]> {
  const node = pickNode(free, count)!
  return new Map(free).set(node, free.get(node)!.slice(count))
}

/** In the order in which they count; lower is better. */
interface Ranked {
  host: HostRow
  isForeign: number
  isAvoided: number
  isTooSlow: number
  /** By its placement group. */
  preference: number
  isKept: number
  load: number
}

const rank = (host: HostRow, need: Need): Ranked => ({
  host,
  isForeign: isForeign(host, need) ? 1 : 0,
  isAvoided: need.avoid?.has(host.id) ? 1 : 0,
  isTooSlow: isTooSlow(host, need) ? 1 : 0,
  preference: preference(host, need),
  isKept: isKept(host, need) ? 1 : 0,
  load: rankLoad(host, need),
})

const compareRanks = (a: Ranked, b: Ranked): number =>
  a.isForeign - b.isForeign ||
  a.isAvoided - b.isAvoided ||
  a.isTooSlow - b.isTooSlow ||
  a.preference - b.preference ||
  a.isKept - b.isKept ||
  a.load - b.load

/**
 * Hosts that keep room for the largest plan come first, the least loaded of them before the others: VMs are spread. Then those that had none before, the fullest first, and last
 * those that would lose it. A host that is too small for the largest plan has none to lose.
 */
function rankLoad(host: HostRow, need: Need): number {
  const load = loadWith(host, need)
  const largest = need.forSale?.largest
  if (!largest || !isLargeEnough(host, largest) || hasRoomFor(host, addSizes(largest, need))) return load
  return (hasRoomFor(host, largest) ? 4 : 2) - load
}

const hasRoomFor = (host: HostRow, { vcpu, ramMiB, diskGiB }: LargestSize): boolean =>
  host.vcpu_used + vcpu <= host.vcpu_sellable &&
  host.ram_used_mib + ramMiB <= host.ram_sellable_mib &&
  host.disk_used_gib + diskGiB <= host.disk_total_gib - host.disk_reserve_gib

const isLargeEnough = (host: HostRow, { vcpu, ramMiB, diskGiB }: LargestSize): boolean =>
  vcpu <= host.vcpu_sellable && ramMiB <= host.ram_sellable_mib && diskGiB <= host.disk_total_gib - host.disk_reserve_gib

const addSizes = (a: LargestSize, need: Need): LargestSize => ({
  vcpu: a.vcpu + (need.dedicatedFor === undefined ? need.vcpu : 0),
  ramMiB: a.ramMiB + need.ramMiB,
  diskGiB: a.diskGiB + need.diskGiB,
})

/** It has what other plans need and this VM does not. */
const isKept = (host: HostRow, { forSale, traits = [], dedicatedFor }: Need): boolean =>
  forSale?.traits.some(
    (trait) => host.all_traits.includes(trait) && !traits.includes(trait) && !(trait === 'dedicated-cpu' && dedicatedFor !== undefined),
  ) ?? false

/** Utilisation of the host's scarcest resource after placement. */
const loadWith = (host: HostRow, need: Need): number =>
  Math.max(
    need.dedicatedFor === undefined && need.vcpu > 0 ? (host.vcpu_used + need.vcpu) / host.vcpu_sellable : 0,
    (host.ram_used_mib + need.ramMiB) / host.ram_sellable_mib,
    (host.disk_used_gib + need.diskGiB) / host.disk_total_gib,
  )

const isTooSlow = (host: HostRow, need: Need): boolean => lacks10g(host, need) || !carries(host, need.boughtMbps)

const lacks10g = (host: HostRow, { network10g }: Need): boolean => network10g && !has10g(host)

function rejection(host: HostRow, need: Need, facts: PlacementFacts, lacking: Set<Resource>): Rejection | null {
  if (!need.publicIpv4 && !facts.withIpv6?.has(host.id)) return 'without IPv6 addresses'
  const type = findMissingGuestType(host, need)
  if (type !== undefined) return type === need.arch ? `of another architecture than ${type}` : `without ${type}`
  if (!need.isSpeedOptional && lacks10g(host, need)) return 'without a 10G card'
  if (!need.isSpeedOptional && !carries(host, need.boughtMbps)) return 'without a network card for this speed'
  const trait = need.traits?.find((each) => !host.all_traits.includes(each) || (each === 'kvm' && isForeign(host, need)))
  if (trait !== undefined) return `without ${trait}`
  if (host.maintenance) return 'in maintenance'
  if (host.unreachable_since) return 'unreachable'
  if (need.rule?.policy === 'STRICT_SPREAD' && need.rule.vmsByHost.has(host.id)) return 'with a VM of its placement group'
  return isFull(host, need, facts, lacking) ? 'full' : null
}

/** By its placement group; lower is better. */
function preference({ id }: HostRow, { rule }: Need): number {
  const others = rule?.vmsByHost.get(id) ?? 0
  return rule?.policy === 'TOGETHER' ? -others : others
}

/** A simulated host has no architecture of its own; others emulate what they have an emulator for. */
export const findMissingGuestType = (
  host: Pick<HostRow, 'arch' | 'guest_types'>,
  { arch, guestTypes = [] }: GuestNeed,
): string | undefined =>
  host.arch === null ? undefined : [arch, ...guestTypes].find((type) => type !== host.arch && !host.guest_types?.includes(type))

type GuestNeed = Pick<Need, 'arch' | 'guestTypes'>

export const guestNeed = (template: { arch: string; guest_types: string[] }): GuestNeed => ({
  arch: template.arch,
  guestTypes: template.guest_types,
})

/** It would emulate the guest, whatever acceleration it has for those of its own architecture. */
const isForeign = (host: HostRow, { arch }: Need): boolean => host.arch !== null && host.arch !== arch

export const has10g = ({ uplink_mbps }: Pick<HostRow, 'uplink_mbps'>): boolean => (uplink_mbps ?? 0) >= TEN_GIGABIT

/** A card of unknown speed is trusted. */
export const carries = ({ uplink_mbps }: Pick<HostRow, 'uplink_mbps'>, mbps: number): boolean => uplink_mbps === null || uplink_mbps >= mbps

function isFull(host: HostRow, need: Need, { freeCpus }: PlacementFacts, lacking: Set<Resource>): boolean {
  const copyGiB = copyGiBOn(host.id, need.copy)
  let isFull = false
  const lack = (resource: Resource): void => {
    isFull = true
    lacking.add(resource)
  }
  if (need.dedicatedFor !== undefined) {
    if (pickNode(freeCpus?.get(host.id) ?? new Map(), need.vcpu) === undefined) lack('dedicated CPUs')
  } else if (host.vcpu_used + need.vcpu > host.vcpu_sellable && need.vcpu > 0) lack('vCPU')
  if (host.ram_used_mib + need.ramMiB > host.ram_sellable_mib) lack('RAM')
  const diskGiB = need.diskGiB + imageGiBOn(host.id, need)
  const hasDisk = diskGiB <= 0 || hasDiskRoom(host, diskGiB)
  if (!hasDisk || (copyGiB > 0 && !hasRoomForATime(host, need.diskGiB + copyGiB))) lack('disk')
  return isFull
}

/** Of what it has too little to take so much more, whatever else speaks against it. */
export function findLacking(
  host: HostRow,
  size: Pick<Need, 'vcpu' | 'ramMiB' | 'diskGiB' | 'dedicatedFor'>,
  facts: PlacementFacts,
): Missing[] {
  const lacking = new Set<Resource>()
  isFull(host, { ...size, arch: '', network10g: false, boughtMbps: 0, publicIpv4: true }, facts, lacking)
  const wanted: Record<Resource, number> = { vCPU: size.vcpu, 'dedicated CPUs': size.vcpu, RAM: size.ramMiB, disk: size.diskGiB }
  return [...lacking].filter((resource) => wanted[resource] > 0).map((resource) => RESOURCES[resource])
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

/** "2 full (RAM)", "1 in maintenance" */
export function describeRejected({ rejected, lacking }: Omit<HostRanking, 'fitting'>): string[] {
  const short = lacking.size > 0 ? ` (${[...lacking].join(', ')})` : ''
  return [...rejected].map(([reason, count]) => `${count} ${reason}${reason === 'full' ? short : ''}`)
}

/** "No capacity in fra1 for 4 GiB RAM and 80 GiB disk: 3 hosts checked, 2 full (RAM), 1 in maintenance" */
export function noCapacity(
  regionSlug: string,
  need: Need,
  checked: number,
  { rejected, lacking }: Omit<HostRanking, 'fitting'>,
  vms = 1,
): ApiError {
  const reasons = describeRejected({ rejected, lacking })
  const cpus =
    need.dedicatedFor !== undefined ? `${counted(need.vcpu, 'dedicated CPU')}, ` : lacking.has('vCPU') ? `${need.vcpu} vCPU, ` : ''
  const size = need.ramMiB % 1024 === 0 ? `${need.ramMiB / 1024} GiB` : `${need.ramMiB} MiB`
  const disk = need.diskGiB > 0 ? ` and ${need.diskGiB} GiB disk` : ''
  const copy = need.copy ? ` with ${need.copy.gib} GiB for a time for the copy it is made from` : ''
  const byGroup = rejected.get('with a VM of its placement group') ?? 0
  const advice =
    byGroup > 0 && byGroup === Math.max(...rejected.values())
      ? '. A STRICT_SPREAD group has one VM on a host at most, a SPREAD group more where it must'
      : ''
  const images = need.images?.length ? ` with ${need.images.reduce((sum, { gib }) => sum + gib, 0)} GiB of images` : ''
  const text = `No capacity in ${regionSlug} for ${vms > 1 ? `${vms} VMs of ` : ''}${cpus}${size} RAM${disk}${images}${copy}: ${[`${counted(checked, 'host')} checked`, ...reasons].join(', ')}${advice}`
  return noCapacityError(text, missingOf(rejected, lacking))
}

/** What would have to be there; nothing of how much there is. */
export const missingOf = (rejected: HostRanking['rejected'], lacking: HostRanking['lacking']): Missing[] => {
  const missing = [...rejected.keys()].flatMap((reason): Missing[] =>
    reason === 'full' ? [...lacking].map((resource) => RESOURCES[resource]) : [REASONS[reason] ?? missingFor(reason)],
  )
  return [...new Set(missing)]
}

const missingFor = (reason: Rejection): Missing => (reason.startsWith('of another architecture') ? 'architecture' : 'trait')

const RESOURCES: Record<Resource, Missing> = { vCPU: 'vcpu', RAM: 'ram', disk: 'disk', 'dedicated CPUs': 'dedicated_cpu' }

const REASONS: Partial<Record<Rejection, Missing>> = {
  'in maintenance': 'host',
  unreachable: 'host',
  'without a 10G card': 'network_speed',
  'without a network card for this speed': 'network_speed',
  'without IPv6 addresses': 'ipv6_address',
  'with a VM of its placement group': 'placement_group',
}
