import { describe, expect, test } from 'vitest'
import type { Filter, FilterRule } from '../../driver.ts'
import { filterXml, privateFilterXml } from './filter-xml.ts'
import { readXml } from '../core/xml.ts'

const rule: FilterRule = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', ports: [], sources: [], destinations: [] }

/** The customer's part, one text per line of the filter. */
function linesOf(filter: Partial<Filter>): string[] {
  const xml = filterXml('c1', { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT', ...filter })
  const lines = readXml(xml).all('rule')
  return lines
    .filter((each) => Number(each.attributes['priority']) >= -880)
    .map(({ attributes: { action, direction, priority }, children: [match] }) =>
      [priority, direction, action, match!.name, ...Object.entries(match!.attributes).map(([key, value]) => `${key}=${value}`)].join(' '),
    )
}
const rulesOf = (...rules: Partial<FilterRule>[]): string[] =>
  linesOf({ rules: rules.map((each) => ({ ...rule, ...each })) }).filter((line) => !line.startsWith('1000 '))

describe('the filter of a VM', () => {
  test('ends with the defaults, one per direction', () => {
    expect(linesOf({ defaultInbound: 'REJECT', defaultOutbound: 'ACCEPT' })).toEqual([
      '1000 in reject all state=NEW,INVALID',
      '1000 out accept all state=NEW,INVALID',
    ])
  })

  test('keeps the order of the rules', () => {
    const lines = rulesOf({ action: 'DROP' }, { direction: 'OUT', action: 'REJECT', protocol: 'UDP' }, { protocol: 'ICMP' })
    expect(lines).toEqual([
      '-880 in accept icmp type=3 code=3 state=INVALID', // by which a guest is told of the second
      '-800 in drop tcp state=NEW,INVALID',
      '-799 out reject udp state=NEW,INVALID',
      '-798 in accept icmp state=NEW',
    ])
  })

  test('has a rule for each port range, source and destination', () => {
    const ports = [
      { from: 22, to: 22 },
      { from: 80, to: 90 },
    ]
    expect(rulesOf({ ports, sources: ['10.1.0.0/16', '10.2.0.1'], destinations: ['10.77.0.2/32'] })).toEqual([
      '-800 in accept tcp srcipaddr=10.1.0.0 srcipmask=16 dstipaddr=10.77.0.2 dstipmask=32 state=NEW dstportstart=22 dstportend=22',
      '-800 in accept tcp srcipaddr=10.2.0.1 srcipmask=32 dstipaddr=10.77.0.2 dstipmask=32 state=NEW dstportstart=22 dstportend=22',
      '-800 in accept tcp srcipaddr=10.1.0.0 srcipmask=16 dstipaddr=10.77.0.2 dstipmask=32 state=NEW dstportstart=80 dstportend=90',
      '-800 in accept tcp srcipaddr=10.2.0.1 srcipmask=32 dstipaddr=10.77.0.2 dstipmask=32 state=NEW dstportstart=80 dstportend=90',
    ])
  })

  test('treats 0.0.0.0/0 as no condition', () => {
    expect(rulesOf({ protocol: 'ANY', sources: ['10.0.0.1', '0.0.0.0/0'] })).toEqual(['-800 in accept all state=NEW'])
  })

  test('never turns a list without IPv4 addresses into any address', () => {
    expect(rulesOf({ sources: ['2001:db8::/32'] }, { protocol: 'ICMPV6' })).toEqual([])
    expect(rulesOf({ sources: ['2001:db8::1', '10.0.0.1'] })).toEqual(['-800 in accept tcp srcipaddr=10.0.0.1 srcipmask=32 state=NEW'])
  })

  test('is rejected with more rules than libvirt has priorities', () => {
    const rules = Array.from({ length: 1801 }, () => rule)
    expect(() => filterXml('c1', { rules, defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' })).toThrow(
      expect.objectContaining({ kind: 'unsupported' }),
    )
    expect(linesOf({ rules: rules.slice(1) }).at(1799)).toContain('999 in')
  })

  test('drops spoofed addresses before the firewall rules', () => {
    const priorities = readXml(filterXml('c1', { rules: [rule], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }))
      .all('rule')
      .map((each) => Number(each.attributes['priority']))
    expect(priorities).toEqual(priorities.toSorted((a, b) => a - b))
    for (const xml of [privateFilterXml(), filterXml('c1', { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' })]) {
      expect(xml).toContain("<rule action='drop' direction='out' priority='-1000'><mac match='no' srcmacaddr='$MAC'/></rule>")
      expect(xml).toContain("<ip match='no' srcipaddr='$IP'/>")
      expect(xml).toContain("<arp match='no' arpsrcipaddr='$IP'/>")
      expect(xml).toContain("<rule action='drop' direction='inout' priority='-940'><mac/></rule>")
    }
  })
})
