// An HTTP proxy that forwards requests to a server and breaks those that the test names.
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Transform, type Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** `cut`: the connection closes in the middle of the body, of a request that has one, else of the response. `flip`: one bit of that body
 *  changes. `unavailable`: 503 without asking the server. `slow`: an answer after a second. */
export type Fault = 'cut' | 'flip' | 'unavailable' | 'slow'

export interface FaultProxy {
  url: string
  /** Asked for every request. */
  fault: (call: Call) => Fault | undefined
  /** Those that were forwarded without a fault. */
  forwarded: Call[]
  close(): Promise<void>
}

export interface Call {
  method: string
  path: string
}

const BUSY = '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate</Message></Error>'

export async function faultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, response) => void forward(incoming, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: () => undefined,
    forwarded: [],
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = { method: incoming.method!, path: incoming.url! }
    const fault = proxy.fault(call)
    if (fault === 'unavailable') {
      incoming.resume()
      response.writeHead(503, { 'content-type': 'application/xml' }).end(BUSY)
      return
    }
    if (fault === 'slow') await delay(1_000)
    if (fault === undefined) proxy.forwarded.push(call)
    const { expect: _, ...headers } = incoming.headers
    const end = (): void => void incoming.socket.destroy()
    const outgoing = request({ hostname, port, method: call.method, path: call.path, headers, setHost: false }).on('error', end)
    const hasBody = Number(headers['content-length'] ?? 0) > 0
    broken(incoming, hasBody ? fault : undefined, Number(headers['content-length'] ?? 0), () => {
      outgoing.destroy()
      end()
    }).pipe(outgoing)
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      broken(answer, hasBody ? undefined : fault, Number(answer.headers['content-length'] ?? 0), end).pipe(response)
    })
  }
}

function broken(body: Readable, fault: Fault | undefined, length: number, cut: () => void): Readable {
  if (fault !== 'cut' && fault !== 'flip') return body
  const middle = Math.floor(length / 2)
  let position = 0
  return body.pipe(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const at = middle - position
        position += chunk.length
        if (at < 0 || at >= chunk.length) return done(null, chunk)
        if (fault === 'flip') {
          const changed = Buffer.from(chunk)
          changed[at]! ^= 1
          return done(null, changed)
        }
        setImmediate(cut)
        done(null, chunk.subarray(0, at))
      },
    }),
  )
}
