// WebSockets on the API port. An upgrade request passes the same limits and error handling as every other, so it is rejected over plain
// HTTP; the protocol is switched at the end of its handler.
import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer, type WebSocket } from 'ws'
import { apiError } from '../../kernel/errors.ts'
import { isOwnOrigin } from './origin.ts'

const LARGEST_MESSAGE_BYTES = 1024 * 1024

/** Other upgrade requests are handled as if they had not asked. */
export const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

interface Waiting {
  socket: Socket
  head: Buffer
}

export interface WebSockets {
  /** Throws for a request that is no WebSocket upgrade. */
  require(request: FastifyRequest): void
  /** Calls exactly one of the two callbacks: the client may have disconnected, or fail the handshake. */
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
    socket.on('error', () => {}) // close is handled by the owner of the socket
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
        webSocket.on('error', () => {}) // it closes by itself, with a close code
        opened(webSocket)
      })
    },
  }
}

const headersOf = (request: FastifyRequest, reply: FastifyReply): string[] =>
  Object.entries({ ...reply.getHeaders(), 'x-request-id': request.id }).map(([name, value]) => `${name}: ${String(value)}`)

/** Browsers send the origin of the page, and other sites are rejected. Other clients send none. */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | null): void {
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(request, origin, publicUrl))
    throw apiError('origin_not_allowed', 'A page of another site may not open this. Use the address that the API gave')
}
