import { describe, expect, test } from 'vitest'
import type { HostRow, ImageNeed } from '../hosts/service.ts'
import { estimateSeconds, factorOf } from './estimate.ts'
import { loadOf, planBalance, planDrain, type Fleet, type FleetGroup, type FleetVm } from './plan.ts'

const host = (name: string, changes: Partial<HostRow> = {}): HostRow =>
  ({
    id: name,
    name,
    region_id: 'here',
    vcpu_sellable: 400,
    vcpu_used: 0,
    ram_sellable_mib: 8192,
    ram_used_mib: 0,
    disk_total_gib: 1000,
    disk_used_gib: 0,
    disk_reserve_gib: 50,
    disk_free_gib: null,
    maintenance: false,
    unreachable_since: null,
    arch: null,
    uplink_mbps: 1000,
    all_traits: [],
    ...changes,
  }) as HostRow

interface Shape {
  ram?: number
  disk?: number
  group?: string
  avoid?: string[]
  never?: string[]
  network10g?: boolean
  images?: ImageNeed[]
}

const vm = (
  id: string,
  hostId: string,
  { ram = 1024, disk = 10, group, avoid = [], never = [], network10g = false, images = [] }: Shape = {},
): FleetVm => ({
  id,
  name: id,
  hostId,
  need: {
    vcpu: 1,
    ramMiB: ram,
    diskGiB: disk,
    arch: 'x86_64',
    network10g,
    boughtMbps: 0,
    publicIpv4: true,
    images,
    avoid: new Set(avoid),
  },
  groupId: group ?? null,
  never: new Set(never),
  bytes: ram * 2 ** 20,
})

const fleetOf = (hosts: HostRow[], vms: FleetVm[], groups: Record<string, FleetGroup> = {}): Fleet => ({
  hosts,
  vms,
  groups: new Map(Object.entries(groups)),
  withIpv6: new Set(),
  freeCpus: new Map(),
  isPair: (source, other) => source.acceleration === other.acceleration,
})
const group = (policy: FleetGroup['policy'], vmsByHost: Record<string, number>): FleetGroup => ({
  name: 'db',
  policy,
  vmsByHost: new Map(Object.entries(vmsByHost)),
})
const drain = (hosts: HostRow[], vms: FleetVm[], groups: Record<string, FleetGroup> = {}) => {
  const { moves, stays } = planDrain(fleetOf(hosts, vms, groups), hosts[0]!, vms)
  return {
    moves: Object.fromEntries(moves.map((move) => [move.vm.id, move.to.id])),
    stays: Object.fromEntries(stays.map((stay) => [stay.vm.id, stay.reason])),
    onBackups: moves.filter(({ isOnBackups }) => isOnBackups).map((move) => move.vm.id),
  }
}

describe('the plan of a drain', () => {
  test('spreads the VMs among the other hosts, each on what the last has left', () => {
    const vms = ['a', 'b', 'c', 'd'].map((id) => vm(id, 'old'))
    const { moves, stays } = drain([host('old'), host('left'), host('right')], vms)
    expect(Object.values(moves).toSorted()).toEqual(['left', 'left', 'right', 'right'])
    expect(stays).toEqual({})
  })

  test('fills hosts instead where spreading would leave a large VM no room', () => {
    const vms = [vm('a', 'old', { ram: 3000 }), vm('b', 'old', { ram: 3000 }), vm('c', 'old', { ram: 5000 })]
    const hosts = [host('old'), host('left', { ram_sellable_mib: 6000 }), host('right', { ram_sellable_mib: 8000, ram_used_mib: 2900 })]
    expect(drain(hosts, vms)).toMatchObject({ moves: { a: 'left', b: 'left', c: 'right' }, stays: {} })
  })

  test('has each VM go where there is room for its images too, once for all that need one', () => {
    const image = (on: string[] = []): ImageNeed => ({ id: 'own', gib: 3, on: new Set(on) })
    const hosts = [host('old'), host('left', { disk_used_gib: 938 }), host('right', { disk_used_gib: 945, disk_total_gib: 1050 })] // room for 12, and for 55
    const [first, second] = ['a', 'b'].map((id) => vm(id, 'old', { images: [image()] }))
    expect(drain(hosts, [first!]).moves).toEqual({ a: 'right' })
    expect(drain(hosts.slice(0, 2), [first!]).stays).toEqual({ a: 'No other host can take it: 1 full (disk)' })
    expect(drain(hosts, [vm('a', 'old', { images: [image(['left'])], ram: 8000 })]).moves).toEqual({ a: 'left' })
    const tight = [host('old'), host('left', { disk_used_gib: 927 })] // room for 23
    expect(drain(tight, [first!, second!]).moves).toEqual({ a: 'left', b: 'left' })
    expect(Object.keys(drain(tight, [first!, vm('b', 'old', { images: [{ ...image(), id: 'other' }] })]).moves)).toEqual(['a'])
  })

  test('says of each VM that cannot move why, and moves the others', () => {
    const vms = [vm('big', 'old', { ram: 8000 }), vm('fast', 'old', { network10g: true }), vm('small', 'old')]
    const hosts = [
      host('old'),
      host('full', { ram_used_mib: 7000 }),
      host('away', { maintenance: true }),
      host('kvm', { acceleration: 'kvm' }),
    ]
    expect(drain(hosts, vms)).toMatchObject({
      moves: { small: 'full' },
      stays: {
        big: 'No other host can take it: 1 full (RAM), 1 in maintenance, 1 that cannot take its machine',
        fast: 'No other host can take it: 2 without a 10G card, 1 that cannot take its machine',
      },
    })
    expect(drain([host('old')], [vm('a', 'old')]).stays).toEqual({ a: 'No other host can take it: there is none' })
  })

  test('names a strict group that keeps a VM on the host, and what to do', () => {
    const groups = { g: group('STRICT_SPREAD', { old: 1, left: 1 }) }
    const vms = [vm('a', 'old', { group: 'g' }), vm('free', 'old')]
    const { moves, stays } = drain([host('old'), host('left')], vms, groups)
    expect(moves).toEqual({ free: 'left' })
    expect(stays['a']).toBe(
      'No other host can take it: 1 with a VM of its placement group. Its placement group db is STRICT_SPREAD and has VMs on left: add a host, make room on another, or ask its owner to take a VM out of the group',
    )
  })

  test('sends two VMs of a strict group to two hosts, and those of one that stays together to one', () => {
    const hosts = [host('old'), host('left'), host('right'), host('third')]
    const strict = drain(hosts, [vm('a', 'old', { group: 'g' }), vm('b', 'old', { group: 'g' })], {
      g: group('STRICT_SPREAD', { old: 2, left: 1 }),
    })
    expect(Object.values(strict.moves).toSorted()).toEqual(['right', 'third'])
    const together = drain(hosts, [vm('a', 'old', { group: 'g' }), vm('b', 'old', { group: 'g' })], { g: group('TOGETHER', { old: 2 }) })
    expect(new Set(Object.values(together.moves)).size).toBe(1)
  })

  test('avoids the host with the backups of a VM, and says so where there is no other', () => {
    const shape = { avoid: ['left'] }
    expect(drain([host('old'), host('left'), host('right', { ram_used_mib: 6000 })], [vm('a', 'old', shape)])).toMatchObject({
      moves: { a: 'right' },
      onBackups: [],
    })
    expect(drain([host('old'), host('left')], [vm('a', 'old', shape)])).toMatchObject({ moves: { a: 'left' }, onBackups: ['a'] })
    expect(drain([host('old'), host('left')], [vm('a', 'old', { never: ['left'] })]).moves).toEqual({})
  })

  test('takes moments for thousands of VMs', () => {
    const hosts = [
      host('old'),
      ...Array.from({ length: 100 }, (_, i) => host(`h${i}`, { ram_sellable_mib: 100_000, disk_total_gib: 10_000 })),
    ]
    const vms = Array.from({ length: 3000 }, (_, i) => vm(`v${i}`, 'old', { ram: 1024 + (i % 7) * 512, disk: 1 }))
    expect(Object.keys(drain(hosts, vms).moves)).toHaveLength(3000)
  })
})

describe('the plan of a balance', () => {
  const limits = { maxMoves: 100, minGap: 0.05 }
  /** With what their VMs take. */
  const loaded = (names: string[], vms: FleetVm[]): HostRow[] =>
    names.map((name) => {
      const here = vms.filter(({ hostId }) => hostId === name)
      return host(name, {
        ram_used_mib: here.reduce((sum, { need }) => sum + need.ramMiB, 0),
        disk_used_gib: here.reduce((sum, { need }) => sum + need.diskGiB, 0),
        vcpu_used: here.length,
      })
    })
  const balance = (names: string[], vms: FleetVm[], groups: Record<string, FleetGroup> = {}, change: Partial<typeof limits> = {}) => {
    const hosts = loaded(names, vms)
    const moves = planBalance(fleetOf(hosts, vms, groups), { ...limits, ...change })
    const to = new Map(moves.map((move) => [move.vm.id, move.to.id]))
    const after = loaded(
      names,
      vms.map((each) => ({ ...each, hostId: to.get(each.id) ?? each.hostId })),
    )
    return { moves: Object.fromEntries(to), before: hosts.map((each) => loadOf(each)), after: after.map((each) => loadOf(each)) }
  }

  test('levels the hosts, and none is fuller than the fullest was', () => {
    const vms = Array.from({ length: 6 }, (_, i) => vm(`v${i}`, 'a'))
    const { moves, before, after } = balance(['a', 'b', 'c'], vms)
    expect(Object.values(moves).toSorted()).toEqual(['b', 'b', 'c', 'c'])
    expect([before, after]).toEqual([
      [0.75, 0, 0],
      [0.25, 0.25, 0.25],
    ])
  })

  test('moves nothing that gains nothing, and no more than it may', () => {
    expect(balance(['a', 'b'], [vm('v', 'a', { ram: 4096 })]).moves).toEqual({})
    const even = [vm('v', 'a'), vm('w', 'b', { ram: 900 })]
    expect(balance(['a', 'b'], even).moves).toEqual({})
    const vms = Array.from({ length: 6 }, (_, i) => vm(`v${i}`, 'a'))
    expect(Object.keys(balance(['a', 'b'], vms, {}, { maxMoves: 1 }).moves)).toHaveLength(1)
  })

  test('never breaks up a group, puts VMs of a spread one together, or brings a VM to its backups', () => {
    const two = (policy: FleetGroup['policy'], counts: Record<string, number>, shape: Shape = {}) =>
      balance(['a', 'b'], [vm('v', 'a', { group: 'g', ...shape }), vm('w', 'a', { group: 'g', ...shape })], { g: group(policy, counts) })
        .moves
    expect(two('TOGETHER', { a: 2 })).toEqual({})
    expect(two('SPREAD', { a: 2, b: 2 })).toEqual({})
    expect(Object.keys(two('SPREAD', { a: 2 }))).toHaveLength(1)
    expect(two('SPREAD', { a: 2 }, { avoid: ['b'] })).toEqual({})
  })

  test('ends with loads that no single move improves, for any fleet', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomOf(seed)
      const names = ['a', 'b', 'c', 'd']
      const vms = Array.from({ length: 12 }, (_, i) =>
        vm(`v${i}`, names[Math.floor(random() * 4)]!, { ram: 256 * Math.ceil(random() * 6) }),
      )
      const { before, after } = balance(names, vms)
      expect(Math.max(...after)).toBeLessThanOrEqual(Math.max(...before))
      expect(balance(names, []).moves).toEqual({})
    }
  })
})

/** Numerical Recipes' linear congruential generator. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32
}

describe('the estimate of a migration', () => {
  const gib = 2 ** 30
  const took = (fromSecond: number, toSecond: number, source = 'a') => ({
    bytes: gib,
    source,
    startedAt: new Date(fromSecond * 1000),
    completedAt: new Date(toSecond * 1000),
  })

  test('follows what earlier ones took', () => {
    expect(estimateSeconds(gib, 1)).toBeCloseTo(15.24)
    expect(factorOf([])).toBe(1)
    expect(factorOf([took(0, 0)])).toBe(1)
    const measured = [10, 30, 31, 32, 500].map((seconds, index) => took(1000 * index, 1000 * index + seconds))
    expect(estimateSeconds(gib, factorOf(measured))).toBeCloseTo(31)
  })

  test('counts those at a time as sharing it', () => {
    const pairs = [took(0, 40), took(0, 40), took(40, 80), took(40, 80)]
    expect(estimateSeconds(gib, factorOf(pairs))).toBeCloseTo(20)
    expect(estimateSeconds(gib, factorOf(pairs.map((each, index) => ({ ...each, source: String(index) }))))).toBeCloseTo(40)
  })
})
