import { describe, expect, test } from 'vitest'
import { noCapacity, rankHosts, type Need, type PlacementRule } from './placement.ts'
import type { HostRow } from './sql.ts'

const host = (name: string, changes: Partial<HostRow> = {}): HostRow =>
  ({
    id: name,
    name,
    vcpu_total: 4,
    vcpu_overcommit: 2,
    vcpu_used: 0,
    ram_total_mib: 8192,
    ram_used_mib: 0,
    disk_total_gib: 100,
    disk_used_gib: 0,
    disk_reserve_gib: 5,
    disk_free_gib: null,
    maintenance: false,
    unreachable_since: null,
    arch: 'x86_64',
    uplink_mbps: 1000,
    ...changes,
  }) as HostRow

const need = (changes: Partial<Need> = {}): Need => ({
  vcpu: 1,
  ramMiB: 1024,
  diskGiB: 10,
  arch: 'x86_64',
  network10g: false,
  boughtMbps: 0,
  publicIpv4: true,
  ...changes,
})
const namesOf = (hosts: HostRow[]): string[] => hosts.map(({ name }) => name)

describe('placement', () => {
  test('places 10G only on a host with such a card', () => {
    const hosts = [
      host('slow'),
      host('unknown', { uplink_mbps: null }),
      host('fast', { uplink_mbps: 10_000 }),
      host('faster', { uplink_mbps: 25_000 }),
    ]
    const { fitting, rejected } = rankHosts(hosts, need({ network10g: true }))
    expect([namesOf(fitting), [...rejected]]).toEqual([['fast', 'faster'], [['without a 10G card', 2]]])
  })

  test('places a bought speed only on a host whose card is as fast, or unknown', () => {
    const hosts = [host('slow'), host('unknown', { uplink_mbps: null }), host('fast', { uplink_mbps: 2500 })]
    const { fitting, rejected } = rankHosts(hosts, need({ boughtMbps: 2500 }))
    expect([namesOf(fitting), [...rejected]]).toEqual([['unknown', 'fast'], [['without a network card for this speed', 1]]])
  })

  test('prefers a host of the speed for a VM that has lost its own, to what is free and to its placement group', () => {
    const hosts = [host('slow'), host('fast', { uplink_mbps: 10_000, ram_used_mib: 4096 })]
    const rule: PlacementRule = { policy: 'TOGETHER', vmsByHost: new Map([['slow', 1]]) }
    const ranked = (speed: Partial<Need>) => namesOf(rankHosts(hosts, need({ ...speed, isSpeedOptional: true, rule })).fitting)
    expect([ranked({}), ranked({ network10g: true }), ranked({ boughtMbps: 2500 })]).toEqual([
      ['slow', 'fast'],
      ['fast', 'slow'],
      ['fast', 'slow'],
    ])
  })

  test('prefers the host whose scarcest resource stays least used', () => {
    const hosts = [host('half', { ram_used_mib: 4096 }), host('empty'), host('full disk', { disk_used_gib: 80 })]
    expect(namesOf(rankHosts(hosts, need()).fitting)).toEqual(['empty', 'half', 'full disk'])
  })

  test('a placement group comes before what is free', () => {
    const hosts = [host('empty'), host('one', { ram_used_mib: 1024 }), host('two', { ram_used_mib: 4096 })]
    const ranked = (policy: PlacementRule['policy']) =>
      rankHosts(
        hosts,
        need({
          rule: {
            policy,
            vmsByHost: new Map([
              ['one', 1],
              ['two', 2],
            ]),
          },
        }),
      )
    expect(namesOf(ranked('SPREAD').fitting)).toEqual(['empty', 'one', 'two'])
    expect(namesOf(ranked('TOGETHER').fitting)).toEqual(['two', 'one', 'empty'])
    const { fitting, rejected } = ranked('STRICT_SPREAD')
    expect([namesOf(fitting), [...rejected]]).toEqual([['empty'], [['with a VM of its placement group', 2]]])
  })

  test('requires the architecture of the image; a simulated host runs any', () => {
    const hosts = [host('intel'), host('arm', { arch: 'aarch64' }), host('simulated', { arch: null })]
    expect(namesOf(rankHosts(hosts, need({ arch: 'aarch64' })).fitting)).toEqual(['arm', 'simulated'])
  })

  test('reports a reason for every rejected host', () => {
    const hosts = [
      host('few CPUs', { vcpu_used: 8 }),
      host('no disk', { disk_used_gib: 95 }),
      host('resting', { maintenance: true }),
      host('away', { unreachable_since: new Date() }),
      host('arm', { arch: 'aarch64' }),
    ]
    expect(namesOf(rankHosts(hosts, need({ diskGiB: 0 })).fitting)).toContain('no disk') // its disk is in a storage backend
    const { fitting, rejected } = rankHosts(hosts, need())
    expect(fitting).toEqual([])
    expect(noCapacity('fra1', need(), hosts.length, rejected)).toBe(
      'No capacity in fra1 for 1 GiB RAM and 10 GiB disk: 5 hosts checked, 2 full, 1 in maintenance, 1 unreachable, 1 of another architecture',
    )
  })
})
