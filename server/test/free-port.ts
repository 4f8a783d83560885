import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** For a process that is stopped and started again at the same place. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}
