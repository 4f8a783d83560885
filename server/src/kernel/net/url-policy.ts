// Which URLs of customers may be called. An allow list: only addresses known to be public pass, because any other could be this machine,
// its network or a cloud service.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public IPv6 addresses. Mapped, translated and tunnelled IPv4 (`::ffff:0:0/96`, `64:ff9b::/96`, `::/96`) is outside. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** A public address, but the platform service that every guest of a large cloud reaches. */
const CLOUD_SERVICE = '168.63.129.16'

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false // `10.1` and `0x7f.1`: accepted by some parsers, used only to bypass filters
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' ? parsed.toString() !== CLOUD_SERVICE : parsed.match(GLOBAL_IPV6)
}

/** One spelling per address. */
export const canonicalAddress = (address: string): string => (isIP(address) === 0 ? address : ipaddr.process(address).toNormalizedString())

/** Names that resolve into the local network (RFC 6761, 6762, 8375, and convention). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)$/

export interface UrlRules {
  allowPrivate: boolean
  /** Our own names. Their addresses are not compared: behind a shared front end they belong to others too. */
  ownNames: string[]
}

/** Why this URL may not be called, judged by its text; null when it may. */
export function urlRejectionReason(text: string, { allowPrivate, ownNames }: UrlRules): string | null {
  const url = URL.parse(text)
  if (!url || !url.hostname) return 'it cannot be read as a web address'
  if (url.username || url.password) return 'it must not hold a user name or password'
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'it must begin with https://'
  return allowPrivate ? null : hostRejectionReason(hostOf(url), ownNames)
}

/** The URL parser has normalised every spelling of an IPv4 address (octal, hex, one number, trailing dot, full-width digits). */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')

function hostRejectionReason(host: string, ownNames: string[]): string | null {
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : NOT_PUBLIC
  if (!host.includes('.') || LOCAL_NAME.test(host)) return 'its host is a name of the local network'
  return ownNames.includes(host) ? 'its host is this service itself' : null
}

/** Does not name the address: it would disclose the local network. */
export const NOT_PUBLIC = 'its host has an address that is not public'
