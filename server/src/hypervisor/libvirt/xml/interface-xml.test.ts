import { expect, test } from 'vitest'
import type { NicSpec } from '../../driver.ts'
import { portName } from '../../network-controller.ts'
import { readXml } from '../core/xml.ts'
import { interfaceXml, macOf, privateAddressOf } from './interface-xml.ts'

const nic: NicSpec = {
  mac: '52:54:00:00:00:01',
  kind: 'public',
  networkId: null,
  ipv4: { address: '10.77.0.2', prefix: 16, gateway: '10.77.0.1' },
  ipv6: null,
  dns: [],
}
const read = (changes: Partial<NicSpec> = {}, canOffload = true) => readXml(interfaceXml({ ...nic, ...changes }, canOffload).xml)

test('an interface is bound to the port of its MAC', () => {
  const xml = read()
  expect([xml.attribute('source/bridge'), xml.attribute('virtualport/type'), macOf(xml)]).toEqual(['br-int', 'openvswitch', nic.mac])
  expect(xml.attribute('virtualport/parameters/interfaceid')).toBe(portName(nic.mac))
})

test('a private interface has the address that its guest gets, and room for the headers of tunnels', () => {
  const xml = read({ kind: 'private', networkId: 'cnet1', ipv4: { address: '10.5.0.9', prefix: 24, gateway: null } })
  expect([privateAddressOf(xml), xml.attribute('mtu/size')]).toEqual(['10.5.0.9/24', '1400'])
  expect([privateAddressOf(read()), read().attribute('mtu/size')]).toEqual([undefined, '1500'])
})

test('an interface leaves nothing to a datapath in userspace', () => {
  expect(read({}, true).find('driver')).toBeUndefined()
  const off = { csum: 'off', tso4: 'off', tso6: 'off' }
  const driver = read({}, false).find('driver')
  expect([driver?.find('host')?.attributes, driver?.find('guest')?.attributes]).toEqual([{ ...off, gso: 'off' }, off])
})
