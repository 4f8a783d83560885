// What counts as one client. A line gets a whole IPv6 /64, so all of its addresses are one client; IPv4 counts by address, also where a
// dual-stack socket reports it as ::ffff:….
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Such as `203.0.113.7` or `2001:db8:1:2::/64`. */
export const clientNetwork = (ip: string): string => networkOf(ip, 64)

/** The prefixes of sites, from which a line may take its addresses; none for IPv4. */
export function siteNetworks(ip: string): { network: string; prefix: 56 | 48 }[] {
  const sites = ([56, 48] as const).map((prefix) => ({ network: networkOf(ip, prefix), prefix }))
  return sites.filter(({ network }) => network.includes('/'))
}

function networkOf(ip: string, prefix: number): string {
  const address = ip.split('%')[0]! // without the zone of a link-local address
  if (!isIPv6(address)) return address
  const known = ipaddr.process(address)
  return known.kind() === 'ipv4' ? known.toString() : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${prefix}`).toString()}/${prefix}`
}
