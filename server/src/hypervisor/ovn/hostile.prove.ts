// What one guest or one host that is taken over does to the others of its region.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingCommands } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import {
  arpFrame,
  BROADCAST,
  dhcpDiscover,
  ip6Frame,
  ipFrame,
  listenerReport,
  udp6Frame,
  udpFrame,
  type End,
} from '../../../test/frames.ts'
import { OvnGuests } from '../../../test/ovn-guests.ts'
import { missingForOvn, OUTSIDE, type Guest } from '../../../test/ovn-hosts.ts'
import { connectionLimitCommands } from '../../host-setup/connection-limits.ts'
import { sleep } from '../../kernel/clock.ts'
import { NAT_GATEWAY, type PortSpec } from '../network-controller.ts'
import type { Filter } from '../spec.ts'
import { networkRows } from './network-rows.ts'

const soon = (ms = 20_000): AbortSignal => AbortSignal.timeout(ms)
const ROUTERS = 5
const CLAIMED = 3_000

/** Says for each of many addresses of the range that it is at this interface. */
const claims = (mac: string, prefix: string): string => `python3 - <<'END'
import socket, struct, time
mac = bytes.fromhex('${mac}'.replace(':', ''))
source, target = [socket.inet_pton(socket.AF_INET6, each) for each in ('${prefix}1', 'ff02::1')]
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('e0', 0))
def checksum(data):
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total > 0xffff: total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
for number in range(${CLAIMED}):
    claimed = socket.inet_pton(socket.AF_INET6, '${prefix}1:%x' % number)
    body = struct.pack('!BBHI', 136, 0, 0, 0x20000000) + claimed + b'\\x02\\x01' + mac
    sum16 = checksum(source + target + struct.pack('!II', len(body), 58) + body)
    body = body[:2] + struct.pack('!H', sum16) + body[4:]
    link.send(bytes.fromhex('333300000001') + mac + b'\\x86\\xdd' + struct.pack('!IHBB', 0x60000000, len(body), 58, 255) + source + target + body)
    time.sleep(0.0005)
END`

/** Asks all for one address, over and over. */
const questions = ({ mac, address }: End, count: number): string => `python3 - <<'END'
import socket, struct, time
mac = bytes.fromhex('${mac}'.replace(':', ''))
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('e0', 0))
ask = struct.pack('!HHBBH', 1, 0x0800, 6, 4, 1) + mac + socket.inet_aton('${address}') + bytes(6) + socket.inet_aton('10.61.0.250')
for number in range(${count}):
    link.send(b'\\xff' * 6 + mac + b'\\x08\\x06' + ask + bytes(18))
    if number % 50 == 0: time.sleep(0.005)
END`

/** Sends from one port after the other. */
const connections = (address: string, count: number): string => `python3 - <<'END'
import socket, time
for port in range(10000, 10000 + ${count}):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(('', port))
    try: link.sendto(b'x', ('${address}', 4001))
    except OSError: pass
    link.close()
    if port % 100 == 0: time.sleep(0.005)
END`

const withIpv6 = (port: PortSpec): PortSpec => ({
  ...port,
  addresses: [...port.addresses, `2001:db8:2:8::${port.addresses[0]!.split('.').at(-1)}`],
})

describeIf(missingForOvn() ?? missingCommands('python3'))('the region of', { timeout: 120_000 }, () => {
  let ovn: OvnGuests
  beforeAll(async () => {
    ovn = await OvnGuests.open(2, { ranges: ['10.61.0.0/24', '2001:db8:2::/48'], allowed: [] })
  }, 120_000)
  afterAll(() => ovn?.close())

  let texts = 0
  const outcomeOf = (port: PortSpec, ms: number): Promise<string> =>
    ovn.controller.ensurePort(port, soon(ms)).then(
      () => 'in force',
      () => 'failed',
    )
  const signal = (name: 'STOP' | 'CONT', chassis: number): Promise<string> =>
    ovn.region.chassis[chassis]!.shell(`kill -${name} $(cat /run/ovn/ovn-controller.pid)`)
  const neighbours = async (): Promise<number> =>
    (await ovn.region.central.inside('ovn-sbctl', '--bare', '--columns=ip', 'list', 'MAC_Binding'))
      .split('\n')
      .filter((line) => line !== '').length

  test('a chassis that is no host of the region: it is no gateway', async () => {
    const spec = { ranges: ['10.61.0.0/24', '2001:db8:2::/48'], allowed: [], gateways: ['hv1'] }
    await ovn.controller.ensurePublicNetwork(spec, soon())
    const chassis = await ovn.region.central.inside('ovn-nbctl', '--bare', '--columns=chassis_name', 'list', 'HA_Chassis')
    expect(new Set(chassis.split('\n').filter((line) => line !== ''))).toEqual(new Set(['hv1']))
  })

  test('a guest that claims thousands of addresses: routers learn few of them', async () => {
    for (let number = 1; number <= ROUTERS; number++) {
      const [cidr, gateway] = [`10.${number}.0.0/24`, `10.${number}.0.1`]
      const snat = { address: `10.61.0.${20 + number}`, prefix: 24, gateway: OUTSIDE }
      const network = { networkId: `net${number}`, cidr, gateway, enableDhcp: true, dns: [], snat, routes: [], peers: [] }
      await ovn.controller.ensureNetwork(network, soon())
    }
    const prefix = '2001:db8:2:7::'
    const guest = await ovn.plug(ovn.portOf({ addresses: [`${prefix}1`], ranges: [`${prefix}/64`] }))
    await sleep(1_000)
    const before = await neighbours()
    await guest.shell(claims(guest.mac, prefix))
    await sleep(1_000)
    expect((await neighbours()) - before).toBeLessThan((CLAIMED * ROUTERS) / 10)
  })

  test('a guest that keeps routers from learning: they know their gateway without asking', async () => {
    const { address: gateway, mac } = NAT_GATEWAY
    const snat = { address: '100.64.0.9', prefix: 16, gateway }
    const spec = { networkId: 'netb', cidr: '10.8.0.0/24', gateway: '10.8.0.1', enableDhcp: true, dns: [], snat, routes: [], peers: [] }
    await ovn.controller.ensureNetwork(spec, soon())
    const guest = await ovn.plug(ovn.portOf({ networkId: 'netb', addresses: ['10.8.0.11'] }))
    const router = networkRows(spec).flatMap((row) =>
      row.table === 'Logical_Router_Port' && row.key === 'inside' ? [row.columns.mac!] : [],
    )
    /** Nobody in this region answers for the gateway. */
    const frames = async (): Promise<string[]> => {
      const text = `text-${++texts}!`
      await guest.send(udpFrame(guest, { mac: router[0]!, address: '9.9.9.9' }, text))
      await sleep(300)
      return (await ovn.region.outside.received()).split(text).slice(0, -1)
    }
    let seen: string[] = []
    await expect.poll(async () => (seen = await frames()).length, { timeout: 20_000 }).toBe(1)
    // Ethernet, IP and UDP headers, text.
    expect(Buffer.from(seen[0]!.slice(-42, -36), 'latin1').toString('hex')).toBe(mac.replaceAll(':', ''))
  })

  test('a guest that opens connections without end: its host tracks so many of them, and those of others', async () => {
    const [host] = ovn.region.chassis
    const limit = 2_000
    await host!.shell(connectionLimitCommands(limit))
    const filter: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }
    const [guest, other] = [await ovn.plug(ovn.portOf({ filter })), await ovn.plug(ovn.portOf({ filter }))]
    const tracked = async ({ address }: Guest): Promise<number> =>
      (await host!.shell('ovs-appctl dpctl/dump-conntrack')).split('\n').filter((line) => line.includes(`src=${address},`)).length
    /** An answer passes the firewall only where the question is known. */
    const isAnswered = async (asker: Guest, port: number): Promise<boolean> => {
      const text = `text-${++texts}!`
      await asker.send(udpFrame(asker, ovn.region.outside, 'question', { from: port, to: 4001 }))
      await sleep(200)
      await ovn.region.outside.send(udpFrame(ovn.region.outside, asker, text, { from: 4001, to: port }))
      await sleep(200)
      return (await asker.received()).includes(text)
    }
    await expect.poll(() => isAnswered(guest, 900), { timeout: 10_000 }).toBe(true)
    await guest.shell(connections(OUTSIDE, 5 * limit))
    await sleep(500)
    expect(await tracked(guest)).toBeGreaterThan(limit / 2)
    expect(await tracked(guest)).toBeLessThanOrEqual(limit)
    expect([await isAnswered(guest, 901), await isAnswered(guest, 900), await isAnswered(other, 901)]).toEqual([false, true, true])
    // ovs-vswitchd forgets them.
    await host!.shell('ovs-appctl dpctl/flush-conntrack')
  })

  test('a guest whose firewall lets nothing out: what looks like DHCP goes to its own server only', async () => {
    const closed: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'DROP' }
    const snat = { address: '10.61.0.30', prefix: 24, gateway: OUTSIDE }
    const spec = { networkId: 'neta', cidr: '10.9.0.0/24', gateway: '10.9.0.1', enableDhcp: true, dns: [], snat, routes: [], peers: [] }
    await ovn.controller.ensureNetwork(spec, soon())
    const specs = [ovn.portOf({ networkId: 'neta', addresses: ['10.9.0.11'] }), ovn.portOf()]
    const [guest, open] = [await ovn.plug(specs[0]!), await ovn.plug(specs[1]!)]
    const [neighbour, stranger] = [
      await ovn.plug(ovn.portOf({ networkId: 'neta', addresses: ['10.9.0.12'] })),
      await ovn.plug(ovn.portOf()),
    ]
    const router = networkRows(spec).flatMap((row) =>
      row.table === 'Logical_Router_Port' && row.key === 'inside' ? [row.columns.mac!] : [],
    )[0]!
    const everyone = { mac: BROADCAST, address: '255.255.255.255' }
    const attacks: [string, Guest, End, Guest][] = [
      ['a neighbour', guest, neighbour, neighbour],
      ['all neighbours', guest, everyone, neighbour],
      ['the world, through the router', guest, { mac: router, address: OUTSIDE }, ovn.region.outside],
      ['a public neighbour', open, stranger, stranger],
      ['all public neighbours', open, everyone, stranger],
      ['the world', open, ovn.region.outside, ovn.region.outside],
      ['the uplink', open, everyone, ovn.region.outside],
    ]
    const arrived = async (from: number, to: number): Promise<string[]> => {
      const names: string[] = []
      for (const [name, sender, target, at] of attacks) {
        const text = `text-${++texts}!`
        await sender.send(udpFrame(sender, target, text, { from, to }))
        await sleep(300)
        if ((await at.received()).includes(text)) names.push(name)
      }
      return names
    }
    // Without a firewall all of them arrive, but for what is for everyone in the public network.
    const open4001 = attacks.flatMap(([name, sender, target]) => (sender === open && target === everyone ? [] : [name]))
    await expect.poll(() => arrived(4000, 4001), { timeout: 30_000 }).toEqual(open4001)
    for (const port of specs) await ovn.controller.ensurePort({ ...port, filter: closed }, soon())
    expect(await arrived(68, 67)).toEqual([])
    const offer = Buffer.from([0x63, 0x82, 0x53, 0x63, 53, 1, 2]).toString('latin1')
    await guest.send(dhcpDiscover(guest))
    await expect.poll(async () => (await guest.received()).includes(offer)).toBe(true)
  })

  test.each([
    ['none', null],
    ['one that lets everything out', { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' } satisfies Filter],
  ])('a guest that speaks to routers and DHCP servers on the wire: they do not hear it, with a firewall: %s', async (_, filter) => {
    const guest = await ovn.plug(withIpv6(ovn.portOf({ filter })))
    const [outside, everyone] = [ovn.region.outside, { mac: BROADCAST, address: '255.255.255.255' }]
    const group = (last: number): End => ({ mac: `01:00:5e:00:00:${last.toString(16).padStart(2, '0')}`, address: `224.0.0.${last}` })
    const udp =
      (to: End, dst: number, from = 4000) =>
      (text: string) =>
        udpFrame(guest, to, text, { from, to: dst })
    const own6 = { ...guest, address: guest.port.addresses[1]! }
    const servers6 = { mac: '33:33:00:01:00:02', address: 'ff02::1:2' }
    const messages: Record<string, (text: string) => Buffer> = {
      'another machine': udp(outside, 4001),
      'another machine by IPv6': (text) => udp6Frame(own6, { ...outside, address: '2001:db8:2:8::ffff' }, text),
      VRRP: (text) => ipFrame(guest, group(18), 112, text),
      'VRRP to one router': (text) => ipFrame(guest, outside, 112, text),
      OSPF: (text) => ipFrame(guest, group(5), 89, text),
      'OSPF to one router': (text) => ipFrame(guest, outside, 89, text),
      EIGRP: (text) => ipFrame(guest, group(10), 88, text),
      PIM: (text) => ipFrame(guest, group(13), 103, text),
      'VRRP by IPv6': (text) => ip6Frame(own6, { mac: '33:33:00:00:00:12', address: 'ff02::12' }, 112, text),
      HSRP: udp(group(2), 1985),
      RIP: udp(group(9), 520),
      'RIP to one router': udp(outside, 520),
      DHCP: udp(everyone, 67, 68),
      'DHCP to one server': udp(outside, 67),
      DHCPv6: (text) => udp6Frame(own6, servers6, text, { from: 546, to: 547 }),
    }
    const arrived = async (): Promise<string[]> => {
      const sent = Object.entries(messages).map(([name, frame]) => ({ name, frame, text: `text-${++texts}!` }))
      for (const { frame, text } of sent) await guest.send(frame(text))
      await sleep(500)
      const received = await outside.received()
      return sent.filter(({ text }) => received.includes(text)).map(({ name }) => name)
    }
    await expect.poll(arrived, { timeout: 15_000 }).toEqual(['another machine', 'another machine by IPv6'])
  })

  test.each([
    ['none', null],
    ['one that lets everything pass', { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' } satisfies Filter],
  ])('a guest that sends to all: neither strangers nor the wire hear more than its questions, with a firewall: %s', async (_, filter) => {
    const guest = await ovn.plug(withIpv6(ovn.portOf({ filter })))
    const [stranger, other] = [await ovn.plug(ovn.portOf({ filter })), await ovn.plug(ovn.portOf({ filter }))]
    const own6 = { ...guest, address: guest.port.addresses[1]! }
    const everyone = (address: string): End => ({ mac: BROADCAST, address })
    const messages: Record<string, (text: string) => Buffer> = {
      stranger: (text) => udpFrame(guest, stranger, text),
      'the broadcast address': (text) => udpFrame(guest, everyone('10.61.0.255'), text),
      'all hosts': (text) => udpFrame(guest, everyone('255.255.255.255'), text),
      'the stranger in a broadcast': (text) => udpFrame(guest, everyone(stranger.address), text),
      'a group': (text) => udpFrame(guest, { mac: '01:00:5e:01:02:03', address: '239.1.2.3' }, text),
      'all nodes by IPv6': (text) => udp6Frame(own6, { mac: '33:33:00:00:00:01', address: 'ff02::1' }, text),
      'a group of IPv6': (text) => udp6Frame(own6, { mac: '33:33:00:00:12:34', address: 'ff0e::1234' }, text),
      'a question for a neighbour': (text) => arpFrame(guest, everyone('10.61.0.250'), 'ask', text),
      'who listens': (text) => listenerReport(guest, text),
    }
    const arrived = async (at: Guest): Promise<string[]> => {
      const sent = Object.entries(messages).map(([name, frame]) => ({ name, frame, text: `text-${++texts}!` }))
      for (const { frame, text } of sent) await guest.send(frame(text))
      await sleep(500)
      const received = await at.received()
      return sent.filter(({ text }) => received.includes(text)).map(({ name }) => name)
    }
    await expect.poll(() => arrived(stranger), { timeout: 15_000 }).toEqual(['stranger', 'a question for a neighbour', 'who listens'])
    expect(await arrived(ovn.region.outside)).toEqual(['a question for a neighbour', 'who listens'])
    // Of 6 MB of questions a trickle arrives. What it may ask is its own: others go on.
    const bytes = async (): Promise<number> => Number(await stranger.shell('cat /sys/class/net/e0/statistics/rx_bytes'))
    const [before, start] = [await bytes(), Date.now()]
    const flood = guest.shell(questions(guest, 100_000))
    const text = `text-${++texts}!`
    await sleep(500)
    await other.send(arpFrame(other, everyone('10.61.0.251'), 'ask', text))
    await flood
    await sleep(500)
    expect((await stranger.received()).includes(text)).toBe(true)
    const [received, seconds] = [(await bytes()) - before, (Date.now() - start) / 1_000]
    expect(received).toBeGreaterThan(4_000)
    expect(received).toBeLessThan(30_000 + 10_000 * seconds)
  })

  test('a guest that sends to ports of hosts: they do not hear it, by IPv4 and IPv6, in ranges of the region and beyond', async () => {
    const withheld = [OUTSIDE, '2001:db8:2::/64']
    await ovn.controller.ensurePublicNetwork({ ranges: ['10.61.0.0/24', '2001:db8:2::/48'], withheld, allowed: [] }, soon())
    const guest = await ovn.plug(withIpv6(ovn.portOf()))
    const own6 = { ...guest, address: guest.port.addresses[1]! }
    const at = (address: string): End => ({ mac: ovn.region.outside.mac, address })
    const [inside, inside6] = ['10.61.0.2', '2001:db8:2:b::1']
    const arrived = async (to: number): Promise<string[]> => {
      const ends = [OUTSIDE, inside, '9.9.9.9', '2001:db8:2::5', inside6, '2001:4860::1']
      const sent = ends.map((address) => ({ address, text: `text-${++texts}!` }))
      for (const { address, text } of sent)
        await guest.send(
          address.includes(':')
            ? udp6Frame(own6, at(address), text, { from: 4000, to })
            : udpFrame(guest, at(address), text, { from: 4000, to }),
        )
      await sleep(500)
      const received = await ovn.region.outside.received()
      return sent.filter(({ text }) => received.includes(text)).map(({ address }) => address)
    }
    await expect.poll(() => arrived(4001), { timeout: 15_000 }).toHaveLength(6)
    // Other guests have them.
    expect(await arrived(6081)).toEqual([inside, inside6])
  })

  test('a host that does not answer: its changes are not in force, however often they are asked for', async () => {
    const port = ovn.portOf()
    await ovn.controller.ensurePort(port, soon())
    await signal('STOP', 0)
    const filter: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }
    const changed = { ...port, filter, version: 2 }
    expect([await outcomeOf(changed, 2_000), await outcomeOf(changed, 2_000)]).toEqual(['failed', 'failed'])
    await ovn.controller.ensurePort(changed, soon(), { unconfirmed: true })
    await signal('CONT', 0)
    expect(await outcomeOf(changed, 20_000)).toBe('in force')
  })

  test('a host that does not answer: what runs on it keeps its addresses, port or no port, until it does', async () => {
    const port = ovn.portOf()
    const guest = await ovn.plug(port)
    const arrives = async (): Promise<boolean> => {
      const text = `text-${++texts}!`
      await guest.send(udpFrame(guest, ovn.region.outside, text))
      await sleep(300)
      return (await ovn.region.outside.received()).includes(text)
    }
    await expect.poll(arrives, { timeout: 10_000 }).toBe(true)
    await signal('STOP', 0)
    await ovn.controller.ensureNoPort(port.mac, soon())
    await sleep(1_000)
    expect(await arrives()).toBe(true)
    await signal('CONT', 0)
    await expect.poll(arrives, { timeout: 10_000 }).toBe(false)
  })

  test.each(['9223372036854775807', '4611686018427387904'])(
    'a host that says it has confirmed %s disturbs no other host',
    async (number) => {
      await signal('STOP', 1)
      await ovn.region.central.inside('ovn-sbctl', 'set', 'Chassis_Private', 'hv2', `nb_cfg=${number}`)
      await sleep(500)
      expect(await outcomeOf(ovn.portOf(), 10_000)).toBe('in force')
      await signal('STOP', 0)
      expect(await outcomeOf(ovn.portOf(), 2_000)).toBe('failed')
      await signal('CONT', 0)
      await signal('CONT', 1)
      expect(await outcomeOf(ovn.portOf({ host: 'hv2' }), 20_000)).toBe('in force')
      expect(Number(await ovn.region.central.inside('ovn-nbctl', 'get', 'NB_Global', '.', 'nb_cfg'))).toBeLessThan(1_000)
    },
  )
})
