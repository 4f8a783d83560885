// API tokens. One that was made with another can never do more than that one, nor live longer: what narrows, revokes or deletes a token
// does the same to all that were made with it. All of these take turns in an account, by a lock that comes before any other.
import { newToken, sha256 } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound, unauthorized, type ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { commonRanges, isWithinRanges, requireAddressRange } from './address-ranges.ts'
import {
  budgetText,
  deleteBudgets,
  findBudget,
  isWithinBudget,
  memberHolder,
  narrowBudgets,
  setBudget,
  tokenHolder,
  withChanges,
  type Budget,
} from '../budgets/service.ts'
import type { BudgetInput } from '../budgets/schema.ts'
import { releaseQuota, reserveQuota } from './quotas.ts'
import { expandScopes } from './scopes.ts'
import * as sql from './sql.ts'

export const TOKEN_PREFIX = 'vmk_'

const MAX_ANCESTORS = 8
const REQUESTS_PER_MINUTE = 600

function requireRate(rate: number): number {
  if (!Number.isInteger(rate) || rate < 1 || rate > 1_000_000)
    throw invalid('the rate limit must be 1-1000000 requests a minute', 'rateLimit')
  return rate
}

function requireFuture(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt && expiresAt <= now) throw invalid('the expiry lies in the past', 'expiresAt')
  return expiresAt
}

export interface NewToken {
  name: string
  scopes: string[]
  expiresAt?: Date | null
  requestsPerMinute?: number
  allowedIps?: string[]
  /** The person who makes it, directly or by a token of theirs. */
  createdBy?: string | null
  budget?: BudgetInput | null
}

/** What a token may do, from where, until when, and what it may spend. */
type Powers = Bounds & { budget: Budget | null }

type Bounds = Pick<sql.TokenRow, 'scopes' | 'expires_at' | 'allowed_ips'>

/**
 * Returns the secret once; the table stores only its hash. `family`: the token that makes it, after those that it was made with itself, all
 * of them from `lockTokensOf`. What is left out is as that token has it.
 */
export async function createToken(
  tx: Tx,
  now: Date,
  accountId: string,
  input: NewToken,
  family: sql.TokenRow[] = [],
): Promise<{ id: string; token: string }> {
  const parent = family.at(-1)
  if (input.name.length < 1 || input.name.length > 100) throw invalid('name must be 1-100 characters', 'name')
  const rate = requireRate(input.requestsPerMinute ?? Math.min(REQUESTS_PER_MINUTE, parent?.requests_per_minute ?? REQUESTS_PER_MINUTE))
  const holder = parent && (await withBudget(tx, parent))
  const { budget, ...powers } = {
    scopes: expandScopes(input.scopes),
    expires_at: requireFuture(input.expiresAt === undefined ? (parent?.expires_at ?? null) : input.expiresAt, now),
    allowed_ips: (input.allowedIps ?? parent?.allowed_ips ?? []).map(requireAddressRange),
    budget: withChanges(holder?.budget ?? null, input.budget),
  }
  if (holder) requireWithin({ ...powers, budget }, holder, 'This token')
  if (family.length > MAX_ANCESTORS)
    throw apiError(
      'quota_exceeded',
      `Tokens can be made with each other ${MAX_ANCESTORS} times in a row at most: make it with an earlier one`,
    )
  await reserveQuota(tx, accountId, 'tokens', 1n)
  const token = newToken(TOKEN_PREFIX)
  const id = newId()
  await sql.insertToken(tx, {
    id,
    account_id: accountId,
    name: input.name,
    prefix: token.slice(0, 12),
    hash: sha256(token),
    ...powers,
    requests_per_minute: rate,
    revoked_at: null,
    last_used_at: null,
    last_used_ip: null,
    created_at: now,
    ancestor_ids: family.map((each) => each.id),
    created_by: input.createdBy ?? null,
  })
  if (budget) await setBudget(tx, accountId, tokenHolder(id), budget)
  return { id, token }
}

/** Throws where something would be allowed that `holder` is not allowed itself. `who` begins the sentence. */
function requireWithin(powers: Powers, holder: Powers, who: string): void {
  const missing = powers.scopes.filter((scope) => !holder.scopes.includes(scope))
  if (missing.length > 0) throw apiError('missing_scope', `${who} cannot give what it lacks itself: ${missing.join(', ')}`)
  const { expires_at: end } = holder
  if (end && (!powers.expires_at || powers.expires_at > end))
    throw beyond(`${who} expires at ${end.toISOString()}: give an earlier expiresAt`)
  if (!isWithinRanges(powers.allowed_ips, holder.allowed_ips))
    throw beyond(`${who} may be used from ${holder.allowed_ips.join(', ')} only: give addresses within these as allowedIps`)
  if (!isWithinBudget(powers.budget, holder.budget))
    throw beyond(`${who} has a budget of ${budgetText(holder.budget!)}: give one within it`)
}

async function withBudget(db: Queries, row: sql.TokenRow): Promise<sql.TokenRow & Powers> {
  return { ...row, budget: await findBudget(db, tokenHolder(row.id)) }
}

const isWithin = (powers: Powers, { scopes, expires_at: end, allowed_ips, budget }: Powers): boolean =>
  powers.scopes.every((scope) => scopes.includes(scope)) &&
  (!end || (powers.expires_at !== null && powers.expires_at <= end)) &&
  isWithinRanges(powers.allowed_ips, allowed_ips) &&
  isWithinBudget(powers.budget, budget)

const beyond = (sentence: string): ApiError => apiError('incompatible', sentence)

export const listTokens = sql.listTokens

export const listTokenPage = sql.listTokenPage

export const countTokens = sql.countTokens

export async function getToken(db: Queries, accountId: string, id: string): Promise<sql.TokenRow> {
  const row = await sql.findToken(db, accountId, id)
  if (!row) throw notFound('Token')
  return row
}

/**
 * The tokens behind a request, the one that it was sent with last, as they are now: what was known when it was authenticated may have
 * been revoked or narrowed since. None of them changes before the transaction ends.
 */
export async function lockTokensOf(tx: Tx, now: Date, accountId: string, ids: readonly string[]): Promise<sql.TokenRow[]> {
  await lockAll(tx, accountId)
  const rows = await sql.findTokens(tx, [...ids])
  if (rows.length < ids.length || rows.some((row) => row.revoked_at)) throw unauthorized('API token has been revoked')
  if (rows.some((row) => row.expires_at && row.expires_at <= now)) throw unauthorized('API token has expired')
  return rows
}

const lockAll = (tx: Tx, accountId: string): Promise<number> =>
  sql.lockTokensOfAccount(tx, sha256(`tokens of ${accountId}`).readBigInt64BE())

export async function renameToken(tx: Tx, id: string, name: string): Promise<sql.TokenRow> {
  return told(tx, await sql.renameToken(tx, id, name))
}

export interface TokenLimits {
  scopes?: string[]
  /** Null = never. */
  expiresAt?: Date | null
  requestsPerMinute?: number
  /** Empty = from everywhere. */
  allowedIps?: string[]
  /** Null: none of its own. */
  budget?: BudgetInput | null
}

export interface FamilyChange {
  token: sql.TokenRow
  /** Of those that were made with it. */
  narrowed: sql.TokenRow[]
  /** Those that could be used until now. */
  revoked: sql.TokenRow[]
}

/**
 * Sets what is given, and leaves the rest. What was made with it loses what it loses, and is revoked where nothing is left. `by`: the token
 * that asks for it, which can only take away, or give no more than it has in all: of one that may do other things it cannot make one that
 * does them longer or from elsewhere. Nor can `personId`, who asks for it, with a budget in the account, of a token that does not count for it.
 */
export async function setTokenLimits(
  tx: Tx,
  now: Date,
  id: string,
  limits: TokenLimits,
  by: { token?: sql.TokenRow | undefined; personId?: string | null } = {},
): Promise<FamilyChange> {
  const { token: row, others } = await lockFamily(tx, id)
  const before = await withBudget(tx, row)
  const { budget, ...wanted } = {
    scopes: limits.scopes === undefined ? before.scopes : expandScopes(limits.scopes),
    expires_at: limits.expiresAt === undefined ? before.expires_at : requireFuture(limits.expiresAt, now),
    allowed_ips: limits.allowedIps === undefined ? before.allowed_ips : limits.allowedIps.map(requireAddressRange),
    budget: withChanges(before.budget, limits.budget),
  }
  const all = { ...wanted, budget }
  const rate = requireRate(limits.requestsPerMinute ?? before.requests_per_minute)
  if (!isWithin(all, before)) {
    if (by.token) requireWithin(all, await withBudget(tx, by.token), 'This token')
    if (by.personId) await requireCounts(tx, row, by.personId)
  }
  const parentId = before.ancestor_ids.at(-1)
  if (parentId !== undefined) {
    const [parent] = await sql.findTokens(tx, [parentId])
    if (parent) requireWithin(all, await withBudget(tx, parent), `The token ${parent.name}, with which this one was made,`)
  }
  const token = await told(tx, await sql.setTokenLimits(tx, id, { ...wanted, requests_per_minute: rate }))
  const change: FamilyChange = { token, narrowed: [], revoked: [] }
  const spendLess = limits.budget === undefined ? [] : await changeBudgets(tx, token, others, budget)
  for (const other of others) {
    if (other.revoked_at) continue
    const left = commonPowers(other, wanted)
    if (!left) change.revoked.push(await told(tx, await sql.revokeToken(tx, other.id, now)))
    const narrow = { ...other, ...left, requests_per_minute: Math.min(rate, other.requests_per_minute) }
    const isNarrower = !isSame(narrow, other) || spendLess.includes(other.id)
    if (left && isNarrower) change.narrowed.push(await told(tx, await sql.setTokenLimits(tx, other.id, narrow)))
  }
  return change
}

/** Somebody with a budget could spend beyond it through a token that another made. */
async function requireCounts(tx: Tx, { account_id, created_by }: sql.TokenRow, personId: string): Promise<void> {
  const memberOf = (await sql.findMemberOf(tx, account_id, personId)) ?? account_id
  if (created_by === personId || !(await findBudget(tx, memberHolder(memberOf, personId)))) return
  throw beyond('You have a budget in this account: of tokens that you did not make you can only take away')
}

/** What was made with it has no more; returns the ids of those that had. */
async function changeBudgets(tx: Tx, token: sql.TokenRow, others: sql.TokenRow[], budget: Budget | null): Promise<string[]> {
  await setBudget(tx, token.account_id, tokenHolder(token.id), budget)
  for (const other of others) await told(tx, other)
  const holders = others.map(({ id }) => tokenHolder(id))
  return budget ? narrowBudgets(tx, token.account_id, holders, budget) : []
}

const isSame = (a: sql.TokenRow, b: sql.TokenRow): boolean =>
  JSON.stringify([a.scopes, a.expires_at, a.allowed_ips, a.requests_per_minute]) ===
  JSON.stringify([b.scopes, b.expires_at, b.allowed_ips, b.requests_per_minute])

function commonPowers(a: Bounds, b: Bounds): Bounds | null {
  const scopes = a.scopes.filter((scope) => b.scopes.includes(scope))
  const allowed_ips = commonRanges(a.allowed_ips, b.allowed_ips)
  if (scopes.length === 0 || !allowed_ips) return null
  const ends = [a.expires_at, b.expires_at].filter((end) => end !== null).toSorted((x, y) => x.getTime() - y.getTime())
  return { scopes, allowed_ips, expires_at: ends[0] ?? null }
}

export const tokenStates = sql.tokenStates

export const findTokensBeyond = sql.findTokensBeyond

/** It stays listed, as does what was made with it. */
export async function revokeToken(tx: Tx, now: Date, id: string): Promise<FamilyChange> {
  const { token, others } = await lockFamily(tx, id)
  const revoked: sql.TokenRow[] = []
  for (const each of [token, ...others]) if (!each.revoked_at) revoked.push(await told(tx, await sql.revokeToken(tx, each.id, now)))
  return { token: revoked.find((each) => each.id === id) ?? token, narrowed: [], revoked }
}

/** With what was made with it. */
export async function deleteToken(tx: Tx, id: string): Promise<{ token: sql.TokenRow; deleted: sql.TokenRow[]; revoked: sql.TokenRow[] }> {
  const { token, others } = await lockFamily(tx, id)
  const all = [token, ...others]
  for (const each of all) await told(tx, await sql.deleteToken(tx, each.id))
  await deleteBudgets(
    tx,
    all.map((each) => tokenHolder(each.id)),
  )
  await releaseQuota(tx, token.account_id, 'tokens', BigInt(all.length))
  return { token, deleted: all, revoked: all.filter((each) => !each.revoked_at) }
}

/** The others are all that were made with it. */
async function lockFamily(tx: Tx, id: string): Promise<{ token: sql.TokenRow; others: sql.TokenRow[] }> {
  const [found] = await sql.findTokens(tx, [id])
  if (!found) throw notFound('Token')
  await lockAll(tx, found.account_id)
  const token = await sql.lockToken(tx, id)
  if (!token) throw notFound('Token')
  return { token, others: await sql.lockDescendants(tx, found.account_id, id) }
}

/** Those that a person made tell whether there is a budget to tell about. */
export const notifyTokensOf = sql.notifyTokensOf

/** Notifies every API process on commit, so that it drops the token from its cache. */
async function told(tx: Tx, row: sql.TokenRow | undefined): Promise<sql.TokenRow> {
  if (!row) throw notFound('Token')
  await sql.notifyTokenChange(tx, row.hash)
  return row
}
