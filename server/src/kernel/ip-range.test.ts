import { describe, expect, test } from 'vitest'
import { formatIpRange, parseIp, parseIpRange, rangeContains } from './ip-range.ts'

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
