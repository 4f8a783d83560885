// A proxy to PostgreSQL that can stop forwarding without closing, like a machine that lost power. Connections stay open then, and new ones
// get no response.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export interface SilentProxy {
  /** The database URL through the proxy. */
  url: string
  silence(): void
  speak(): void
  /** Closes every connection on both sides. */
  close(): void
}

export async function silentProxy(database: string): Promise<SilentProxy> {
  const url = new URL(database)
  const socket = join(url.searchParams.get('host')!, `.s.PGSQL.${url.searchParams.get('port')}`)
  const open = new Set<Socket>()
  let silent = false
  const carry = (from: Socket, to: Socket): void => {
    open.add(from)
    from.on('data', (bytes) => silent || to.write(bytes))
    from.on('error', () => {}).on('close', () => silent || to.destroy())
  }
  const server = createServer((near) => {
    const far = connect(socket)
    carry(near, far)
    carry(far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    open.forEach((each) => each.destroy())
  }
  afterAll(close)
  url.searchParams.set('host', '127.0.0.1')
  url.searchParams.set('port', String((server.address() as AddressInfo).port))
  return { url: url.toString(), silence: () => void (silent = true), speak: () => void (silent = false), close }
}
