// Plans which VMs move where, to empty a host or to level the load of a region: pure functions of hosts, VMs and placement groups. Each move is
// planned on what the moves before it have left. A drain takes O(VMs × hosts), a proposal of a balance O(VMs of one host × hosts).
import {
  describeRejected,
  imageGiBOn,
  imagesFor,
  pickNode,
  rankHosts,
  type HostRow,
  type ImageNeed,
  type Need,
  type PlacementRule,
} from '../hosts/service.ts'

export interface FleetVm {
  id: string
  name: string
  hostId: string
  need: Omit<Need, 'rule'>
  groupId: string | null
  /** Hosts that it cannot go to. */
  never: ReadonlySet<string>
  /** What a migration sends: of memory where it runs, of its disk where that is on the host. */
  bytes: number
}

export interface FleetGroup {
  name: string
  policy: PlacementRule['policy']
  /** How many VMs of it are on which host, or on their way to it. */
  vmsByHost: ReadonlyMap<string, number>
}

export interface Fleet {
  hosts: HostRow[]
  vms: FleetVm[]
  groups: ReadonlyMap<string, FleetGroup>
  withIpv6: ReadonlySet<string>
  /** Dedicated ones that no VM has, by host and NUMA node. */
  freeCpus: ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>
  /** Whether machines of one host can run on the other. */
  isPair: (source: HostRow, host: HostRow) => boolean
}

export interface PlannedMove {
  vm: FleetVm
  to: HostRow
  /** The destination stores backups of the VM: there was no other. */
  isOnBackups: boolean
}

export interface PlannedStay {
  vm: FleetVm
  reason: string
}

export interface DrainPlan {
  moves: PlannedMove[]
  stays: PlannedStay[]
}

/** Where VMs would go, by spreading them; where some then find no room, by filling the fullest hosts first, if that leaves fewer behind. */
export function planDrain(fleet: Fleet, source: HostRow, vms: FleetVm[]): DrainPlan {
  const spread = placeAll(fleet, source, vms, 'emptiest')
  if (spread.stays.length === 0) return spread
  const packed = placeAll(fleet, source, vms, 'fullest')
  return packed.stays.length < spread.stays.length ? packed : spread
}

/** Those with fewest choices first: of strict groups, then by size. */
function placeAll(fleet: Fleet, source: HostRow, vms: FleetVm[], prefer: 'emptiest' | 'fullest'): DrainPlan {
  const state = new Occupancy(fleet)
  const isStrict = ({ groupId }: FleetVm): number => Number(groupId !== null && fleet.groups.get(groupId)?.policy === 'STRICT_SPREAD')
  const plan: DrainPlan = { moves: [], stays: [] }
  for (const vm of vms.toSorted((a, b) => isStrict(b) - isStrict(a) || b.need.ramMiB - a.need.ramMiB || (a.id < b.id ? -1 : 1))) {
    const { fitting, reason } = state.rank(vm, source)
    const [first] = fitting
    if (!first) {
      plan.stays.push({ vm, reason })
      continue
    }
    const isOnBackups = isAvoided(vm, first)
    const to = prefer === 'emptiest' ? first : fitting.findLast((host) => isAvoided(vm, host) === isOnBackups)!
    state.move(vm, to)
    plan.moves.push({ vm, to, isOnBackups })
  }
  return plan
}

const isAvoided = ({ need }: FleetVm, { id }: HostRow): boolean => need.avoid?.has(id) ?? false

export interface BalanceLimits {
  maxMoves: number
  /** Between the loads of two hosts: below it nothing is moved from one to the other. */
  minGap: number
}

/**
 * Moves from the fullest hosts, each the one that lowers the load of the fuller of its two hosts most. None brings a VM to its backups, or
 * further from what its placement group asks for. No VM moves twice.
 */
export function planBalance(fleet: Fleet, { maxMoves, minGap }: BalanceLimits): PlannedMove[] {
  const state = new Occupancy(fleet)
  const moves: PlannedMove[] = []
  const left = Map.groupBy(fleet.vms, ({ hostId }) => hostId)
  while (moves.length < maxMoves) {
    const best = bestMove(state, left, minGap)
    if (!best) break
    const { vm, to } = best
    state.move(vm, to)
    state.leave(vm)
    moves.push({ vm, to, isOnBackups: false })
    const others = left.get(vm.hostId)!.filter((each) => each !== vm)
    left.set(vm.hostId, others)
  }
  return moves
}

function bestMove(state: Occupancy, vms: Map<string, FleetVm[]>, minGap: number): { vm: FleetVm; to: HostRow } | undefined {
  for (const source of state.hosts.toSorted((a, b) => loadOf(b) - loadOf(a))) {
    let best: { vm: FleetVm; to: HostRow; gain: number } | undefined
    for (const vm of vms.get(source.id) ?? []) {
      for (const to of state.rank(vm, source).fitting) {
        if (loadOf(source) - loadOf(to) < minGap || isAvoided(vm, to) || state.isWorseForGroup(vm, to)) continue
        const gain = loadOf(source) - Math.max(loadOf(source, vm.need, -1), loadOf(to, vm.need))
        if (gain > (best?.gain ?? 0)) best = { vm, to, gain }
      }
    }
    if (best) return best
  }
  return undefined
}

type Sizes = Pick<Need, 'vcpu' | 'ramMiB' | 'diskGiB' | 'dedicatedFor'>
const NOTHING: Sizes = { vcpu: 0, ramMiB: 0, diskGiB: 0 }

/** Of the resource of which the host has sold the largest share, with that much more. */
export const loadOf = (host: HostRow, more: Sizes = NOTHING, sign: 1 | -1 = 1): number =>
  Math.max(
    (host.vcpu_used + sign * sharedVcpu(more)) / Math.max(1, host.vcpu_sellable),
    (host.ram_used_mib + sign * more.ramMiB) / host.ram_sellable_mib,
    (host.disk_used_gib + sign * more.diskGiB) / host.disk_total_gib,
  )

const sharedVcpu = ({ vcpu, dedicatedFor }: Sizes): number => (dedicatedFor === undefined ? vcpu : 0)

/** What hosts and groups have, as moves change it. */
class Occupancy {
  readonly hosts: HostRow[]
  readonly #fleet: Fleet
  readonly #byId: Map<string, HostRow>
  readonly #groups: Map<string, Map<string, number>>
  readonly #freeCpus: Map<string, Map<number, readonly number[]>>
  /** Hosts by image, where VMs that have moved need it. */
  readonly #brought = new Map<string, Set<string>>()

  constructor(fleet: Fleet) {
    this.#fleet = fleet
    this.hosts = fleet.hosts.map((host) => ({ ...host }))
    this.#byId = new Map(this.hosts.map((host) => [host.id, host]))
    this.#freeCpus = new Map([...fleet.freeCpus].map(([id, nodes]) => [id, new Map(nodes)]))
    this.#groups = new Map([...fleet.groups].map(([id, { vmsByHost }]) => [id, new Map(vmsByHost)]))
  }

  /** The hosts that it can go to, best first; `reason` is why there is none. */
  rank(vm: FleetVm, source: HostRow): { fitting: HostRow[]; reason: string } {
    const others = this.hosts.filter((host) => host.id !== source.id)
    const possible = others.filter((host) => this.#fleet.isPair(source, host) && !vm.never.has(host.id))
    const rule = this.#ruleFor(vm)
    const facts = { withIpv6: this.#fleet.withIpv6, freeCpus: this.#freeCpus }
    const { fitting, rejected, lacking } = rankHosts(possible, { ...this.#needOf(vm), ...(rule && { rule }) }, facts)
    const why = describeRejected({ rejected, lacking })
    const unlike = others.length - possible.length
    if (unlike > 0) why.push(`${unlike} that cannot take its machine`)
    const group = rejected.has('with a VM of its placement group') ? this.#explainGroup(vm, possible) : ''
    return { fitting, reason: `No other host can take it: ${why.join(', ') || 'there is none'}${group}` }
  }

  #needOf({ need }: FleetVm): FleetVm['need'] {
    const withBrought = (image: ImageNeed): ImageNeed => ({ ...image, on: new Set([...image.on, ...(this.#brought.get(image.id) ?? [])]) })
    return need.images ? { ...need, images: need.images.map(withBrought) } : need
  }

  /** For a VM that has not moved. */
  #ruleFor({ hostId, groupId }: FleetVm): PlacementRule | null {
    const group = groupId === null ? undefined : this.#fleet.groups.get(groupId)
    if (!group) return null
    const vmsByHost = new Map(this.#groups.get(groupId!))
    const others = (vmsByHost.get(hostId) ?? 1) - 1
    if (others > 0) vmsByHost.set(hostId, others)
    else vmsByHost.delete(hostId)
    return { policy: group.policy, vmsByHost }
  }

  #explainGroup(vm: FleetVm, hosts: HostRow[]): string {
    const { name } = this.#fleet.groups.get(vm.groupId!)!
    const counts = this.#ruleFor(vm)!.vmsByHost
    const taken = hosts.filter(({ id }) => counts.has(id)).map((host) => host.name)
    return `. Its placement group ${name} is STRICT_SPREAD and has VMs on ${taken.join(', ')}: add a host, make room on another, or ask its owner to take a VM out of the group`
  }

  /** Further from what the group prefers than where it is. */
  isWorseForGroup(vm: FleetVm, to: HostRow): boolean {
    const rule = this.#ruleFor(vm)
    const others = (hostId: string): number => rule?.vmsByHost.get(hostId) ?? 0
    if (rule?.policy === 'TOGETHER') return others(to.id) < others(vm.hostId)
    return others(to.id) > others(vm.hostId)
  }

  /** In its group it counts at both hosts until it has moved. */
  move(vm: FleetVm, to: HostRow): void {
    const { groupId } = vm
    const need = this.#needOf(vm)
    occupy(this.#byId.get(to.id)!, { ...need, diskGiB: need.diskGiB + imageGiBOn(to.id, need) }, 1)
    for (const { id } of imagesFor(to.id, need)) this.#brought.set(id, new Set(this.#brought.get(id)).add(to.id))
    if (need.dedicatedFor !== undefined) this.#pin(to.id, need.vcpu)
    const counts = groupId === null ? undefined : this.#groups.get(groupId)
    counts?.set(to.id, (counts.get(to.id) ?? 0) + 1)
  }

  #pin(hostId: string, count: number): void {
    const nodes = this.#freeCpus.get(hostId)!
    const node = pickNode(nodes, count)!
    nodes.set(node, nodes.get(node)!.slice(count))
  }

  /** Its dedicated CPUs still count as taken: another VM gets them only when it has left. */
  leave({ hostId, need }: FleetVm): void {
    occupy(this.#byId.get(hostId)!, need, -1)
  }
}

function occupy(host: HostRow, size: Sizes, sign: 1 | -1): void {
  host.vcpu_used += sign * sharedVcpu(size)
  host.ram_used_mib += sign * size.ramMiB
  host.disk_used_gib += sign * size.diskGiB
}
