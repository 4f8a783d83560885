import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from '../../http/api/schema.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Api } from '../../http/api/api.ts'
import type { Deps, Routes } from '../deps.ts'
import { CURSOR, eventSchema, EventsQuery, type EventCatalog } from './schema.ts'
import { listEvents } from './service.ts'

export const eventRoutes =
  (catalog: EventCatalog): Routes =>
  (api, deps) =>
    declareRoutes(api, deps, eventSchema(catalog))

const declareRoutes = (api: Api, { db, feed }: Deps, Event: ReturnType<typeof eventSchema>): void => {
  api.get(
    '/events',
    {
      operationId: 'listEvents',
      errorCodes: ['quota_exceeded'],
      summary: 'List events after a cursor, oldest first; with Accept: text/event-stream a live stream that resumes from Last-Event-ID',
      tag: 'Events',
      scope: 'events:read',
      query: EventsQuery,
      data: Type.Array(Event),
    },
    async ({ principal: { accountId, payerId }, query: { after, limit, labelSelector }, request }, reply) => {
      if (!wantsStream(request)) return listEvents(db, accountId, after ?? '0', limit, labelSelector)
      const from = lastSeen(request) ?? after ?? null
      const stream = await feed.stream({ accountId, payerId, labelSelector }, from, goneSignal(reply), () => request.isStillAuthorized())
      // Set only now, because errors are JSON. `connection: close` lets a stopping server finish without waiting for keep-alive.
      reply.type('text/event-stream').headers({ 'x-accel-buffering': 'no', connection: 'close' })
      return stream
    },
  )
}

const wantsStream = ({ headers }: FastifyRequest): boolean => /\btext\/event-stream\b/i.test(headers.accept ?? '')

/** A browser that reconnects repeats the original `after`; Last-Event-ID is newer. */
function lastSeen({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id']?.toString()
  if (id !== undefined && !new RegExp(CURSOR).test(id)) throw invalid('Last-Event-ID must be the cursor of an event', 'Last-Event-ID')
  return id
}

function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}
