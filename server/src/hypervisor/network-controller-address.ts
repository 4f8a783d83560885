// Where the network controller of a region is: `unix:/run/ovn`, the folder of OVN's sockets on the machine of API and worker; or `ssl:10.0.0.1`
// and `ssl:10.0.0.1,10.0.0.2,10.0.0.3`, machines that hosts reach too.
import { isIP, isIPv6 } from 'node:net'

/** OVN's own folder of sockets. */
export const LOCAL_CONTROLLER = 'unix:/run/ovn'
export const NORTHBOUND_PORT = 6641
export const SOUTHBOUND_PORT = 6642

/** Addresses of the machines; null where it is a folder of sockets, or none of both. */
export function controllersIn(uri: string): string[] | null {
  const addresses = /^ssl:(.+)$/.exec(uri)?.[1]?.split(',')
  return addresses?.every(isAddress) ? addresses : null
}

export const isNetworkController = (uri: string): boolean => /^unix:\/./.test(uri) || controllersIn(uri) !== null

/** An IP address or a name, without a port. */
export const isAddress = (text: string): boolean => isIP(text) > 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)

/** As OVN writes it. */
export const remoteOf = (addresses: readonly string[], port: number): string =>
  addresses.map((address) => `ssl:${bracketed(address)}:${port}`).join(',')

export const bracketed = (address: string): string => (isIPv6(address) ? `[${address}]` : address)
