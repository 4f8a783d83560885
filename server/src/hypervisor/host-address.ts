// The address of a host, by which its certificates are issued, and its name as a chassis of OVN, which is made of it.
import { isIPv6 } from 'node:net'

/** Of a libvirt URI: empty where it names this machine. */
export const addressIn = (uri: string): string => (URL.parse(uri)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1')

/** Of the libvirtd of a host that is reached over TLS. */
export const tlsUri = (address: string): string => `qemu+tls://${isIPv6(address) ? `[${address}]` : address}/system`

/** One spelling for all of an address or name. */
export const canonicalAddress = (address: string): string =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address.toLowerCase()

export const chassisName = (address: string): string => address.replaceAll(':', '-')

/** Whether the host at this URI is the chassis of that name, in any spelling of its address. */
export function isChassisOf(uri: string, name: string): boolean {
  const asAddress = name.replaceAll('-', ':')
  const own = addressIn(uri)
  return own !== '' && canonicalAddress(isIPv6(asAddress) ? asAddress : name) === canonicalAddress(own)
}
