import { describe, expect, test } from 'vitest'
import { noCapacity, rankHosts, type Need, type PlacementRule } from './placement.ts'
import type { HostRow } from './sql.ts'

const host = (name: string, changes: Partial<HostRow> = {}): HostRow =>
  ({
    id: name,
    name,
    vcpu_total: 4,
    vcpu_sellable: 8,
    vcpu_used: 0,
    ram_sellable_mib: 8192,
    ram_used_mib: 0,
    disk_total_gib: 100,
    disk_used_gib: 0,
    disk_reserve_gib: 5,
    disk_free_gib: null,
    maintenance: false,
    unreachable_since: null,
    arch: 'x86_64',
    uplink_mbps: 1000,
    all_traits: [],
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

  test('emulates another architecture where the host has an emulator, after hosts that run it natively, and never for a plan with KVM', () => {
    const both = { arch: 'x86_64', guest_types: ['x86_64', 'aarch64'], all_traits: ['x86_64', 'kvm'] }
    const hosts = [host('emulator', both), host('intel'), host('arm', { arch: 'aarch64', all_traits: ['kvm'], ram_used_mib: 4096 })]
    expect(namesOf(rankHosts(hosts, need({ arch: 'aarch64' })).fitting)).toEqual(['arm', 'emulator'])
    const { fitting, rejected } = rankHosts(hosts, need({ arch: 'aarch64', traits: ['kvm'] }))
    expect([namesOf(fitting), [...rejected]]).toEqual([
      ['arm'],
      [
        ['without kvm', 1],
        ['of another architecture than aarch64', 1],
      ],
    ])
    expect(namesOf(rankHosts(hosts, need({ traits: ['kvm'] })).fitting)).toEqual(['emulator'])
  })

  test('requires the firmware and the TPM of the image; a simulated host has any', () => {
    const hosts = [
      host('old', { guest_types: null }),
      host('uefi', { guest_types: ['x86_64', 'x86_64:uefi'] }),
      host('all', { guest_types: ['x86_64', 'x86_64:uefi', 'x86_64:secure-boot', 'x86_64:tpm'] }),
      host('simulated', { arch: null }),
    ]
    const guest = (...guestTypes: string[]) => rankHosts(hosts, need({ guestTypes: ['x86_64', ...guestTypes] }))
    expect(namesOf(guest().fitting)).toEqual(['old', 'uefi', 'all', 'simulated'])
    expect(namesOf(guest('x86_64:uefi').fitting)).toEqual(['uefi', 'all', 'simulated'])
    const { fitting, rejected } = guest('x86_64:secure-boot', 'x86_64:tpm')
    expect([namesOf(fitting), [...rejected]]).toEqual([['all', 'simulated'], [['without x86_64:secure-boot', 2]]])
    expect(noCapacity('fra1', need(), 2, { rejected, lacking: new Set() }).details).toMatchObject({ missing: ['trait'] })
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
    const ranking = rankHosts(hosts, need())
    expect(ranking.fitting).toEqual([])
    const refusal = noCapacity('fra1', need(), hosts.length, ranking)
    expect(refusal.message).toBe(
      'No capacity in fra1 for 1 vCPU, 1 GiB RAM and 10 GiB disk: 5 hosts checked, 2 full (vCPU, disk), 1 in maintenance, 1 unreachable, 1 of another architecture than x86_64',
    )
    expect(refusal.details).toEqual({
      missing: ['vcpu', 'disk', 'host', 'architecture'],
      alternatives: { regions: [], plans: [], later: true },
    })
  })

  test('takes the room for the largest plan last, and then from the fullest host', () => {
    const hosts = [
      host('empty'),
      host('a third', { ram_used_mib: 2900 }),
      host('half', { ram_used_mib: 4500 }),
      host('full', { ram_used_mib: 7000 }),
    ]
    const forSale = { largest: { vcpu: 1, ramMiB: 5000, diskGiB: 10 }, traits: [] }
    expect(namesOf(rankHosts(hosts, need({ forSale })).fitting)).toEqual(['empty', 'full', 'half', 'a third'])
    expect(namesOf(rankHosts(hosts, need({ ramMiB: 3500, forSale })).fitting)).toEqual(['half', 'a third', 'empty'])
    expect(namesOf(rankHosts(hosts, need()).fitting)).toEqual(['empty', 'a third', 'half', 'full'])
  })

  test('takes hosts last that have what other plans need', () => {
    const hosts = [
      host('gpu', { all_traits: ['gpu', 'rack-7'] }),
      host('cpus', { all_traits: ['dedicated-cpu'] }),
      host('used', { ram_used_mib: 7000 }),
    ]
    const ranked = (changes: Partial<Need>) =>
      namesOf(rankHosts(hosts, need({ forSale: { traits: ['gpu', 'dedicated-cpu'] }, ...changes })).fitting)
    expect(ranked({})).toEqual(['used', 'gpu', 'cpus'])
    expect(ranked({ traits: ['gpu'] })).toEqual(['gpu'])
  })

  test('requires the traits of the plan', () => {
    const hosts = [host('plain'), host('gpu', { all_traits: ['gpu'] }), host('both', { all_traits: ['gpu', '10g'] })]
    const { fitting, rejected } = rankHosts(hosts, need({ traits: ['gpu', '10g'] }))
    expect([namesOf(fitting), [...rejected]]).toEqual([
      ['both'],
      [
        ['without gpu', 1],
        ['without 10g', 1],
      ],
    ])
    expect(noCapacity('fra1', need(), 2, { rejected, lacking: new Set() }).details).toMatchObject({ missing: ['trait'] })
  })

  test('places dedicated vCPUs where one NUMA node has as many free, whatever is sold of shared ones', () => {
    const hosts = [host('none'), host('split', { vcpu_used: 8 }), host('whole', { vcpu_used: 8 }), host('no RAM', { ram_used_mib: 8192 })]
    const node = (count: number): number[] => Array.from({ length: count }, (_, cpu) => cpu)
    const freeCpus = new Map([
      [
        'split',
        new Map([
          [0, node(3)],
          [1, node(3)],
        ]),
      ],
      ['whole', new Map([[0, node(4)]])],
      ['no RAM', new Map([[0, node(9)]])],
    ])
    const { fitting, rejected, lacking } = rankHosts(hosts, need({ vcpu: 4, dedicatedFor: 'vm' }), { freeCpus })
    expect([namesOf(fitting), [...rejected], [...lacking]]).toEqual([['whole'], [['full', 3]], ['dedicated CPUs', 'RAM']])
    expect(noCapacity('fra1', need({ vcpu: 4, dedicatedFor: 'vm' }), 4, { rejected, lacking }).message).toContain(
      'for 4 dedicated CPUs, 1 GiB RAM and 10 GiB disk: 4 hosts checked, 3 full (dedicated CPUs, RAM)',
    )
  })
})
