// Members of an account. Every change holds the lock of the account, so that the last owner stays one.
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound, unauthorized } from '../../kernel/errors.ts'
import type { Account, UpdateAccount } from '../accounts/schema.ts'
import {
  getAccount,
  isWithin,
  listWithProjects,
  lockAccount,
  notifyTokensOf,
  scopesOf,
  toAccount,
  updateAccount as setAccount,
} from '../accounts/service.ts'
import {
  deleteBudgets,
  findBudget,
  findView,
  findViews,
  invitationHolder,
  memberHolder,
  setBudget,
  withChanges,
  type Budget,
  type Holder,
} from '../budgets/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { lockAs, notYours, readGrant, requireBudgetFits, requireMayChange, requireMayGive, type Grant } from './rights.ts'
import type { ChangedMember, Left, Member, RemovedMember, UpdateMember } from './schema.ts'
import * as sql from './sql.ts'
import { toEventMember, toMember } from './view.ts'

export { lockAs, requireRaisesNone } from './rights.ts'
export { previewInvitation, requireInvitation, useInvitation } from './invitations.ts'

export async function listMembers(db: Queries, now: Date, accountId: string, page: PageRequest): Promise<Paged<Member>> {
  const count = () => sql.countMembers(db, accountId)
  return pageOf(page, count, async (range) => {
    const rows = await sql.listMembers(db, accountId, range)
    const budgets = await findViews(
      db,
      now,
      rows.filter(({ is_inherited }) => !is_inherited).map((row) => ({ holder: holderOf(row) })),
    )
    return rows.map((row) => toMember(row, budgets.get(holderOf(row).id) ?? null))
  })
}

export async function getMember(tx: Tx, now: Date, accountId: string, id: string): Promise<Member> {
  const row = await requireMember(tx, accountId, id)
  return toMember(row, await findView(tx, now, holderOf(row)))
}

/** Who inherits a role has the budget with it, of the account that pays. */
const holderOf = ({ member_of, user_id }: sql.ShownMember): Holder => memberHolder(member_of, user_id)

export async function changeMember(tx: Tx, deps: Deps, principal: Principal, id: string, input: UpdateMember): Promise<ChangedMember> {
  const now = deps.clock.now()
  const { accountId } = principal
  const caller = await lockAs(tx, now, principal, 'members:update')
  const member = await requireMember(tx, accountId, id)
  const before = await findBudget(tx, holderOf(member))
  requireMayChange(caller, member, before)
  const grant = readChange(member, input)
  requireMayGive(caller, grant, member.role)
  const budget = withChanges(before, input.budget)
  requireBudgetFits(caller, grant, before, budget)
  if (grant.role !== 'owner') await requireOtherOwner(tx, member)
  await sql.setRole(tx, accountId, id, grant.role, grant.scopes)
  if (input.budget !== undefined) await changeBudget(tx, member, budget)
  if (!inheritsProjects(grant)) await leaveProjects(tx, member)
  const revokedTokenIds = await takeRights(tx, deps, accountId, id)
  const changed = await requireMember(tx, accountId, id)
  const data = { member: toEventMember(changed, budget) }
  await recordEvent(tx, deps, { accountId, type: 'member.updated', subjectId: id, data })
  return { ...toMember(changed, await findView(tx, now, holderOf(member))), revokedTokenIds }
}

function readChange(member: sql.MemberRow, { role, scopes, budget }: UpdateMember): Grant {
  if (role !== undefined) return readGrant(scopes ? { role, scopes } : { role })
  if (scopes) throw invalid('scopes are given with the role custom', 'scopes')
  if (budget === undefined) throw invalid('give at least one of role and budget')
  return { role: member.role, scopes: member.scopes }
}

/** Tokens tell what is left whether they have a budget themselves or count for that of their maker. */
async function changeBudget(tx: Tx, member: sql.MemberRow, budget: Budget | null): Promise<void> {
  await setBudget(tx, member.account_id, memberHolder(member.account_id, member.user_id), budget)
  await notifyTokensOf(tx, member.account_id, member.user_id)
}

export async function removeMember(tx: Tx, deps: Deps, principal: Principal, id: string): Promise<RemovedMember> {
  const now = deps.clock.now()
  const caller = await lockAs(tx, now, principal, 'members:delete')
  const member = await requireMember(tx, principal.accountId, id)
  requireMayChange(caller, member, await findBudget(tx, holderOf(member)))
  return { id, deleted: true, revokedTokenIds: await end(tx, deps, member) }
}

/** By the person, who needs no right for it. */
export async function leaveAccount(tx: Tx, deps: Deps, { actorId }: Principal, accountId: string): Promise<Left> {
  if (!(await sql.findMember(tx, accountId, actorId))) throw notFound('Account')
  await lockAccount(tx, accountId)
  const member = await sql.findMember(tx, accountId, actorId)
  if (!member) throw notFound('Account')
  if (member.is_inherited)
    throw apiError('invalid_state', 'You are in this project as owner or admin of the account that pays for it: leave that account')
  return { accountId, left: true, revokedTokenIds: await end(tx, deps, member) }
}

async function end(tx: Tx, deps: EventDeps, member: sql.ShownMember): Promise<string[]> {
  await requireOtherOwner(tx, member)
  await sql.deleteMember(tx, member.account_id, member.user_id)
  await changeBudget(tx, member, null) // what was used is kept, for when the person joins again
  await leaveProjects(tx, member)
  return takeRights(tx, deps, member.account_id, member.user_id)
}

const inheritsProjects = ({ role }: Grant): boolean => role === 'owner' || role === 'admin'

/** Ends what owners and admins of a payer were in its projects before they became that: nobody was shown it meanwhile, and it would come back. */
async function leaveProjects(tx: Tx, { account_id, user_id, role, scopes }: sql.ShownMember): Promise<void> {
  if (!inheritsProjects({ role, scopes })) return
  for (const hidden of await sql.deleteFromProjects(tx, account_id, user_id)) await changeBudget(tx, hidden, null)
}

/**
 * What the person made in the account and its projects with more rights than are left ends with them: API tokens, whose secrets the person
 * knows, and open invitations. It runs after the member's row was changed, for which whoever is making such a thing (`requireMaker`) is waited for.
 */
async function takeRights(tx: Tx, deps: EventDeps, payerId: string, userId: string): Promise<string[]> {
  await sql.alignHome(tx, payerId, userId)
  const ids: string[] = []
  for (const { id, payer_account_id } of await listWithProjects(tx, payerId))
    ids.push(...(await takeRightsIn(tx, deps, id, payer_account_id !== null, userId)))
  return ids
}

async function takeRightsIn(tx: Tx, deps: EventDeps, accountId: string, isProject: boolean, userId: string): Promise<string[]> {
  const grant = await sql.findMember(tx, accountId, userId)
  const budget = grant && (await findBudget(tx, holderOf(grant)))
  const left: ReadonlySet<string> = grant ? scopesOf(grant) : new Set()
  const invitations = await sql.listInvitationsBy(tx, accountId, userId)
  const mayGive = (invitation: sql.InvitationRow): boolean =>
    !budget &&
    left.has('members:create') &&
    isWithin(scopesOf(invitation), left) &&
    (invitation.role !== 'owner' || grant?.role === 'owner') &&
    (invitation.role !== 'admin' || isProject || (grant !== undefined && inheritsProjects(grant)))
  const beyond = invitations.filter((each) => !mayGive(each)).map(({ id }) => id)
  if (beyond.length > 0) await sql.revokeInvitations(tx, deps.clock.now(), accountId, beyond)
  const ids: string[] = []
  for (const hook of deps.hooks.onRightsTaken) ids.push(...(await hook(tx, deps, { accountId, userId }, left)))
  return ids
}

/** Before its tokens, as by who makes one. */
export const holdMembers = sql.lockMembers

/** Of an account that ends. */
export async function endMemberships(tx: Tx, accountId: string): Promise<void> {
  const members = await sql.deleteMembers(tx, accountId)
  const invitations = await sql.revokeAllInvitations(tx, accountId)
  await deleteBudgets(tx, [
    ...members.map(({ user_id }) => memberHolder(accountId, user_id)),
    ...invitations.map(({ id }) => invitationHolder(id)),
  ])
}

export const showAccount = async (tx: Tx, accountId: string): Promise<Account> => toAccount(await getAccount(tx, accountId), null)

export async function updateAccount(tx: Tx, { clock }: Deps, principal: Principal, input: UpdateAccount): Promise<Account> {
  const { name, requireTwoFactor } = input
  const { accountId } = principal
  if (name === undefined && requireTwoFactor === undefined) throw invalid('give at least one of name and requireTwoFactor')
  const caller = await lockAs(tx, clock.now(), principal, 'account:update')
  if (requireTwoFactor !== undefined) await requireMaySetTotp(tx, principal, caller.isOwner, requireTwoFactor)
  await setAccount(tx, accountId, name ?? null, requireTwoFactor ?? null)
  return showAccount(tx, accountId)
}

/** Who switches it on must not be the first to be shut out by it. */
async function requireMaySetTotp(tx: Tx, { accountId, actorId }: Principal, isOwner: boolean, isOn: boolean): Promise<void> {
  if (!isOwner) throw apiError('missing_scope', 'Only an owner who is signed in can change whether two-factor authentication is required')
  if (isOn && !(await sql.findMember(tx, accountId, actorId))?.has_totp)
    throw apiError('two_factor_required', 'Switch on two-factor authentication for yourself before you require it of others')
}

async function requireMember(tx: Tx, accountId: string, id: string): Promise<sql.ShownMember> {
  const member = await sql.findMember(tx, accountId, id)
  if (!member) throw notFound('Member')
  return member
}

async function requireOtherOwner(tx: Tx, { account_id, role }: sql.MemberRow): Promise<void> {
  if (role === 'owner' && (await sql.countOwners(tx, account_id)) === 1)
    throw apiError('invalid_state', 'The account must keep an owner: make another member an owner first')
}

export interface Maker {
  /** Null where nobody knows who made the token. */
  id: string | null
  /** What the caller may do, as it is now. */
  scopes: ReadonlySet<string>
}

/**
 * The person under whose name something is made that outlives the request, such as an API token. The membership is held until the transaction
 * ends: who is removed or may do less meanwhile makes nothing with the rights of before.
 */
export async function requireMaker(tx: Tx, { accountId, person, signedIn, scopes }: Principal): Promise<Maker> {
  if (!person) return { id: null, scopes }
  const member = await sql.holdMember(tx, accountId, person.id)
  if (!member) throw signedIn ? notYours() : unauthorized('API token has been revoked')
  return { id: person.id, scopes: signedIn ? scopesOf(member) : scopes }
}
