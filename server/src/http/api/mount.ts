// Mounts routes behind authentication, rate limit and authorisation, in that order: 401, 429, 403, and only then the body.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addDuration } from '../../kernel/clock.ts'
import { apiError, ApiError } from '../../kernel/errors.ts'
import { Api, type ApiDeps } from './api.ts'
import { isAudited, toAuditRecords } from './audit.ts'
import { isDryRun, refuseImpossibleDryRun } from './dry-run.ts'
import type { Operation } from './operation.ts'
import { isInProject, type Authenticate, type Principal } from './principal.ts'
import type { RateLimit } from './rate-limit.ts'

export interface Mount {
  prefix: string
  authenticate: Authenticate
  /** Whether the request's credential was valid before, without asking the database. */
  hasWorked: (request: FastifyRequest) => boolean
  rateLimit: RateLimit
  /** An additional check for every request of this mount. */
  requestGuard?: (request: FastifyRequest) => void
  /** Additional hooks of this mount. */
  hooks?: (scope: FastifyInstance) => void
}

export async function mountApi(app: FastifyInstance, mount: Mount, deps: ApiDeps, routes: (api: Api) => void): Promise<Operation[]> {
  const operations: Operation[] = []
  await app.register(
    async (scope) => {
      scope.decorateRequest('principal', null as never)
      scope.decorateRequest('isStillAuthorized', function isStillAuthorized() {
        return mount.authenticate(this).then(
          ({ accountId, scopes, signedIn }) => {
            const { scope } = this.routeOptions.config
            return accountId === this.principal.accountId && !signedIn?.refusal && (!scope || scopes.has(scope))
          },
          (error: unknown) => !(error instanceof ApiError), // an outage is no denial: checked again later
        )
      })
      scope.addHook('onRequest', async (request, reply) => {
        // Responses belong to one account, and shared caches ignore `x-api-key`.
        reply.header('cache-control', 'no-store')
        if (request.routeOptions.config.headers) reply.headers(request.routeOptions.config.headers)
        request.principal = await identify(mount, request, reply)
        await mount.rateLimit.limitActor(reply, request.principal)
        mount.requestGuard?.(request)
        requireAccount(request)
        requireScope(request)
        refuseToVisitor(request)
        requirePayer(request)
        requireRecentAuth(request, deps.clock.now())
        refuseImpossibleDryRun(request)
      })
      mount.hooks?.(scope)
      scope.addHook('onResponse', (request, reply, done) => {
        if (reply.statusCode >= 400 && isAudited(request))
          for (const record of toAuditRecords(request, reply.statusCode, String(reply.getHeader('x-error-code') ?? '') || null))
            deps.audit.recordDenied(record)
        done()
      })
      scope.setNotFoundHandler(unrouted) // runs the hooks above for unknown paths too
      routes(new Api(scope, deps, operations))
    },
    { prefix: mount.prefix },
  )
  return operations
}

/** A failed authentication is charged to the IP address: guessing tokens ends in 429, and then costs no query. */
async function identify(mount: Mount, request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
  const { authenticate, hasWorked, rateLimit } = mount
  rateLimit.limitLookUp(request, reply, () => hasWorked(request))
  try {
    return await authenticate(request)
  } catch (error) {
    if (error instanceof ApiError) await rateLimit.limitIp(request, reply)
    throw error
  }
}

function requireAccount({ routeOptions, principal: { signedIn } }: FastifyRequest): void {
  if (signedIn?.refusal && !routeOptions.config.isPersonal) throw signedIn.refusal
}

/** The scopes of resources are `resource:verb`; the remaining one is the operator's. */
function requireScope({ routeOptions, principal }: FastifyRequest): void {
  const { scope } = routeOptions.config
  if (scope) requireScopeOf(principal, scope)
}

/** Whoever has signed in to the account of a customer: beyond the scopes, what shows a secret or lets one log in, what concerns the operator's own user, and before
 *  changes were allowed every change. */
function refuseToVisitor({ method, routeOptions: { config }, principal: { signedIn } }: FastifyRequest): void {
  if (!signedIn?.visit || config.duringVisit) return
  if (config.isPersonal)
    throw apiError(
      'account_required',
      'You have signed in to the account of a customer: go back to your own first, this concerns your own user',
    )
  if (config.answersSecret || config.givesLogin || (method !== 'GET' && !signedIn.visit.canWrite))
    throw apiError('missing_scope', 'You have signed in to the account of a customer, where an operator may not do this')
}

function requirePayer({ routeOptions, principal }: FastifyRequest): void {
  if (routeOptions.config.isOfPayer && isInProject(principal))
    throw apiError(
      'in_project',
      'This is a project: only the account that pays for it may do this. Ask one of its owners or admins, or switch to it if you are one',
    )
}

/** For what looks the rights of the caller up again, in its transaction. */
export function requireScopeOf(principal: Pick<Principal, 'scopes' | 'signedIn'>, scope: string): void {
  if (principal.scopes.has(scope)) return
  if (!scope.includes(':')) throw apiError('operator_only', 'Only an operator may do this')
  if (principal.signedIn) throw apiError('missing_scope', `Your role in this account lacks the required scope: ${scope}`)
  throw apiError('missing_scope', `This token lacks the required scope: ${scope}`)
}

/** How long a password entry counts as recent. */
const RECENT = '15m'

/** A dry run needs none. */
function requireRecentAuth(request: FastifyRequest, now: Date): void {
  if (request.routeOptions.config.requiresReauth && !isDryRun(request)) requireRecentPassword(request.principal, now)
}

/** For an operation of which only some requests need it. A token proves itself each time. */
export function requireRecentPassword({ signedIn }: Principal, now: Date): void {
  if (signedIn && addDuration(signedIn.authenticatedAt, RECENT) <= now)
    throw apiError('reauthentication_required', 'This needs your password again: it was last given more than 15 minutes ago')
}

function unrouted(): never {
  throw new Error('BUG: a request without a route is answered before its handler')
}
