import { expect, test } from 'vitest'
import { clientNetwork, siteNetworks } from './client-network.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['2001:0:0:1::9', '2001:0:0:1::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['198.51.100.7:4000', '198.51.100.7'],
  ['[2001:db8:1:2::3]:4000', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::3]', '2001:db8:1:2::/64'],
  ['proxy-7', 'unknown'],
  ['', 'unknown'],
])('%s counts as %s', (ip, network) => {
  expect(clientNetwork(ip)).toBe(network)
})

test.each([
  ['203.0.113.7', []],
  ['::ffff:203.0.113.7', []],
  ['2001:db8:1:1234::1', ['2001:db8:1:1200::/56', '2001:db8:1::/48']],
])('%s is of the sites %j', (ip, networks) => {
  expect(siteNetworks(ip).map(({ network }) => network)).toEqual(networks)
})
