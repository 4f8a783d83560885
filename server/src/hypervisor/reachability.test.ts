import { describe, expect, test } from 'vitest'
import { traceReach, type ReachQuestion } from './reachability.ts'
import type { Filter, FilterRule } from './spec.ts'

const rule = (changes: Partial<FilterRule>): FilterRule => ({
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'TCP',
  ports: [],
  sources: [],
  destinations: [],
  ...changes,
})
const filter = (...rules: FilterRule[]): Filter => ({ rules, defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' })
const port = (networkId: string | null, addresses: string[], of: Filter | null = null, ranges: string[] = []) => ({
  networkId,
  addresses,
  ranges,
  filter: of,
})
const snat = { address: '100.64.0.5', prefix: 16, gateway: '100.64.0.1' }
const isolated = { networkId: 'lan', cidr: '10.0.0.0/24', gateway: null, snat: null, routes: [], peers: [] }
const lan = { ...isolated, gateway: '10.0.0.1' }
const question: ReachQuestion = {
  sender: [port(null, ['10.77.0.2', '2001:db8::2']), port('lan', ['10.0.0.2'])],
  networks: [lan],
  publicNetwork: { ranges: ['10.77.0.0/16', '2001:db8::/64'], allowed: ['192.168.7.0/24'] },
  receiver: [],
  destination: '10.0.0.3',
  protocol: 'TCP',
  port: 22,
}
const ask = (changes: Partial<ReachQuestion>): string => {
  const { verdict, source, steps } = traceReach({ ...question, ...changes })
  expect(steps.slice(0, -1).every(({ passes }) => passes)).toBe(true)
  expect(steps.at(-1)!.passes).toBe(verdict !== 'BLOCKED')
  return `${verdict} from ${source?.address ?? 'nowhere'} by ${steps.map(({ kind }) => kind).join(' ')}`
}
const PUBLIC_WAY = 'OUTBOUND_FILTER ROUTE CLOSED_RANGE'

describe('a machine', () => {
  const other = [port('lan', ['10.0.0.3']), port(null, ['10.77.0.3', '2001:db8::3'])]

  test('reaches another of its network, by it', () =>
    expect(ask({ receiver: other })).toBe('REACHABLE from 10.0.0.2 by OUTBOUND_FILTER ROUTE INBOUND_FILTER'))

  test('reaches nobody at an unused address of its network, though another network has it', () => {
    const step = traceReach({ ...question, receiver: [port('other', ['10.0.0.3'])] }).steps.at(-1)
    expect(step).toEqual({ kind: 'DESTINATION', owner: 'NOBODY', range: '10.0.0.0/24', address: '10.0.0.3', passes: false })
  })

  test('reaches public addresses of either family by the public interface', () => {
    expect(ask({ receiver: other, destination: '10.77.0.3' })).toBe(`REACHABLE from 10.77.0.2 by ${PUBLIC_WAY} INBOUND_FILTER`)
    expect(ask({ receiver: other, destination: '2001:DB8:0::3' })).toBe(`REACHABLE from 2001:db8::2 by ${PUBLIC_WAY} INBOUND_FILTER`)
    expect(ask({ destination: '1.1.1.1' })).toBe(`FORWARDED from 10.77.0.2 by ${PUBLIC_WAY}`)
  })

  test('has every address of a range of its own', () => {
    const publicNetwork = { ranges: ['2001:db8::/48'], allowed: [] }
    const receiver = [port(null, ['2001:db8:0:7::1'], null, ['2001:db8:0:7::/64'])]
    expect(ask({ receiver, publicNetwork, destination: '2001:db8:0:7::77' })).toContain('REACHABLE')
    expect(ask({ receiver, publicNetwork, destination: '2001:db8:0:8::77' })).toContain('FORWARDED')
  })

  test('sends what is of another range, or leaves by SNAT, to a gateway outside, of which nothing is known', () => {
    const publicNetwork = { ranges: ['10.77.0.0/16', '10.78.0.0/16'], allowed: [] }
    const abroad = { publicNetwork, destination: '10.78.0.3' }
    const at = (of: Filter | null) => [port(null, ['10.78.0.3'], of)]
    const sent = traceReach({ ...question, ...abroad, receiver: at(null) })
    expect([sent.verdict, sent.steps[1]]).toEqual(['FORWARDED', { kind: 'ROUTE', way: 'GATEWAY', networkId: null, passes: true }])
    expect(ask({ ...abroad, receiver: at(filter()) })).toBe(`BLOCKED from 10.77.0.2 by ${PUBLIC_WAY} INBOUND_FILTER`)
    const inside = { sender: [port('lan', ['10.0.0.2'])], networks: [{ ...lan, snat }], destination: '10.77.0.3' }
    expect(ask({ ...inside, receiver: other })).toBe(`FORWARDED from 10.0.0.2 by ${PUBLIC_WAY} INBOUND_FILTER`)
  })

  test('reaches no closed range, unless it is open', () => {
    expect(ask({ destination: '10.0.1.3', receiver: [port('other', ['10.0.1.3'])] })).toBe(`BLOCKED from 10.77.0.2 by ${PUBLIC_WAY}`)
    expect(ask({ destination: '192.168.8.1' })).toBe(`BLOCKED from 10.77.0.2 by ${PUBLIC_WAY}`)
    expect(ask({ destination: 'fd00::1' })).toBe(`BLOCKED from 2001:db8::2 by ${PUBLIC_WAY}`)
    expect(ask({ destination: '192.168.7.1' })).toBe(`FORWARDED from 10.77.0.2 by ${PUBLIC_WAY}`)
  })

  test('without a public address leaves by SNAT, and reaches no closed range', () => {
    const inside = { sender: [port('lan', ['10.0.0.2'])], networks: [{ ...lan, snat }] }
    expect(ask({ ...inside, destination: '1.1.1.1' })).toBe(`FORWARDED from 10.0.0.2 by ${PUBLIC_WAY}`)
    expect(ask({ ...inside, destination: '172.16.0.1' })).toBe(`BLOCKED from 10.0.0.2 by ${PUBLIC_WAY}`)
    expect(ask({ ...inside, networks: [lan], destination: '1.1.1.1' })).toBe('BLOCKED from nowhere by ROUTE')
    expect(ask({ ...inside, destination: '2001:db8::3' })).toBe('BLOCKED from nowhere by ROUTE')
  })

  test('reaches no ports of hosts outside, but those of guests', () => {
    const closed = (changes: Partial<ReachQuestion>) => traceReach({ ...question, ...changes }).steps.at(-1)
    const drop = { kind: 'CLOSED_RANGE', closed: 'PORT', passes: false }
    expect(closed({ destination: '1.1.1.1', port: 16514 })).toEqual(drop)
    expect(closed({ destination: '192.168.7.1', port: 6642 })).toEqual(drop)
    expect(closed({ destination: '1.1.1.1', protocol: 'UDP', port: 6081 })).toEqual(drop)
    expect(ask({ destination: '1.1.1.1', protocol: 'UDP', port: 16514 })).toContain('FORWARDED')
    expect(closed({ destination: '2001:db9::1', port: 16514 })).toEqual(drop)
    const withheld = { ...question.publicNetwork, withheld: ['10.77.0.1/32'] }
    expect(closed({ publicNetwork: withheld, destination: '10.77.0.1', port: 16514 })).toEqual(drop)
    expect(ask({ destination: '10.77.0.3', receiver: other, port: 16514 })).toContain('REACHABLE')
    expect(ask({ receiver: other, port: 16514 })).toContain('REACHABLE')
    const inside = { sender: [port('lan', ['10.0.0.2'])], networks: [{ ...lan, snat }], port: 16514 }
    expect(closed({ ...inside, destination: '1.1.1.1' })).toEqual(drop)
    expect(closed({ ...inside, destination: '10.77.0.3', receiver: other })).toEqual(drop)
  })

  test('pings the router of its network, and nothing else of it', () => {
    const routed = { networks: [{ ...lan, snat }], destination: '10.0.0.1' }
    expect(ask({ ...routed, protocol: 'ICMP', port: null })).toBe('REACHABLE from 10.0.0.2 by OUTBOUND_FILTER ROUTE DESTINATION')
    expect(ask(routed)).toBe('BLOCKED from 10.0.0.2 by OUTBOUND_FILTER ROUTE DESTINATION')
    expect(ask({ ...routed, networks: [isolated], protocol: 'ICMP', port: null })).toContain('BLOCKED')
  })

  test('reaches machines of a peer and what is behind a next hop, and nothing of a network without a router', () => {
    const peers = [{ networkId: 'back', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }]
    const routes = [{ destination: '192.168.9.0/24', nextHop: '10.0.0.3' }]
    const networks = [{ ...lan, peers, routes }]
    const way = 'OUTBOUND_FILTER ROUTE'
    const peer = { networks, destination: '10.0.1.3' }
    expect(ask({ ...peer, receiver: [port('back', ['10.0.1.3'])] })).toBe(`REACHABLE from 10.0.0.2 by ${way} INBOUND_FILTER`)
    expect(ask({ ...peer, receiver: [port('back', ['10.0.1.3'], filter())] })).toBe(`BLOCKED from 10.0.0.2 by ${way} INBOUND_FILTER`)
    expect(ask({ ...peer, receiver: [port('other', ['10.0.1.3'])] })).toBe(`BLOCKED from 10.0.0.2 by ${way} DESTINATION`)
    expect(ask({ ...peer, destination: '10.0.1.1', protocol: 'ICMP', port: null })).toBe(`REACHABLE from 10.0.0.2 by ${way} DESTINATION`)
    const behind = { networks, destination: '192.168.9.7' }
    expect(ask({ ...behind, receiver: other })).toBe(`FORWARDED from 10.0.0.2 by ${way} INBOUND_FILTER`)
    expect(ask(behind)).toBe(`BLOCKED from 10.0.0.2 by ${way} DESTINATION`)
    expect(traceReach({ ...question, ...behind }).steps.at(-1)).toMatchObject({ owner: 'NOBODY', address: '10.0.0.3' })
    expect(ask({ ...peer, networks: [{ ...isolated, peers, routes }] })).toBe(`BLOCKED from 10.77.0.2 by ${PUBLIC_WAY}`)
  })

  test('is stopped by its own filter first, then by that of the receiver', () => {
    const closed = filter(rule({ direction: 'OUT', action: 'REJECT', destinations: ['10.0.0.0/24'] }))
    const sender = [port(null, ['10.77.0.2']), port('lan', ['10.0.0.2'], closed)]
    const outbound = traceReach({ ...question, sender, receiver: other }).steps.at(-1)
    expect(outbound).toMatchObject({ kind: 'OUTBOUND_FILTER', networkId: 'lan', decision: { action: 'REJECT', ruleIndex: 0 } })
    const receiver = [port('lan', ['10.0.0.3'], filter(rule({ sources: ['10.0.0.9'] })))]
    const inbound = traceReach({ ...question, receiver }).steps.at(-1)
    expect(inbound).toMatchObject({ kind: 'INBOUND_FILTER', passes: false, decision: { action: 'DROP', ruleIndex: null } })
    receiver[0]!.filter!.rules[0]!.sources.push('10.0.0.2')
    expect(traceReach({ ...question, receiver }).verdict).toBe('REACHABLE')
  })
})
