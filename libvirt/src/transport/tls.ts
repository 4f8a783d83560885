import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { ConnectionLostError } from '../errors.ts'
import { reached, Transport } from './transport.ts'
import type { Endpoint } from './transport.ts'

export interface TlsOptions {
  host: string
  port?: number
  /** PEM. The authority that signed the daemon's certificate, and ours. */
  ca: string | Buffer
  cert: string | Buffer
  key: string | Buffer
  /** PEM. What the authority has revoked: such a server is refused. */
  crl?: string | Buffer
  /** The name the daemon's certificate must hold, when it is not `host`. */
  serverName?: string
}

/** A remote daemon (`libvirtd --listen`). Both sides present a certificate; the daemon's must match the host name. */
export function tls(options: TlsOptions): Endpoint {
  const { host, port = 16514, ca, cert, key, crl, serverName = host } = options
  const description = `${host}:${port}`
  return {
    description,
    async connect(timeoutMs) {
      const deadline = Date.now() + timeoutMs
      // SNI takes names only; what the certificate is compared with is `host` then.
      const name = isIP(serverName) ? {} : { servername: serverName }
      const socket = connect({ host, port, ca, cert, key, crl, ...name, minVersion: 'TLSv1.2', rejectUnauthorized: true })
      socket.setNoDelay(true).setKeepAlive(true, 30_000)
      await reached(socket, 'secureConnect', timeoutMs, `cannot reach libvirtd at ${description}`)
      await welcomed(socket, Math.max(1, deadline - Date.now()), description)
      return new Transport(socket, { apart: true })
    },
  }
}

/** After the handshake the daemon sends one byte, 1, once it has accepted our certificate; with TLS 1.3 a refusal shows only here. */
async function welcomed(socket: TLSSocket, timeoutMs: number, description: string): Promise<void> {
  let first: Buffer = Buffer.alloc(0)
  socket.once('data', (chunk: Buffer) => {
    first = chunk
    socket.pause()
  })
  await reached(socket, 'data', timeoutMs, `libvirtd at ${description} does not accept our certificate`)
  if (first[0] !== 1) {
    socket.destroy()
    throw new ConnectionLostError(`libvirtd at ${description} answers with byte ${first[0]} instead of 1`, { outcome: 'not sent' })
  }
  if (first.length > 1) socket.unshift(first.subarray(1))
}
