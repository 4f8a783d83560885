// How the databases of a region's OVN are reached.
import { tls, type Endpoint } from '@berth/ovsdb'
import { join } from 'node:path'
import { readIdentity, type LocalAccess } from '../local-access.ts'
import { controllersIn, LOCAL_CONTROLLER, NORTHBOUND_PORT, remoteOf, SOUTHBOUND_PORT } from '../network-controller-address.ts'

export interface Endpoints {
  northbound: Endpoint[]
  southbound: Endpoint[]
}

export function endpointsOf(uri: string, access: LocalAccess): Endpoints {
  const folder = /^unix:(\/.+)$/.exec(uri)?.[1]
  if (folder !== undefined) return { northbound: [local(folder, 'ovnnb_db', access)], southbound: [local(folder, 'ovnsb_db', access)] }
  const addresses = controllersIn(uri)
  if (!addresses) throw new Error(`${uri} is no network controller: use ${LOCAL_CONTROLLER} or ssl:10.0.0.1`)
  const remote = (port: number): Endpoint[] => addresses.map((address) => overTls(address, port, access))
  return { northbound: remote(NORTHBOUND_PORT), southbound: remote(SOUTHBOUND_PORT) }
}

function local(folder: string, name: string, access: LocalAccess): Endpoint {
  const path = join(folder, `${name}.sock`)
  return { description: `unix:${path}`, connect: () => access.connect(path) }
}

/** Certificates are read at every connect, so renewed ones are used without a restart. */
const overTls = (address: string, port: number, access: LocalAccess): Endpoint => ({
  description: remoteOf([address], port),
  connect: async (timeoutMs) =>
    tls({ host: address, port, ...(await readIdentity(access, 'network-ca', 'network-client')) }).connect(timeoutMs),
})
