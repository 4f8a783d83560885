// The dashboard's view of the account's API tokens.
import { requireRecentPassword } from '../../http/api/mount.ts'
import type { Principal } from '../../http/api/principal.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import { createToken, deleteToken, listTokens, lockToken, renameToken, revokeToken, SCOPES, setTokenLimits } from '../accounts/service.ts'
import type { ApiKey, ChangeApiKey, CreateApiKey, NewApiKey } from './schema.ts'
import { toApiKey } from './view.ts'

export const listScopes = () =>
  SCOPES.map((scope) => {
    const [resource = '', verb = ''] = scope.split(':')
    return { scope, resource, verb }
  })

export const listApiKeys = async (db: Queries, now: Date, accountId: string): Promise<ApiKey[]> =>
  (await listTokens(db, accountId)).map((row) => toApiKey(row, now)).toReversed()

export async function createApiKey(tx: Tx, now: Date, accountId: string, input: CreateApiKey): Promise<NewApiKey> {
  const expiresAt = input.expiresAt ? new Date(input.expiresAt) : null
  const { name, scopes, allowedIps = [] } = input
  const { id, token } = await createToken(tx, now, accountId, { name, scopes, expiresAt, allowedIps })
  return { ...toApiKey(await lockToken(tx, accountId, id), now), secret: token }
}

/** Other addresses may give a stolen key new use, so they need a recent password; revoking must not wait for one. */
export async function changeApiKey(tx: Tx, now: Date, principal: Principal, id: string, change: ChangeApiKey): Promise<ApiKey> {
  const { name, isActive, allowedIps } = change
  const { accountId } = principal
  if (name === undefined && isActive === undefined && allowedIps === undefined)
    throw invalid('give at least one of name, isActive and allowedIps')
  if (allowedIps) requireRecentPassword(principal, now)
  let row = await lockToken(tx, accountId, id)
  if (name !== undefined) row = await renameToken(tx, id, name)
  if (allowedIps) row = await setTokenLimits(tx, id, { allowedIps })
  if (isActive === false) row = await revokeToken(tx, now, id)
  return toApiKey(row, now)
}

export async function deleteApiKey(tx: Tx, accountId: string, id: string): Promise<{ id: string; deleted: true }> {
  await lockToken(tx, accountId, id)
  await deleteToken(tx, id)
  return { id, deleted: true }
}
