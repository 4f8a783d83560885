// The addresses from which a token may be used: IP addresses and ranges; none at all means from everywhere.
import { BlockList, isIP, isIPv6 } from 'node:net'
import { invalid } from '../../kernel/errors.ts'

/** An address or a range of addresses. */
export function requireAddressRange(text: string): string {
  const [, address = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  if (Number(prefix) > bits) throw invalid(`"${text}" is neither an IP address nor a range such as 10.0.0.0/8`, 'allowedIps')
  return text
}

interface AddressRange {
  address: string
  prefix: number
}

const familyOf = (ip: string): 'ipv4' | 'ipv6' => (isIPv6(ip) ? 'ipv6' : 'ipv4')

function parseRange(text: string): AddressRange {
  const [address = '', prefix] = text.split('/')
  return { address, prefix: prefix ? Number(prefix) : isIPv6(address) ? 128 : 32 }
}

/** Matches addresses and CIDR ranges. A dual-stack socket reports IPv4 as ::ffff:…, which counts as the same address. */
export function includesAddress(allowed: string[], ip: string): boolean {
  const list = new BlockList()
  for (const { address, prefix } of allowed.map(parseRange)) list.addSubnet(address, prefix, familyOf(address))
  return list.check(ip, familyOf(ip))
}

/** Ranges contain each other or have nothing in common. */
function isInside(inner: string, outer: string): boolean {
  const [a, b] = [parseRange(inner), parseRange(outer)]
  return familyOf(a.address) === familyOf(b.address) && a.prefix >= b.prefix && includesAddress([outer], a.address)
}

/** Whether whoever may use `inner` may use `outer` from everywhere that it allows. */
export const isWithinRanges = (inner: string[], outer: string[]): boolean =>
  outer.length === 0 || (inner.length > 0 && inner.every((each) => outer.some((other) => isInside(each, other))))

/** What both allow; null where that is nothing. */
export function commonRanges(a: string[], b: string[]): string[] | null {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const common = [...a.filter((each) => isWithinRanges([each], b)), ...b.filter((each) => isWithinRanges([each], a))]
  return common.length > 0 ? [...new Set(common)] : null
}
