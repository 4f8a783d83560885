import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { ApiKey, ApiKeyDeleted, ChangeApiKey, CreateApiKey, NewApiKey, Scope } from './schema.ts'
import { changeApiKey, createApiKey, deleteApiKey, listApiKeys, listScopes } from './service.ts'

const tag = 'API keys'
const scope = null
const params = { id: Type.String() }

export const apiKeyRoutes: Routes = (api, { db, clock }) => {
  api.get(
    '/scopes',
    { operationId: 'listScopes', summary: 'What an API key can be allowed', tag, scope, data: Type.Array(Scope) },
    async () => listScopes(),
  )

  api.get(
    '/api-keys',
    { operationId: 'listApiKeys', summary: 'List the API keys of the account, newest first', tag, scope, data: Type.Array(ApiKey) },
    ({ principal }) => listApiKeys(db, clock.now(), principal.accountId),
  )

  api.post(
    '/api-keys',
    {
      operationId: 'createApiKey',
      summary: 'Make an API key; its secret is in this answer and nowhere else',
      tag,
      scope,
      requiresReauth: true,
      body: CreateApiKey,
      status: 201,
      data: NewApiKey,
      errorCodes: ['quota_exceeded'],
    },
    (tx, { principal, body }) => createApiKey(tx, clock.now(), principal.accountId, body),
  )

  api.patch(
    '/api-keys/:id',
    {
      operationId: 'changeApiKey',
      summary: 'Rename or revoke an API key, or bind it to addresses',
      tag,
      scope,
      params,
      body: ChangeApiKey,
      data: ApiKey,
    },
    (tx, { principal, params: { id }, body }) => changeApiKey(tx, clock.now(), principal, id, body),
  )

  api.delete(
    '/api-keys/:id',
    {
      operationId: 'deleteApiKey',
      summary: 'Delete an API key, which stops working at once',
      tag,
      scope,
      requiresReauth: true,
      params,
      data: ApiKeyDeleted,
    },
    (tx, { principal, params: { id } }) => deleteApiKey(tx, principal.accountId, id),
  )
}
