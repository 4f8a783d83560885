// How drivers reach daemons: the sockets of libvirtd, of its guests and of OVN on this machine, which belong to root, so that a process without
// root asks the one that started it; and the certificates for hosts and network controllers reached over TLS.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface LocalAccess {
  /** Resolves to a connected socket. */
  connect(path: string): Promise<Socket>
  /** Authorities (`ca.pem`), what they have revoked (`ca-crl.pem`), and the certificate and key that they have signed for the control plane
   *  (`client.pem`, `client.key`): those that there are, by name. Asked at every connect, so renewed ones are used without a restart. */
  readCertificates(names: string[]): Promise<ReadonlyMap<string, string>>
}

/** Without certificates, for daemons of this machine alone. */
export const directAccess = (readCertificates: LocalAccess['readCertificates'] = () => Promise.resolve(new Map())): LocalAccess => ({
  connect: connectDirectly,
  readCertificates,
})

interface ClientIdentity {
  ca: string
  cert: string
  key: string
  crl?: string
}

/** The certificate and key of the control plane as `client`, and whom it trusts: servers that `ca` has signed and not revoked. */
export async function readIdentity({ readCertificates }: LocalAccess, ca: string, client: string): Promise<ClientIdentity> {
  const names = [`${ca}.pem`, `${client}.pem`, `${client}.key`, `${ca}-crl.pem`]
  const files = await readCertificates(names)
  const [authority, cert, key, crl] = names.map((name) => files.get(name))
  if (authority === undefined || cert === undefined || key === undefined) throw new Error(NO_CERTIFICATES)
  return { ca: authority, cert, key, ...(crl !== undefined && { crl }) }
}

/** `unreachable` of host-setup/verify.ts knows a way out by this text. */
const NO_CERTIFICATES = 'the control plane has no certificates yet'

export async function connectDirectly(path: string): Promise<Socket> {
  const socket = connect(path)
  await once(socket, 'connect')
  return socket
}
