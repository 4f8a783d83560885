// A management card with one system: what is read back is what was written.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import type { Identity } from '../../libvirt/test/certificates.ts'

export interface RedfishServer {
  url: string
  user: string
  password: string
  /** Of its system. */
  uuid: string
  power: 'On' | 'Off'
  /** It takes orders and does not carry them out. */
  isStuck: boolean
  /** How many it has had, with or without the password. */
  requests: number
}

/** Over plain HTTP, unless it has a certificate. */
export async function redfishServer(onOff: () => Promise<unknown> = async () => {}, identity?: Identity): Promise<RedfishServer> {
  const card: RedfishServer = {
    url: '',
    user: 'berth',
    password: 'secret: with a colon',
    uuid: randomUUID(),
    power: 'On',
    isStuck: false,
    requests: 0,
  }
  const authorization = `Basic ${Buffer.from(`${card.user}:${card.password}`).toString('base64')}`
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    card.requests++
    if (request.headers.authorization !== authorization) return answer(401, { error: { message: 'Who are you?' } })
    if (request.url === '/redfish/v1/Systems') return answer(200, { Members: [{ '@odata.id': '/redfish/v1/Systems/node-1' }] })
    if (request.url === '/redfish/v1/Systems/node-1')
      return answer(200, { Id: 'node-1', UUID: card.uuid.toUpperCase(), PowerState: card.power })
    if (request.url !== '/redfish/v1/Systems/node-1/Actions/ComputerSystem.Reset') return answer(404, {})
    const { ResetType } = JSON.parse(await text(request)) as { ResetType: string }
    if (ResetType !== 'ForceOff') return answer(400, { error: { message: ResetType } })
    if (!card.isStuck) {
      await onOff()
      card.power = 'Off'
    }
    response.writeHead(204).end()
  }
  const server: Server = identity ? createTlsServer(identity, serve) : createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  card.url = `${identity ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return card
}
