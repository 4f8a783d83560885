import { describe, expect, test } from 'vitest'
import { formatCidr, parseCidr } from '../kernel/cidr.ts'
import { freeRange, gatewayOf, requireRange, takenByResolvers, takenByRoutes } from './address-range.ts'

const cidrs = (...texts: string[]) => texts.map((text) => parseCidr(text)!)
const taken = (...texts: string[]) => texts.map((text) => ({ cidr: parseCidr(text)!, by: `the route ${text} by eth1` }))

describe('the public address range', () => {
  test.each([
    [[], '10.77.0.0/16'],
    [['192.168.0.0/16', '172.16.0.0/12'], '10.77.0.0/16'],
    [['10.77.3.0/24'], '10.78.0.0/16'],
    [['10.77.0.0/16', '10.78.255.255/32'], '10.79.0.0/16'],
    [['10.64.0.0/10'], '10.128.0.0/16'],
    [['10.64.0.0/10', '10.128.0.0/9'], '10.0.0.0/16'],
  ])('with %j in use is %s', (routes, chosen) => {
    expect(formatCidr(freeRange(cidrs(...routes)))).toBe(chosen)
  })

  test('must be given when every 10.x is in use', () => {
    expect(() => freeRange(cidrs('10.0.0.0/8'))).toThrow('No 10.x.0.0/16 is free')
  })

  test.each([
    ['nonsense', /not a range/],
    ['10.0.0.0/8', /from \/12 to \/28/],
    ['10.77.0.0/30', /from \/12 to \/28/],
    ['8.8.0.0/16', /is not private/],
    ['10.5.0.0/16', /overlaps the route 10.5.6.0\/24 by eth1/],
  ])('rejects %s', (text, why) => {
    expect(() => requireRange(text, taken('10.5.6.0/24'))).toThrow(why)
  })

  test('starts with the gateway address', () => {
    expect(gatewayOf(requireRange('10.90.7.1/20', []))).toBe('10.90.0.1')
  })

  test('excludes ranges with routes, except the default route and its own', () => {
    const routes = [
      { dst: 'default', dev: 'eth0' },
      { dst: '10.0.0.0/24', dev: 'eth1' },
      { dst: '10.77.0.0/16', dev: 'br-ex' },
      { dst: '10.9.8.7', dev: 'wg0' },
      { dst: '0.0.0.0/0' },
    ]
    const found = takenByRoutes(routes, ['br-ex']).map(({ by }) => by)
    expect(found).toEqual(['the route 10.0.0.0/24 by eth1', 'the route 10.9.8.7/32 by wg0'])
  })

  test('excludes the resolvers', () => {
    const found = takenByResolvers('search example.com\nnameserver 10.77.0.53\nnameserver fd00::1\n# nameserver 10.1.1.1\n')
    expect(found.map(({ cidr }) => formatCidr(cidr))).toEqual(['10.77.0.53/32'])
  })
})
