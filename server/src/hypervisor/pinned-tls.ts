// TLS to a server that most often has signed its own certificate, such as a management card: without names, or expired years ago. Nothing is sent
// to it before its certificate was found good.
import { X509Certificate } from 'node:crypto'
import { addAbortSignal } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'

export class UntrustedError extends Error {
  /** SHA-256 of the certificate, as `openssl x509 -fingerprint` prints it. */
  readonly fingerprint: string

  constructor(reason: string, fingerprint: string) {
    super(`its certificate is not trusted (${reason}); its SHA-256 fingerprint is ${fingerprint}`)
    this.fingerprint = fingerprint
  }
}

/** `trusted`: in PEM, the certificate of the server itself, whatever names and dates it has, or that of who issued it; null: the usual ones. */
export async function connectTrusted(at: URL, trusted: string | null, signal: AbortSignal): Promise<TLSSocket> {
  const socket = await connectUnverified(at, trusted, signal)
  const own = certificateOf(socket)
  if (socket.authorized || certificatesIn(trusted ?? '').some(({ raw }) => raw.equals(own.raw))) return socket
  socket.destroy()
  throw new UntrustedError(String(socket.authorizationError), own.fingerprint256)
}

/** That the server presents. Whose it is has to be found out otherwise. */
export async function readCertificate(at: URL, signal: AbortSignal): Promise<X509Certificate> {
  const socket = await connectUnverified(at, null, signal)
  const certificate = certificateOf(socket)
  socket.destroy()
  return certificate
}

/** Throws where one cannot be read. */
export const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []).map((each) => new X509Certificate(each))

function connectUnverified(at: URL, ca: string | null, signal: AbortSignal): Promise<TLSSocket> {
  const host = at.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(at.port || 443), ...(ca !== null && { ca }), rejectUnauthorized: false }, () =>
      resolve(socket),
    )
    addAbortSignal(signal, socket).once('error', reject)
  })
}

function certificateOf(socket: TLSSocket): X509Certificate {
  const own = socket.getPeerX509Certificate()
  if (!own) throw new Error('it presents no certificate')
  return own
}
