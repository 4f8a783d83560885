// Who may make whom what. Nobody gives more than they have, only owners touch owners, and who has a budget gives none. The caller is looked up again under the lock of the
// account: of two owners who demote each other at once, the second is none any more.
import { isInProject, type Principal } from '../../http/api/principal.ts'
import { requireScopeOf } from '../../http/api/mount.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import { expandScopes, isWithin, lockAccount, lockTokensOf, scopesOf } from '../accounts/service.ts'
import { budgetText, findBudget, findBudgets, isWithinBudget, memberHolder, tokenHolder, type Budget } from '../budgets/service.ts'
import * as sql from './sql.ts'

export interface Caller {
  isOwner: boolean
  /** Admins of an account are admins of its projects too, beyond the scopes that the caller has in the account. */
  mayMakeAdmins: boolean
  /** A token that expires, is used from some addresses only, or has a budget, as may be one that it was made with: a member has no such limits. */
  isLimited: boolean
  /** Of the person, or of the one who made the token, or else of the token or one that it was made with. */
  budget: Budget | null
  scopes: ReadonlySet<string>
}

export interface Grant {
  role: sql.MemberRow['role']
  /** Of a custom role. */
  scopes: string[]
}

/** Locks the members of the account. A token is no owner, whoever made it. */
export async function lockAs(tx: Tx, now: Date, principal: Principal, scope: string): Promise<Caller> {
  await lockAccount(tx, principal.accountId)
  const caller = principal.signedIn ? await lookUpPerson(tx, principal) : await lookUpToken(tx, now, principal)
  requireScopeOf({ ...principal, scopes: caller.scopes }, scope)
  return caller
}

async function lookUpPerson(tx: Tx, principal: Principal): Promise<Caller> {
  const { accountId, actorId } = principal
  const member = await sql.findMember(tx, accountId, actorId)
  if (!member) throw notYours()
  const budget = await findBudget(tx, memberHolder(member.member_of, actorId))
  const isOwner = member.role === 'owner'
  const mayMakeAdmins = isOwner || member.role === 'admin' || isInProject(principal)
  return { isOwner, mayMakeAdmins, isLimited: false, budget, scopes: scopesOf(member) }
}

async function lookUpToken(tx: Tx, now: Date, principal: Principal): Promise<Caller> {
  const { accountId, memberOf, tokenIds, person } = principal
  const family = await lockTokensOf(tx, now, accountId, tokenIds)
  const budgets = await findBudgets(tx, tokenIds.map(tokenHolder))
  const isLimited = budgets.size > 0 || family.some(({ expires_at, allowed_ips }) => expires_at !== null || allowed_ips.length > 0)
  const own = person && (await findBudget(tx, memberHolder(memberOf, person.id)))
  const budget = own ?? [...budgets.values()].at(-1) ?? null
  return { isOwner: false, mayMakeAdmins: isInProject(principal), isLimited, budget, scopes: new Set(family.at(-1)!.scopes) }
}

export const notYours = () => apiError('account_required', 'You are not a member of this account: choose one of yours')

export function readGrant({ role, scopes }: { role: Grant['role']; scopes?: string[] }): Grant {
  if (role !== 'custom' && scopes) throw invalid('scopes are given for the role custom only', 'scopes')
  if (role === 'custom' && !scopes) throw invalid('the role custom needs scopes', 'scopes')
  return { role, scopes: expandIfAny(scopes) }
}

const expandIfAny = (scopes: string[] | undefined): string[] => (scopes ? expandScopes(scopes) : [])

/** `before`: the role that the member has. */
export function requireMayGive(caller: Caller, grant: Grant, before?: Grant['role']): void {
  if (caller.isLimited)
    throw apiError(
      'missing_scope',
      'This token has an expiry, addresses or a budget, which members do not get, so it makes and changes none: use one without them, or sign in',
    )
  if (grant.role === 'owner' && !caller.isOwner)
    throw apiError('missing_scope', 'Only an owner who is signed in can make somebody an owner')
  if (grant.role === 'admin' && before !== 'admin' && !caller.mayMakeAdmins)
    throw apiError('missing_scope', 'Only an owner or admin who is signed in can make somebody an admin, who is one in all projects too')
  const missing = [...scopesOf(grant)].find((scope) => !caller.scopes.has(scope))
  if (missing) throw apiError('missing_scope', `You can give only what you have yourself: you lack the scope ${missing}`)
}

export function requireMayChange(caller: Caller, member: sql.ShownMember, budget: Budget | null): void {
  if (member.is_inherited)
    throw apiError('invalid_state', 'This member is an owner or admin of the account that pays for the project: change the member there')
  if (member.role === 'owner' && !caller.isOwner)
    throw apiError('missing_scope', 'Only an owner who is signed in can change or remove an owner')
  if (!isWithin(scopesOf(member), caller.scopes))
    throw apiError('missing_scope', 'This member has rights that you lack: only who has them all can change or remove the member')
  if (!isWithinBudget(budget, caller.budget))
    throw apiError('missing_scope', 'This member may spend more than you: only who may spend as much can change or remove the member')
}

/** Otherwise people could give each other, or themselves by another address, what they may not spend. */
export function requireMayInvite({ budget }: Caller): void {
  if (budget)
    throw apiError(
      'missing_scope',
      'You have a budget in this account, and who joins would spend beyond it: ask a member without one to invite',
    )
}

/** Of a member or an invitation. */
export function requireBudgetFits(caller: Caller, { role }: Grant, before: Budget | null, after: Budget | null): void {
  if (role === 'owner' && after) throw apiError('incompatible', 'Owners have no budget: give another role, or no budget')
  requireRaisesNone(caller, before, after)
}

/** Others, or whoever asks by another name, could spend what the caller may not. */
export function requireRaisesNone({ budget: own }: Caller, before: Budget | null, after: Budget | null): void {
  if (own && !isWithinBudget(after, before))
    throw apiError('incompatible', `You have a budget of ${budgetText(own)}: you can lower budgets, and raise none`)
}
