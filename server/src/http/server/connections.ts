// Below HTTP: bytes that never become a request, slow clients, and request bodies that are not read.
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { apiError, type ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { RateLimit } from '../api/rate-limit.ts'

/** A client that is still sending gets this long to read the response; closing at once would reset the connection and discard it. */
const LINGER_MS = 2_000

const CLIENT_ERRORS: Record<string, () => ApiError> = {
  HPE_HEADER_OVERFLOW: () => apiError('headers_too_large', 'The request headers are larger than 16 KiB'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () => apiError('payload_too_large', 'The chunk extensions of the body are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    apiError('request_timeout', 'The request took too long to arrive: send headers within 10 and all of it within 30 seconds'),
}
const MALFORMED = (): ApiError => apiError('malformed_request', 'This is not a valid HTTP request')

export function handleClientError(rateLimit: RateLimit): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const answered = new WeakSet<Socket>()
  return (error, socket) => {
    if (answered.has(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    answered.add(socket)
    void rateLimit.chargeSocket(socket.remoteAddress ?? '').then((standing) => {
      const failure = standing.error ?? (CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED)()
      if (socket.writable) socket.end(rawResponse(failure, standing.headers))
      destroyLater(socket)
    })
  }
}

/** The response is sent, so the rest of the body is not needed. */
export function dropUnreadBody(message: IncomingMessage): void {
  if (message.complete === false) destroyLater(message.socket, () => !message.complete)
}

/**
 * On shutdown, closes connections as soon as they are idle. Node itself keeps connections that have not sent anything and those that finish
 * a request afterwards, without a timeout. Returns whether the server is stopping.
 */
export function closeConnectionsOnShutdown(app: FastifyInstance): () => boolean {
  const sockets = new Set<Socket>()
  let stopping = false
  app.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', async () => {
    stopping = true
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  })
  return () => stopping
}

const destroyLater = (socket: Socket, still: () => boolean = () => true): void =>
  void setTimeout(() => still() && socket.destroy(), LINGER_MS).unref()

function rawResponse(failure: ApiError, headers: Record<string, string | number>): string {
  const body = JSON.stringify({ success: false, error: failure.message })
  const all = {
    ...headers,
    'x-request-id': newId(),
    'x-error-code': failure.code,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]!}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
