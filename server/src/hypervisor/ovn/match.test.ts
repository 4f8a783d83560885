import { describe, expect, test } from 'vitest'
import type { FilterRule } from '../spec.ts'
import { matchOf } from './match.ts'

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
