// The contract of every network controller. Its own test file calls `describeNetworkController` with a fixture.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../kernel/ids.ts'
import { collect, expectKind, OPEN } from './conformance/fixture.ts'
import type { Filter } from './driver.ts'
import type { NetworkController, NetworkSpec, PortSpec } from './network-controller.ts'

export interface NetworkFixture {
  controller: NetworkController
  /** A second one of the same region, as in another process. */
  other: NetworkController
  /** Names of two hosts of the region. */
  hosts: [string, string]
  close(): Promise<void>
}

const SSH_ONLY: Filter = {
  rules: [{ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', ports: [{ from: 22, to: 22 }], sources: ['10.0.0.0/8'], destinations: [] }],
  defaultInbound: 'DROP',
  defaultOutbound: 'ACCEPT',
}
const SNAT = { address: '100.64.0.9', prefix: 16, gateway: '100.64.0.1' }
const soon = (): AbortSignal => AbortSignal.timeout(30_000)

export function describeNetworkController(name: string, makeFixture: () => Promise<NetworkFixture>, timeoutMs = 30_000): void {
  describe(`the ${name} network controller`, { timeout: timeoutMs }, () => {
    let made: NetworkFixture
    beforeAll(async () => void (made = await makeFixture()), timeoutMs)
    afterAll(() => made?.close())

    const networkSpec = (changes: Partial<NetworkSpec> = {}): NetworkSpec => ({
      networkId: newId(),
      cidr: '10.0.0.0/24',
      gateway: '10.0.0.1',
      enableDhcp: true,
      dns: ['1.1.1.1'],
      snat: null,
      routes: [],
      peers: [],
      ...changes,
    })
    const network = async (changes: Partial<NetworkSpec> = {}): Promise<NetworkSpec> => {
      const spec = networkSpec(changes)
      await made.controller.ensureNetwork(spec, soon())
      return spec
    }
    let macs = 0
    const port = (changes: Partial<PortSpec> = {}): PortSpec => ({
      vmId: newId(),
      mac: `52:54:00:09:00:${(++macs).toString(16).padStart(2, '0')}`,
      networkId: null,
      addresses: ['10.0.0.10'],
      ranges: [],
      host: made.hosts[0],
      limitMbps: null,
      filter: OPEN,
      ...changes,
    })
    const isListed = async (networkId: string): Promise<boolean> =>
      (await collect(made.other.listNetworks(soon()))).some((each) => each.networkId === networkId)
    const listed = async (mac: string) => (await collect(made.other.listPorts(soon()))).filter((each) => each.mac === mac)

    test('hosts that are connected confirm when they are asked', async () => {
      expect(await made.controller.probeHosts(made.hosts, soon())).toEqual(made.hosts.map((host) => ({ host, answers: true })))
      expect(await made.other.probeHosts([], soon())).toEqual([])
    })

    test('hosts that are connected are known as chassis, others are not', async () => {
      const found = await made.controller.listChassis([...made.hosts, 'nobody'], soon())
      expect(new Set(found.map(({ host }) => host))).toEqual(new Set(made.hosts))
      for (const each of found) expect(each).toMatchObject({ name: expect.stringMatching(/./), ports: expect.any(Number) })
      expect(found.every(({ encaps }) => encaps.length > 0)).toBe(true)
    })

    test.each([
      ['with DHCP and SNAT', { snat: SNAT }],
      ['with DHCP', {}],
      ['with SNAT', { snat: SNAT, enableDhcp: false }],
      ['with neither', { enableDhcp: false, gateway: null }],
    ])('makes a network %s once, and removes it', async (_with, changes) => {
      const spec = networkSpec(changes)
      await Promise.all([made.controller.ensureNetwork(spec, soon()), made.other.ensureNetwork(spec, soon())])
      await made.controller.ensureNetwork(spec, soon())
      expect(await isListed(spec.networkId)).toBe(true)
      await Promise.all([made.controller.ensureNoNetwork(spec.networkId, soon()), made.other.ensureNoNetwork(spec.networkId, soon())])
      expect(await isListed(spec.networkId)).toBe(false)
    })

    test('has the port of a machine that is migrated on both hosts, then on the other one', async () => {
      const [from, to] = made.hosts
      const moved = port({ mac: '52:54:00:09:01:01', addresses: ['10.0.0.77'] })
      const hosts = async () => (await listed(moved.mac)).map(({ host }) => host)
      await made.controller.ensurePort(moved, soon())
      await Promise.all([made.controller, made.other].map((each) => each.ensurePort({ ...moved, destination: to }, soon())))
      expect(await hosts()).toEqual([`${from},${to}`])
      await made.controller.ensurePort({ ...moved, host: to, destination: null }, soon())
      expect(await hosts()).toEqual([to])
      await made.controller.ensureNoPort(moved.mac, soon())
    })

    test('changes the routes of a network, and the ranges of their next hop', async () => {
      const destination = '192.168.7.0/24'
      const spec = await network({ snat: { ...SNAT, address: '100.64.0.12' } })
      const hop = port({ networkId: spec.networkId, filter: null })
      await made.controller.ensurePort(hop, soon())
      const routed = { ...spec, routes: [{ destination, nextHop: '10.0.0.10' }] }
      await Promise.all([made.controller.ensureNetwork(routed, soon()), made.other.ensureNetwork(routed, soon())])
      await made.controller.ensurePort({ ...hop, ranges: [destination] }, soon())
      await made.controller.ensurePort(hop, soon())
      await made.controller.ensureNetwork(spec, soon())
      await made.controller.ensureNoPort(hop.mac, soon())
      await made.controller.ensureNoNetwork(spec.networkId, soon())
      expect(await isListed(spec.networkId)).toBe(false)
    })

    test('connects networks in either order, and disconnects them, also by removing one', async () => {
      const [one, two] = [
        networkSpec({ cidr: '10.1.0.0/24', gateway: '10.1.0.1' }),
        networkSpec({ cidr: '10.2.0.0/24', gateway: '10.2.0.1' }),
      ]
      const withPeer = (spec: NetworkSpec, { networkId, cidr, gateway }: NetworkSpec): NetworkSpec => ({
        ...spec,
        peers: [{ networkId, cidr, gateway: gateway! }],
      })
      // The first is connected before there is a second.
      for (const spec of [withPeer(one, two), two, withPeer(two, one), one, withPeer(one, two)])
        await Promise.all([made.controller.ensureNetwork(spec, soon()), made.other.ensureNetwork(spec, soon())])
      await made.controller.ensureNoNetwork(two.networkId, soon())
      expect([await isListed(one.networkId), await isListed(two.networkId)]).toEqual([true, false])
      await made.controller.ensureNetwork(one, soon())
      await made.controller.ensureNoNetwork(one.networkId, soon())
      expect(await isListed(one.networkId)).toBe(false)
    })

    test('makes networks with one range', async () => {
      const [one, other] = [await network({ snat: SNAT }), await network({ snat: { ...SNAT, address: '100.64.0.10' } })]
      expect([await isListed(one.networkId), await isListed(other.networkId)]).toEqual([true, true])
    })

    test('changes a network with ports', async () => {
      const spec = await network()
      await made.controller.ensurePort(port({ networkId: spec.networkId, filter: null }), soon())
      await made.controller.ensureNetwork({ ...spec, snat: { ...SNAT, address: '100.64.0.11' } }, soon())
      await made.controller.ensureNetwork({ ...spec, enableDhcp: false }, soon())
      expect(await isListed(spec.networkId)).toBe(true)
    })

    test('makes a port once, changes it, moves it to another host, and removes it', async () => {
      const first = port()
      await Promise.all([made.controller.ensurePort(first, soon()), made.other.ensurePort(first, soon())])
      const { vmId, mac } = first
      expect(await listed(mac)).toEqual([{ vmId, mac, networkId: null, host: made.hosts[0], limitMbps: null, version: 0 }])
      await made.controller.ensurePort({ ...first, filter: SSH_ONLY, limitMbps: 10 }, soon())
      expect(await listed(mac)).toMatchObject([{ limitMbps: 10 }])
      await made.controller.ensurePort({ ...first, host: made.hosts[1], filter: SSH_ONLY }, soon())
      expect(await listed(mac)).toEqual([{ vmId, mac, networkId: null, host: made.hosts[1], limitMbps: null, version: 0 }])
      await Promise.all([made.controller.ensureNoPort(mac, soon()), made.other.ensureNoPort(mac, soon())])
      expect(await listed(mac)).toEqual([])
    })

    test('makes the ports of many machines at once, and refuses or aborts one alone', async () => {
      const ports = Array.from({ length: 8 }, (_, i) => port({ addresses: [`10.0.0.${100 + i}`], filter: SSH_ONLY }))
      await Promise.all([
        ...[...ports, ports[0]!].map((each) => made.controller.ensurePort(each, soon())),
        expectKind(made.controller.ensurePort(port({ networkId: newId() }), soon()), 'not_found'),
        expectKind(made.controller.ensurePort(port(), AbortSignal.abort()), 'aborted'),
      ])
      for (const { mac } of ports) expect(await listed(mac)).toHaveLength(1)
      await Promise.all(ports.map(({ mac }) => made.controller.ensureNoPort(mac, soon())))
      for (const { mac } of ports) expect(await listed(mac)).toEqual([])
    })

    test('lists the version that it was given last, also where nothing else has changed', async () => {
      const spec = await network({ version: 1 })
      const given = port({ networkId: spec.networkId, filter: null, version: 7 })
      await made.controller.ensurePort(given, soon())
      const versions = async () => [
        (await collect(made.other.listNetworks(soon()))).find(({ networkId }) => networkId === spec.networkId)?.version,
        (await listed(given.mac))[0]?.version,
      ]
      expect(await versions()).toEqual([1, 7])
      await made.controller.ensureNetwork({ ...spec, version: 2 }, soon())
      await made.controller.ensurePort({ ...given, version: 8 }, soon())
      expect(await versions()).toEqual([2, 8])
    })

    test('keeps a network while it has ports', async () => {
      const { networkId } = await network()
      const { mac, ...rest } = port({ networkId, filter: null })
      await made.controller.ensurePort({ mac, ...rest }, soon())
      expect(await listed(mac)).toMatchObject([{ networkId }])
      await expectKind(made.controller.ensureNoNetwork(networkId, soon()), 'in_use')
      await made.controller.ensureNoPort(mac, soon())
      await made.controller.ensureNoNetwork(networkId, soon())
    })

    test('filters a port of a private network, and no longer', async () => {
      const { networkId } = await network()
      const filtered = port({ networkId, filter: SSH_ONLY })
      await made.controller.ensurePort(filtered, soon())
      await made.other.ensurePort({ ...filtered, filter: null }, soon())
      expect(await listed(filtered.mac)).toMatchObject([{ networkId, limitMbps: null }])
    })

    test('limits a machine over its public and its private interface, and no longer', async () => {
      const { networkId } = await network({ snat: { ...SNAT, address: '100.64.0.13' } })
      const inside = port({ networkId, filter: null })
      const open = port({ vmId: inside.vmId, limitMbps: 10, limitedWith: [{ mac: inside.mac, networkId }] })
      for (const each of [open, inside]) await Promise.all([made.controller.ensurePort(each, soon()), made.other.ensurePort(each, soon())])
      expect([await listed(open.mac), await listed(inside.mac)]).toMatchObject([[{ limitMbps: 10 }], [{ limitMbps: null }]])
      await made.controller.ensureNoPort(inside.mac, soon())
      await made.controller.ensurePort({ ...open, limitedWith: [] }, soon())
      await made.controller.ensureNoNetwork(networkId, soon())
      expect([await isListed(networkId), await listed(open.mac)]).toMatchObject([false, [{ limitMbps: 10 }]])
    })

    test('refuses a port in a network that does not exist', async () => {
      await expectKind(made.controller.ensurePort(port({ networkId: newId() }), soon()), 'not_found')
    })

    test('refuses a limit that counts a network that does not exist', async () => {
      const open = port({ limitMbps: 10, limitedWith: [{ mac: '52:54:00:09:ff:fe', networkId: newId() }] })
      await expectKind(made.controller.ensurePort(open, soon()), 'not_found')
      expect(await listed(open.mac)).toEqual([])
    })

    test('removes what is not there', async () => {
      const before = await collect(made.controller.listNetworks(soon()))
      await made.controller.ensureNoPort('52:54:00:09:ff:ff', soon())
      await made.controller.ensureNoNetwork(newId(), soon())
      expect(await collect(made.controller.listNetworks(soon()))).toEqual(before)
    })

    test('rejects as aborted, and can be repeated', async () => {
      const spec = port()
      await expectKind(made.controller.ensurePort(spec, AbortSignal.abort()), 'aborted')
      await made.controller.ensurePort(spec, soon())
      expect(await listed(spec.mac)).toHaveLength(1)
    })

    test('opens ranges of the operator', async () => {
      await made.controller.ensurePublicNetwork({ ranges: ['10.77.0.0/16', '2001:db8::/64'], allowed: [] }, soon())
      await made.other.ensurePublicNetwork({ ranges: ['10.77.0.0/16'], allowed: ['192.168.1.0/24'] }, soon())
      expect(await made.controller.health(soon())).toEqual({ problems: [] })
    })
  })
}
