// CORS for programs in browsers. Off unless the operator names origins, and only for the public API: it authenticates by a header that the
// page sets itself, so cookies are never allowed along.
import type { FastifyInstance } from 'fastify'
import { UNLIMITED_HEADERS } from '../api/rate-limit.ts'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'x-api-key, content-type, idempotency-key, last-event-id, x-request-id'
const RESPONSE_HEADERS =
  'x-request-id, x-error-code, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after, location, idempotent-replayed, deprecation, sunset, link'
/** How long a browser remembers the answer for one URL. */
const MAX_AGE_SECONDS = 600

/** `moreHeaders`: of answers, which a page may read too. Before the API is mounted: a preflight has no token. It is not charged, because one precedes most requests. */
export function allowOrigins(app: FastifyInstance, prefix: string, origins: string[], moreHeaders: string[] = []): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  const shown = [RESPONSE_HEADERS, ...moreHeaders].join(', ')
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.url.startsWith(`${prefix}/`)) return done()
    reply.header('vary', 'origin')
    const { origin, 'access-control-request-method': wanted } = request.headers
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', shown)
    if (request.method !== 'OPTIONS' || wanted === undefined) return done()
    void reply
      .code(204)
      .headers({
        ...UNLIMITED_HEADERS,
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
      })
      .send()
  })
}
