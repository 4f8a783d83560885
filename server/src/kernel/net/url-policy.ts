// Where a URL that a customer chose may lead. Everything that is not plainly public could be this machine, a neighbour of it or a
// service of the cloud it runs in, so only what is known to be public is let through: a form nobody thought of is refused.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public IPv6 lies in here. Mapped, translated and tunnelled IPv4 (`::ffff:0:0/96`, `64:ff9b::/96`, `::/96`) lies outside. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** Public by its number, and yet the platform service that every machine of a large cloud reaches. */
const CLOUD_SERVICE = '168.63.129.16'

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false // `10.1` and `0x7f.1` are addresses to some, and to nobody who means well
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' ? parsed.toString() !== CLOUD_SERVICE : parsed.match(GLOBAL_IPV6)
}

/** The same address always reads the same. */
export const canonicalAddress = (address: string): string => (isIP(address) === 0 ? address : ipaddr.process(address).toNormalizedString())

/** Names that lead into the local network wherever they are asked for (RFC 6761, 6762, 8375, and habit). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)$/

export interface UrlRules {
  allowPrivate: boolean
  /** Names of our own, never to be called. Their addresses are not compared: behind a shared front they are everybody's. */
  ownNames: string[]
}

/** Why this URL may not be called, as far as its text tells; null when it may. */
export function urlRejectionReason(text: string, { allowPrivate, ownNames }: UrlRules): string | null {
  const url = URL.parse(text)
  if (!url || !url.hostname) return 'it cannot be read as a web address'
  if (url.username || url.password) return 'it must not hold a user name or password'
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'it must begin with https://'
  return allowPrivate ? null : reasonAgainstHost(hostOf(url), ownNames)
}

/** The parser has turned every spelling of an IPv4 address (octal, hex, one number, trailing dot, wide digits) into a dotted quad. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')

function reasonAgainstHost(host: string, ownNames: string[]): string | null {
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : NOT_PUBLIC
  if (!host.includes('.') || LOCAL_NAME.test(host)) return 'its host is a name of the local network'
  return ownNames.includes(host) ? 'its host is this service itself' : null
}

/** Does not say which address: a name of the local network would tell a stranger about it. */
export const NOT_PUBLIC = 'its host has an address that is not public'
