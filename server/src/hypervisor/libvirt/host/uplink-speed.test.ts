import { expect, test } from 'vitest'
import { linkMbps } from './uplink-speed.ts'

const device = (parent: string, link: string) => `<device>
  <name>net_eth0_52_54_00_12_34_56</name>
  <path>/sys/devices/pci0000:00/0000:00:1c.0/net/eth0</path>
  <parent>${parent}</parent>
  <capability type='net'>
    <interface>eth0</interface>
    <address>52:54:00:12:34:56</address>
    ${link}
    <feature name='rx'/>
    <capability type='80203'/>
  </capability>
</device>`

test.each([
  ['a card', 'pci_0000_00_1c_0', "<link speed='10000' state='up'/>", 10_000],
  ['a card without a cable', 'pci_0000_00_1c_0', "<link state='down'/>", 0],
  ['a card whose link is down', 'pci_0000_00_1c_0', "<link speed='10000' state='down'/>", 0],
  ['a virtual card', 'virtio0', "<link state='up'/>", 0],
  ['a virtual card that does not know', 'virtio0', "<link speed='4294967295' state='up'/>", 0],
  ['a veth pair', 'computer', "<link speed='10000' state='up'/>", 0],
  ['a device without a link', 'usb_1_1', '', 0],
])('the link speed of %s', (_, parent, link, mbps) => {
  expect(linkMbps(device(parent, link))).toBe(mbps)
})
