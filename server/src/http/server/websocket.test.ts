import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { object, Type } from '../api/schema.ts'
import { externalUrl } from './origin.ts'
import { requireOwnOrigin, serveWebSockets } from './websocket.ts'

const about = { summary: 'A test', tag: 'Test', scope: null, data: Type.Unknown() }

describe('a protocol upgrade', async () => {
  const app = await testApp()
  const { token } = await app.given.customer()
  const api = await throwawayApi(app, (routes) => {
    routes.get('/free', { ...about, operationId: 'free' }, async () => 'ok')
    routes.post(
      '/things',
      { ...about, operationId: 'make', body: object({ text: Type.String() }) },
      async (_, { body }) => body.text.length,
    )
  })
  const sockets = serveWebSockets(api.server)
  api.server.get('/socket', async (request, reply) => {
    sockets.require(request)
    requireOwnOrigin(request, 'https://berth.example/base')
    sockets.accept(
      request,
      reply,
      (socket) => socket.close(1000, 'hello'),
      () => {},
    )
    return reply
  })
  api.server.get('/address', async (request) => externalUrl(request, null).href)
  const upgrade = (line: string, protocol: string, ...headers: string[]) =>
    [line, `x-api-key: ${token}`, 'connection: upgrade', `upgrade: ${protocol}`, ...headers, '', ''].join('\r\n')
  const shake = ['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']

  const GOODBYE = Buffer.from([0x88, 0x80, 0, 0, 0, 0])
  const thenLeave = (bytes: string): Buffer => Buffer.concat([Buffer.from(bytes), GOODBYE])

  test('is accepted at a WebSocket route', async () => {
    const answer = await api.exchange(thenLeave(upgrade('GET /socket HTTP/1.1', 'WebSocket', 'host: x', ...shake)))
    expect(answer).toMatch(/^HTTP\/1\.1 101 .*\r\nx-request-id: /s)
  })

  test.each([
    ['https://berth.example', 101],
    ['http://berth.example', 403],
    ['ftp://x', 403],
    ['http://x', 101],
    ['https://x:443', 101],
    ['https://evil.example', 403],
    ['https://berth.example.evil.example', 403],
    ['https://berth.example:8443', 403],
    ['null', 403],
    ['', 403],
  ])('from origin %s returns %i', async (origin, status) => {
    const bytes = upgrade('GET /socket HTTP/1.1', 'websocket', 'host: x', `origin: ${origin}`, ...shake)
    expect(await api.exchange(thenLeave(bytes))).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  test.each([
    ['https://berth.example', 101],
    ['http://berth.example', 403],
  ])('to the host of the public URL from origin %s returns %i', async (origin, status) => {
    const bytes = upgrade('GET /socket HTTP/1.1', 'websocket', 'host: berth.example', `origin: ${origin}`, ...shake)
    expect(await api.exchange(thenLeave(bytes))).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  test('is handled as a plain request at other routes, and the connection is closed', async () => {
    const bytes = upgrade(`GET ${PREFIX}/free HTTP/1.1`, 'websocket', 'host: x', ...shake)
    expect(await api.exchange(bytes)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*"data":"ok"/s)
    expect(await api.exchange(upgrade('GET /nowhere HTTP/1.1', 'websocket', 'host: x', ...shake))).toMatch(/^HTTP\/1\.1 404 /)
  })

  test('tolerates a client that sends invalid frames', async () => {
    const bytes = upgrade('GET /socket HTTP/1.1', 'websocket', 'host: x', ...shake)
    expect(await api.exchange(`${bytes}hello there, this is no frame`)).toMatch(/^HTTP\/1\.1 101 /)
    expect(await api.exchange(thenLeave(bytes))).toMatch(/^HTTP\/1\.1 101 /)
  })

  test('is rejected with an invalid handshake', async () => {
    expect(await api.exchange(upgrade('GET /socket HTTP/1.1', 'websocket', 'host: x'))).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('to another protocol is ignored, and its body read', async () => {
    const bytes = upgrade(`POST ${PREFIX}/things HTTP/1.1`, 'h2c', 'host: x', 'content-type: application/json', 'content-length: 15')
    const socket = await api.dial()
    socket.write(`${bytes}{"text":"four"}`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*"data":4/s)
    socket.destroy()
  })

  test('has an external URL, which follows Host only to this machine', async () => {
    const port = await api.listen()
    const read = async (...headers: string[]) =>
      (await api.exchange(['GET /address HTTP/1.1', ...headers, 'connection: close', '', ''].join('\r\n'))).split('\r\n\r\n')[1]
    const seen = [await read('host: localhost:1'), await read('host: berth.example'), await read()]
    expect(seen).toEqual(['http://localhost:1/', `http://127.0.0.1:${port}/`, `http://127.0.0.1:${port}/`])
  })
})
