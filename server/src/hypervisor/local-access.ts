// What belongs to root on this machine and the drivers need: the sockets of libvirtd, of its guests and of OVN, and the certificates for hosts
// and network controllers reached over TLS. A process without root asks the one that started it.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'

export interface LocalAccess {
  /** Resolves to a connected socket. */
  connect(path: string): Promise<Socket>
  /** An authority (`ca.pem`), what it has revoked (`ca-crl.pem`; empty in a folder that is older than such lists), or the certificate and key that it
   *  has signed for the control plane (`client.pem`, `client.key`). */
  readCertificate(name: string): Promise<Buffer>
}

/** `pkiFolder` holds the certificates; they are read at every connect, so renewed ones are used without a restart. */
export const directAccess = (pkiFolder: string): LocalAccess => ({
  connect: connectDirectly,
  readCertificate: (name) => readPkiFile(pkiFolder, name),
})

export const readPkiFile = (pkiFolder: string, name: string): Promise<Buffer> =>
  readFile(join(pkiFolder, name)).catch((error: NodeJS.ErrnoException) => {
    if (name.endsWith('-crl.pem') && error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })

/** The certificate and key of the control plane as `client`, and whom it trusts: servers that `ca` has signed and not revoked. */
export async function readIdentity(
  { readCertificate }: LocalAccess,
  ca: string,
  client: string,
): Promise<{ ca: Buffer; cert: Buffer; key: Buffer; crl?: Buffer }> {
  const files = [`${ca}.pem`, `${client}.pem`, `${client}.key`, `${ca}-crl.pem`]
  const [authority, cert, key, crl] = await Promise.all(files.map(readCertificate))
  return { ca: authority!, cert: cert!, key: key!, ...(crl!.length > 0 && { crl: crl! }) }
}

export async function connectDirectly(path: string): Promise<Socket> {
  const socket = connect(path)
  await once(socket, 'connect')
  return socket
}
