// A server with one scripted behaviour per request, for failures that the real server does not produce but proxies do.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const html =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>Something in between</h1>')

export const data = (value: unknown): Behaviour => json(200, { success: true, data: value })
export const hang: Behaviour = () => {}
export const reset: Behaviour = (response) => response.socket?.resetAndDestroy()
export const truncatedResponse: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"success":true,"da')
  setImmediate(() => response.destroy())
}

export async function scripted(...behaviours: Behaviour[]) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    requests.push({ method: request.method!, url: request.url!, headers: request.headers })
    const behave = behaviours.shift() ?? json(500, { success: false, error: 'The script has ended' })
    behave(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
