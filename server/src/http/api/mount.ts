// Mounts routes behind authentication, its rate limit and what the caller may do, in that order: 401, 429, 403, and only then the body.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addDuration } from '../../kernel/clock.ts'
import { apiError, ApiError } from '../../kernel/errors.ts'
import { Api, type ApiDeps } from './api.ts'
import { isAudited, toAuditRecord } from './audit.ts'
import { isDryRun, refuseImpossibleDryRun } from './dry-run.ts'
import type { Operation } from './operation.ts'
import type { Authenticate, Principal } from './principal.ts'
import type { RateLimit } from './rate-limit.ts'

export interface Mount {
  prefix: string
  authenticate: Authenticate
  rateLimit: RateLimit
  /** What else must hold for every request here. */
  requestGuard?: (request: FastifyRequest) => void
  /** Further hooks of this mount alone. */
  hooks?: (scope: FastifyInstance) => void
}

export async function mountApi(app: FastifyInstance, mount: Mount, deps: ApiDeps, routes: (api: Api) => void): Promise<Operation[]> {
  const operations: Operation[] = []
  await app.register(
    async (scope) => {
      scope.decorateRequest('principal', null as never)
      scope.decorateRequest('isStillAuthorized', function isStillAuthorized() {
        return mount.authenticate(this).then(
          () => true,
          (error: unknown) => !(error instanceof ApiError), // what cannot be found out now is asked again later
        )
      })
      scope.addHook('onRequest', async (request, reply) => {
        // Answers belong to one account, and `x-api-key` does not tell a cache in between so.
        reply.header('cache-control', 'no-store')
        request.principal = await identify(mount, request, reply)
        await mount.rateLimit.limitActor(reply, request.principal)
        mount.requestGuard?.(request)
        requireScope(request)
        requireRecentAuth(request, deps.clock.now())
        refuseImpossibleDryRun(request)
      })
      mount.hooks?.(scope)
      scope.addHook('onResponse', (request, reply, done) => {
        if (reply.statusCode >= 400 && isAudited(request))
          deps.audit.recordDenied(toAuditRecord(request, reply.statusCode, String(reply.getHeader('x-error-code') ?? '') || null))
        done()
      })
      scope.setNotFoundHandler(unrouted) // makes the checks above run for unknown paths too
      routes(new Api(scope, deps, operations))
    },
    { prefix: mount.prefix },
  )
  return operations
}

/** A failed attempt is charged to the address: who guesses tokens is stopped by 429. */
async function identify({ authenticate, rateLimit }: Mount, request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
  try {
    return await authenticate(request)
  } catch (error) {
    if (error instanceof ApiError) await rateLimit.limitIp(request, reply)
    throw error
  }
}

/** A person may do everything in the account: what is missing then is for operators. */
function requireScope({ routeOptions, principal }: FastifyRequest): void {
  const { scope } = routeOptions.config
  if (!scope || principal.scopes.has(scope)) return
  if (principal.signedIn) throw apiError('operator_only', 'Only an operator may do this')
  throw apiError('missing_scope', `This token lacks the required scope: ${scope}`)
}

/** How long a password counts as just given. */
const RECENT = '15m'

/** What changes nothing needs none. */
function requireRecentAuth(request: FastifyRequest, now: Date): void {
  const { routeOptions, principal } = request
  if (!routeOptions.config.requiresReauth || !principal.signedIn || isDryRun(request)) return
  if (addDuration(principal.signedIn.authenticatedAt, RECENT) <= now)
    throw apiError('reauthentication_required', 'This needs your password again: it was last given more than 15 minutes ago')
}

function unrouted(): never {
  throw new Error('BUG: a request without a route is answered before its handler')
}
