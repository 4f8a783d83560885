// WebSocket endpoint of console URLs. It is outside the API's prefix and needs no token: the secret in the URL authenticates.
import type { FastifyInstance } from 'fastify'
import type { RateLimit } from '../../http/api/rate-limit.ts'
import { requireOwnOrigin, serveWebSockets } from '../../http/server/websocket.ts'
import type { Deps } from '../deps.ts'
import { PATH } from './service.ts'
import { openSessions } from './sessions.ts'

export interface Consoles {
  /** Ends every session. */
  close(): Promise<void>
}

export async function serveConsoles(app: FastifyInstance, deps: Deps, { rateLimit }: { rateLimit: RateLimit }): Promise<Consoles> {
  const sockets = serveWebSockets(app)
  const sessions = await openSessions(deps)
  app.get<{ Params: { secret: string } }>(`${PATH}/:secret`, { onRequest: rateLimit.limitIp }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    sockets.require(request) // first: a request without an upgrade must not consume the URL
    requireOwnOrigin(request, deps.config.publicUrl)
    const session = await sessions.open(request.params.secret)
    sockets.accept(
      request,
      reply,
      (client) => sessions.carry(session, client),
      () => void sessions.drop(session),
    )
    return reply
  })
  return { close: sessions.close }
}
