// What belongs to root on this machine and the drivers need: the sockets of libvirtd, of its guests and of OVN, and the certificates for hosts
// and network controllers reached over TLS. A process without root asks the one that started it.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'

export interface LocalAccess {
  /** Resolves to a connected socket. */
  connect(path: string): Promise<Socket>
  /** An authority (`ca.pem`), or the certificate and key that it has signed for the control plane (`client.pem`, `client.key`). */
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
