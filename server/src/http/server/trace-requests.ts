// A trace for each request of an operation that is admitted, while traces are on: whoever is refused before, by credential or by count, costs no span, or
// a flood of strangers would fill the collector and push the traces of customers out of the queue. A `traceparent` of the client is not read: customers
// would choose which of their requests are exported, and could join them to the traces of others. What they may name is `X-Request-Id`.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { systemClock } from '../../kernel/clock.ts'
import { isTracing, openTrace, type OpenTrace } from '../../kernel/tracing.ts'

const traces = new WeakMap<FastifyRequest, OpenTrace>()

/** As `traceparent`. */
export const traceOf = (request: FastifyRequest): string | null => traces.get(request)?.parent ?? null

export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return
  // The last hook before the handler: reading the body has left any context that an earlier one entered.
  app.addHook('preHandler', (request, reply, done) => {
    const { operationId } = request.routeOptions.config
    if (!operationId) return done()
    const ids = { 'http.request.method': request.method, 'berth.request_id': request.id }
    const opened = openTrace(operationId, 'SERVER', ids, new Date(systemClock.now().getTime() - reply.elapsedTime))!
    traces.set(request, opened)
    opened.enter(done)
  })
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const account = request.principal?.accountId
    const failed = statusCode >= 500 ? { code: `status_${statusCode}` } : undefined
    traces.get(request)?.end({ 'http.response.status_code': statusCode, ...(account && { 'berth.account_id': account }) }, failed)
    done()
  })
}
