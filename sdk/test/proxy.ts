// Stands between a client and the server, and breaks what it is told to.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll } from 'vitest'

export async function openProxy(targetPort: number) {
  const sockets = new Set<Socket>()
  /** How many bytes of the next answers are passed on before the connection is cut. */
  const cuts: number[] = []
  let refusals = 0

  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {}) // it is cut on purpose
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    if (refusals > 0) {
      refusals--
      return void client.resetAndDestroy()
    }
    const upstream = connect(targetPort, '127.0.0.1')
    keep(upstream)
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
    cutAnswersAfter: (...bytes: number[]) => void cuts.push(...bytes),
    refuseConnections: (count: number) => void (refusals = count),
    /** Cuts every connection that is open. */
    cutAll,
  }
}
