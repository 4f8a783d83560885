import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { isEmailAddress } from '../../kernel/net/email-address.ts'
import * as sql from './sql.ts'

export type { AccountRow, QuotaRow, TokenRow } from './sql.ts'

export { expandScopes, SCOPES } from './scopes.ts'
export {
  countTokens,
  createToken,
  deleteToken,
  findTokensBeyond,
  getToken,
  listTokenPage,
  listTokens,
  lockTokensOf,
  notifyTokensOf,
  renameToken,
  revokeToken,
  setTokenLimits,
  tokenStates,
  type FamilyChange,
} from './token-families.ts'
export {
  listQuotas,
  quotaLimit,
  quotaUsed,
  recountQuota,
  releaseQuota,
  releaseQuotas,
  reserveQuota,
  reserveQuotas,
  setQuotaLimit,
  usedOfQuota,
  type KeptGib,
} from './quotas.ts'
export { isWithin, scopesOf } from './roles.ts'
export { toAccount } from './view.ts'

export async function createAccount(tx: Tx, now: Date, input: { email: string; name?: string }): Promise<sql.AccountRow> {
  if (!isEmailAddress(input.email)) throw invalid(`"${input.email}" is not an e-mail address`, 'email')
  const row = await sql.insertAccount(tx, { id: newId(), email: input.email, name: input.name ?? '', created_at: now })
  if (!row) throw apiError('already_exists', `There is already an account for ${input.email}`)
  return row
}

export function setAddress(tx: Tx, id: string, { email, name = '' }: { email: string; name?: string }): Promise<sql.AccountRow> {
  if (!isEmailAddress(email)) throw invalid(`"${email}" is not an e-mail address`, 'email')
  return sql.setAddress(tx, id, email, name)
}

/** Looks the account up by id or email address. */
export async function getAccount(db: Queries, idOrEmail: string): Promise<sql.AccountRow> {
  const account = await sql.findAccount(db, idOrEmail)
  if (!account) throw notFound(`Account ${idOrEmail}`)
  return account
}

export const { findAccount, lockAccount, updateAccount } = sql

/** A null `at` lifts the suspension. */
export async function setSuspended(tx: Tx, id: string, at: Date | null, why: string | null): Promise<sql.AccountRow> {
  const account = await sql.setSuspended(tx, id, at, why)
  if (!account) throw notFound('Account')
  return account
}

export const isSuspended = sql.isSuspended

export const listAccounts = (db: Queries): Promise<sql.AccountRow[]> => sql.listAccounts(db)
