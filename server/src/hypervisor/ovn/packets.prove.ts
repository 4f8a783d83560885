// What guests can reach on real OVN, seen by packets: tenants with one range on two chassis, spoofing, filters.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { arpFrame, BROADCAST, dhcpDiscover, echo6Frame, ipv6Frame, routerAdvertisement, udp6Frame, udpFrame } from '../../../test/frames.ts'
import { OvnGuests, type PluggedGuest } from '../../../test/ovn-guests.ts'
import { missingForOvn, OUTSIDE, type Guest } from '../../../test/ovn-hosts.ts'
import { collect } from '../conformance/fixture.ts'
import type { Filter, FilterRule } from '../spec.ts'
import { portName, type NetworkSpec } from '../network-controller.ts'
import { networkController } from './controller.ts'
import { networkRows } from './network-rows.ts'

const soon = (): AbortSignal => AbortSignal.timeout(20_000)
/** After this time a frame that has not arrived does not arrive. */
const SETTLE_MS = 300

describeIf(missingForOvn())('guests on OVN', { timeout: 120_000 }, () => {
  let ovn: OvnGuests
  beforeAll(async () => {
    ovn = await OvnGuests.open(2, { ranges: ['10.61.0.0/24'], allowed: [] })
  }, 60_000)
  afterAll(() => ovn?.close())

  const plug = (networkId: string | null, address: string, host: number, ...further: string[]): Promise<PluggedGuest> =>
    ovn.plug(ovn.portOf({ networkId, addresses: [address, ...further], host: `hv${host + 1}` }))
  const networkOf = (networkId: string): NetworkSpec => ({
    networkId,
    cidr: '10.0.0.0/24',
    gateway: '10.0.0.1',
    enableDhcp: true,
    dns: [],
    snat: null,
    routes: [],
    peers: [],
  })
  const network = (networkId: string): Promise<void> => ovn.controller.ensureNetwork(networkOf(networkId), soon())
  let texts = 0
  /** Whether a frame with that text arrives. */
  const arrives = async (from: Guest, to: Guest, frame: (text: string) => Buffer): Promise<boolean> => {
    const text = `text-${++texts}!`
    await from.send(frame(text))
    await delay(SETTLE_MS)
    return (await to.received()).includes(text)
  }
  const udp = (from: Guest, to: Guest, port = 4001) => arrives(from, to, (text) => udpFrame(from, to, text, { from: 4000, to: port }))

  const rule = (changes: Partial<FilterRule>): FilterRule => ({
    direction: 'IN',
    action: 'ACCEPT',
    protocol: 'UDP',
    ports: [],
    sources: [],
    destinations: [],
    ...changes,
  })
  const filter = (...rules: FilterRule[]): Filter => ({ rules, defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' })

  test('reach those of their own network across hosts, and nobody of another with the same range', async () => {
    await network('neta')
    await network('netb')
    const a1 = await plug('neta', '10.0.0.11', 0)
    const a2 = await plug('neta', '10.0.0.12', 1)
    const b1 = await plug('netb', '10.0.0.11', 0)
    const b2 = await plug('netb', '10.0.0.12', 1)
    // The first frame through a tunnel is lost while the address of its other end is looked up.
    for (const [from, to] of [
      [a1, a2],
      [b1, b2],
      [a2, a1],
    ] as const)
      await expect.poll(() => udp(from, to), { timeout: 10_000 }).toBe(true)
    for (const other of [b1, b2]) {
      expect(await udp(a1, other)).toBe(false)
      expect(await arrives(a1, other, (text) => udpFrame(a1, { ...other, mac: BROADCAST }, text))).toBe(false)
      expect(await arrives(a1, other, (text) => arpFrame(a1, { ...other, mac: BROADCAST }, 'ask', text))).toBe(false)
      expect(await arrives(a1, other, (text) => routerAdvertisement(a1, text))).toBe(false)
      expect(await arrives(a1, other, (text) => ipv6Frame(a1, other, text))).toBe(false)
    }
  })

  test('cannot speak for others', async () => {
    await network('netc')
    const [one, other] = [await plug('netc', '10.0.0.21', 0), await plug('netc', '10.0.0.22', 1)]
    await expect.poll(() => udp(one, other), { timeout: 10_000 }).toBe(true)
    const spoofed = { mac: '52:54:00:aa:aa:aa', address: '10.0.0.99' }
    const frames: Record<string, (text: string) => Buffer> = {
      mac: (text) => udpFrame(one, other, text, undefined, { mac: spoofed.mac }),
      address: (text) => udpFrame(one, other, text, undefined, { address: spoofed.address }),
      arp: (text) => arpFrame(one, other, 'answer', text, { address: '10.0.0.1' }),
      'dhcp server': (text) => udpFrame(one, other, text, { from: 67, to: 68 }),
      'router advertisement': (text) => routerAdvertisement(one, text),
      ipv6: (text) => ipv6Frame(one, other, text),
    }
    const arrived: string[] = []
    for (const [name, frame] of Object.entries(frames)) if (await arrives(one, other, frame)) arrived.push(name)
    expect(arrived).toEqual([])
  })

  test('are filtered as their rules say, and a change is in force when it is confirmed', async () => {
    await network('netd')
    const [one, other] = [await plug('netd', '10.0.0.31', 0), await plug('netd', '10.0.0.32', 1)]
    const set = (wanted: Filter) => ovn.controller.ensurePort({ ...other.port, filter: wanted }, soon())
    const seen = async (): Promise<number[]> => {
      const ports: number[] = []
      for (const port of [4001, 4002, 4003]) if (await udp(one, other, port)) ports.push(port)
      return ports
    }
    await set(filter())
    expect(await seen()).toEqual([])
    await set(filter(rule({ ports: [{ from: 4002, to: 4003 }] })))
    expect(await seen()).toEqual([4002, 4003])
    await set(filter(rule({ ports: [{ from: 4003, to: 4003 }], action: 'DROP' }), rule({})))
    expect(await seen()).toEqual([4001, 4002])
    await set(filter(rule({ sources: ['10.0.0.0/28', '2001:db8::/32'] })))
    expect(await seen()).toEqual([])
    await set(filter(rule({ sources: ['10.0.0.31'], protocol: 'ANY' })))
    expect(await seen()).toEqual([4001, 4002, 4003])
    await set({ rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'DROP' })
    expect([await udp(one, other), await udp(other, one)]).toEqual([true, false])
  })

  test('of several firewalls that open the same ports are filtered each by its own', async () => {
    await network('nets')
    const names = ['from', 'a1', 'a2', 'b1', 'b2']
    const [from, ...others] = await Promise.all(names.map((_, i) => plug('nets', `10.0.0.${201 + i}`, i % 2)))
    const open = (...ports: number[]): Filter => filter(...ports.map((port) => rule({ ports: [{ from: port, to: port }] })))
    const set = (guests: PluggedGuest[], wanted: Filter) =>
      Promise.all(guests.map(({ port }) => ovn.controller.ensurePort({ ...port, filter: wanted }, soon())))
    const opened = async (): Promise<Record<string, number[]>> => {
      const seen: Record<string, number[]> = {}
      for (const [i, guest] of others.entries()) {
        seen[names[i + 1]!] = []
        for (const port of [4001, 4002, 4003, 4004]) if (await udp(from!, guest, port)) seen[names[i + 1]!]!.push(port)
      }
      return seen
    }
    const [a, b] = [others.slice(0, 2), others.slice(2)]
    await Promise.all([set(a, open(4001, 4002)), set(b, open(4002, 4003))])
    expect(await opened()).toEqual({ a1: [4001, 4002], a2: [4001, 4002], b1: [4002, 4003], b2: [4002, 4003] })
    await set(a, open(4003, 4004))
    expect(await opened()).toEqual({ a1: [4003, 4004], a2: [4003, 4004], b1: [4002, 4003], b2: [4002, 4003] })
    await set(b.slice(0, 1), open(4003, 4004))
    expect(await opened()).toEqual({ a1: [4003, 4004], a2: [4003, 4004], b1: [4003, 4004], b2: [4002, 4003] })
    await set(a, open(4001, 4002))
    expect(await opened()).toEqual({ a1: [4001, 4002], a2: [4001, 4002], b1: [4003, 4004], b2: [4002, 4003] })
  })

  test('are filtered by rules for IPv6 and ICMPv6', async () => {
    await network('netj')
    const [one, other] = [await plug('netj', '10.0.0.91', 0, 'fd00::91'), await plug('netj', '10.0.0.92', 1, 'fd00::92')]
    const [one6, other6] = [
      { ...one, address: 'fd00::91' },
      { ...other, address: 'fd00::92' },
    ]
    const set = (wanted: Filter) =>
      ovn.controller.ensurePort({ ...other.port, addresses: [other.address, 'fd00::92'], filter: wanted }, soon())
    const seen = async (): Promise<string[]> => {
      const frames: Record<string, (text: string) => Buffer> = {
        'udp4 4001': (text) => udpFrame(one, other, text),
        'udp6 4001': (text) => udp6Frame(one6, other6, text),
        'udp6 4002': (text) => udp6Frame(one6, other6, text, { from: 4000, to: 4002 }),
        icmp6: (text) => echo6Frame(one6, other6, text),
      }
      const arrived: string[] = []
      for (const [name, frame] of Object.entries(frames)) if (await arrives(one, other, frame)) arrived.push(name)
      return arrived
    }
    await set(filter(rule({ protocol: 'ANY' })))
    // The first frame through a tunnel is lost.
    await expect.poll(() => udp(one, other), { timeout: 10_000 }).toBe(true)
    expect(await seen()).toEqual(['udp4 4001', 'udp6 4001', 'udp6 4002', 'icmp6'])
    await set(filter())
    expect(await seen()).toEqual([])
    await set(filter(rule({ protocol: 'ICMPV6' })))
    expect(await seen()).toEqual(['icmp6'])
    await set(filter(rule({ sources: ['fd00::/64'], ports: [{ from: 4002, to: 4002 }] })))
    expect(await seen()).toEqual(['udp6 4002'])
    await set(filter(rule({ sources: ['fd00::91'], destinations: ['fd00::93'] }), rule({ sources: ['10.0.0.0/8'] })))
    expect(await seen()).toEqual(['udp4 4001'])
    await set(filter(rule({ sources: ['::/0'], protocol: 'ANY' })))
    expect(await seen()).toEqual(['udp6 4001', 'udp6 4002', 'icmp6'])
    expect(await arrives(one, other, (text) => udp6Frame({ ...one6, address: 'fd00::99' }, other6, text))).toBe(false)
  })

  test('get their address by DHCP', async () => {
    await network('netg')
    const guest = await plug('netg', '10.0.0.51', 0)
    await guest.send(dhcpDiscover(guest))
    const offer = Buffer.from([0x63, 0x82, 0x53, 0x63, 53, 1, 2]).toString('latin1')
    await expect.poll(async () => (await guest.received()).includes(offer)).toBe(true)
    const message = (await guest.received()).split(offer)[0]!.slice(-236)
    expect([...Buffer.from(message.slice(16, 20), 'latin1')]).toEqual([10, 0, 0, 51])
  })

  test('leave a private network by the address of its router only, and never appear in a routing table of a host', async () => {
    const routes = () => Promise.all(ovn.region.chassis.map((box) => box.shell('ip route; ip -6 route')))
    const before = await routes()
    const snat = { address: '10.61.0.2', prefix: 24, gateway: OUTSIDE }
    const wanted = { ...networkOf('neth'), snat }
    await ovn.controller.ensureNetwork(wanted, soon())
    const guest = await plug('neth', '10.0.0.61', 0)
    const router = { mac: routerMac(wanted, 'inside'), address: OUTSIDE }
    let text = ''
    await expect
      .poll(async () => {
        text = `text-${++texts}!`
        await guest.send(udpFrame(guest, router, text))
        await delay(SETTLE_MS)
        return (await ovn.region.outside.received()).includes(text)
      })
      .toBe(true)
    const [packet] = (await ovn.region.outside.received()).split(text)
    expect([...Buffer.from(packet!.slice(-16, -12), 'latin1')]).toEqual([10, 61, 0, 2]) // source, destination, UDP header, text
    expect(await routes()).toEqual(before)
  })

  test('of a private network with a way out get answers from outside, and nothing that they did not ask for', async () => {
    // The range of the second is no closed one.
    for (const [networkId, range, address, last] of [
      ['netk', '10.0.0', '10.61.0.3', 71],
      ['netl', '9.9.9', '10.61.0.4', 72],
    ] as const) {
      const snat = { address, prefix: 24, gateway: OUTSIDE }
      const wanted = { ...networkOf(networkId), cidr: `${range}.0/24`, gateway: `${range}.1`, snat }
      await ovn.controller.ensureNetwork(wanted, soon())
      const guest = await plug(networkId, `${range}.${last}`, 0)
      const stranger = await plug(null, `10.61.0.${last}`, 1)
      const inner = { mac: routerMac(wanted, 'inside'), address: OUTSIDE }
      const outer = routerMac(wanted, 'outside')
      const { outside } = ovn.region
      const sends = (from: Guest, to: string, port = 4000) =>
        arrives(from, guest, (text) => udpFrame(from, { mac: outer, address: to }, text, { from: 4001, to: port }))
      await expect.poll(() => arrives(guest, outside, (text) => udpFrame(guest, inner, text))).toBe(true)
      // An answer comes in by the address of the router, and by it alone.
      expect(await sends(outside, address)).toBe(true)
      expect(await sends(outside, address, 4009)).toBe(false)
      for (const from of [outside, stranger])
        for (const port of [4000, 4009])
          expect([from.address, port, await sends(from, guest.address, port)]).toEqual([from.address, port, false])
    }
  })

  test('reach the public network, and no closed range', async () => {
    const guest = await plug(null, '10.61.0.50', 0)
    const { outside } = ovn.region
    await expect.poll(() => udp(guest, outside)).toBe(true)
    expect(await arrives(guest, outside, (text) => udpFrame(guest, { ...outside, address: '10.60.0.1' }, text))).toBe(false)
    expect(await udp(outside, guest)).toBe(true)
  })

  test('get networks and ports made once by two processes, and filters that go with their last port', async () => {
    const databases = [ovn.openDatabase(), ovn.openDatabase()]
    const controllers = databases.map(networkController)
    await Promise.all(controllers.map((each) => each.ensureNetwork(networkOf('netf'), soon())))
    const names = await ovn.region.central.inside('ovn-nbctl', '--bare', '--columns=name', 'find', 'Logical_Switch', 'name=berth-netf')
    expect(names.trim()).toBe('berth-netf')

    const filter: Filter = { rules: [], defaultInbound: 'REJECT', defaultOutbound: 'REJECT' }
    const groups = async (): Promise<number> =>
      (await ovn.region.central.inside('ovn-nbctl', '--bare', '--columns=name', 'list', 'Port_Group')).match(/filter/g)?.length ?? 0
    const before = await groups()
    const ports = ['aa', 'bb'].map((end) =>
      ovn.portOf({ mac: `52:54:00:00:03:${end}`, networkId: 'netf', addresses: ['10.0.0.71'], filter }),
    )
    await Promise.all(ports.flatMap((port) => controllers.map((each) => each.ensurePort(port, soon()))))
    expect(await groups()).toBe(before + 1)
    await expect(ovn.controller.ensureNoNetwork('netf', soon())).rejects.toMatchObject({ kind: 'in_use' })
    await Promise.all(ports.flatMap(({ mac }) => controllers.map((each) => each.ensureNoPort(mac, soon()))))
    expect(await groups()).toBe(before)
    expect(await collect(ovn.controller.listNetworks(soon()))).toContainEqual({ networkId: 'netf', version: 0 })
    await Promise.all(controllers.map((each) => each.ensureNoNetwork('netf', soon())))
    expect(await collect(ovn.controller.listNetworks(soon()))).not.toContainEqual({ networkId: 'netf', version: 0 })
    for (const each of databases) each.close()
  })

  test('never run unfiltered while filters come and go', async () => {
    await network('neti')
    const databases = [ovn.openDatabase(), ovn.openDatabase()]
    const controllers = databases.map(networkController)
    const filters = ['DROP', 'REJECT'].map((defaultInbound): Filter => ({
      rules: [],
      defaultInbound: defaultInbound as 'DROP',
      defaultOutbound: 'ACCEPT',
    }))
    const turn = async (number: number): Promise<void> => {
      const port = ovn.portOf({ mac: `52:54:00:00:04:0${number}`, networkId: 'neti', addresses: [`10.0.0.8${number}`] })
      for (let i = 0; i < 15; i++) await controllers[number]!.ensurePort({ ...port, filter: filters[(i + number) % 2]! }, soon())
    }
    await Promise.all([turn(0), turn(1)])
    const members = await ovn.region.central.inside('ovn-nbctl', '--bare', '--columns=ports', 'find', 'Port_Group', 'name!=berth_guests')
    expect(members.split(/\s+/).filter((each) => each !== '').length).toBeGreaterThanOrEqual(2)
    for (const number of [0, 1]) {
      const uuid = (
        await ovn.region.central.inside(
          'ovn-nbctl',
          '--bare',
          '--columns=_uuid',
          'find',
          'Logical_Switch_Port',
          `name=${portName(`52:54:00:00:04:0${number}`)}`,
        )
      ).trim()
      expect(members).toContain(uuid)
    }
    for (const each of databases) each.close()
  })
})

const routerMac = (network: NetworkSpec, key: 'inside' | 'outside'): string =>
  networkRows(network).flatMap((row) => (row.table === 'Logical_Router_Port' && row.key === key ? [row.columns.mac!] : []))[0]!
