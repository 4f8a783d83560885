// Invitations. The link proves the mail address that it was mailed to: only who signs in with that address, or signs up with the link, accepts.
// An invitation is made in the same way whether anybody has an account with the address or not.
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { addDuration, parseDurationMs, subtractDuration } from '../../kernel/clock.ts'
import { isWellFormedToken, newToken, sha256 } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, ApiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { getAccount, lockAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { findUser, type UserRow } from '../users/service.ts'
import { findBudget, findBudgets, invitationHolder, memberHolder, setBudget, withChanges } from '../budgets/service.ts'
import { lockAs, readGrant, requireBudgetFits, requireMayGive, requireMayInvite } from './rights.ts'
import type { CreateInvitation, Invitation, InvitationPreview, Joined, NewInvitation } from './schema.ts'
import * as sql from './sql.ts'
import { toInvitation } from './view.ts'

export const PREFIX = 'inv_'
const LIFE = '7d'
const PER_HOUR = 30
const MAILS_PER_DAY = 5
const MOST_MEMBERS = 200
const MOST_ACCOUNTS = 50

/** Reconciler that sends the mails. */
export const SEND = 'invitations.mail'

export const linkAt = (base: string, secret: string): string => `${base}/join#${secret}`

export const listInvitations = async (db: Queries, now: Date, accountId: string, page: PageRequest): Promise<Paged<Invitation>> =>
  pageOf(
    page,
    () => sql.countInvitations(db, now, accountId),
    async (range) => {
      const rows = await sql.listInvitations(db, now, accountId, range)
      const budgets = await findBudgets(
        db,
        rows.map(({ id }) => invitationHolder(id)),
      )
      return rows.map((row) => toInvitation(row, budgets.get(row.id) ?? null))
    },
  )

/** `base`: URL of the dashboard, never what the client says it is. */
export async function createInvitation(
  tx: Tx,
  { clock, mailer }: Deps,
  principal: Principal,
  input: CreateInvitation,
  base: string,
): Promise<NewInvitation> {
  const now = clock.now()
  const { accountId, person, actorName } = principal
  const caller = await lockAs(tx, now, principal, 'members:create')
  const grant = readGrant(input)
  requireMayGive(caller, grant)
  requireMayInvite(caller)
  const budget = withChanges(null, input.budget)
  requireBudgetFits(caller, grant, null, budget)
  const { email } = input
  if (await sql.isMember(tx, accountId, email)) throw apiError('already_exists', `${email} is a member already`)
  await requireRoom(tx, now, accountId)
  await sql.expireInvitation(tx, now, accountId, email)
  const isMailed = mailer !== null
  const secret = newToken(PREFIX)
  // Who invites an address must not learn that others did, so a mail too many is not refused: it is not sent.
  const isSent = isMailed && (await sql.countMailsTo(tx, email, subtractDuration(now, '1d'))) < MAILS_PER_DAY
  const row = await sql.insertInvitation(tx, {
    id: newId(),
    account_id: accountId,
    email,
    ...grant,
    hash: sha256(secret),
    invited_by: person?.id ?? null,
    inviter_name: actorName,
    is_mailed: isMailed,
    link_base: base,
    mail_attempts: 0,
    mail_due_at: isSent ? now : null,
    status: 'OPEN',
    created_at: now,
    expires_at: addDuration(now, LIFE),
  })
  if (!row) throw apiError('already_exists', `${email} is invited already: delete that invitation to send another`)
  if (budget) await setBudget(tx, accountId, invitationHolder(row.id), budget)
  if (isSent) await triggerReconciler(tx, SEND)
  return { ...toInvitation(row, budget), url: isMailed ? null : linkAt(base, secret) }
}

async function requireRoom(tx: Tx, now: Date, accountId: string): Promise<void> {
  if ((await sql.countPlaces(tx, now, accountId)) >= MOST_MEMBERS)
    throw apiError(
      'quota_exceeded',
      `Quota exceeded: an account has ${MOST_MEMBERS} members and open invitations at most, with its projects`,
    )
  if ((await sql.countSince(tx, accountId, subtractDuration(now, '1h'))) < PER_HOUR) return
  const message = `Rate limit exceeded: an account invites ${PER_HOUR} times an hour at most. Try again later`
  throw new ApiError('rate_limited', message, [], parseDurationMs('1h') / 1000)
}

export async function deleteInvitation(tx: Tx, { clock }: Deps, principal: Principal, id: string): Promise<{ id: string; deleted: true }> {
  const now = clock.now()
  await lockAs(tx, now, principal, 'members:delete')
  if ((await sql.revokeInvitations(tx, now, principal.accountId, [id])) === 0) throw notFound('Invitation')
  return { id, deleted: true }
}

/** Before work is spent on a link: whoever made up a secret is refused here. */
export async function requireInvitation(db: Queries, now: Date, secret: string): Promise<sql.InvitationRow> {
  const found = isWellFormedToken(PREFIX, secret) ? await sql.findByLink(db, now, sha256(secret)) : undefined
  if (!found) throw gone()
  return found
}

const gone = (): ApiError =>
  apiError('link_gone', 'This invitation was used already, was withdrawn, has expired or is not complete. Ask for a new one')

export async function previewInvitation(db: Queries, now: Date, isSignUpOpen: boolean, secret: string): Promise<InvitationPreview> {
  const found = await requireInvitation(db, now, secret)
  const { id, name, email } = await getAccount(db, found.account_id)
  return {
    account: { id, name: name || (email ?? '') },
    email: found.email,
    role: found.role,
    invitedBy: found.inviter_name,
    canRegister: canRegister(found, isSignUpOpen),
    expiresAt: found.expires_at.toISOString(),
  }
}

/** Without mail the link proves no address, so it is worth no more than a sign-up there. */
const canRegister = ({ is_mailed }: sql.InvitationRow, isSignUpOpen: boolean): boolean => is_mailed || isSignUpOpen

/** Takes the link for a user who is there, or whom `register` makes for the invited address. `provenEmail`: the link is not what proves the address. */
export async function useInvitation(
  tx: Tx,
  now: Date,
  secret: string,
  by: { userId: string } | { isSignUpOpen: boolean; provenEmail?: string; register: (email: string) => Promise<UserRow> },
): Promise<{ joined: Joined; user: UserRow }> {
  const { id, account_id } = await requireInvitation(tx, now, secret)
  await lockAccount(tx, account_id)
  const invitation = await requireInvitation(tx, now, secret)
  if ((await sql.acceptInvitation(tx, now, id)) === 0) throw gone()
  if ('register' in by && by.provenEmail !== undefined) await requireAddress(tx, by.provenEmail, invitation.email)
  else if ('register' in by && !canRegister(invitation, by.isSignUpOpen))
    throw apiError('sign_up_closed', 'Accounts are made by the operator here: sign in with one to accept')
  const user = 'register' in by ? await by.register(invitation.email) : await requireInvited(tx, by.userId, invitation.email)
  if ((await sql.countAccountsOf(tx, user.id)) >= MOST_ACCOUNTS)
    throw apiError('quota_exceeded', `Quota exceeded: a person is a member of ${MOST_ACCOUNTS} accounts at most. Leave one first`)
  const { role, scopes } = invitation
  if ((await sql.insertMember(tx, { account_id, user_id: user.id, role, scopes, created_at: now })) === 0)
    throw apiError('already_exists', 'You are a member of this account already')
  await setBudget(tx, account_id, memberHolder(account_id, user.id), await findBudget(tx, invitationHolder(id)))
  await sql.alignHome(tx, account_id, user.id)
  return { joined: { accountId: account_id, role }, user }
}

async function requireInvited(tx: Tx, userId: string, email: string): Promise<UserRow> {
  const user = await findUser(tx, userId)
  if (!user) throw new Error('BUG: a session without a user accepts an invitation')
  await requireAddress(tx, user.email, email)
  return user
}

async function requireAddress(tx: Tx, given: string, invited: string): Promise<void> {
  if (!(await sql.isSameAddress(tx, given, invited)))
    throw apiError('incompatible', `This invitation is for ${invited}: sign in with that address to accept it`)
}
