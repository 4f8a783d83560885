import { describe, expect, test } from 'vitest'
import type { NetworkSpec } from '../../driver.ts'
import { networkXml, overlaps, readLeases, readNetwork } from './network-xml.ts'
import { readXml } from '../core/xml.ts'

const network: NetworkSpec = { networkId: 'cnet1', cidr: '10.5.0.0/24', gateway: '10.5.0.1', enableSnat: true, enableDhcp: true }
const leases = [{ mac: '52:54:00:00:00:01', address: '10.5.0.9' }]

describe('the network XML of a private network', () => {
  test.each<[Partial<NetworkSpec>, { forward: string | undefined; dns: string | undefined; ip: string | undefined; leases: number }]>([
    [{}, { forward: 'nat', dns: undefined, ip: '10.5.0.1', leases: 1 }],
    [{ enableDhcp: false }, { forward: 'nat', dns: 'no', ip: '10.5.0.1', leases: 0 }],
    [{ enableSnat: false }, { forward: undefined, dns: 'no', ip: '10.5.0.1', leases: 1 }],
    [
      { enableSnat: false, enableDhcp: false, gateway: null },
      { forward: undefined, dns: 'no', ip: undefined, leases: 0 },
    ],
    [
      { enableSnat: false, enableDhcp: false },
      { forward: undefined, dns: 'no', ip: undefined, leases: 0 },
    ],
  ])('with %j', (changes, expected) => {
    const xml = readXml(networkXml({ ...network, ...changes }, leases))
    const ip = xml.attribute('ip/address')
    expect({ forward: xml.attribute('forward/mode'), dns: xml.attribute('dns/enable'), ip, leases: readLeases(xml).length }).toEqual(
      expected,
    )
    expect(readNetwork(xml)).toEqual({ ...network, ...changes })
  })

  test('has a bridge name within the kernel limit', () => {
    expect(readXml(networkXml(network)).attribute('bridge/name')).toMatch(/^bn[0-9a-f]{12}$/)
  })

  test('is not parsed from an unknown network', () => {
    expect(readNetwork(readXml("<network><name>default</name><ip address='10.5.0.1'/></network>"))).toBeUndefined()
  })
})

test.each([
  ['10.5.0.0/24', '10.5.0.128/25', true],
  ['10.5.0.128/25', '10.5.0.0/24', true],
  ['10.5.0.0/24', '10.5.0.0/24', true],
  ['10.5.0.0/24', '10.5.1.0/24', false],
  ['0.0.0.0/0', '192.168.1.0/30', true],
])('%s and %s overlap: %s', (a, b, expected) => {
  expect(overlaps(a, b)).toBe(expected)
})
