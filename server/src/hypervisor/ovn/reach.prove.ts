// The model of what reaches whom agrees with OVN: `ovn-trace` follows every packet of a matrix through the logical flows that OVN has made of
// the same specs.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForOvn, OUTSIDE, OvnRegion } from '../../../test/ovn-hosts.ts'
import { sleep } from '../../kernel/clock.ts'
import { parseIp, parseIpRange, rangeContains } from '../../kernel/ip-range.ts'
import { portName, type NetworkController, type NetworkSpec, type PortSpec } from '../network-controller.ts'
import { traceReach, type Packet, type Reach } from '../reachability.ts'
import type { Filter, FilterRule } from '../spec.ts'
import { networkController } from './controller.ts'
import { openNetworkDatabase, type NetworkDatabase } from './northbound.ts'
import { networkRows } from './network-rows.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
/** Of the public network, and of routers of private ones. */
const UPLINKS = ['berth-public-uplink', 'berth-nat-uplink']
/** Of a machine that is not there. */
const NOBODY = '0a:ff:ff:ff:ff:ff'

const rule = (changes: Partial<FilterRule>): FilterRule => ({
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'ANY',
  ports: [],
  sources: [],
  destinations: [],
  ...changes,
})
const isInRange = (range: string, address: string): boolean => rangeContains(parseIpRange(range)!, parseIp(address)!)
const filter = (...rules: FilterRule[]): Filter => ({ rules, defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' })
const END = 'end of the trace'
const DETAILS = 'details of the trace'
const PACKETS = [
  { protocol: 'TCP', port: 22 },
  { protocol: 'TCP', port: 85 },
  { protocol: 'UDP', port: 22 },
  { protocol: 'ICMP', port: null },
] as const
const PACKETS6 = [...PACKETS.slice(0, 3), { protocol: 'ICMPV6', port: null }] as const
const TO_HOSTS = [
  { protocol: 'TCP', port: 16514 },
  { protocol: 'UDP', port: 6081 },
] as const
const port22 = [{ from: 22, to: 22 }]

/** Of what a sender may send. */
const OUTBOUND: Record<string, Filter | null> = {
  open: null,
  'without rules': filter(),
  'some rejected, some dropped': filter(
    rule({ direction: 'OUT', action: 'REJECT', protocol: 'TCP', ports: port22 }),
    rule({ direction: 'OUT', action: 'DROP', protocol: 'UDP', destinations: ['10.0.0.0/8', '2001:db8::/48'] }),
    rule({ direction: 'OUT', action: 'DROP', protocol: 'ICMPV6' }),
  ),
  'some addresses only': filter(
    rule({ direction: 'OUT', destinations: ['10.61.0.11', '10.0.0.11/32', '2001:db8::/64'], sources: ['10.61.0.10', '2001:db8::10'] }),
    rule({ direction: 'OUT', action: 'REJECT', sources: ['0.0.0.0/0'] }),
    rule({ direction: 'OUT', action: 'DROP', sources: ['::/0'] }),
  ),
}
/** Of what a receiver accepts. */
const INBOUND: Record<string, Filter | null> = {
  open: null,
  'without rules': filter(),
  'ports and ICMP': filter(
    rule({ protocol: 'TCP', ports: [{ from: 80, to: 90 }, ...port22] }),
    rule({ protocol: 'UDP', ports: port22 }),
    rule({ protocol: 'ICMP' }),
  ),
  'IPv6 and ICMPv6': filter(rule({ protocol: 'ICMPV6', sources: ['2001:db8::10'] }), rule({ protocol: 'UDP', sources: ['::/0'] })),
  'the first match': filter(
    rule({ protocol: 'TCP', ports: port22, action: 'REJECT', sources: ['10.0.0.0/28', '2001:db8::10'] }),
    rule({ sources: ['10.0.0.0/8'] }),
    rule({ protocol: 'ICMPV6', action: 'REJECT' }),
    rule({ destinations: ['2001:db8::11'] }),
  ),
}

describeIf(missingForOvn())('the model of reachability and ovn-trace', { timeout: 300_000 }, () => {
  let region: OvnRegion
  let database: NetworkDatabase
  let controller: NetworkController
  const publicNetwork = { ranges: ['10.61.0.0/24', '198.51.100.0/24', '2001:db8::/64'], allowed: ['192.168.7.0/24'] }
  const gatewayOf = (cidr: string): string => cidr.replace(/0\/24$/, '1')
  const network = (networkId: string, cidr: string, changes: Partial<NetworkSpec> = {}): NetworkSpec => ({
    networkId,
    cidr,
    gateway: gatewayOf(cidr),
    enableDhcp: true,
    dns: [],
    snat: null,
    routes: [],
    peers: [],
    ...changes,
  })
  const peer = (networkId: string, cidr: string) => ({ networkId, cidr, gateway: gatewayOf(cidr) })
  const networks = {
    lan: network('lan', '10.0.0.0/24', {
      peers: [peer('other', '10.0.1.0/24')],
      routes: [{ destination: '192.168.50.0/24', nextHop: '10.0.0.11' }],
    }),
    other: network('other', '10.0.1.0/24', { peers: [peer('lan', '10.0.0.0/24')] }),
    /** Of another tenant. */
    twin: network('twin', '10.0.0.0/24'),
    nat: network('nat', '10.0.2.0/24', { snat: { address: '100.64.0.5', prefix: 16, gateway: '100.64.0.1' } }),
  }
  let ports = 0
  const port = (networkId: string | null, ...addresses: string[]): PortSpec => ({
    vmId: 'c1',
    mac: `52:54:00:00:07:${(++ports).toString(16).padStart(2, '0')}`,
    networkId,
    addresses,
    ranges: [],
    host: 'hv1',
    limitMbps: null,
    filter: null,
  })
  const machines = {
    web: [port(null, '10.61.0.10', '2001:db8::10'), port('lan', '10.0.0.10')],
    db: [port(null, '10.61.0.11', '2001:db8::11'), { ...port('lan', '10.0.0.11'), ranges: ['192.168.50.0/24'] }],
    far: [port(null, '10.61.0.12'), port('other', '10.0.1.12')],
    /** In another range of public addresses. */
    abroad: [port(null, '198.51.100.16')],
    stranger: [port('twin', '10.0.0.13')],
    inside: [port('nat', '10.0.2.14')],
    neighbour: [port('nat', '10.0.2.15')],
  }
  type Name = keyof typeof machines

  const setFilter = async (name: Name, wanted: Filter | null): Promise<void> => {
    machines[name] = machines[name].map((each) => ({ ...each, filter: wanted }))
    for (const each of machines[name]) await controller.ensurePort(each, soon())
  }

  beforeAll(async () => {
    region = await OvnRegion.open(1)
    database = openNetworkDatabase({ ...region.endpoints, log: pino({ level: 'silent' }) })
    controller = networkController(database)
    await controller.ensurePublicNetwork(publicNetwork, soon())
    for (const each of Object.values(networks)) await controller.ensureNetwork(each, soon())
    for (const each of Object.values(machines).flat()) await controller.ensurePort(each, soon())
    await region.central.inside('ovn-nbctl', '--wait=sb', 'sync')
  }, 120_000)
  afterAll(async () => {
    database?.close()
    await region?.close()
  })

  interface Case {
    from: Name
    /** Whose machine it is, if it is known. */
    to: Name | null
    destination: string
    protocol: Packet['protocol']
    port: number | null
  }
  const ask = ({ from, to, ...packet }: Case): Reach =>
    traceReach({
      ...packet,
      publicNetwork,
      networks: Object.values(networks),
      sender: machines[from],
      receiver: to === null ? [] : machines[to],
    })

  const macOf = (address: string, networkId: string | null): string =>
    Object.values(machines)
      .flat()
      .find((each) => each.networkId === networkId && each.addresses.includes(address))?.mac ?? NOBODY

  interface Sent {
    flow: string
    sender: PortSpec
    /** Of the interface that shall get it. */
    at: string
    /** Whether that is the next hop of a route. */
    isVia: boolean
  }

  /** As the sender would send it; without a way, from a made-up address. */
  function microflow({ from, destination, protocol, port: number }: Case, { source }: Reach): Sent {
    const family = parseIp(destination)!.family
    const sender = machines[from].find((each) => each.networkId === source?.networkId) ?? machines[from][0]!
    const own = sender.networkId === null ? null : networks[sender.networkId as keyof typeof networks]
    const router = own && networkRows(own).find((row) => row.table === 'Logical_Router_Port' && row.key === 'inside')
    const isNear = own && destination !== own.gateway && destination.startsWith(own.gateway!.replace(/1$/, ''))
    const isOnLink = publicNetwork.ranges.some((range) => [destination, source?.address].every((each) => each && isInRange(range, each)))
    // OVN does not know the gateway of the public network.
    const near = !own && !isOnLink ? NOBODY : macOf(destination, sender.networkId)
    const target = own && !isNear ? (router!.columns as { mac: string }).mac : near
    const isBehind = own === networks.lan && destination.startsWith('192.168.50.')
    const peerOf = own?.peers.find(({ gateway }) => destination.startsWith(gateway.replace(/1$/, '')))
    const at = isBehind ? macOf('10.0.0.11', 'lan') : macOf(destination, peerOf?.networkId ?? sender.networkId)
    const l4 = {
      TCP: `tcp && tcp.src == 40000 && tcp.dst == ${number} && tcp.flags == 2`,
      UDP: `udp && udp.src == 40000 && udp.dst == ${number}`,
      ICMP: 'icmp4 && icmp4.type == 8 && icmp4.code == 0',
      ICMPV6: 'icmp6 && icmp6.type == 128 && icmp6.code == 0',
    }[protocol]
    const address = source?.address ?? (family === 4 ? '10.9.9.9' : '2001:db8::9')
    const flow = [
      `inport == "${portName(sender.mac)}" && eth.src == ${sender.mac} && eth.dst == ${target}`,
      `ip.ttl == 64 && ip${family}.src == ${address} && ip${family}.dst == ${destination} && ${l4}`,
    ].join(' && ')
    return { flow, sender, at, isVia: isBehind }
  }

  /** What OVN says of each: where it puts the packet out, or that it answers with a refusal. */
  async function trace(cases: Sent[]): Promise<string[]> {
    const states = '--ct=new '.repeat(8)
    const ask = (form: string, flow: string): string => `ovn-trace --no-friendly-names --${form} ${states} '${flow}'`
    const script = cases.map(
      ({ flow, isVia }) => `${ask('minimal', flow)}; echo ${DETAILS}; ${isVia ? ask('detailed', flow) : ''}\necho ${END}`,
    )
    const answers = (await region.central.shell(script.join('\n'))).split(END)
    return cases.map(({ sender, at }, i) => {
      const [text, details] = answers[i]!.split(DETAILS) as [string, string]
      const places = [...text.matchAll(/output\("([^"]+)"/g)].map((match) => match[1]!)
      if (/tcp_reset|icmp[46](_error)? \{/.test(text)) return 'REFUSED'
      if (places.includes(portName(at))) return 'REACHABLE'
      if (/icmp4\.type = 0;/.test(text) && places.includes(portName(sender.mac))) return 'REACHABLE'
      // Filters come before port security, of which ovn-trace knows no ranges.
      if (details.split(`outport="${portName(at)}")`)[1]?.includes('check_out_port_sec()')) return 'FORWARDED'
      // The router asks for the address of its gateway first, and the trace ends there.
      return places.some((place) => UPLINKS.includes(place)) && (!text.includes('arp {') || text.includes('arp.tpa = 0x64400001'))
        ? 'FORWARDED'
        : 'BLOCKED'
    })
  }

  const seen = new Set<string>()
  const describeCase = ({ from, destination, protocol, port: number }: Case): string =>
    `${from} to ${destination} ${protocol}${number === null ? '' : ` ${number}`}`

  /** What both say of each, to be equal. */
  async function compare(cases: Case[]): Promise<{ modelled: string[]; traced: string[] }> {
    const reaches = cases.map(ask)
    const sent = cases.map((each, i) => microflow(each, reaches[i]!))
    const answers: string[] = []
    // A command line has its limit.
    for (let at = 0; at < sent.length; at += 100) answers.push(...(await trace(sent.slice(at, at + 100))))
    // Some routers refuse what is no ping, others drop it.
    const traced = answers.map((answer, i) =>
      answer === 'REFUSED' && reaches[i]!.steps.at(-1)!.kind === 'DESTINATION' ? 'BLOCKED' : answer,
    )
    const lines = (verdicts: string[]) => cases.map((each, i) => `${describeCase(each)}: ${verdicts[i]}`)
    const modelled = reaches.map(({ verdict, steps }) => {
      const last = steps.at(-1)!
      const isRefused = 'decision' in last && last.decision.action === 'REJECT'
      return isRefused ? 'REFUSED' : verdict
    })
    for (const { verdict, steps } of reaches) seen.add(`${verdict} ${steps.at(-1)!.kind}`)
    return { modelled: lines(modelled), traced: lines(traced) }
  }

  const packetsTo = (destination: string) =>
    (parseIp(destination)!.family === 4 ? PACKETS : PACKETS6).map((packet) => ({ destination, ...packet }))
  test.each(Object.keys(OUTBOUND))('agree with the outbound filter: %s', async (outbound) => {
    await setFilter('web', OUTBOUND[outbound]!)
    for (const inbound of Object.values(INBOUND)) {
      await setFilter('db', inbound)
      const cases = ['10.0.0.11', '10.61.0.11', '2001:db8::11']
        .flatMap(packetsTo)
        .map((packet) => ({ from: 'web', to: 'db', ...packet }) as const)
      const { modelled, traced } = await compare(cases)
      expect(modelled).toEqual(traced)
    }
  })

  test('agree about networks, routes, closed ranges and ports, and gateways', async () => {
    for (const name of ['web', 'db'] as const) await setFilter(name, null)
    const known: [Name, Name, string][] = [
      ['web', 'far', '10.61.0.12'],
      ['web', 'far', '10.0.1.12'],
      ['web', 'stranger', '10.0.0.13'],
      ['stranger', 'web', '10.0.0.10'],
      ['stranger', 'db', '10.61.0.11'],
      ['far', 'db', '10.0.0.11'],
      ['far', 'db', '2001:db8::11'],
      ['db', 'web', '2001:db8::10'],
      ['web', 'db', '192.168.50.7'],
      ['far', 'db', '192.168.50.7'],
      ['stranger', 'far', '10.0.1.12'],
      ['inside', 'far', '10.0.1.12'],
      ['inside', 'neighbour', '10.0.2.15'],
      ['inside', 'db', '10.0.0.11'],
      ['inside', 'db', '2001:db8::11'],
      ['inside', 'db', '10.61.0.11'],
      ['web', 'abroad', '198.51.100.16'],
      ['abroad', 'web', '10.61.0.10'],
      ['inside', 'abroad', '198.51.100.16'],
    ]
    const unknown: [Name, string][] = (['web', 'far', 'inside', 'stranger'] as const).flatMap((from) =>
      [
        '1.1.1.1',
        '10.60.0.1',
        '10.61.0.77',
        '10.0.0.99',
        '10.0.2.99',
        '10.0.0.1',
        '10.0.1.1',
        '10.0.1.99',
        '10.0.2.1',
        '192.168.7.1',
        '192.168.8.1',
        '100.64.0.1',
        '169.254.169.254',
      ]
        .concat('2001:db8::77', '2001:db9::1', 'fd00::1', 'fe80::1')
        .map((destination): [Name, string] => [from, destination]),
    )
    const toHosts = (destination: string) => TO_HOSTS.map((packet) => ({ destination, ...packet }))
    const allTo = (destination: string) => [...packetsTo(destination), ...toHosts(destination)]
    const cases = [
      ...known.flatMap(([from, to, destination]) => allTo(destination).map((packet) => ({ from, to, ...packet }))),
      ...unknown.flatMap(([from, destination]) => allTo(destination).map((packet) => ({ from, to: null, ...packet }))),
    ]
    const { modelled, traced } = await compare(cases)
    expect(modelled).toEqual(traced)
  })

  test('agree about filters behind a peering and a route', async () => {
    for (const inbound of Object.values(INBOUND)) {
      await setFilter('db', inbound)
      const cases = [
        ...packetsTo('10.0.0.11').map((packet) => ({ from: 'far', to: 'db', ...packet }) as const),
        ...packetsTo('192.168.50.7').map((packet) => ({ from: 'web', to: 'db', ...packet }) as const),
      ]
      const { modelled, traced } = await compare(cases)
      expect(modelled).toEqual(traced)
    }
  })

  test('agree with packets about two ranges of public addresses: their gateway decides', async () => {
    const question = { from: 'web', to: 'abroad', destination: '198.51.100.16', protocol: 'UDP', port: 4000 } as const
    expect(ask(question).verdict).toBe('FORWARDED')
    const plug = (name: Name, address: string) =>
      region.addGuest(region.chassis[0]!, { mac: machines[name][0]!.mac, address, interfaceId: portName(machines[name][0]!.mac) })
    const [web, abroad] = [await plug('web', '10.61.0.10'), await plug('abroad', '198.51.100.16')]
    for (const name of ['web', 'abroad'] as const) await database.portUp(portName(machines[name][0]!.mac), soon())
    await web.shell(`ip route add default via ${OUTSIDE}`)
    let texts = 0
    /** Where the next packet is seen. */
    const sent = async (): Promise<string[]> => {
      const text = `packet ${++texts}!`
      await web.shell(`bash -c 'echo "${text}" > /dev/udp/198.51.100.16/4000'`).catch(() => undefined)
      await sleep(500)
      const places = { gateway: region.outside, receiver: abroad }
      const seenAt: string[] = []
      for (const [name, end] of Object.entries(places)) if ((await end.received()).includes(text)) seenAt.push(name)
      return seenAt
    }
    const atGateway = (script: string) => region.outside.shell(script)
    await atGateway('echo 0 > /proc/sys/net/ipv4/ip_forward')
    await expect.poll(sent, { timeout: 20_000 }).toEqual(['gateway'])
    await atGateway('ip addr add 198.51.100.1/24 dev public; echo 1 > /proc/sys/net/ipv4/ip_forward')
    await expect.poll(sent, { timeout: 20_000 }).toEqual(['gateway', 'receiver'])
    await atGateway(`ip addr del ${OUTSIDE}/24 dev public`)
    await web.shell('ip neigh flush dev e0')
    await expect.poll(sent, { timeout: 20_000 }).toEqual([])
  })

  test('have met every way to pass and to be stopped', () =>
    expect([...seen].toSorted()).toEqual([
      'BLOCKED CLOSED_RANGE',
      'BLOCKED DESTINATION',
      'BLOCKED INBOUND_FILTER',
      'BLOCKED OUTBOUND_FILTER',
      'BLOCKED ROUTE',
      'FORWARDED CLOSED_RANGE',
      'FORWARDED INBOUND_FILTER',
      'REACHABLE DESTINATION',
      'REACHABLE INBOUND_FILTER',
    ]))
})
