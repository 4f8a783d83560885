import { describe, expect, test } from 'vitest'
import { complementOf, formatIpRange, mergeRanges, parseIp, parseIpRange, rangeContains } from './ip-range.ts'

describe('a range of either family', () => {
  test.each([
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['255.255.255.255/32', '255.255.255.255'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::', '::'],
    ['::/0', '::/0'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8:ffff::1/33', '2001:db8:8000::/33'],
    ['::ffff:10.0.0.1', '::ffff:a00:1'],
    ['1:2:3:4:5:6:7:8/127', '1:2:3:4:5:6:7:8/127'],
    ['fe80::/10', 'fe80::/10'],
  ])('%s is %s', (text, expected) => expect(formatIpRange(parseIpRange(text)!)).toBe(expected))

  test.each([
    '',
    '10.0.0',
    '010.0.0.1',
    '10.0.0.1/33',
    '10.0.0.1/',
    '10.0.0.1/8/8',
    '::1/129',
    ':::',
    '1::2::3',
    'fe80::1%eth0',
    '12345::',
    '10.0.0.1/-1',
  ])('"%s" is none', (text) => expect(parseIpRange(text)).toBeNull())

  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/24', '10.0.0.0/8', false],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '10.0.0.1', false],
    ['::ffff:0:0/96', '10.0.0.1', false],
    ['2001:db8::/32', '2001:db8:ffff::9', true],
    ['2001:db8::/32', '2001:db9::9', false],
  ])('%s contains %s: %s', (outer, inner, expected) => expect(rangeContains(parseIpRange(outer)!, parseIpRange(inner)!)).toBe(expected))

  test('is an address only without prefix', () => expect([parseIp('10.0.0.1/32'), parseIp('::1')?.prefix]).toEqual([null, 128]))
})

const complement = (family: 4 | 6, ...ranges: string[]) =>
  complementOf(
    family,
    ranges.map((text) => parseIpRange(text)!),
  )

describe('the complement of ranges', () => {
  test.each([
    [4, [], ['0.0.0.0/0']],
    [4, ['2001:db8::/32'], ['0.0.0.0/0']],
    [4, ['0.0.0.0/0'], []],
    [4, ['0.0.0.0/1', '128.0.0.0/1'], []],
    [4, ['128.0.0.0/1'], ['0.0.0.0/1']],
    [4, ['64.0.0.0/2', '64.0.0.0/3', '0.0.0.0/3'], ['32.0.0.0/3', '128.0.0.0/1']],
    [6, ['8000::/1', '4000::/2', '10.0.0.0/8'], ['::/2']],
  ] as const)('of IPv%i without %j is %j', (family, ranges, expected) => {
    expect(complement(family, ...ranges).map(formatIpRange)).toEqual(expected)
  })

  test.each([
    [
      4,
      ['10.0.0.0/24', '10.0.0.77/32', '255.255.255.255/32'],
      ['9.255.255.255', '10.0.1.0', '0.0.0.0', '255.255.255.254'],
      ['10.0.0.0', '10.0.0.77', '10.0.0.255', '255.255.255.255'],
    ],
    [6, ['2001:db8::/48'], ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8:1::', '::'], ['2001:db8::', '2001:db8:0:ffff::1']],
  ] as const)('of IPv%i ends and begins at the next address of %j', (family, ranges, outside, inside) => {
    const has = (address: string) => complement(family, ...ranges).filter((range) => rangeContains(range, parseIp(address)!)).length
    expect([outside.map(has), inside.map(has)]).toEqual([outside.map(() => 1), inside.map(() => 0)])
  })
})

test('merged, ranges are as few as possible', () => {
  const addresses = Array.from({ length: 64 }, (_, i) => `10.0.0.${i}`)
  const merged = mergeRanges(
    4,
    [...addresses, '10.0.0.64', '10.0.0.64/32'].map((text) => parseIpRange(text)!),
  )
  expect(merged.map(formatIpRange)).toEqual(['10.0.0.0/26', '10.0.0.64'])
})
