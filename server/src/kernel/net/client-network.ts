// What counts as one client. A line gets a whole IPv6 /64, so all of its addresses are one client; IPv4 counts by address, also where a
// dual-stack socket reports it as ::ffff:….
import { isIPv6 } from 'node:net'

/** Such as `203.0.113.7` or `2001:db8:1:2::/64`. */
export function clientNetwork(ip: string): string {
  const address = ip.split('%')[0]! // without the zone of a link-local address
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.')
  return `${shortest(`${groups.slice(0, 4).map(toHex).join(':')}::`)}/64`
}

/** The 16-bit groups; a dotted quad at the end becomes two of them. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = shortest(address).split('::')
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean).map(fromHex)) as [number[], number[]]
  return tail === undefined ? before : [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

const shortest = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)
const toHex = (group: number): string => group.toString(16)
const fromHex = (group: string): number => Number.parseInt(group, 16)
