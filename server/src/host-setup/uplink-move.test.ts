import { describe, expect, test } from 'vitest'
import {
  configurationOf,
  gatewaysIn,
  isFirewallReady,
  plugInCommands,
  requireNic,
  requireStatic,
  unplugCommands,
  type Link,
  type LinkRoute,
} from './uplink-move.ts'

const FOREVER = { valid_life_time: 4294967295, preferred_life_time: 4294967295 }
/** As `ip -json -details addr` of iproute2 6.1 shows them. */
const eth1 = {
  ifindex: 4,
  ifname: 'eth1',
  flags: ['BROADCAST', 'MULTICAST', 'UP', 'LOWER_UP'],
  mtu: 9000,
  operstate: 'UP',
  link_type: 'ether',
  address: '02:fc:00:00:00:01',
  addr_info: [
    { family: 'inet', local: '10.9.0.5', prefixlen: 24, broadcast: '10.9.0.255', scope: 'global', label: 'eth1', ...FOREVER },
    { family: 'inet', local: '10.8.0.5', prefixlen: 32, scope: 'link', metric: 50, noprefixroute: true, ...FOREVER },
    { family: 'inet6', local: '2001:db8::5', prefixlen: 64, scope: 'global', dynamic: true, mngtmpaddr: true, valid_life_time: 86400 },
    { family: 'inet6', local: '2001:db8::aaaa', prefixlen: 64, scope: 'global', temporary: true, dynamic: true, valid_life_time: 86400 },
    { family: 'inet6', local: 'fe80::fc:ff:fe00:1', prefixlen: 64, scope: 'link', ...FOREVER },
  ],
} as Link
const plain: Link = { ...eth1, addr_info: [eth1.addr_info[0]!] }
const ROUTES: { 4: LinkRoute[]; 6: LinkRoute[] } = {
  4: [
    { dst: 'default', gateway: '10.9.0.1', dev: 'eth1', protocol: 'static', metric: 100, flags: [] },
    { dst: 'default', gateway: '10.1.0.1', dev: 'eth0', metric: 200, flags: [] },
    { dst: '10.9.0.0/24', dev: 'eth1', protocol: 'kernel', scope: 'link', prefsrc: '10.9.0.5', flags: [] },
    { dst: '172.20.0.0/16', gateway: '10.9.0.9', dev: 'eth1', table: '7', flags: ['onlink'], metrics: [{ mtu: 1400 }] },
    { dst: '10.7.0.0/16', via: { family: 'inet6', host: 'fe80::9' }, dev: 'eth1', flags: [] },
    { type: 'local', dst: '10.9.0.5', dev: 'eth1', table: 'local', protocol: 'kernel', scope: 'host', prefsrc: '10.9.0.5', flags: [] },
    { type: 'broadcast', dst: '10.9.0.255', dev: 'eth1', table: 'local', protocol: 'kernel', scope: 'link', flags: [] },
  ],
  6: [
    { dst: 'default', gateway: 'fe80::1', dev: 'eth1', protocol: 'ra', metric: 1024, expires: 1790, flags: [], pref: 'high' },
    { dst: 'fe80::/64', dev: 'eth1', protocol: 'kernel', metric: 256, flags: [], pref: 'medium' },
    { type: 'multicast', dst: 'ff00::/8', dev: 'eth1', table: 'local', protocol: 'kernel', metric: 256, flags: [], pref: 'medium' },
  ],
}

describe('what a network card has', () => {
  test('moves with its addresses and routes, but for what the kernel makes of them', () => {
    expect(configurationOf(plain, ROUTES)).toEqual({
      addresses: ['10.9.0.5/24 broadcast 10.9.0.255'],
      routes: [
        '-4 default via 10.9.0.1 proto static metric 100',
        '-4 172.20.0.0/16 via 10.9.0.9 table 7 mtu 1400 onlink',
        '-4 10.7.0.0/16 via inet6 fe80::9',
        '-6 default via fe80::1 proto ra metric 1024 pref high',
      ],
    })
  })

  test('keeps routes of addresses whose routes the kernel does not make, and loses temporary addresses', () => {
    const { addresses, routes } = configurationOf(eth1, ROUTES)
    expect(addresses).toEqual([
      '10.9.0.5/24 broadcast 10.9.0.255',
      '10.8.0.5/32 scope link metric 50 noprefixroute',
      '2001:db8::5/64 nodad',
      'fe80::fc:ff:fe00:1/64 nodad',
    ])
    expect(routes.slice(0, 2)).toEqual([
      '-4 10.9.0.0/24 proto kernel scope link src 10.9.0.5',
      '-6 fe80::/64 proto kernel metric 256 pref medium',
    ])
  })

  test('is checked by the next hops on its link', () => {
    expect(gatewaysIn(configurationOf(plain, ROUTES))).toEqual(['10.9.0.1', '10.9.0.9', 'fe80::9', 'fe80::1'])
    expect(gatewaysIn({ addresses: [], routes: ['-4 10.9.0.0/24 scope link'] })).toEqual([])
  })

  test.each([
    [
      {
        dst: 'default',
        nexthops: [
          { gateway: '10.9.0.1', dev: 'eth1' },
          { gateway: '10.1.0.1', dev: 'eth0' },
        ],
        flags: [],
      },
      /nexthops/,
    ],
    [{ dst: 'default', gateway: '10.9.0.1', dev: 'eth1', nhid: 12, flags: [] }, /nhid/],
    [{ dst: 'default', gateway: '10.9.0.1', dev: 'eth1', encap: 'mpls', flags: [] }, /encap/],
    [{ dst: 'default', gateway: '10.9.0.1', dev: 'eth1', flags: [], metrics: [{ cwnd: 10 }] }, /cwnd/],
    [{ dst: 'default', gateway: '10.9.0.1; reboot', dev: 'eth1', flags: [] }, /no word of a route/],
  ])('refuses the route %j', (route, message) => {
    expect(() => configurationOf(plain, { 4: [route], 6: [] })).toThrow(message)
  })

  test.each([
    [{ family: 'inet', local: '10.9.0.5', prefixlen: 24, scope: 'global', dynamic: true }, 'eth1 has 10.9.0.5 from DHCP'],
    [{ family: 'inet6', local: '2001:db8::7', prefixlen: 128, scope: 'global', dynamic: true }, 'eth1 has 2001:db8::7 from DHCP'],
    [{ family: 'inet', local: '10.9.0.5', prefixlen: 32, scope: 'global', address: '10.9.0.6' }, 'with a peer, 10.9.0.6'],
  ])('refuses the address %j', (address, message) => {
    expect(() => requireStatic({ ...eth1, addr_info: [address] })).toThrow(message)
  })
  test('takes addresses of router advertisements', () => expect(() => requireStatic(eth1)).not.toThrow())
})

describe('a card as uplink', () => {
  const other = { ...plain, ifname: 'eth0' }
  const bond = { ...plain, ifname: 'bond0', linkinfo: { info_kind: 'bond' } }
  const links: Link[] = [
    { ...plain, ifname: 'lo', link_type: 'loopback' },
    other,
    eth1,
    bond,
    { ...plain, ifname: 'eth2', master: 'bond0' },
    { ...plain, ifname: 'br0', linkinfo: { info_kind: 'bridge' } },
    { ...plain, ifname: 'wg0', link_type: 'none', linkinfo: { info_kind: 'wireguard' } },
  ]
  const free = { bridge: null, wireless: false }

  test('is a network card or a bond', () => {
    expect(requireNic(links, 'eth1', free)).toMatchObject({ ifname: 'eth1', address: '02:fc:00:00:00:01' })
    expect(requireNic(links, 'bond0', free).ifname).toBe('bond0')
  })

  test.each([
    ['eth9', free, 'There is no network card eth9'],
    ['eth1', { ...free, bridge: 'br-ex' }, 'eth1 is a port of the bridge br-ex'],
    ['eth2', free, 'eth2 is part of bond0'],
    ['eth1', { ...free, wireless: true }, 'eth1 is wireless'],
    ['br0', free, 'br0 is bridge, not a network card or bond'],
    ['wg0', free, 'wg0 is wireguard, not a network card or bond'],
    ['lo', free, 'lo is loopback, not a network card or bond'],
  ])('%s with %j is refused', (nic, state, message) => {
    expect(() => requireNic(links, nic, state)).toThrow(message)
  })

  const uplink = { nic: 'eth1', vlan: null, mac: eth1.address!, mtu: 9000, ipv6: true, offloads: true, ...configurationOf(plain, ROUTES) }

  test('gives its addresses before its routes to the bridge, and gets both back', () => {
    for (const [commands, device] of [
      [plugInCommands(uplink), 'br-uplink'],
      [unplugCommands(uplink), 'eth1'],
    ] as const) {
      const address = commands.indexOf(`ip addr replace 10.9.0.5/24 broadcast 10.9.0.255 dev ${device}\n`)
      const route = commands.indexOf(`ip -4 route replace default via 10.9.0.1 proto static metric 100 dev ${device}\n`)
      expect([address > 0, route > address]).toEqual([true, true])
    }
  })

  test.each([
    ['-A INPUT -i eth1 -p tcp --dport 22 -j ACCEPT', false],
    ['-A INPUT -i eth1 -j ACCEPT\n-A INPUT -i br-uplink -j ACCEPT', true],
    ['iifname { "eth0", "eth1" } tcp dport 22 accept', false],
    ['-A INPUT -i eth10 -j ACCEPT\n-A INPUT -i eth1.120 -j ACCEPT', true],
    ['', true],
  ])('the firewall rules %j match the bridge: %s', (rules, ready) => expect(isFirewallReady(rules, 'eth1')).toBe(ready))

  test('has a port with the tag only where the public network is a VLAN', () => {
    expect(plugInCommands(uplink)).not.toContain('tag=')
    expect(plugInCommands({ ...uplink, vlan: 120 })).toContain('set Port berth-tagged tag=120')
  })
})
