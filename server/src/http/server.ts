// The HTTP server without any resource on it: limits, request ids, rate limits, errors. Features are mounted by `mountApi`.
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, type RouteOptions } from 'fastify'
import { newId } from '../kernel/ids.ts'
import { refuse } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { Api, type ApiDeps, type Operation } from './api.ts'
import { rawError, sendError } from './errors.ts'
import type { Authenticate } from './principal.ts'
import { REQUESTS_PER_IP, type RateLimit } from './rate-limit.ts'
import { validatorCompiler } from './validate.ts'

export interface ServerDeps {
  log: Log
  metrics: Metrics
  rateLimit: RateLimit
  trustedProxies: string[]
}

const BODY_LIMIT = 256 * 1024

export function createServer({ log, metrics, rateLimit, trustedProxies }: ServerDeps): FastifyInstance {
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    requestTimeout: 30_000,
    connectionTimeout: 120_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    routerOptions: { maxParamLength: 2_000, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
      socket.end(
        rawError(status, status === 431 ? 'The request headers are too large' : 'This is not a valid HTTP request', looseHeaders()),
      )
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setErrorHandler(sendError)
  app.removeContentTypeParser('text/plain')
  parseJson(app)
  app.addHook('onRequest', async (request, reply) => void reply.header('x-request-id', request.id))
  app.addHook('onSend', async (request, reply, payload) => {
    if (!reply.hasHeader('x-ratelimit-limit')) await rateLimit.describe(request, reply)
    return payload
  })
  app.addHook('onResponse', async (request, reply) => {
    const { operationId } = request.routeOptions.config
    if (operationId) metrics.requests.observe({ operation: operationId, status: reply.statusCode }, reply.elapsedTime / 1000)
    const level = request.method === 'GET' ? 'debug' : 'info'
    if (operationId)
      request.log[level](
        {
          requestId: request.id,
          operationId,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          actor: request.principal?.actorId,
        },
        'request',
      )
  })
  return app
}

const looseHeaders = (): Record<string, string> => ({
  'x-request-id': newId(),
  'x-error-code': 'validation_failed',
  'x-ratelimit-limit': String(REQUESTS_PER_IP),
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': '60',
})

function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : newId()
}

/** An empty body is no body, also under a JSON content type. */
function parseJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body as string, done)
  })
}

export interface Mount {
  prefix: string
  authenticate: Authenticate
  rateLimit: RateLimit
}

/** Mounts routes behind authentication, its rate limit and the scope check, in that order: 401, 429, 403, and only then the body. */
export async function mountApi(app: FastifyInstance, mount: Mount, deps: ApiDeps, routes: (api: Api) => void): Promise<Operation[]> {
  const operations: Operation[] = []
  await app.register(
    async (scope) => {
      const paths = collectPaths(scope)
      scope.decorateRequest('principal', null as never)
      scope.addHook('onRequest', async (request, reply) => {
        const { config } = request.routeOptions
        request.principal = await mount.authenticate(request).catch(async (error: unknown) => {
          await mount.rateLimit.chargeAddress(request, reply)
          throw error
        })
        await mount.rateLimit.chargeToken(reply, request.principal)
        if (config.scope && !request.principal.scopes.has(config.scope)) {
          throw refuse('missing_scope', `This token lacks the required scope: ${config.scope}`)
        }
      })
      scope.addHook('preValidation', async (request) => {
        const params = (request.params ?? {}) as Record<string, string>
        for (const [name, value] of Object.entries(params)) if (!POSSIBLE_ID.test(value)) params[name] = ''
      })
      routes(new Api(scope, deps, operations))
      scope.setNotFoundHandler((request, reply) => {
        const allowed = paths.methodsAt(request)
        if (allowed.length === 0)
          throw refuse('not_found', `There is nothing at ${request.method} ${request.url.split('?')[0]!.slice(0, 200)}: see /docs`)
        reply.header('allow', allowed.join(', '))
        throw refuse('method_not_allowed', `${request.method} is not allowed here: use ${allowed.join(' or ')}`)
      })
    },
    { prefix: mount.prefix },
  )
  return operations
}

/** Anything else is looked up as '', so that it reads exactly like an unknown id. */
const POSSIBLE_ID = /^[\x21-\x7e]{1,64}$/

/** Remembers which methods each path answers to, so that a wrong method is told apart from an unknown path. */
function collectPaths(app: FastifyInstance): { methodsAt(request: FastifyRequest): string[] } {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const source = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
    const entry = known.get(source) ?? { pattern: new RegExp(`^${source}$`), methods: new Set<string>() }
    for (const each of [method].flat()) entry.methods.add(each)
    known.set(source, entry)
  })
  return {
    methodsAt(request) {
      const path = request.url.split('?')[0]!
      return [...known.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])
    },
  }
}
