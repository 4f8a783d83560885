// WebSockets on the port of the API. A request to become one goes through the same limits and error answers as every other, so it is
// refused over plain HTTP with a sentence; only at the end of its handler does it change its protocol.
import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer, type WebSocket } from 'ws'
import { apiError } from '../../kernel/errors.ts'
import { isOwnOrigin } from './origin.ts'

const LARGEST_MESSAGE_BYTES = 1024 * 1024

/** Anything else that asks for another protocol is answered as if it had not. */
export const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

interface Waiting {
  socket: Socket
  head: Buffer
}

export interface WebSockets {
  /** Refuses what did not ask for a WebSocket. */
  require(request: FastifyRequest): void
  /** Calls one of the two, once: the client may have gone, or be unable to shake hands. */
  accept(request: FastifyRequest, reply: FastifyReply, opened: (socket: WebSocket) => void, failed: () => void): void
}

export function serveWebSockets(app: FastifyInstance): WebSockets {
  const waiting = new WeakMap<IncomingMessage, Waiting>()
  const headers = new WeakMap<IncomingMessage, string[]>()
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_MESSAGE_BYTES,
    handleProtocols: (offered) => offered.has('binary') && 'binary',
  })
  server.on('headers', (lines, request) => lines.push(...(headers.get(request) ?? [])))
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {}) // its close is heard of where it matters
    waiting.set(request, { socket, head })
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.end())
    app.routing(request, response)
  })
  return {
    require(request) {
      if (!waiting.has(request.raw))
        throw apiError('validation_failed', 'This address is one of a WebSocket: open it with a WebSocket client')
    },
    accept(request, reply, opened, failed) {
      const { socket, head } = waiting.get(request.raw)!
      headers.set(request.raw, headersOf(request, reply))
      reply.hijack()
      reply.raw.detachSocket(socket)
      if (socket.destroyed) return failed()
      socket.once('close', failed)
      server.handleUpgrade(request.raw, socket, head, (webSocket) => {
        socket.off('close', failed)
        webSocket.on('error', () => {}) // it closes by itself, with a code that says what was wrong
        opened(webSocket)
      })
    },
  }
}

const headersOf = (request: FastifyRequest, reply: FastifyReply): string[] =>
  Object.entries({ ...reply.getHeaders(), 'x-request-id': request.id }).map(([name, value]) => `${name}: ${String(value)}`)

/** A browser tells which page asks, and a page of another site is turned away. Other programs tell nothing. */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | null): void {
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(request, origin, publicUrl))
    throw apiError('origin_not_allowed', 'A page of another site may not open this. Use the address that the API gave')
}
