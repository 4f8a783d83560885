// Unauthenticated routes of signing in by an identity provider.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { UnauthenticatedRoutes } from '../../http/api/unauthenticated-routes.ts'
import { externalUrl } from '../../http/server/origin.ts'
import type { Deps } from '../deps.ts'
import { AtProvider, BeginAtProvider, SignInByProvider } from '../identities/schema.ts'
import { readFlowCookie, writeFlowCookie } from './cookie.ts'
import type { ProviderSignInService } from './provider-sign-in.ts'
import * as shapes from './schema.ts'
import type { ClientInfo, SignInResult } from './sign-in.ts'

const tag = 'Signing in'

/** Where browsers are sent back to. */
export const baseOf = (request: FastifyRequest, publicUrl: string | null): string => externalUrl(request, publicUrl).href.replace(/\/$/, '')

export interface Desk {
  visitor(request: FastifyRequest): ClientInfo
  sendSession(result: SignInResult, request: FastifyRequest, reply: FastifyReply): Promise<shapes.Session>
}

export function serveProviderSignIn(
  routes: UnauthenticatedRoutes,
  { config }: Pick<Deps, 'config'>,
  service: ProviderSignInService,
  { visitor, sendSession }: Desk,
): void {
  const { publicUrl } = config

  routes.post(
    '/sign-in/with',
    {
      operationId: 'beginSignInByProvider',
      summary: 'Begin to sign in by an identity provider: where the browser goes next',
      tag,
      body: BeginAtProvider,
      status: 201,
      data: AtProvider,
      errorCodes: ['not_found'],
    },
    async ({ provider }, request, reply) => {
      const { url, browserSecret } = await service.begin(provider, baseOf(request, publicUrl))
      writeFlowCookie(request, reply, publicUrl, browserSecret)
      return { url }
    },
  )

  routes.post(
    '/sign-in/with/complete',
    {
      operationId: 'signInByProvider',
      summary: 'Sign in, or sign up where that is open, with what the browser came back with from the identity provider',
      tag,
      body: SignInByProvider,
      status: [200, 201],
      data: shapes.SignedIn,
      errorCodes: ['not_found', 'link_gone', 'identity_refused', 'sign_up_closed', 'already_exists', 'incompatible', 'service_unavailable'],
    },
    async (body, request, reply): Promise<shapes.SignedIn> => {
      const result = await service.signIn(visitor(request), readFlowCookie(request, publicUrl), body)
      writeFlowCookie(request, reply, publicUrl, 'awaitsCode' in result ? result.awaitsCode : null)
      if ('awaitsCode' in result) return { totpRequired: true }
      if (result.isNew) reply.code(201)
      return sendSession(result, request, reply)
    },
  )

  routes.post(
    '/sign-in/with/code',
    {
      operationId: 'completeSignInByProvider',
      summary: 'Sign in with the code of the second factor, after the identity provider',
      tag,
      body: shapes.GiveCode,
      data: shapes.Session,
      errorCodes: ['link_gone', 'wrong_totp', 'identity_refused'],
    },
    async ({ totp }, request, reply) => {
      const result = await service.complete(visitor(request), readFlowCookie(request, publicUrl), totp)
      writeFlowCookie(request, reply, publicUrl, null)
      return sendSession(result, request, reply)
    },
  )
}
