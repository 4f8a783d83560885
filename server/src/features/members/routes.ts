import { externalUrl } from '../../http/server/origin.ts'
import { Type } from '../../http/api/schema.ts'
import { Account, UpdateAccount } from '../accounts/schema.ts'
import type { Routes } from '../deps.ts'
import { createInvitation, deleteInvitation, listInvitations } from './invitations.ts'
import * as shapes from './schema.ts'
import { changeMember, getMember, listMembers, removeMember, showAccount, updateAccount } from './service.ts'

const tag = 'Members'
const params = { id: Type.String() }

export const memberRoutes: Routes = (api, deps) => {
  const { db, clock, config } = deps

  api.patch(
    '/account',
    {
      operationId: 'updateAccount',
      summary: 'Rename the account, or require two-factor authentication of its members',
      tag: 'Account',
      scope: 'account:update',
      isOfPayer: true,
      requiresReauth: true,
      body: UpdateAccount,
      data: Account,
      errorCodes: ['two_factor_required'],
      before: (tx, { principal }) => showAccount(tx, principal.accountId),
    },
    (tx, { principal, body }) => updateAccount(tx, deps, principal, body),
  )

  api.page(
    '/members',
    {
      operationId: 'listMembers',
      summary: 'List the people who may act in the account, and their roles',
      tag,
      scope: 'members:read',
      data: shapes.Member,
    },
    ({ principal }, page) => listMembers(db, clock.now(), principal.accountId, page),
  )

  api.patch(
    '/members/:id',
    {
      operationId: 'updateMember',
      summary: 'Change the role or the budget of a member',
      tag,
      scope: 'members:update',
      requiresReauth: true,
      params,
      body: shapes.UpdateMember,
      data: shapes.ChangedMember,
      errorCodes: ['invalid_state', 'incompatible'],
      before: (tx, { principal, params: { id } }) => getMember(tx, clock.now(), principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => changeMember(tx, deps, principal, id, body),
  )

  api.delete(
    '/members/:id',
    {
      operationId: 'deleteMember',
      summary: 'Remove a member, who can do nothing in the account from then on; API tokens that the member made stop working',
      tag,
      scope: 'members:delete',
      requiresReauth: true,
      params,
      data: shapes.RemovedMember,
      errorCodes: ['invalid_state'],
      before: (tx, { principal, params: { id } }) => getMember(tx, clock.now(), principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => removeMember(tx, deps, principal, id),
  )

  api.page(
    '/invitations',
    {
      operationId: 'listInvitations',
      summary: 'List open invitations, newest first',
      tag,
      scope: 'members:read',
      data: shapes.Invitation,
    },
    ({ principal }, page) => listInvitations(db, clock.now(), principal.accountId, page),
  )

  api.post(
    '/invitations',
    {
      operationId: 'createInvitation',
      summary: 'Invite somebody by mail, with a link that works for 7 days',
      tag,
      scope: 'members:create',
      requiresReauth: true,
      answersSecret: true,
      body: shapes.CreateInvitation,
      status: 201,
      data: shapes.NewInvitation,
      errorCodes: ['already_exists', 'quota_exceeded', 'incompatible'],
    },
    (tx, { principal, body, request }) =>
      createInvitation(tx, deps, principal, body, externalUrl(request, config.publicUrl).href.replace(/\/$/, '')),
  )

  api.delete(
    '/invitations/:id',
    {
      operationId: 'deleteInvitation',
      summary: 'Withdraw an invitation: its link stops working',
      tag,
      scope: 'members:delete',
      params,
      data: shapes.DeletedInvitation,
    },
    (tx, { principal, params: { id } }) => deleteInvitation(tx, deps, principal, id),
  )
}
