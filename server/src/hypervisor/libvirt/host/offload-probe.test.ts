import type { Host } from '@berth/libvirt'
import { expect, test } from 'vitest'
import { hasKernelDatapath } from './offload-probe.ts'

const host = (...devices: string[]) =>
  ({ devices: { listAll: () => Promise.resolve(devices.map((name) => ({ name: `net_${name}_52_54_00_12_34_56` }))) } }) as unknown as Host

test.each([
  ['in the kernel', ['eth0', 'ovs_system', 'br_int'], true],
  ['in userspace', ['eth0', 'ovs_netdev', 'br_int'], false],
  ['in both, of which one is not ours', ['ovs_system', 'ovs_netdev'], false],
  ['nowhere yet', ['eth0'], false],
])('where Open vSwitch forwards %s', async (_, devices, expected) => {
  expect(await hasKernelDatapath(host(...devices))).toBe(expected)
})
