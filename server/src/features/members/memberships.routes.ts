// What a person does about the own memberships, in whatever account.
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { InvitationLink, Joined, Left } from './schema.ts'
import { leaveAccount, useInvitation } from './service.ts'

const tag = 'Session'
const personal = { tag, scope: null, isPersonal: true, ignoresIdempotencyKey: true } as const

export const membershipRoutes: Routes = (api, deps) => {
  api.post(
    '/invitations/accept',
    {
      operationId: 'acceptInvitation',
      summary: 'Become a member of an account, by the link of an invitation to your address',
      ...personal,
      body: InvitationLink,
      data: Joined,
      errorCodes: ['link_gone', 'incompatible', 'already_exists', 'quota_exceeded'],
    },
    async (tx, { principal, body, request }) => {
      const { joined } = await useInvitation(tx, deps.clock.now(), body.token, { userId: principal.actorId })
      request.auditedIn = joined.accountId
      return joined
    },
  )

  api.delete(
    '/memberships/:id',
    {
      operationId: 'leaveAccount',
      summary: 'Leave an account; API tokens that you made in it stop working',
      ...personal,
      requiresReauth: true,
      params: { id: Type.String() },
      data: Left,
      errorCodes: ['invalid_state'],
    },
    async (tx, { principal, params: { id }, request }) => {
      if (principal.signedIn?.accounts.some(({ accountId }) => accountId === id)) request.auditedIn = id
      return leaveAccount(tx, deps, principal, id)
    },
  )
}
