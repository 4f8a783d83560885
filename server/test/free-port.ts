import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** For a process that is restarted on the same port. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}
