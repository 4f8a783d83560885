// API tokens, for people and for tokens that may make others. People may give what their role has; a token what it has itself, as it is
// when the change is made and not when the request was authenticated.
import { requireRecentPassword } from '../../http/api/mount.ts'
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import * as accounts from '../accounts/service.ts'
import type { FamilyChange, TokenRow } from '../accounts/service.ts'
import { findBudgets, findViews, memberHolder, projectHolders, tokenHolder } from '../budgets/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { requireMaker, type Maker } from '../members/service.ts'
import type { CreateToken, NewToken, RevokedToken, Token, UpdateToken } from './schema.ts'
import { toEventToken, toToken } from './view.ts'

export const listScopes = () =>
  accounts.SCOPES.map((scope) => {
    const [resource = '', verb = ''] = scope.split(':')
    return { scope, resource, verb }
  })

export async function listTokens(db: Queries, now: Date, accountId: string, page: PageRequest): Promise<Paged<Token>> {
  return pageOf(
    page,
    () => accounts.countTokens(db, accountId),
    async (range) => show(db, now, await accounts.listTokenPage(db, accountId, range)),
  )
}

export const getToken = async (db: Queries, now: Date, accountId: string, id: string): Promise<Token> =>
  showOne(db, now, await accounts.getToken(db, accountId, id))

/** Of one account. What is left to a maker whose budget is in the account that pays is no business of others in its projects. */
async function show(db: Queries, now: Date, rows: TokenRow[]): Promise<Token[]> {
  const [first] = rows
  if (!first) return []
  const place = await accounts.findPlace(db, first.account_id)
  const memberships = new Map((await accounts.listMemberships(db, first.account_id)).map((each) => [each.user_id, each.member_of]))
  const shown = rows.map(({ id, account_id, ancestor_ids, created_by: maker }) => {
    const isMember = maker !== null && memberships.get(maker) === account_id
    const makers = isMember ? [memberHolder(account_id, maker)] : []
    return { holder: tokenHolder(id), within: [...projectHolders(place), ...makers, ...ancestor_ids.map(tokenHolder)] }
  })
  const budgets = await findViews(db, now, shown)
  return rows.map((row) => toToken(row, now, budgets.get(row.id)))
}

const showOne = async (db: Queries, now: Date, row: TokenRow): Promise<Token> => (await show(db, now, [row]))[0]!

export async function createToken(tx: Tx, deps: EventDeps, who: Principal, input: CreateToken): Promise<NewToken> {
  const now = deps.clock.now()
  const { name, scopes, allowedIps, expiresAt, budget } = input
  const maker = await requireMaker(tx, who)
  const family = await accounts.lockTokensOf(tx, now, who.accountId, who.tokenIds)
  if (who.signedIn) requireOwnScopes(maker, scopes)
  const wanted = {
    name,
    scopes,
    createdBy: maker.id,
    ...(expiresAt !== undefined && { expiresAt: toTime(expiresAt) }),
    ...(allowedIps && { allowedIps }),
    ...(budget !== undefined && { budget }),
  }
  const { id, token } = await accounts.createToken(tx, now, who.accountId, wanted, family)
  const row = await accounts.getToken(tx, who.accountId, id)
  await record(tx, deps, 'token.created', [row])
  return { ...(await showOne(tx, now, row)), secret: token }
}

const toTime = (text: string | null): Date | null => (text === null ? null : new Date(text))

function requireOwnScopes(maker: Maker, scopes: string[]): void {
  const missing = accounts.expandScopes(scopes).filter((scope) => !maker.scopes.has(scope))
  if (missing.length > 0) throw apiError('missing_scope', `You cannot give a token what you may not do yourself: ${missing.join(', ')}`)
}

/** What lets a token do more needs a recent password; revoking must not wait for one. */
export async function updateToken(tx: Tx, deps: EventDeps, who: Principal, id: string, change: UpdateToken): Promise<Token> {
  const now = deps.clock.now()
  const { name, isActive, scopes, allowedIps, expiresAt, budget } = change
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, scopes, expiresAt, allowedIps, budget and isActive')
  const limits = {
    ...(scopes && { scopes: accounts.expandScopes(scopes) }),
    ...(allowedIps && { allowedIps }),
    ...(expiresAt !== undefined && { expiresAt: toTime(expiresAt) }),
    ...(budget !== undefined && { budget }),
  }
  const setsLimits = Object.keys(limits).length > 0
  if (setsLimits) requireRecentPassword(who, now)
  const maker = await requireMaker(tx, who)
  const family = await accounts.lockTokensOf(tx, now, who.accountId, who.tokenIds)
  let token = await accounts.getToken(tx, who.accountId, id)
  if (name !== undefined) token = await accounts.renameToken(tx, id, name)
  const changes: FamilyChange[] = []
  if (setsLimits) {
    if (who.signedIn) requireOwnScopes(maker, limits.scopes ?? token.scopes) // also of one that keeps its scopes, and loses a limit
    changes.push(await accounts.setTokenLimits(tx, now, id, limits, { token: family.at(-1), personId: maker.id }))
  }
  if (isActive === false) changes.push(await accounts.revokeToken(tx, now, id))
  token = changes.at(-1)?.token ?? token
  await record(tx, deps, 'token.updated', [token, ...changes.flatMap(({ narrowed }) => narrowed)])
  await record(
    tx,
    deps,
    'token.revoked',
    changes.flatMap(({ revoked }) => revoked),
  )
  return showOne(tx, now, token)
}

export async function revokeToken(tx: Tx, deps: EventDeps, who: Principal, id: string): Promise<RevokedToken> {
  await accounts.lockTokensOf(tx, deps.clock.now(), who.accountId, who.tokenIds)
  await accounts.getToken(tx, who.accountId, id)
  const { deleted } = await deleteToken(tx, deps, id)
  return { id, alsoRevoked: deleted.filter((each) => each !== id) }
}

/** Of any account. */
export async function deleteToken(tx: Tx, deps: EventDeps, id: string): Promise<{ token: TokenRow; deleted: string[] }> {
  const { token, deleted, revoked } = await accounts.deleteToken(tx, id)
  const at = deps.clock.now()
  await record(
    tx,
    deps,
    'token.revoked',
    revoked.map((row) => ({ ...row, revoked_at: at })),
  )
  return { token, deleted: deleted.map((row) => row.id) }
}

export async function deleteTokensOf(tx: Tx, deps: EventDeps, accountId: string): Promise<void> {
  const gone = new Set<string>()
  for (const { id } of await accounts.listTokens(tx, accountId))
    if (!gone.has(id)) for (const each of (await deleteToken(tx, deps, id)).deleted) gone.add(each)
}

/**
 * A hook of members. Revokes the tokens that a person made and that may do more than the person can now, with those made with them; returns their ids.
 */
export async function revokeTokensBeyond(
  tx: Tx,
  deps: EventDeps,
  { accountId, userId }: { accountId: string; userId: string },
  allowed: ReadonlySet<string>,
): Promise<string[]> {
  const now = deps.clock.now()
  await accounts.lockTokensOf(tx, now, accountId, [])
  const all: TokenRow[] = []
  for (const { id } of await accounts.findTokensBeyond(tx, accountId, userId, [...allowed]))
    all.push(...(await accounts.revokeToken(tx, now, id)).revoked)
  await record(tx, deps, 'token.revoked', all)
  return all.map(({ id }) => id)
}

export async function record(
  tx: Tx,
  deps: EventDeps,
  type: 'token.created' | 'token.updated' | 'token.revoked',
  rows: TokenRow[],
): Promise<void> {
  const budgets = await findBudgets(
    tx,
    rows.map(({ id }) => tokenHolder(id)),
  )
  for (const row of rows) {
    const data = { token: toEventToken(row, deps.clock.now(), budgets.get(row.id)) }
    await recordEvent(tx, deps, { accountId: row.account_id, type, subjectId: row.id, data })
  }
}
