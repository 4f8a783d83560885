import { Type } from '../../http/api/schema.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import type { Routes } from '../deps.ts'
import * as shapes from './schema.ts'
import * as service from './service.ts'
import * as visits from './visits.ts'

const tag = 'Session'
const scope = null
const data = shapes.Session
/** Of every write to sessions, passwords and second factors. */
const unkeyed = { tag, scope, isPersonal: true, ignoresIdempotencyKey: true } as const

/** `counters`: of failed attempts. */
export const sessionRoutes =
  (counters: Counters): Routes =>
  (api, deps) => {
    const proofs = new service.ReauthService(deps, counters)

    api.get(
      '/session',
      { operationId: 'getSession', summary: 'Who is signed in', tag, scope, isPersonal: true, duringVisit: true, data },
      ({ principal }) => service.getSession(deps, principal),
    )

    api.post(
      '/sign-out',
      { operationId: 'signOut', summary: 'End this session', ...unkeyed, duringVisit: true, data: shapes.Ended, errorCodes: ['not_found'] },
      async (tx, { principal, request }) => {
        await service.endSession(tx, principal, service.signedIn(principal).sessionId)
        request.newCookie = null
        return { message: 'You are signed out' }
      },
    )

    api.post(
      '/reauthenticate',
      {
        operationId: 'reauthenticate',
        summary: 'Give the password again, for what asks for it',
        ...unkeyed,
        duringVisit: true,
        body: shapes.Reauthenticate,
        data,
        errorCodes: ['wrong_credentials', 'wrong_totp'],
        prepare: ({ principal, body }) => proofs.password(principal, body.password),
      },
      async (tx, { principal, body, request }, checked) => {
        const attempt = () => service.reauthenticate(tx, deps, principal, body, checked)
        const { secret, withRecoveryCode } = await proofs.code(principal, attempt)
        request.newCookie = secret
        if (withRecoveryCode) request.auditedAs = 'reauthenticateWithRecoveryCode'
        return service.getSession(deps, principal, tx)
      },
    )

    api.post(
      '/visit/changes',
      {
        operationId: 'allowVisitChanges',
        summary: 'Allow changes for the rest of the visit to the account of a customer',
        ...unkeyed,
        requiresReauth: true,
        duringVisit: true,
        body: shapes.AllowChanges,
        data,
        errorCodes: ['not_found'],
      },
      async (tx, { principal, body }) => {
        await visits.allowChanges(tx, deps, principal, body.reason)
        return service.getSession(deps, principal, tx)
      },
    )

    api.delete(
      '/visit',
      {
        operationId: 'endVisit',
        summary: 'End the visit to the account of a customer',
        ...unkeyed,
        duringVisit: true,
        data: shapes.Ended,
        errorCodes: ['not_found'],
      },
      async (tx, { principal }) => {
        await visits.endVisit(tx, deps, principal)
        return { message: 'You have left the account' }
      },
    )

    api.post(
      '/password',
      {
        operationId: 'changePassword',
        summary: 'Change the password; all other sessions end',
        ...unkeyed,
        body: shapes.ChangePassword,
        data,
        errorCodes: ['wrong_credentials'],
        prepare: ({ principal, body }) => proofs.change(principal, body),
      },
      async (tx, { principal, request }, proof) => {
        request.newCookie = await service.changePassword(tx, deps, principal, proof)
        return service.getSession(deps, principal, tx)
      },
    )

    api.patch(
      '/user',
      {
        operationId: 'changeUser',
        summary: 'Change your name, or the language of mails',
        tag,
        scope,
        isPersonal: true,
        ignoresIdempotencyKey: true,
        body: shapes.ChangeUser,
        data,
      },
      async (tx, { principal, body }) => {
        await service.changeUser(tx, principal, body)
        return service.getSession(deps, principal, tx)
      },
    )

    api.get(
      '/sessions',
      {
        operationId: 'listSessions',
        summary: 'Where you are signed in',
        tag,
        scope,
        isPersonal: true,
        data: Type.Array(shapes.SessionEntry),
      },
      ({ principal }) => service.listSessions(deps, principal),
    )

    api.delete(
      '/sessions',
      { operationId: 'endOtherSessions', summary: 'End all your other sessions', ...unkeyed, data: shapes.Ended },
      async (tx, { principal }) => {
        const count = await service.endOtherSessions(tx, principal)
        return { message: `${count} other session${count === 1 ? ' was' : 's were'} ended` }
      },
    )

    api.delete(
      '/sessions/:id',
      { operationId: 'endSession', summary: 'End one of your sessions', ...unkeyed, params: { id: Type.String() }, data: shapes.Ended },
      async (tx, { principal, params }) => {
        await service.endSession(tx, principal, params.id)
        return { message: 'The session was ended' }
      },
    )

    api.get(
      '/totp',
      {
        operationId: 'getTotp',
        summary: 'Whether there is a second factor, and how many recovery codes are left',
        tag,
        scope,
        isPersonal: true,
        data: shapes.Totp,
      },
      ({ principal }) => service.getTotp(deps, principal),
    )

    api.post(
      '/totp',
      {
        operationId: 'beginTotp',
        summary: 'Get the secret of a second factor, which is not in force yet',
        ...unkeyed,
        requiresReauth: true,
        status: 201,
        data: shapes.TotpSetup,
        errorCodes: ['already_exists'],
      },
      (tx, { principal }) => service.beginTotp(tx, deps, principal),
    )

    api.post(
      '/totp/confirm',
      {
        operationId: 'confirmTotp',
        summary: 'Put the second factor in force, by a code of it, and get ten recovery codes',
        ...unkeyed,
        body: shapes.ConfirmTotp,
        data: shapes.RecoveryCodes,
        errorCodes: ['wrong_totp', 'invalid_state'],
      },
      async (tx, { principal, body, request }) => {
        const { secret, recoveryCodes } = await proofs.code(principal, () => service.confirmTotp(tx, deps, principal, body.code))
        request.newCookie = secret
        return { recoveryCodes }
      },
    )

    api.post(
      '/totp/recovery-codes',
      {
        operationId: 'renewRecoveryCodes',
        summary: 'Get ten new recovery codes; those there were work no more',
        ...unkeyed,
        requiresReauth: true,
        status: 201,
        data: shapes.RecoveryCodes,
        errorCodes: ['invalid_state'],
      },
      async (tx, { principal, request }) => {
        const { secret, recoveryCodes } = await service.renewRecoveryCodes(tx, deps, principal)
        request.newCookie = secret
        return { recoveryCodes }
      },
    )

    api.delete(
      '/totp',
      { operationId: 'removeTotp', summary: 'Remove the second factor', ...unkeyed, requiresReauth: true, data },
      async (tx, { principal, request }) => {
        request.newCookie = await service.removeTotp(tx, deps, principal)
        return service.getSession(deps, principal, tx)
      },
    )
  }
