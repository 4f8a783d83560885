import { isIP } from 'node:net'
import { newToken, sha256 } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { isEmailAddress } from '../../kernel/net/email-address.ts'
import { expandScopes } from './scopes.ts'
import * as sql from './sql.ts'

export type { AccountRow, QuotaRow, TokenRow } from './sql.ts'

export { SCOPES } from './scopes.ts'

export const TOKEN_PREFIX = 'vmk_'

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

export const findAccount = sql.findAccount

/** A null `at` lifts the suspension. */
export async function setSuspended(tx: Tx, id: string, at: Date | null, why: string | null): Promise<sql.AccountRow> {
  const account = await sql.setSuspended(tx, id, at, why)
  if (!account) throw notFound('Account')
  return account
}

export const isSuspended = sql.isSuspended

export const listAccounts = (db: Queries): Promise<sql.AccountRow[]> => sql.listAccounts(db)

/** An address or a range of addresses. */
export function requireAddressRange(text: string): string {
  const [, address = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  if (Number(prefix) > bits) throw invalid(`"${text}" is neither an IP address nor a range such as 10.0.0.0/8`, 'allowedIps')
  return text
}

function requireRate(rate: number): number {
  if (!Number.isInteger(rate) || rate < 1 || rate > 1_000_000)
    throw invalid('the rate limit must be 1-1000000 requests a minute', 'rateLimit')
  return rate
}

export interface NewToken {
  name: string
  scopes: string[]
  expiresAt?: Date | null
  requestsPerMinute?: number
  allowedIps?: string[]
}

/** Returns the secret once; the table stores only its hash. */
export async function createToken(tx: Tx, now: Date, accountId: string, input: NewToken): Promise<{ id: string; token: string }> {
  if (input.name.length < 1 || input.name.length > 100) throw invalid('name must be 1-100 characters', 'name')
  if (input.expiresAt && input.expiresAt <= now) throw invalid('the expiry lies in the past', 'expiresAt')
  const rate = requireRate(input.requestsPerMinute ?? 600)
  const allowedIps = (input.allowedIps ?? []).map(requireAddressRange)
  await reserveQuota(tx, accountId, 'tokens', 1n)
  const token = newToken(TOKEN_PREFIX)
  const id = newId()
  await sql.insertToken(tx, {
    id,
    account_id: accountId,
    name: input.name,
    prefix: token.slice(0, 12),
    hash: sha256(token),
    scopes: expandScopes(input.scopes),
    requests_per_minute: rate,
    allowed_ips: allowedIps,
    expires_at: input.expiresAt ?? null,
    revoked_at: null,
    last_used_at: null,
    last_used_ip: null,
    created_at: now,
  })
  return { id, token }
}

export const listTokens = (db: Queries, accountId: string | null) => sql.listTokens(db, accountId)

/** Locks a token of this account; a token of another account is reported as not found. */
export async function lockToken(tx: Tx, accountId: string, id: string): Promise<sql.TokenRow> {
  const row = await sql.lockToken(tx, accountId, id)
  if (!row) throw notFound('API key')
  return row
}

export async function renameToken(tx: Tx, id: string, name: string): Promise<sql.TokenRow> {
  return told(tx, await sql.renameToken(tx, id, name))
}

export interface TokenLimits {
  requestsPerMinute?: number
  /** Empty = from everywhere. */
  allowedIps?: string[]
}

/** Sets what is given, and leaves the rest. */
export async function setTokenLimits(tx: Tx, id: string, { requestsPerMinute, allowedIps }: TokenLimits): Promise<sql.TokenRow> {
  const rate = requestsPerMinute === undefined ? null : requireRate(requestsPerMinute)
  return told(tx, await sql.setTokenLimits(tx, id, rate, allowedIps?.map(requireAddressRange) ?? null))
}

export const tokenStates = sql.tokenStates

export async function revokeToken(tx: Tx, now: Date, id: string): Promise<sql.TokenRow> {
  return told(tx, await sql.revokeToken(tx, id, now))
}

export async function deleteToken(tx: Tx, id: string): Promise<sql.TokenRow> {
  const row = await told(tx, await sql.deleteToken(tx, id))
  await releaseQuota(tx, row.account_id, 'tokens', 1n)
  return row
}

/** Notifies every API process on commit, so that it drops the token from its cache. */
async function told(tx: Tx, row: sql.TokenRow | undefined): Promise<sql.TokenRow> {
  if (!row) throw notFound('Token')
  await sql.notifyTokenChange(tx, row.hash)
  return row
}

/** What was deleted and counts nevertheless, as object lock keeps it, and when the first of it is free at the latest. */
export interface KeptGib {
  gib: number
  until: Date | null
}

type FindKept = () => Promise<KeptGib>

export const reserveQuota = (tx: Tx, accountId: string, name: string, amount: bigint, findKept?: FindKept): Promise<void> =>
  reserveQuotas(tx, accountId, { [name]: amount }, findKept && { [name]: findKept })

/** One conditional update checks and reserves, so parallel requests cannot exceed a quota. A refusal says what `kept` finds of the quota. */
export async function reserveQuotas(
  tx: Tx,
  accountId: string,
  amounts: Record<string, bigint>,
  kept: Record<string, FindKept> = {},
): Promise<void> {
  const taken = new Set((await sql.addToQuotas(tx, accountId, amounts)).map((row) => row.name))
  for (const [name, amount] of Object.entries(amounts)) if (!taken.has(name)) await takeMissing(tx, accountId, name, amount, kept[name])
}

/** `volume_storage_gib` → `GiB of volume storage` */
const quotaWords = (name: string): string =>
  name.replace(/^(.+)_(gib|mib)$/, (_, what: string, unit: string) => `${unit === 'gib' ? 'GiB' : 'MiB'} of ${what}`).replaceAll('_', ' ')

/** Handles a quota that is exhausted or has no counter row yet. */
async function takeMissing(tx: Tx, accountId: string, name: string, amount: bigint, findKept?: FindKept): Promise<void> {
  await sql.ensureQuota(tx, accountId, name)
  if ((await sql.addToQuotas(tx, accountId, { [name]: amount })).length > 0) return
  const quota = (await sql.listQuotas(tx, accountId)).find((each) => each.name === name)
  if (!quota) throw new Error(`BUG: the catalog has no quota.${name}`)
  if ((await getAccount(tx, accountId)).suspended_at)
    throw apiError('quota_exceeded', 'This account is suspended and gets nothing new. Open a ticket to ask why')
  const kept = await findKept?.()
  const end = kept?.until ? `, the first of it until ${kept.until.toISOString()} at the latest` : ''
  const keptWords = kept?.gib ? `. ${kept.gib} GiB of it were deleted and are kept by object lock${end}` : ''
  throw apiError(
    'quota_exceeded',
    `Quota exceeded: ${quota.used} of ${quota.limit} ${quotaWords(name)} are in use${amount > 1n ? `, and this needs ${amount} more` : ''}. Delete some, or ask support for more${keptWords}`,
  )
}

export const releaseQuota = (tx: Tx, accountId: string, name: string, amount: bigint): Promise<void> =>
  releaseQuotas(tx, accountId, { [name]: amount })

export async function releaseQuotas(tx: Tx, accountId: string, amounts: Record<string, bigint>): Promise<void> {
  const less = Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, -amount]))
  const names = Object.keys(amounts)
  if ((await sql.addToQuotas(tx, accountId, less)).length < names.length)
    throw new Error(`BUG: a quota of ${names.join(', ')} of ${accountId} was given back but never taken`)
}

export const recountQuota = sql.recountQuota

export const usedOfQuota = sql.usedOfQuota

/** Reads the usage counter; does not count the resources themselves. */
export const quotaUsed = async (db: Queries, accountId: string, name: string): Promise<bigint> =>
  (await sql.findQuotaUsed(db, accountId, name))?.used ?? 0n

/** For a limit per parent, such as snapshots of one VM: the caller counts the children while it holds the parent's lock. */
export async function quotaLimit(db: Queries, accountId: string, name: string): Promise<bigint> {
  const quota = (await sql.listQuotas(db, accountId)).find((each) => each.name === name)
  if (!quota) throw new Error(`BUG: the catalog has no quota.${name}`)
  return quota.limit
}

export const setQuotaLimit = sql.setQuotaLimit

export const listQuotas = sql.listQuotas
