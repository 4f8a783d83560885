import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, readAll, throwawayApi } from '../../../test/throwaway-api.ts'
import { memoryCounters } from '../../kernel/database/window-counters.ts'
import { object, Type } from '../api/schema.ts'

const about = { summary: 'A test', tag: 'Test', scope: null, data: Type.Unknown() }

interface Received {
  status: number
  headers: Record<string, string>
  body: { success: boolean; error: string }
}

/** Exactly one complete response: anything before or after it fails the test. */
function parse(bytes: string): Received {
  const [head = '', body = ''] = bytes.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  expect(Buffer.byteLength(body)).toBe(Number(headers['content-length']))
  return { status: Number(first.split(' ')[1]), headers, body: JSON.parse(body) as Received['body'] }
}

const HEADERS = ['x-request-id', 'x-error-code', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'content-type']

describe('raw connections', async () => {
  const app = await testApp()
  const { token } = await app.given.customer()
  const api = await throwawayApi(
    app,
    (routes) => {
      routes.get('/free', { ...about, operationId: 'free' }, async () => 'ok')
      routes.post(
        '/things',
        { ...about, operationId: 'make', body: object({ text: Type.String() }) },
        async (_, { body }) => body.text.length,
      )
    },
    { counters: { ...memoryCounters(app.clock), add: async () => ({ count: 1, resetMs: 60_000 }) } },
  )
  api.server.server.headersTimeout = 400
  api.server.server.requestTimeout = 1_200
  const head = (line: string, headers: string[] = []) => `${[line, 'host: x', `x-api-key: ${token}`, ...headers].join('\r\n')}\r\n\r\n`
  const get = head(`GET ${PREFIX}/free HTTP/1.1`, ['connection: close'])

  test.each([
    ['garbage', 'hello there\r\n\r\n', 400, 'malformed_request'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'malformed_request'],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    ['a broken header', 'GET / HTTP/1.1\r\nbro ken\r\n\r\n', 400, 'malformed_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed_request',
    ],
    ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['an endless path', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, 'headers_too_large'],
    ['a thousand headers', `GET / HTTP/1.1\r\nhost: x\r\n${'abcdefgh: 12345678\r\n'.repeat(1_000)}\r\n`, 431, 'headers_too_large'],
  ])('%s gets one response with all headers, and the connection is closed', async (_, bytes, status, code) => {
    const answer = parse(await api.exchange(bytes))
    expect([answer.status, answer.headers['x-error-code'], answer.headers['connection']]).toEqual([status, code, 'close'])
    for (const name of HEADERS) expect(answer.headers).toHaveProperty(name)
    expect(Object.keys(answer.body)).toEqual(['success', 'error'])
  })

  test.each([
    ['no Host', `GET ${PREFIX}/free HTTP/1.1\r\nx-api-key: ${token}\r\nconnection: close\r\n\r\n`, 200],
    ['HTTP/1.0', `GET ${PREFIX}/free HTTP/1.0\r\nx-api-key: ${token}\r\n\r\n`, 200],
    ['an absolute address', head(`GET http://x${PREFIX}/free HTTP/1.1`, ['connection: close']), 200],
    ['an expectation', head(`GET ${PREFIX}/free HTTP/1.1`, ['expect: miracles', 'connection: close']), 200],
    ['an upgrade', head(`GET ${PREFIX}/free HTTP/1.1`, ['upgrade: websocket', 'connection: upgrade, close']), 200],
    ['a version wish', head(`GET ${PREFIX}/free HTTP/1.1`, ['accept-version: 9.9.9', 'connection: close']), 200],
    ['a body on GET', `${head(`GET ${PREFIX}/free HTTP/1.1`, ['content-length: 5', 'connection: close'])}hello`, 200],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
  ])('%s is handled like any other request', async (_, bytes, status) => {
    const answer = parse(await api.exchange(bytes))
    expect(answer.status).toBe(status)
    expect(answer.headers).toHaveProperty('x-ratelimit-limit')
    expect(answer.headers).toHaveProperty('x-request-id')
  })

  test('malformed requests are charged to the IP address', async () => {
    const limited = await throwawayApi(app, () => {})
    const left = async (): Promise<number> => Number(parse(await limited.exchange('x\r\n\r\n')).headers['x-ratelimit-remaining'])
    expect([await left(), await left()]).toEqual([99, 98])
    await Promise.all(Array.from({ length: 98 }, left))
    const refused = parse(await limited.exchange('x\r\n\r\n'))
    expect([refused.status, refused.headers['retry-after'], refused.body.error]).toEqual([
      429,
      '60',
      'Rate limit exceeded (per IP): retry in 60 seconds',
    ])
  })

  describe('a body of 10 MB', () => {
    const announced = head(`POST ${PREFIX}/things HTTP/1.1`, ['content-type: application/json', 'content-length: 10485760'])
    const chunked = head(`POST ${PREFIX}/things HTTP/1.1`, ['content-type: application/json', 'transfer-encoding: chunked'])

    test('is 413 before any of it is sent', async () => {
      const socket = await api.dial()
      socket.write(announced)
      const answer = parse(await firstAnswer(socket))
      expect([answer.status, answer.headers['x-error-code'], answer.body.error]).toEqual([
        413,
        'payload_too_large',
        'The body is larger than 256 KiB',
      ])
      expect(answer.headers).toHaveProperty('x-ratelimit-limit')
      socket.destroy()
    })

    test('in chunks is 413 when the limit is exceeded', async () => {
      const socket = await api.dial()
      socket.write(chunked)
      const answer = firstAnswer(socket)
      const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
      for (let sent = 0; sent < 5; sent++) socket.write(chunk)
      expect(parse(await answer).status).toBe(413)
      socket.destroy()
    })

    test('sends the response to a client that sends the whole body first', async () => {
      const port = await api.listen()
      for (const withToken of [true, false]) {
        const response = await fetch(`http://127.0.0.1:${port}${PREFIX}/things`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(withToken && { 'x-api-key': token }) },
          body: Buffer.alloc(10 * 1024 * 1024, 'x'),
        })
        expect(response.status).toBe(withToken ? 413 : 401)
      }
    })

    test('that never ends is disconnected after the response', async () => {
      const socket = await api.dial()
      socket.write(announced)
      const drip = setInterval(() => socket.writable && socket.write('x'), 50)
      const started = performance.now()
      expect(parse(await readAll(socket)).status).toBe(413)
      clearInterval(drip)
      expect(performance.now() - started).toBeLessThan(4_000)
    })
  })

  test('a body just within the limit is accepted', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(256 * 1024 - 11) })
    const { status, text } = await api.send('POST', `${PREFIX}/things`, {
      token,
      payload: body,
      headers: { 'content-type': 'application/json' },
    })
    expect([status, JSON.parse(text)]).toEqual([200, { success: true, data: 256 * 1024 - 11 }])
  })

  test('a client that disconnects within its body has no effect on others', async () => {
    const socket = await api.dial()
    socket.write(`${head(`POST ${PREFIX}/things HTTP/1.1`, ['content-type: application/json', 'content-length: 100'])}{"te`)
    socket.destroy()
    expect(parse(await api.exchange(get)).status).toBe(200)
  })

  test('slow headers and bodies time out while normal traffic is served', async () => {
    const slowHead = await Promise.all(Array.from({ length: 50 }, () => api.dial()))
    const slowBody = await Promise.all(Array.from({ length: 50 }, () => api.dial()))
    for (const socket of slowHead) socket.write('GET / HTTP/1.1\r\nhost: x\r\n')
    const length = ['content-type: application/json', 'content-length: 1000']
    for (const socket of slowBody) socket.write(head(`POST ${PREFIX}/things HTTP/1.1`, length))
    const drips = [
      setInterval(() => slowHead.forEach((socket) => socket.writable && socket.write('a: b\r\n')), 40),
      setInterval(() => slowBody.forEach((socket) => socket.writable && socket.write(' ')), 40),
    ]
    const ended = Promise.all([...slowHead, ...slowBody].map(readAll))
    const served: number[] = []
    const serving = setInterval(() => void api.exchange(get).then((bytes) => served.push(parse(bytes).status)), 25)
    const answers = await ended
    for (const timer of [...drips, serving]) clearInterval(timer)
    expect(answers.map((bytes) => parse(bytes)).map(({ status, headers }) => [status, headers['x-error-code']])).toEqual(
      Array(100).fill([408, 'request_timeout']),
    )
    expect(served.length).toBeGreaterThan(10)
    expect(new Set(served)).toEqual(new Set([200]))
  })

  test('pipelined requests are answered in order on one connection', async () => {
    const more = head(`GET ${PREFIX}/free HTTP/1.1`)
    const bytes = await api.exchange(more + more + get)
    expect(bytes.match(/HTTP\/1.1 200 OK/g)).toHaveLength(3)
  })
})

/** Reads until the first complete response. */
async function firstAnswer(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  while (!/\r\n\r\n.*\}$/s.test(text)) await once(socket, 'data')
  return text
}
