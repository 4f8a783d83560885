// Where a new host fetches its bundle, outside of the API: what it sends is made of its token, proves nothing else, and what it gets is sealed by the token.
import type { FastifyInstance } from 'fastify'
import type { RateLimit } from '../../http/api/rate-limit.ts'
import { apiError } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { BUNDLE_PATH, fetchBundle } from './enrollments.ts'

export function serveBundles(app: FastifyInstance, { db, clock }: Deps, rateLimit: RateLimit): void {
  app.post(BUNDLE_PATH, { onRequest: rateLimit.limitIp }, async ({ body }, reply) => {
    reply.header('cache-control', 'no-store')
    const { id } = (body ?? {}) as { id?: unknown }
    if (typeof id !== 'string' || !/^[0-9a-f]{64}$/.test(id)) throw apiError('malformed_request', 'It takes an id of 64 hex digits')
    return { success: true, data: { sealed: await db.tx((tx) => fetchBundle(tx, clock.now(), id)) } }
  })
}
