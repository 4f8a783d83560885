// A TCP proxy between client and server that injects connection failures.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll } from 'vitest'

export async function openProxy(targetPort: number) {
  const sockets = new Set<Socket>()
  /** Bytes of each of the next responses to forward before the connection is closed. */
  const cuts: number[] = []
  let refusals = 0

  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {}) // closed on purpose
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    track(client)
    if (refusals > 0) {
      refusals--
      return void client.resetAndDestroy()
    }
    const upstream = connect(targetPort, '127.0.0.1')
    track(upstream)
    client.on('data', (chunk) => upstream.write(chunk))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.end())
    upstream.on('data', (chunk: Buffer) => {
      const cut = cuts.shift()
      if (cut === undefined) return void client.write(chunk)
      client.write(chunk.subarray(0, cut), () => client.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = (): void => sockets.forEach((socket) => socket.destroy())
  afterAll(() => {
    cutAll()
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutResponsesAfter: (...bytes: number[]) => void cuts.push(...bytes),
    refuseConnections: (count: number) => void (refusals = count),
    /** Closes all open connections. */
    cutAll,
  }
}
