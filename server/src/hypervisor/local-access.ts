// What belongs to root on this machine and the libvirt driver needs: the sockets of libvirtd and of its guests, and the certificates for
// hosts reached over TLS. A process without root asks the one that started it.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'

export interface LocalAccess {
  /** Resolves to a connected socket. */
  connect(path: string): Promise<Socket>
  /** `ca.pem`, `client.pem` or `client.key`. */
  readCertificate(name: string): Promise<Buffer>
}

/** `pkiFolder` holds the certificates; they are read at every connect, so renewed ones are used without a restart. */
export const directAccess = (pkiFolder: string): LocalAccess => ({
  connect: connectDirectly,
  readCertificate: (name) => readFile(join(pkiFolder, name)),
})

export async function connectDirectly(path: string): Promise<Socket> {
  const socket = connect(path)
  await once(socket, 'connect')
  return socket
}
