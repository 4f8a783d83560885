// A webhook receiver: a real HTTP server that records every request and responds as configured.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'
import { Webhook } from 'standardwebhooks'

export interface Received {
  path: string
  headers: Record<string, string>
  body: string
}

/** `count`: requests received before. */
export type Behave = (response: ServerResponse, request: Received, count: number) => void

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behave =>
  (response) =>
    response.writeHead(status, headers).end(body)

export const hang: Behave = () => {}
export const reset: Behave = (response) => response.socket?.resetAndDestroy()
export const halfBody: Behave = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('only this')
  setImmediate(() => response.destroy())
}

export async function receiver(behave: Behave = answer(200)) {
  const received: Received[] = []
  const state = { behave, connections: 0 }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const each = { path: request.url ?? '', headers: request.headers as Received['headers'], body }
      received.push(each)
      state.behave(response, each, received.length - 1)
    })
  })
  server.on('connection', () => state.connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return { url, received, state, answers: (next: Behave) => void (state.behave = next) }
}

/** Verifies the signature with the published library and returns the body. */
export const verified = (secret: string, { body, headers }: Received): unknown => new Webhook(secret).verify(body, headers)
