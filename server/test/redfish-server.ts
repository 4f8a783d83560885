// A management card with one system, over plain HTTP: what is read back is what was written.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll } from 'vitest'

export interface RedfishServer {
  url: string
  user: string
  password: string
  power: 'On' | 'Off'
  /** It takes orders and does not carry them out. */
  isStuck: boolean
}

export async function redfishServer(onOff: () => Promise<unknown> = async () => {}): Promise<RedfishServer> {
  const card: RedfishServer = { url: '', user: 'berth', password: 'secret: with a colon', power: 'On', isStuck: false }
  const authorization = `Basic ${Buffer.from(`${card.user}:${card.password}`).toString('base64')}`
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers.authorization !== authorization) return answer(401, { error: { message: 'Who are you?' } })
    if (request.url === '/redfish/v1/Systems') return answer(200, { Members: [{ '@odata.id': '/redfish/v1/Systems/node-1' }] })
    if (request.url === '/redfish/v1/Systems/node-1') return answer(200, { Id: 'node-1', PowerState: card.power })
    if (request.url !== '/redfish/v1/Systems/node-1/Actions/ComputerSystem.Reset') return answer(404, {})
    const { ResetType } = JSON.parse(await text(request)) as { ResetType: string }
    if (ResetType !== 'ForceOff') return answer(400, { error: { message: ResetType } })
    if (!card.isStuck) {
      await onOff()
      card.power = 'Off'
    }
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => void server.close())
  card.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return card
}
