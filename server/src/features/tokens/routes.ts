import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateToken, NewToken, RevokedToken, Scope, Token, UpdateToken } from './schema.ts'
import { createToken, getToken, listScopes, listTokens, revokeToken, updateToken } from './service.ts'

const tag = 'Tokens'
const params = { id: Type.String() }

export const tokenRoutes: Routes = (api, deps) => {
  const { db, clock } = deps

  api.page(
    '/tokens',
    { operationId: 'listTokens', summary: 'List the API tokens of the account, newest first', tag, scope: 'tokens:read', data: Token },
    ({ principal }, page) => listTokens(db, clock.now(), principal.accountId, page),
  )

  api.post(
    '/tokens',
    {
      operationId: 'createToken',
      summary: 'Make an API token; its secret is in this answer and nowhere else',
      tag,
      scope: 'tokens:create',
      requiresReauth: true,
      answersSecret: true,
      body: CreateToken,
      status: 201,
      data: NewToken,
      errorCodes: ['incompatible', 'quota_exceeded'],
    },
    (tx, { principal, body }) => createToken(tx, deps, principal, body),
  )

  api.get(
    '/tokens/:id',
    { operationId: 'getToken', summary: 'Get an API token, without its secret', tag, scope: 'tokens:read', params, data: Token },
    ({ principal, params: { id } }) => getToken(db, clock.now(), principal.accountId, id),
  )

  api.patch(
    '/tokens/:id',
    {
      operationId: 'updateToken',
      summary: 'Change or revoke an API token. A token can make another do less, or as much as it may do itself',
      tag,
      scope: 'tokens:update',
      params,
      body: UpdateToken,
      data: Token,
      errorCodes: ['reauthentication_required', 'incompatible'],
      before: (tx, { principal, params: { id } }) => getToken(tx, clock.now(), principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => updateToken(tx, deps, principal, id, body),
  )

  api.delete(
    '/tokens/:id',
    {
      operationId: 'revokeToken',
      summary: 'Revoke and delete an API token and all that were made with it, which stop working at once',
      tag,
      scope: 'tokens:delete',
      params,
      data: RevokedToken,
      before: (tx, { principal, params: { id } }) => getToken(tx, clock.now(), principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => revokeToken(tx, deps, principal, id),
  )
}

/** For the form in which people choose. */
export const scopeRoutes: Routes = (api) => {
  api.get(
    '/scopes',
    { operationId: 'listScopes', summary: 'What an API token can be allowed', tag, scope: null, data: Type.Array(Scope) },
    async () => listScopes(),
  )
}
