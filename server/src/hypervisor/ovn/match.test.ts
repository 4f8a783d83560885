import { describe, expect, test } from 'vitest'
import { randomFrom } from '../../../test/property/seeded.ts'
import type { FilterRule } from '../spec.ts'
import { matchOf, merged } from './match.ts'

const rule = (changes: Partial<FilterRule>): FilterRule => ({
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'ANY',
  ports: [],
  sources: [],
  destinations: [],
  ...changes,
})

describe('the match expression of a rule', () => {
  test.each<[string, Partial<FilterRule>, string | null]>([
    ['everything', {}, '(ip4) || (ip6)'],
    ['a protocol', { protocol: 'TCP' }, '(ip4 && tcp) || (ip6 && tcp)'],
    ['ICMP', { protocol: 'ICMP' }, 'icmp4'],
    ['ICMPv6', { protocol: 'ICMPV6' }, 'icmp6'],
    [
      'one port',
      { protocol: 'UDP', ports: [{ from: 53, to: 53 }], sources: ['10.0.0.1'] },
      'ip4 && udp.dst == 53 && ip4.src == {10.0.0.1}',
    ],
    [
      'ports of any protocol',
      {
        ports: [
          { from: 80, to: 80 },
          { from: 90, to: 99 },
        ],
        destinations: ['2001:db8::/32'],
      },
      'ip6 && ((tcp.dst == 80 || 90 <= tcp.dst <= 99) || (udp.dst == 80 || 90 <= udp.dst <= 99)) && ip6.dst == {2001:db8::/32}',
    ],
    [
      'addresses of both families',
      { sources: ['10.0.0.0/8', '2001:db8::1', '10.9.0.1'] },
      '(ip4 && ip4.src == {10.0.0.0/8, 10.9.0.1}) || (ip6 && ip6.src == {2001:db8::1})',
    ],
    ['any address of one family', { sources: ['0.0.0.0/0'] }, 'ip4'],
    ['ICMPv6 from IPv4, which never happens', { protocol: 'ICMPV6', sources: ['10.0.0.1'] }, null],
    ['IPv4 to IPv6, which never happens', { sources: ['10.0.0.1'], destinations: ['2001:db8::1'] }, null],
  ])('of %s', (_, changes, expected) => expect(matchOf(rule(changes))).toBe(expected))
})

describe('rules that differ in their ports alone', () => {
  const port = (from: number, to = from) => ({ ports: [{ from, to }] })

  test('are one, also around others of the same action and of the other direction', () => {
    const rules = [
      rule({ protocol: 'TCP', ...port(22) }),
      rule({ direction: 'OUT', action: 'DROP', protocol: 'TCP', ...port(25) }),
      rule({ protocol: 'UDP', ...port(53) }),
      rule({ protocol: 'TCP', ...port(80, 81) }),
      rule({ protocol: 'TCP', ...port(443), sources: ['10.0.0.1'] }),
    ]
    expect(merged(rules)).toEqual([{ ...rules[0], ports: [...rules[0]!.ports, ...rules[3]!.ports] }, rules[2], rules[4], rules[1]])
  })

  test('keep their order around one with another action', () => {
    const rules = [rule({ ...port(22) }), rule({ action: 'DROP', ...port(1, 99) }), rule({ ...port(80) })]
    expect(merged(rules)).toEqual(rules)
  })

  test('are all ports where one of them is', () =>
    expect(merged([rule({ ...port(22) }), rule({}), rule({ ...port(80) })])).toEqual([rule({})]))

  test('decide as before', () => {
    const random = randomFrom(11)
    const oneOf = <T>(items: readonly T[]): T => random.pick(items)!
    const randomRule = (): FilterRule => ({
      direction: oneOf(['IN', 'OUT']),
      action: oneOf(['ACCEPT', 'DROP']),
      protocol: oneOf(['TCP', 'UDP']),
      ports: oneOf([[], [{ from: 1, to: 1 }], [{ from: 2, to: 3 }], [{ from: 3, to: 4 }]]),
      sources: oneOf([[], ['10.0.0.1'], ['10.0.0.2']]),
      destinations: [],
    })
    const decide = (rules: FilterRule[], packet: { direction: string; protocol: string; port: number; source: string }) =>
      rules.find(
        ({ direction, protocol, ports, sources }) =>
          direction === packet.direction &&
          protocol === packet.protocol &&
          (ports.length === 0 || ports.some(({ from, to }) => from <= packet.port && packet.port <= to)) &&
          (sources.length === 0 || sources.includes(packet.source)),
      )?.action
    let mergedAny = 0
    for (let filter = 0; filter < 300; filter++) {
      const rules = Array.from({ length: 8 }, randomRule)
      mergedAny += Number(merged(rules).length < rules.length)
      for (const direction of ['IN', 'OUT'])
        for (const protocol of ['TCP', 'UDP'])
          for (const source of ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
            for (const port of [1, 2, 3, 4, 5]) {
              const packet = { direction, protocol, port, source }
              if (decide(merged(rules), packet) !== decide(rules, packet)) throw new Error(JSON.stringify({ rules, packet }))
            }
    }
    expect(mergedAny).toBeGreaterThan(50)
  })
})
