// What signed-in users do with their identities at providers: list, link and unlink them, and prove themselves by one.
import { Type } from '../../http/api/schema.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import type { Routes } from '../deps.ts'
import { AtProvider, BeginAtProvider, Identities, Identity, ReturnFromProvider, UnlinkedIdentity } from '../identities/schema.ts'
import { readFlowCookie } from './cookie.ts'
import { baseOf } from './provider-sign-in.routes.ts'
import * as own from './identities.ts'
import { BeginReauthentication, Session } from './schema.ts'
import { getSession, ReauthService } from './service.ts'

const tag = 'Session'
const scope = null
const unkeyed = { tag, scope, isPersonal: true, ignoresIdempotencyKey: true } as const

/** `counters`: of failed attempts. */
export const identityRoutes =
  (counters: Counters): Routes =>
  (api, deps) => {
    const { publicUrl } = deps.config
    const proofs = new ReauthService(deps, counters)

    api.get(
      '/identities',
      { operationId: 'listIdentities', summary: 'How you can sign in', tag, scope, isPersonal: true, data: Identities },
      ({ principal }) => own.listIdentities(deps, principal),
    )

    api.post(
      '/identities/begin',
      {
        operationId: 'beginLinkIdentity',
        summary: 'Begin to link an account of an identity provider: where the browser goes next',
        ...unkeyed,
        requiresReauth: true,
        body: BeginAtProvider,
        status: 201,
        data: AtProvider,
        errorCodes: ['not_found'],
      },
      async (tx, { principal, body, request }) => {
        await own.limitLinks(counters, principal)
        const { url, browserSecret } = await own.beginLink(tx, deps, principal, body.provider, baseOf(request, publicUrl))
        request.newFlowCookie = browserSecret
        return { url }
      },
    )

    api.post(
      '/identities',
      {
        operationId: 'linkIdentity',
        summary: 'Link the account with which the browser came back from the identity provider',
        ...unkeyed,
        body: ReturnFromProvider,
        status: 201,
        data: Identity,
        errorCodes: ['not_found', 'link_gone', 'identity_refused', 'already_exists', 'service_unavailable'],
        prepare: ({ principal, body, request }) => {
          request.auditedAs = `linkIdentity:${body.provider}`
          return own.returned(deps, principal, 'LINK', body, readFlowCookie(request, publicUrl))
        },
      },
      async (tx, { principal, request }, returned) => {
        const { identity, secret } = await own.link(tx, deps, principal, returned, baseOf(request, publicUrl))
        request.newCookie = secret
        request.newFlowCookie = null
        return identity
      },
    )

    api.delete(
      '/identities/:id',
      {
        operationId: 'unlinkIdentity',
        summary: 'Unlink an account of an identity provider; sessions that it began end, but this one',
        ...unkeyed,
        requiresReauth: true,
        params: { id: Type.String() },
        data: UnlinkedIdentity,
        errorCodes: ['not_found', 'invalid_state'],
      },
      async (tx, { principal, params, request }) => {
        const { provider, secret } = await own.unlink(tx, deps, principal, params.id, baseOf(request, publicUrl))
        request.newCookie = secret
        request.auditedAs = `unlinkIdentity:${provider}`
        return { id: params.id, deleted: true }
      },
    )

    api.post(
      '/reauthenticate/with',
      {
        operationId: 'beginReauthenticateByProvider',
        summary: 'Begin to prove yourself by an identity provider instead of the password: where the browser goes next',
        ...unkeyed,
        body: BeginReauthentication,
        status: 201,
        data: AtProvider,
        errorCodes: ['not_found', 'wrong_totp'],
      },
      async (tx, { principal, body, request }) => {
        const base = baseOf(request, publicUrl)
        const { url, browserSecret, withRecoveryCode } = await proofs.code(principal, () =>
          own.beginReauthenticate(tx, deps, principal, body, base),
        )
        request.newFlowCookie = browserSecret
        if (withRecoveryCode) request.auditedAs = 'beginReauthenticateByProviderWithRecoveryCode'
        return { url }
      },
    )

    api.post(
      '/reauthenticate/with/complete',
      {
        operationId: 'reauthenticateByProvider',
        summary: 'Prove yourself with what the browser came back with from the identity provider',
        ...unkeyed,
        body: ReturnFromProvider,
        data: Session,
        errorCodes: ['not_found', 'link_gone', 'identity_refused', 'service_unavailable'],
        prepare: ({ principal, body, request }) => {
          request.auditedAs = `reauthenticateByProvider:${body.provider}`
          return own.returned(deps, principal, 'REAUTHENTICATE', body, readFlowCookie(request, publicUrl))
        },
      },
      async (tx, { principal, request }, returned) => {
        request.newCookie = await own.reauthenticate(tx, deps, principal, returned)
        request.newFlowCookie = null
        return getSession(deps, principal, tx)
      },
    )
  }
