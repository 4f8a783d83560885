import { describe, expect, test } from 'vitest'
import type { NicSpec } from '../../driver.ts'
import { interfaceXml, readInterface } from './interface-xml.ts'
import { readXml } from '../core/xml.ts'

const nic: NicSpec = {
  mac: '52:54:00:00:00:01',
  kind: 'public',
  networkId: null,
  address: '10.77.0.2',
  prefix: 16,
  gateway: '10.77.0.1',
  dns: [],
  limitMbps: 1000,
}
const read = (changes: Partial<NicSpec>, canShapeTraffic = true) =>
  readXml(interfaceXml('cvm1', { ...nic, ...changes }, canShapeTraffic).xml)

describe('an interface', () => {
  test('of the public network has the filter of its VM, a private one the shared filter, both with their address', () => {
    const filterOf = (changes: Partial<NicSpec>) => {
      const xml = read(changes)
      return [xml.attribute('source/network'), xml.attribute('filterref/filter'), xml.attribute('filterref/parameter/value')]
    }
    expect(filterOf({})).toEqual(['berth-public', 'berth-vm-cvm1', '10.77.0.2'])
    expect(filterOf({ kind: 'private', networkId: 'cnet1', address: '10.5.0.9' })).toEqual(['berth-cnet1', 'berth-private', '10.5.0.9'])
  })

  test.each([1, 7, 10, 100, 1_000, 10_000])('is parsed with its limit of %i Mbit/s', (limitMbps) => {
    expect(readInterface(read({ limitMbps }))).toEqual({ mac: nic.mac, networkId: null, limitMbps })
  })

  test('has no limit where none is set, or where the kernel cannot shape traffic', () => {
    expect(readInterface(read({ limitMbps: null, kind: 'private', networkId: 'cnet1' }))).toMatchObject({
      networkId: 'cnet1',
      limitMbps: null,
    })
    expect(readInterface(read({}, false)).limitMbps).toBeNull()
  })
})
