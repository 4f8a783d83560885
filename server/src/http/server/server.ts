// The HTTP server without resources: limits, timeouts, request ids, rate limits, errors. Features are mounted by `mountApi`.
import { isUtf8 } from 'node:buffer'
import { fastify, type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { exemplarLabels } from '../../kernel/tracing.ts'
import type { RateLimit } from '../api/rate-limit.ts'
import { closeConnectionsOnShutdown, dropUnreadBody, handleClientError } from './connections.ts'
import { sendError } from './error-response.ts'
import { handleNotFound, toCallback } from './not-found.ts'
import type { Pages } from './static-site.ts'
import { validatorCompiler } from './validation.ts'
import { isWebSocket } from './websocket.ts'
import { traceOf, traceRequests } from './trace-requests.ts'

export interface ServerDeps {
  log: Log
  metrics: Metrics
  rateLimit: RateLimit
  trustedProxies: string[]
  pages?: Pages | undefined
  /** Answers while no new requests are wanted, so that clients keep no connection. */
  isDraining?: () => boolean
}

export function createServer({ log, metrics, rateLimit, trustedProxies, pages, isDraining = () => false }: ServerDeps): FastifyInstance {
  const app: FastifyInstance = fastify({
    loggerInstance: log.child({}) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger, // our log lines carry the request id themselves
    bodyLimit: 256 * 1024,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    requestTimeout: 30_000,
    connectionTimeout: 120_000,
    keepAliveTimeout: 72_000,
    // A request without Host is accepted: routing does not depend on it.
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
      shouldUpgradeCallback: (request) => isWebSocket(request) && app.server.listenerCount('upgrade') > 0,
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    rewriteUrl: ({ url }) => readableUrl(url ?? '/'),
    routerOptions: { maxParamLength: 16 * 1024 }, // any length that fits into the headers is an unknown id, not an error
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
    clientErrorHandler: handleClientError(rateLimit),
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } }, // Fastify's own compilers are slow to load
  })
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setValidatorCompiler(validatorCompiler)
  app.setErrorHandler(sendError)
  app.removeAllContentTypeParsers()
  parseJson(app)
  const isStopping = closeConnectionsOnShutdown(app)
  traceRequests(app)
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-request-id', request.id)
    if (isStopping() || isDraining()) reply.header('connection', 'close')
    if (reply.hasHeader('x-ratelimit-limit')) done(null, payload)
    else void toCallback(rateLimit.describe(request, reply), (error) => (error ? done(error) : done(null, payload)))
  })
  app.addHook('onResponse', (request, reply, done) => {
    dropUnreadBody(request.raw)
    record(metrics, request, reply)
    done()
  })
  handleNotFound(app, rateLimit, pages)
  return app
}

function unused(): never {
  throw new Error('BUG: validation has its own compiler, and serialisation none')
}

function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : newId()
}

/** Escapes invalid percent-encoding, so that it is an unknown path or id instead of an error. */
function readableUrl(url: string): string {
  const local = url.startsWith('/') ? url : url.replace(/^(https?:\/\/[^/?]*)?\/?/i, '/')
  if (!local.includes('%')) return local
  const [path = '', ...query] = local.split('?')
  return isDecodable(path) ? local : [path.replaceAll('%', '%25'), ...query].join('?')
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** An empty body counts as no body, also with a JSON content type. */
function parseJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined)
    else if (isUtf8(body)) void parse(request, body.toString(), done)
    else done(apiError('invalid_json', 'The body is not valid UTF-8'))
  })
}

function record(metrics: Metrics, request: FastifyRequest, reply: FastifyReply): void {
  const { operationId } = request.routeOptions.config
  if (!operationId) return
  const { statusCode: status, elapsedTime } = reply
  metrics.requests.observe({ labels: { operation: operationId, status }, value: elapsedTime / 1000, ...exemplarLabels(traceOf(request)) })
  const level = request.method === 'GET' ? 'debug' : 'info'
  const actor = request.principal?.actorId
  request.log[level]({ requestId: request.id, operationId, status, ms: Math.round(elapsedTime), actor }, 'request completed')
}
