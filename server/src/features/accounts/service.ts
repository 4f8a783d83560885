import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { isEmailAddress } from '../../kernel/net/email-address.ts'
import type { Place } from '../budgets/service.ts'
import * as sql from './sql.ts'

export type { PayerRow, QuotaRow, TokenRow } from './sql.ts'

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
  type KeptGib,
} from './quotas.ts'
export { isWithin, scopesOf } from './roles.ts'
export { toAccount } from './view.ts'

export async function createAccount(tx: Tx, now: Date, input: { email: string; name?: string }): Promise<sql.PayerRow> {
  if (!isEmailAddress(input.email)) throw invalid(`"${input.email}" is not an e-mail address`, 'email')
  const row = await sql.insertAccount(tx, { id: newId(), email: input.email, name: input.name ?? '', created_at: now })
  if (!row) throw apiError('already_exists', `There is already an account for ${input.email}`)
  return row
}

export function setAddress(tx: Tx, id: string, { email, name = '' }: { email: string; name?: string }): Promise<sql.PayerRow> {
  if (!isEmailAddress(email)) throw invalid(`"${email}" is not an e-mail address`, 'email')
  return sql.setAddress(tx, id, email, name)
}

/** Looks the account up by id or email address. */
export async function findPlace(db: Queries, accountId: string): Promise<Place> {
  return { accountId, payerId: (await sql.findAccount(db, accountId))?.payer_account_id ?? accountId }
}

export const listMemberships = sql.listMemberships

export async function getAccount(db: Queries, idOrEmail: string): Promise<sql.AccountRow> {
  const account = await sql.findAccount(db, idOrEmail)
  if (!account) throw notFound(`Account ${idOrEmail}`)
  return account
}

export const { areProjectsBarred, findAccount, insertProject, listWithProjects, lockAccount, lockProject, markDeleted, updateAccount } = sql

/** With its projects; the lock keeps out one that is made meanwhile. A null `at` lifts the suspension. */
export async function setSuspended(tx: Tx, id: string, at: Date | null, why: string | null): Promise<void> {
  const found = await sql.findAccount(tx, id)
  if (!found) throw notFound('Account')
  const { payer_account_id } = await sql.lockAccount(tx, found.id)
  const payer = payer_account_id === null ? undefined : await getAccount(tx, payer_account_id)
  if (payer?.suspended_at) throw apiError('invalid_state', `The account that pays for it is suspended: ${payer.email}`)
  await sql.suspendWithProjects(tx, found.id, at, why)
}

/** For what is the business of the account that pays. */
export async function requirePayer(db: Queries, idOrEmail: string): Promise<sql.PayerRow> {
  const { email, ...account } = await getAccount(db, idOrEmail)
  if (email === null)
    throw apiError('in_project', `${account.name} is a project: name the account that pays for it, ${account.payer_account_id}`)
  return { ...account, email }
}

export const isSuspended = sql.isSuspended
export const payerOf = sql.payerOf
export const payingTogether = sql.payingTogether
export const sharing = sql.sharing
export const withProjects = sql.withProjects
export const membershipsOf = sql.membershipsOf
export const membersOf = sql.membersOf
export const requiresTotp = sql.requiresTotp
export const contactOf = sql.contactOf

export const listAccounts = (db: Queries): Promise<sql.AccountRow[]> => sql.listAccounts(db)
