// libvirt URI of a host → endpoint. `qemu:///system` is this machine; `qemu+unix:///system?socket=/path` a daemon on another socket, whose
// root directory is mounted at `&root=/path`; `qemu+tls://address[:port]/system` a remote machine.
import { tls, unix, type Endpoint } from '@berth/libvirt'
import { addressIn } from '../../host-address.ts'
import { readIdentity, type LocalAccess } from '../../local-access.ts'

export function endpointOf(uri: string, access: LocalAccess): Endpoint {
  const url = URL.parse(uri)
  if (url?.pathname === '/system' && url.protocol === 'qemu:' && url.host === '') return unix(undefined, access.connect)
  if (url?.pathname === '/system' && url.protocol === 'qemu+unix:') return unix(url.searchParams.get('socket') ?? undefined, access.connect)
  if (url?.pathname === '/system' && url.protocol === 'qemu+tls:' && url.hostname) return overTls(url, access)
  throw new Error(`${uri} is no address of a libvirt host: use qemu:///system for this machine or qemu+tls://address/system for another`)
}

/** On every host: what its daemon presents to those of the others, under the names that libvirt gives the files. */
export const PEER_PKI = '/etc/libvirt/berth/peers'

/** The same daemon, as another host connects to it; undefined for one that is reached on its own machine only. */
export function peerOf(uri: string): { uri: string; address: string } | undefined {
  const url = URL.parse(uri)
  if (url?.protocol !== 'qemu+tls:' || !url.hostname) return undefined
  return { uri: `${url.protocol}//${url.host}/system?pkipath=${PEER_PKI}`, address: url.hostname }
}

/** Where the host's root directory is mounted on this machine; undefined for a remote host. */
export function rootOf(uri: string): string | undefined {
  const url = URL.parse(uri)
  return url?.protocol === 'qemu:' ? '' : (url?.searchParams.get('root') ?? undefined)
}

function overTls({ href, port, host: description }: URL, access: LocalAccess): Endpoint {
  const address = addressIn(href)
  return {
    description,
    connect: async (timeoutMs) =>
      tls({ host: address, ...(port && { port: Number(port) }), ...(await readIdentity(access, 'ca', 'client')) }).connect(timeoutMs),
  }
}
