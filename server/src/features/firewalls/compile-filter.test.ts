import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Filter } from '../../hypervisor/driver.ts'
import { evaluatePacket, type Packet } from '../../hypervisor/reachability.ts'
import { compileFilter } from './compile-filter.ts'
import { parsePorts, type RuleFields } from './rule-input.ts'

const accept: RuleFields = {
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'TCP',
  port: null,
  source_ips: [],
  dest_ips: [],
  description: '',
}
const packet: Packet = { direction: 'IN', protocol: 'TCP', port: 22, source: '198.51.100.7', destination: '10.77.0.2' }
const verdict = (rules: Partial<RuleFields>[] | null, of: Partial<Packet> = {}) =>
  evaluatePacket(compileFilter(rules && rules.map((rule) => ({ ...accept, ...rule }))), { ...packet, ...of })

describe('a packet', () => {
  test('is accepted in both directions without a firewall', () => {
    expect(verdict(null)).toEqual({ action: 'ACCEPT', ruleIndex: null })
    expect(verdict(null, { direction: 'OUT' })).toEqual({ action: 'ACCEPT', ruleIndex: null })
  })

  test('is dropped inbound and accepted outbound by a firewall without rules', () => {
    expect(verdict([])).toEqual({ action: 'DROP', ruleIndex: null })
    expect(verdict([], { direction: 'OUT' })).toEqual({ action: 'ACCEPT', ruleIndex: null })
  })

  test('is decided by the first matching rule', () => {
    const rules = [{ port: '80' }, { port: '22', action: 'REJECT' as const }, { port: '22' }]
    expect(verdict(rules)).toEqual({ action: 'REJECT', ruleIndex: 1 })
  })

  test.each<[string, Partial<RuleFields>, Partial<Packet>, boolean]>([
    ['the other direction', { direction: 'OUT' }, {}, false],
    ['another protocol', { protocol: 'UDP' }, {}, false],
    ['any protocol', { protocol: 'ANY' }, { protocol: 'ICMP', port: null }, true],
    ['IPv6 only', { protocol: 'ICMPV6' }, { protocol: 'ICMP', port: null }, false],
    ['a port of a list', { port: '21,22' }, {}, true],
    ['the first port of a range', { port: '22-30' }, {}, true],
    ['the last port of a range', { port: '1-22' }, {}, true],
    ['a port beside a range', { port: '23-30' }, {}, false],
    ['the very source', { source_ips: ['198.51.100.7'] }, {}, true],
    ['another source', { source_ips: ['198.51.100.8'] }, {}, false],
    ['a range with the source', { source_ips: ['10.0.0.0/8', '198.51.100.0/24'] }, {}, true],
    ['everybody', { source_ips: ['0.0.0.0/0'] }, {}, true],
    ['another destination', { dest_ips: ['10.77.0.3'] }, {}, false],
    ['every IPv6 address', { source_ips: ['::/0'] }, {}, false],
    ['the IPv6 form of its source', { source_ips: ['::ffff:198.51.100.7'] }, {}, false],
    ['IPv4 only, against IPv6', { source_ips: ['0.0.0.0/0'] }, { source: '2001:db8::7', destination: '2001:db8::2' }, false],
    ['an IPv6 range', { source_ips: ['2001:db8::/32'] }, { source: '2001:DB8:0::7', destination: '2001:db8::2' }, true],
    ['ICMPv6', { protocol: 'ICMPV6' }, { protocol: 'ICMPV6', port: null, source: '2001:db8::7', destination: '2001:db8::2' }, true],
    ['a destination nobody knows yet', { dest_ips: ['10.77.0.3'] }, { destination: null }, false],
  ])('against a rule for %s', (_, rule, of, matches) => {
    expect(verdict([rule], of).ruleIndex).toBe(matches ? 0 : null)
  })
})

test('decides like a model that enumerates every port and address', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 6 }), anyPacket, (rules, of) => {
      const filter = compileFilter(rules)
      expect(evaluatePacket(filter, of)).toEqual(naively(filter, of))
    }),
    { numRuns: 2_000 },
  )
})

// A small domain of 16 addresses and 8 ports, so that random rules and packets often match.
const anyAddress = fc.integer({ min: 0, max: 15 }).map((last) => `10.0.0.${last}`)
const anyRange = fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 28, max: 32 })).map(([last, prefix]) => {
  const size = 2 ** (32 - prefix)
  return `10.0.0.${last - (last % size)}/${prefix}`
})
const anyList = fc.array(fc.oneof(anyAddress, anyRange), { maxLength: 3 })
const anyPortNumber = fc.integer({ min: 1, max: 8 })
const anyPorts = fc
  .array(fc.tuple(anyPortNumber, anyPortNumber), { minLength: 1, maxLength: 3 })
  .map((pairs) => pairs.map(([a, b]) => (a === b ? `${a}` : `${Math.min(a, b)}-${Math.max(a, b)}`)).join(','))
const anyRule: fc.Arbitrary<RuleFields> = fc
  .record({
    direction: fc.constantFrom('IN', 'OUT'),
    action: fc.constantFrom('ACCEPT', 'DROP', 'REJECT'),
    protocol: fc.constantFrom('TCP', 'UDP', 'ICMP', 'ICMPV6', 'ANY'),
    port: fc.option(anyPorts),
    source_ips: anyList,
    dest_ips: anyList,
    description: fc.constant(''),
  })
  .map((rule) => (rule.protocol === 'TCP' || rule.protocol === 'UDP' ? rule : { ...rule, port: null }))
const anyPacket: fc.Arbitrary<Packet> = fc
  .record({
    direction: fc.constantFrom('IN', 'OUT'),
    protocol: fc.constantFrom('TCP', 'UDP', 'ICMP'),
    port: anyPortNumber,
    source: anyAddress,
    destination: anyAddress,
  })
  .map((of) => (of.protocol === 'ICMP' ? { ...of, port: null } : of))

function naively(filter: Filter, of: Packet): { action: string; ruleIndex: number | null } {
  let index = 0
  for (const rule of filter.rules) {
    const ports = rule.ports.length === 0 ? [1, 2, 3, 4, 5, 6, 7, 8, null] : rule.ports.flatMap(spellOutPorts)
    const sources = rule.sources.flatMap(spellOut)
    const destinations = rule.destinations.flatMap(spellOut)
    const protocols = rule.protocol === 'ANY' ? ['TCP', 'UDP', 'ICMP'] : [rule.protocol]
    const wrong = [
      rule.direction !== of.direction,
      !protocols.includes(of.protocol),
      !ports.includes(of.port),
      rule.sources.length > 0 && !sources.includes(of.source!),
      rule.destinations.length > 0 && !destinations.includes(of.destination!),
    ]
    if (!wrong.includes(true)) return { action: rule.action, ruleIndex: index }
    index++
  }
  return { action: of.direction === 'IN' ? filter.defaultInbound : filter.defaultOutbound, ruleIndex: null }
}

function spellOutPorts({ from, to }: { from: number; to: number }): number[] {
  return from > to ? [] : [from, ...spellOutPorts({ from: from + 1, to })]
}

function spellOut(text: string): string[] {
  const [first, prefix] = text.split('/')
  const last = Number(first!.split('.')[3])
  return Array.from({ length: prefix ? 2 ** (32 - Number(prefix)) : 1 }, (_, i) => `10.0.0.${last + i}`)
}

test('ports are parsed as ranges', () => {
  expect(parsePorts('22,80-90')).toEqual([
    { from: 22, to: 22 },
    { from: 80, to: 90 },
  ])
  expect(parsePorts(null)).toEqual([])
})
