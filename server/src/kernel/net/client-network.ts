// What counts as one client. A line gets a whole IPv6 /64, so all of its addresses are one client; IPv4 counts by address, also where a
// dual-stack socket reports it as ::ffff:….
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Such as `203.0.113.7` or `2001:db8:1:2::/64`. */
export function clientNetwork(ip: string): string {
  const address = ip.split('%')[0]! // without the zone of a link-local address
  if (!isIPv6(address)) return address
  const known = ipaddr.process(address)
  return known.kind() === 'ipv4' ? known.toString() : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`
}
