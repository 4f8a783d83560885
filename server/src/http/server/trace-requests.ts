// A trace for each request of an operation, while traces are on. A `traceparent` of the client is not read: customers would choose which
// of their requests are exported, and could join them to the traces of others. What they may name is `X-Request-Id`.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTracing, openTrace, type OpenTrace } from '../../kernel/tracing.ts'

const traces = new WeakMap<FastifyRequest, OpenTrace>()

/** As `traceparent`. */
export const traceOf = (request: FastifyRequest): string | null => traces.get(request)?.parent ?? null

export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return
  app.addHook('onRequest', (request, _, done) => {
    const { operationId } = request.routeOptions.config
    const ids = { 'http.request.method': request.method, 'berth.request_id': request.id }
    const opened = operationId ? openTrace(operationId, 'SERVER', ids) : null
    if (opened) traces.set(request, opened)
    done()
  })
  // The last hook before the handler: reading the body has left any context that an earlier one entered.
  app.addHook('preHandler', (request, _, done) => {
    const opened = traces.get(request)
    if (opened) opened.enter(done)
    else done()
  })
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const account = request.principal?.accountId
    const failed = statusCode >= 500 ? { code: `status_${statusCode}` } : undefined
    traces.get(request)?.end({ 'http.response.status_code': statusCode, ...(account && { 'berth.account_id': account }) }, failed)
    done()
  })
}
