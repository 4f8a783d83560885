// What counts as one client. A line gets a whole IPv6 /64, so all of its addresses are one client; IPv4 counts by address, also where a
// dual-stack socket reports it as ::ffff:….
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Such as `203.0.113.7` or `2001:db8:1:2::/64`. */
export const clientNetwork = (ip: string): string => networkOf(ip, 64)

/** The prefixes of sites, from which a line may take its addresses; none for IPv4. */
export function siteNetworks(ip: string): { network: string; prefix: 56 | 48 }[] {
  const sites = ([56, 48] as const).map((prefix) => ({ network: networkOf(ip, prefix), prefix }))
  return sites.filter(({ network }) => network.includes('/'))
}

function networkOf(ip: string, prefix: number): string {
  const address = addressOf(ip)
  if (!isIPv6(address)) return isIPv4(address) ? address : 'unknown' // what is no address counts together
  const known = ipaddr.process(address)
  return known.kind() === 'ipv4' ? known.toString() : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${prefix}`).toString()}/${prefix}`
}

/** Without the zone of a link-local address, and without the port that some proxies add: `192.0.2.1:4000`, `[2001:db8::1]:4000`. */
const addressOf = (ip: string): string => ip.replace(/^(?:\[(.*)\]|([^:]*))(?::\d+)?$/, '$1$2').split('%')[0]!
