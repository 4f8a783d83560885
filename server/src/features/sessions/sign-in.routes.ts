// Unauthenticated routes that start a session.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UnauthenticatedRoutes } from '../../http/api/unauthenticated-routes.ts'
import type { Operation } from '../../http/api/operation.ts'
import { isSecureTransport, requireSameOrigin } from '../../http/server/origin.ts'
import type { RateLimit } from '../../http/api/rate-limit.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { apiError } from '../../kernel/errors.ts'
import { languageOf } from '../branding/service.ts'
import type { Deps } from '../deps.ts'
import { InvitationLink, InvitationPreview } from '../members/schema.ts'
import { previewInvitation } from '../members/service.ts'
import { listOffered } from '../identities/service.ts'
import { hasOperator } from '../users/service.ts'
import { readCookie, writeCookie } from './cookie.ts'
import { SignInService, type SignInResult, type ClientInfo } from './sign-in.ts'
import { ProviderSignInService } from './provider-sign-in.ts'
import { serveProviderSignIn } from './provider-sign-in.routes.ts'
import { mailReset } from './password-reset.ts'
import { limitSignUps, mailSignUp } from './sign-up.ts'
import * as shapes from './schema.ts'
import { describeSession } from './service.ts'

const tag = 'Signing in'

export interface SignInRoutes {
  operations: Operation[]
  /** Waits for emails in flight. */
  close(): Promise<void>
}

export interface SignInOptions {
  prefix: string
  rateLimit: RateLimit
  counters: Counters
}

export function serveSignIn(app: FastifyInstance, deps: Deps, { prefix, rateLimit, counters }: SignInOptions): SignInRoutes {
  const { config, db, log, mailer } = deps
  const signInService = new SignInService(deps, counters)
  const mailings = new Set<Promise<void>>()
  const base = (): string | null => config.publicUrl?.replace(/\/$/, '') ?? listeningAt(app)
  const requestGuard = (request: FastifyRequest): void => {
    requireSameOrigin(request, config.publicUrl)
    if (request.method !== 'GET') requireSecureTransport(request, deps)
  }
  /** The response does not wait for an email, nor depends on it. */
  const inBackground = (work: Promise<void>, failure: string): void => {
    const mailing = work.catch((error: unknown) => log.warn({ err: error }, failure)).finally(() => mailings.delete(mailing))
    mailings.add(mailing)
  }
  const routes = new UnauthenticatedRoutes(app, { prefix, rateLimit, requestGuard })

  const sendSession = async (result: SignInResult, request: FastifyRequest, reply: FastifyReply): Promise<shapes.Session> => {
    writeCookie(request, reply, config.publicUrl, result.secret)
    return describeSession(deps, result.person, result.row)
  }
  const sendSessionUnlessTotp = async (
    result: SignInResult | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<shapes.SignedIn> => (result ? sendSession(result, request, reply) : { totpRequired: true })
  const visitor = (request: FastifyRequest): ClientInfo => visitorOf(request, config.publicUrl)

  routes.get('/setup', { operationId: 'getSetup', summary: 'What a newcomer can do here', tag, data: shapes.Setup }, async () => ({
    hasOwner: await hasOperator(db),
    signUpOpen: config.signUp === 'open',
    canSendMail: mailer !== null && base() !== null,
    identityProviders: await listOffered(db),
  }))

  routes.post(
    '/welcome',
    {
      operationId: 'welcome',
      summary: 'Become the owner, by the link that npm start prints',
      tag,
      body: shapes.Welcome,
      status: 201,
      data: shapes.Session,
      errorCodes: ['link_gone', 'already_exists'],
    },
    async (body, request, reply) => sendSession(await signInService.welcome(visitor(request), body), request, reply),
  )

  routes.post(
    '/sign-in',
    {
      operationId: 'signIn',
      summary: 'Sign in',
      tag,
      body: shapes.SignIn,
      data: shapes.SignedIn,
      errorCodes: ['wrong_credentials', 'wrong_totp'],
    },
    async (body, request, reply) => sendSessionUnlessTotp(await signInService.signIn(visitor(request), body), request, reply),
  )

  routes.post(
    '/sign-up',
    {
      operationId: 'signUp',
      summary: 'Make an account, where the operator allows it; where mail can be sent, by a link that confirms the address',
      tag,
      body: shapes.SignUp,
      status: [201, 202],
      data: shapes.SignedUp,
      errorCodes: ['sign_up_closed', 'already_exists'],
    },
    async (body, request, reply): Promise<shapes.SignedUp> => {
      signInService.requireOpenSignUp()
      await limitSignUps(counters, request.ip)
      const at = mailer && base()
      if (!at) return sendSession(await signInService.signUp(visitor(request), body), request, reply)
      const { email, name = '' } = body
      inBackground(
        mailSignUp(deps, counters, at, { email, name, language: languageOf(request.headers['accept-language']) }),
        'sending sign-up email failed',
      )
      reply.code(202)
      return { mailed: true, message: 'A mail with a link is on its way to this address' }
    },
  )

  routes.post(
    '/sign-up/complete',
    {
      operationId: 'completeSignUp',
      summary: 'Make an account by the link that confirms the address',
      tag,
      body: shapes.CompleteSignUp,
      status: 201,
      data: shapes.Session,
      errorCodes: ['sign_up_closed', 'already_exists', 'link_gone'],
    },
    async (body, request, reply) => sendSession(await signInService.completeSignUp(visitor(request), body), request, reply),
  )

  routes.post(
    '/invitations/preview',
    {
      operationId: 'previewInvitation',
      summary: 'What an invitation is for, by its link',
      tag,
      body: InvitationLink,
      data: InvitationPreview,
      errorCodes: ['link_gone'],
    },
    ({ token }) => previewInvitation(db, deps.clock.now(), config.signUp === 'open', token),
  )

  routes.post(
    '/invitations/register',
    {
      operationId: 'registerByInvitation',
      summary: 'Sign up by an invitation, without an account of your own, and accept it',
      tag,
      body: shapes.Register,
      status: 201,
      data: shapes.Session,
      errorCodes: ['link_gone', 'already_exists', 'sign_up_closed'],
    },
    async (body, request, reply) => sendSession(await signInService.register(visitor(request), body), request, reply),
  )

  routes.post(
    '/password-reset',
    {
      operationId: 'requestPasswordReset',
      summary: 'Ask for a link to a new password by mail',
      tag,
      body: shapes.RequestReset,
      status: 202,
      data: shapes.ResetRequested,
    },
    async ({ email }, request) => {
      const at = base()
      if (at !== null) inBackground(mailReset(deps, counters, at, email, visitor(request)), 'sending password reset email failed')
      return { message: 'If somebody signs in with this address, a mail with a link is on its way' }
    },
  )

  routes.post(
    '/password-reset/complete',
    {
      operationId: 'completePasswordReset',
      summary: 'Set a new password by a link',
      tag,
      body: shapes.CompleteReset,
      data: shapes.SignedIn,
      errorCodes: ['link_gone'],
    },
    async (body, request, reply) => sendSessionUnlessTotp(await signInService.setPassword(visitor(request), body), request, reply),
  )

  serveProviderSignIn(routes, deps, new ProviderSignInService(deps, counters, signInService), { visitor, sendSession })

  return { operations: routes.operations, close: async () => void (await Promise.all(mailings)) }
}

function visitorOf(request: FastifyRequest, publicUrl: string | null): ClientInfo {
  const { operationId: action = '', route = '' } = request.routeOptions.config
  return {
    ip: request.ip,
    userAgent: request.headers['user-agent'] ?? '',
    language: languageOf(request.headers['accept-language']),
    requestId: request.id,
    oldSecret: readCookie(request, publicUrl),
    operation: { action, route },
  }
}

function requireSecureTransport(request: FastifyRequest, { config }: Deps): void {
  if (config.allowPlainHttp || isSecureTransport(request, config.publicUrl)) return
  throw apiError(
    'https_required',
    'Over plain http a password could be read on the way: use https, or http://127.0.0.1 on the machine itself. An operator can allow it by BERTH_ALLOW_PLAIN_HTTP=true',
  )
}

/** Null while listening on all addresses: the externally reachable one is unknown. */
function listeningAt(app: FastifyInstance): string | null {
  const at = app.server.address()
  if (at === null || typeof at === 'string' || ['0.0.0.0', '::'].includes(at.address)) return null
  return `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
}
