// A region without a database: VMs arrive, are placed by a policy, and leave. The same seed gives the same year. What is sold is counted twice: as the product does, by
// adding and subtracting, and by `audit` from the VMs themselves.
import { freeByNode, pickNode } from '../src/features/hosts/cpus.ts'
import { rankHosts, type Need } from '../src/features/hosts/placement.ts'
import type { HostRow } from '../src/features/hosts/sql.ts'

export interface Arrival {
  id: string
  day: number
  /** It leaves at the end of this day. */
  lastDay: number
  need: Need
}

interface Placed extends Arrival {
  host: HostRow
  /** Dedicated ones. */
  cpus: number[]
}

type FreeCpus = Map<string, Map<number, number[]>>
export type Policy = (hosts: HostRow[], need: Need, freeCpus: FreeCpus) => HostRow | undefined

export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const scheduler: Policy = (hosts, need, freeCpus) => rankHosts(hosts, { ...need, forSale: FOR_SALE }, { freeCpus }).fitting[0]

/** The first host, in a fixed order, that can take it. */
export const firstFit: Policy = (hosts, need, freeCpus) => hosts.find((host) => rankHosts([host], need, { freeCpus }).fitting.length > 0)

/** Any host that can take it. */
export function randomFit(seed: number): Policy {
  const random = randomOf(seed)
  return (hosts, need, freeCpus) => {
    const { fitting } = rankHosts(hosts, need, { freeCpus })
    return fitting[Math.floor(random() * fitting.length)]
  }
}

const GIB = 1024

/** Of three kinds: most have 64 CPUs and 256 GiB; every fifth keeps 32 of its CPUs, 16 of each NUMA node, for dedicated VMs; every twentieth has a GPU. */
export const someHosts = (count: number): HostRow[] =>
  Array.from({ length: count }, (_, index) => {
    const dedicated = index % 5 === 4 ? Array.from({ length: 32 }, (_each, cpu) => 16 + cpu) : []
    const traits = index % 20 === 7 ? ['gpu'] : []
    const name = `host-${String(index).padStart(4, '0')}`
    return {
      id: name,
      name,
      arch: 'x86_64',
      vcpu_total: 64,
      vcpu_used: 0,
      vcpu_sellable: (64 - dedicated.length) * 4,
      ram_total_mib: 230 * GIB,
      ram_used_mib: 0,
      ram_sellable_mib: 230 * GIB,
      disk_total_gib: 7000,
      disk_used_gib: 0,
      disk_reserve_gib: 350,
      disk_free_gib: null,
      disk_restoring_gib: 0,
      uplink_mbps: 10_000,
      maintenance: false,
      unreachable_since: null,
      cpu_nodes: Array.from({ length: 64 }, (_each, cpu) => (cpu < 32 ? 0 : 1)),
      dedicated_cpus: dedicated,
      traits,
      all_traits: [...traits, 'x86_64', '10g', ...(dedicated.length > 0 ? ['dedicated-cpu'] : [])],
    } as unknown as HostRow
  })

interface Kind {
  share: number
  vcpu: number
  ramGiB: number
  diskGiB: number
  isDedicated?: boolean
  traits?: string[]
}

/** Many small VMs and few large ones, as hosters have them. An assumption: no customer's data is behind it. */
const KINDS: Kind[] = [
  { share: 0.3, vcpu: 1, ramGiB: 1, diskGiB: 20 },
  { share: 0.25, vcpu: 2, ramGiB: 2, diskGiB: 40 },
  { share: 0.2, vcpu: 2, ramGiB: 4, diskGiB: 80 },
  { share: 0.13, vcpu: 6, ramGiB: 16, diskGiB: 320 },
  { share: 0.06, vcpu: 16, ramGiB: 64, diskGiB: 1280 },
  { share: 0.015, vcpu: 32, ramGiB: 128, diskGiB: 1600 },
  { share: 0.035, vcpu: 8, ramGiB: 32, diskGiB: 160, isDedicated: true },
  { share: 0.01, vcpu: 8, ramGiB: 32, diskGiB: 320, traits: ['gpu'] },
]
const LARGEST = toNeed(KINDS[5]!, 'largest')
const FOR_SALE = { largest: LARGEST, traits: ['gpu', 'dedicated-cpu'] }

function toNeed({ vcpu, ramGiB, diskGiB, isDedicated, traits = [] }: Kind, id: string): Need {
  const where = { arch: 'x86_64', traits, network10g: false, boughtMbps: 0, publicIpv4: true }
  return { vcpu, ramMiB: ramGiB * GIB, diskGiB, ...where, ...(isDedicated && { dedicatedFor: id }) }
}

function chooseKind(random: () => number): Kind {
  let left = random()
  return KINDS.find(({ share }) => (left -= share) < 0) ?? KINDS[0]!
}

/** More every day: half of them stay for a week on average, the others for five months. */
export function yearOf(perDay: number, seed: number, days = 365): Arrival[] {
  const random = randomOf(seed)
  const arrivals: Arrival[] = []
  for (let day = 0; day < days; day++) {
    for (let each = Math.round((perDay * (day + days / 2)) / days); each > 0; each--) {
      const id = `vm-${arrivals.length}`
      const mean = random() < 0.5 ? 7 : 150
      arrivals.push({ id, day, lastDay: day + Math.ceil(-Math.log(1 - random()) * mean), need: toNeed(chooseKind(random), id) })
    }
  }
  return arrivals
}

/** Sold of what may be sold, from 0 to 1. */
export interface Utilisation {
  ram: number
  vcpu: number
}

export class SimulatedRegion {
  readonly hosts: HostRow[]
  readonly vms = new Map<string, Placed>()
  readonly #freeCpus: FreeCpus
  readonly #policy: Policy
  readonly #leaving = new Map<number, string[]>()

  constructor(hosts: HostRow[], policy: Policy) {
    this.hosts = hosts
    this.#policy = policy
    this.#freeCpus = new Map(hosts.map((host) => [host.id, freeByNode(host, new Set())]))
  }

  /** False where it was refused. */
  arrive(arrival: Arrival): boolean {
    const { need } = arrival
    const host = this.#policy(this.hosts, need, this.#freeCpus)
    if (!host) return false
    const cpus = need.dedicatedFor === undefined ? [] : this.#pin(host, need.vcpu)
    this.#occupy(host, need, 1)
    this.vms.set(arrival.id, { ...arrival, host, cpus })
    const day = this.#leaving.get(arrival.lastDay) ?? []
    this.#leaving.set(arrival.lastDay, day)
    day.push(arrival.id)
    return true
  }

  endDay(day: number): void {
    for (const id of this.#leaving.get(day) ?? []) {
      const { host, need, cpus } = this.vms.get(id)!
      this.#occupy(host, need, -1)
      const nodes = this.#freeCpus.get(host.id)!
      for (const cpu of cpus) nodes.get(host.cpu_nodes![cpu]!)!.push(cpu)
      this.vms.delete(id)
    }
    this.#leaving.delete(day)
  }

  #pin(host: HostRow, count: number): number[] {
    const nodes = this.#freeCpus.get(host.id)!
    return nodes.get(pickNode(nodes, count)!)!.splice(0, count)
  }

  #occupy(host: HostRow, { vcpu, ramMiB, diskGiB, dedicatedFor }: Need, sign: 1 | -1): void {
    host.vcpu_used += dedicatedFor === undefined ? sign * vcpu : 0
    host.ram_used_mib += sign * ramMiB
    host.disk_used_gib += sign * diskGiB
  }

  utilisation(): Utilisation {
    const sum = (of: (host: HostRow) => number): number => this.hosts.reduce((total, host) => total + of(host), 0)
    return {
      ram: sum((host) => host.ram_used_mib) / sum((host) => host.ram_sellable_mib),
      vcpu: sum((host) => host.vcpu_used) / sum((host) => host.vcpu_sellable),
    }
  }

  /** Of the memory that is free, how much is on hosts that cannot take one more VM of the largest plan. */
  fragmentation(): number {
    const fitting = new Set(rankHosts(this.hosts, LARGEST).fitting)
    const free = (host: HostRow): number => host.ram_sellable_mib - host.ram_used_mib
    const all = this.hosts.reduce((total, host) => total + free(host), 0)
    return this.hosts.reduce((total, host) => total + (fitting.has(host) ? 0 : free(host)), 0) / all
  }

  /** Names everything that is sold twice, or where it should not be. */
  audit(): string[] {
    const problems: string[] = []
    const byHost = Map.groupBy(this.vms.values(), ({ host }) => host)
    for (const [host, vms] of byHost) {
      const sum = (of: (vm: Placed) => number): number => vms.reduce((total, vm) => total + of(vm), 0)
      const vcpu = sum(({ need }) => (need.dedicatedFor === undefined ? need.vcpu : 0))
      const [ram, disk] = [sum(({ need }) => need.ramMiB), sum(({ need }) => need.diskGiB)]
      if (vcpu > host.vcpu_sellable || vcpu !== host.vcpu_used) problems.push(`${host.name}: ${vcpu} vCPU of ${host.vcpu_sellable}`)
      if (ram > host.ram_sellable_mib || ram !== host.ram_used_mib) problems.push(`${host.name}: ${ram} MiB of ${host.ram_sellable_mib}`)
      if (disk > host.disk_total_gib - host.disk_reserve_gib) problems.push(`${host.name}: ${disk} GiB of ${host.disk_total_gib}`)
      const cpus = vms.flatMap((vm) => vm.cpus)
      if (new Set(cpus).size !== cpus.length) problems.push(`${host.name}: a CPU is of two VMs`)
      if (!cpus.every((cpu) => host.dedicated_cpus.includes(cpu))) problems.push(`${host.name}: a shared CPU is of one VM`)
      for (const vm of vms) {
        if (vm.cpus.length !== (vm.need.dedicatedFor === undefined ? 0 : vm.need.vcpu)) problems.push(`${vm.id} has ${vm.cpus.length} CPUs`)
        if (new Set(vm.cpus.map((cpu) => host.cpu_nodes![cpu])).size > 1) problems.push(`${vm.id} has CPUs of two NUMA nodes`)
        if (!vm.need.traits!.every((trait) => host.all_traits.includes(trait))) problems.push(`${vm.id} lacks ${vm.need.traits!.join(' ')}`)
      }
    }
    return problems
  }
}

/** What an operator wants to know of a year. VMs that were refused are counted by the memory that they would have had, for as long as they wanted it: whoever refuses a large VM
 *  has room for a hundred small ones instead, so their number alone says that refusing large ones is best. */
export interface YearOutcome {
  /** Of what may be sold, on average over all days. */
  ramSold: number
  /** Of the memory that was asked for, in GiB days. */
  ramRefused: number
  refused: Arrival[]
  /** Of the first refusal. */
  first: { day: number; vms: number; utilisation: Utilisation; fragmentation: number } | null
  most: number
  problems: string[]
}

export function liveYear(hosts: HostRow[], policy: Policy, arrivals: Arrival[], days = 365): YearOutcome {
  const region = new SimulatedRegion(hosts, policy)
  const outcome: YearOutcome = { ramSold: 0, ramRefused: 0, refused: [], first: null, most: 0, problems: [] }
  let [day, asked] = [0, 0]
  const endDays = (until: number): void => {
    while (day < until) {
      outcome.ramSold += region.utilisation().ram / days
      region.endDay(day++)
      if (day % 30 === 0) outcome.problems.push(...region.audit())
    }
  }
  for (const arrival of arrivals) {
    endDays(arrival.day)
    const ramDays = arrival.need.ramMiB * (Math.min(arrival.lastDay, days - 1) - arrival.day + 1)
    asked += ramDays
    if (!region.arrive(arrival)) {
      outcome.refused.push(arrival)
      outcome.ramRefused += ramDays
      outcome.first ??= { day, vms: region.vms.size, utilisation: region.utilisation(), fragmentation: region.fragmentation() }
    }
    outcome.most = Math.max(outcome.most, region.vms.size)
  }
  endDays(days)
  outcome.ramRefused /= asked
  outcome.problems.push(...region.audit())
  return outcome
}
