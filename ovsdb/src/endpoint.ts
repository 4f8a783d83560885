// Where an ovsdb-server listens, and how to reach it.
import { connect as connectSocket, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ConnectionLostError } from './errors.ts'

export interface Endpoint {
  readonly description: string
  connect(timeoutMs: number): Promise<Socket>
}

/** A server on this machine. */
export const unix = (path: string): Endpoint => ({
  description: `unix:${path}`,
  connect: (timeoutMs) => reached(connectSocket(path), 'connect', timeoutMs, `unix:${path}`),
})

/** Not encrypted, and anyone who reaches the port may write: for loopback only. */
export const tcp = (host: string, port: number): Endpoint => ({
  description: `tcp:${host}:${port}`,
  connect: (timeoutMs) => reached(connectSocket({ host, port }).setNoDelay(true), 'connect', timeoutMs, `tcp:${host}:${port}`),
})

export interface TlsOptions {
  host: string
  port: number
  /** PEM. The authority that signed the server's certificate, and ours. */
  ca: string | Buffer
  cert: string | Buffer
  key: string | Buffer
  /** PEM. What the authority has revoked: such a server is refused. */
  crl?: string | Buffer
  /** The name in the server's certificate, when it is not `host`. */
  serverName?: string
}

/** Both sides present a certificate; the server's must match the host name. */
export function tls({ host, port, ca, cert, key, crl, serverName = host }: TlsOptions): Endpoint {
  const description = `ssl:${host}:${port}`
  return {
    description,
    connect(timeoutMs) {
      // SNI takes names only.
      const name = isIP(serverName) ? {} : { servername: serverName }
      const socket = connectTls({ host, port, ca, cert, key, crl, ...name, minVersion: 'TLSv1.2', rejectUnauthorized: true })
      return reached(socket.setNoDelay(true), 'secureConnect', timeoutMs, description)
    },
  }
}

/** Waits for a socket's event, its failure or the deadline; the socket is destroyed unless the event came. */
function reached(socket: Socket, event: string, timeoutMs: number, description: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer)
      socket.off(event, succeed).off('error', settle)
      // An error between here and the first listener of the caller must not end the process; the close that follows it counts.
      socket.on('error', () => {})
      if (error === undefined) return resolve(socket)
      socket.destroy()
      reject(
        new ConnectionLostError(`cannot reach ovsdb-server at ${description}: ${error.message}`, { outcome: 'not sent', cause: error }),
      )
    }
    const succeed = (): void => settle()
    const timer = setTimeout(() => settle(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
    socket.once(event, succeed).once('error', settle)
  })
}
