// What a draft of firewall rules changes, and what that means for traffic.
import { describe, expect, test } from 'vitest'
import { noteServerTime, serverTime } from '../src/api/server-time.ts'
import { diffRules, withKeysOf, type Change } from '../src/screens/firewalls/diff.ts'
import { effectsOf, verdictOf } from '../src/screens/firewalls/effect.ts'
import { parseRange } from '../src/screens/firewalls/ip-range.ts'
import type { Rule } from '../src/screens/firewalls/rule.ts'

const rule = (key: string, more: Partial<Rule> = {}): Rule => ({
  key,
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'TCP',
  port: '22',
  sourceIps: [],
  destIps: [],
  description: '',
  ...more,
})

describe('the difference of two lists of rules', () => {
  const [a, b, c] = [rule('a'), rule('b'), rule('c')]
  const shown = (change: Change): string => `${change.kind} ${change.rule.key} ${change.position}`

  test('names what was added, removed, changed and moved', () => {
    expect(diffRules([a, b, c], [a, { ...c, port: '23' }, rule('d')]).map(shown)).toEqual(['removed b 2', 'changed c 2', 'added d 3'])
  })

  test('moves as few as possible', () => {
    expect(diffRules([a, b, c, rule('d')], [b, c, rule('d'), a]).map(shown)).toEqual(['moved a 4'])
    expect(diffRules([a, b, c], [c, a, b])).toEqual([{ kind: 'moved', rule: c, position: 1, from: 3 }])
  })

  test('says both of a rule that was changed and moved', () => {
    expect(diffRules([a, b], [{ ...b, port: '80' }, a]).map(shown)).toEqual(expect.arrayContaining(['changed b 1']))
  })

  test('is empty for the same rules', () => expect(diffRules([a, b], [a, b])).toEqual([]))

  test('is that of what rules say where all were replaced, and have other ids', () => {
    const before = [rule('1'), rule('2', { port: '80' }), rule('3')]
    const after = [rule('4', { port: '80' }), rule('5'), rule('6'), rule('7')]
    expect(withKeysOf(before, after).map(({ key }) => key)).toEqual(['2', '1', '3', '7'])
    expect(diffRules(before, withKeysOf(before, after)).map(shown)).toEqual(['moved 1 2', 'added 7 4'])
    expect(withKeysOf(before, [rule('3'), rule('8')]).map(({ key }) => key)).toEqual(['3', '1'])
  })
})

describe('the time that is left', () => {
  const answered = (aheadMs: number) =>
    noteServerTime(new Response(null, { headers: { date: new Date(Date.now() + aheadMs).toUTCString() } }))

  test.each([
    [0, 0],
    [1_000, 0],
    [180_000, 180_000],
    [-3_600_000, -3_600_000],
  ])('is by the clock of the server, which is %i ms ahead', (aheadMs, shownMs) => {
    answered(aheadMs)
    expect(Math.abs(serverTime(1_000_000) - 1_000_000 - shownMs)).toBeLessThan(1_000)
    answered(0)
    expect(serverTime(1_000_000)).toBe(1_000_000)
  })

  test('is by the own clock where the server does not say', () => {
    noteServerTime(new Response())
    expect(serverTime(1_000_000)).toBe(1_000_000)
  })
})

describe('what a change means', () => {
  test('closing a port that was open to all', () => {
    expect(effectsOf([rule('a')], [])).toEqual([
      {
        direction: 'IN',
        protocol: 'TCP',
        port: '22',
        source: null,
        destination: null,
        before: 'ACCEPT',
        after: 'DROP',
        isRest: false,
      },
    ])
  })

  test('limiting a port to an office keeps it open for that one', () => {
    const effects = effectsOf([rule('a')], [rule('a', { sourceIps: ['198.51.100.0/24'] })])
    expect(effects).toEqual([expect.objectContaining({ port: '22', source: null, before: 'ACCEPT', after: 'DROP', isRest: true })])
  })

  test('an order that matters', () => {
    const [drop, accept] = [rule('d', { action: 'DROP', protocol: 'ANY', port: 'any' }), rule('a', { port: '80-443' })]
    expect(effectsOf([drop, accept], [accept, drop])).toEqual([
      expect.objectContaining({ port: '80-443', before: 'DROP', after: 'ACCEPT' }),
    ])
    expect(effectsOf([drop, accept], [drop])).toEqual([])
  })

  test('rules for any protocol tell of each', () => {
    const protocols = effectsOf([], [rule('a', { protocol: 'ANY', port: 'any' })])!.map(({ protocol, port }) => `${protocol} ${port}`)
    expect(protocols).toEqual(['TCP any', 'UDP any', 'ICMP any', 'ICMPV6 any'])
  })

  test('what a name for all addresses says is for all', () => {
    expect(effectsOf([rule('a', { sourceIps: ['0.0.0.0/0', '::/0'] })], [rule('a')])).toEqual([])
  })

  test('is not summarized when there is too much of it', () => {
    const many = Array.from({ length: 200 }, (_, index) => rule(`${index}`, { port: `${index + 1}`, sourceIps: [`10.0.${index}.1`] }))
    expect(effectsOf(many, [])).toBeUndefined()
  })

  test('an address within a range is covered by it', () => {
    const packet = { direction: 'IN', protocol: 'TCP', port: 22, destination: null } as const
    const rules = [rule('a', { sourceIps: ['198.51.100.0/24', '2001:db8::/32'] })]
    const verdicts = ['198.51.100.7', '198.51.101.7', '2001:db8::1', '2001:db9::1'].map((source) => verdictOf(rules, { ...packet, source }))
    expect(verdicts).toEqual(['ACCEPT', 'DROP', 'ACCEPT', 'DROP'])
  })
})

describe('addresses', () => {
  test.each(['10.0.0.1', '10.0.0.0/8', '::', '::1', '2001:db8::/32', '1:2:3:4:5:6:7:8', '::ffff:10.0.0.1'])('%s is one', (text) =>
    expect(parseRange(text)).toBeDefined(),
  )
  test.each(['', 'nowhere', '10.0.0', '10.0.0.256', '10.0.0.0/33', '1::2::3', '1:2:3:4:5:6:7:8:9', '::1/129', '10.0.0.1/', 'a/8/8'])(
    '%s is none',
    (text) => expect(parseRange(text)).toBeUndefined(),
  )
  test('a range has no host bits', () => expect(parseRange('10.1.2.3/8')).toEqual(parseRange('10.0.0.0/8')))
})
