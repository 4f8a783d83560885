// Operations of a signed-in user: re-authenticate, list and end sessions, change password and second factor.
import type { Principal, SessionContext } from '../../http/api/principal.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { scopesOf } from '../accounts/service.ts'
import { findView, memberHolder, projectHolders, type Place } from '../budgets/service.ts'
import type { Deps } from '../deps.ts'
import * as users from '../users/service.ts'
import { sessionExpired, idleSince, rotateSession } from './session-lifecycle.ts'
import { attemptLimits, withAttemptLimits } from './lockout.ts'
import type { ChangePassword, ChangeUser, Reauthenticate, Session, SessionEntry, Totp, TotpSetup } from './schema.ts'
import * as sql from './sql.ts'
import { findVisit } from './visits.sql.ts'
import { toEntry, toSession } from './view.ts'

export { OPERATOR } from './authenticate.ts'
export { listVisits, startVisit } from './visits.ts'
export type { VisitRow } from './visits.sql.ts'

/** Only for routes that require a user session. */
export function signedIn({ signedIn: found }: Principal): SessionContext {
  if (!found) throw new Error('BUG: a token got where only people are let in')
  return found
}

/** Of somebody who has just signed in, and has named no account yet. */
export async function describeSession(deps: Deps, person: users.UserRow, row: sql.SessionRow): Promise<Session> {
  const accounts = await sql.listAccounts(deps.db, person.id)
  const own = accounts.filter(({ is_inherited }) => !is_inherited)
  const chosenId = own.length === 1 ? own[0]!.id : ''
  const payerId = own[0]?.payer_account_id ?? chosenId
  return toSession(
    deps,
    accounts,
    chosenId,
    await findOwnBudget(deps, deps.db, { accountId: chosenId, payerId, memberOf: chosenId }, person.id),
    person,
    row,
  )
}

export async function getSession(deps: Deps, principal: Principal, from: Queries = deps.db): Promise<Session> {
  const user = await users.findUser(from, principal.actorId)
  const row = await sql.findSession(from, signedIn(principal).sessionId)
  if (!user || !row) throw sessionExpired()
  const { accountId } = principal
  const accounts = await sql.listAccounts(from, user.id)
  const visit = principal.signedIn?.visit ? await findVisit(from, deps.clock.now(), row.id, accountId) : undefined
  const visited = visit && principal.signedIn?.visit ? { row: visit, homeId: principal.signedIn.visit.home.accountId } : null
  return toSession(deps, accounts, accountId, await findOwnBudget(deps, from, principal, user.id), user, row, visited)
}

const findOwnBudget = ({ clock }: Deps, from: Queries, place: Place & Pick<Principal, 'memberOf'>, userId: string) =>
  findView(from, clock.now(), memberHolder(place.memberOf, userId), projectHolders(place))

/** Verifies credentials outside of a transaction, because hashing is slow. */
export class ReauthService {
  readonly #deps: Deps
  readonly #counters: Counters

  constructor(deps: Deps, counters: Counters) {
    this.#deps = deps
    this.#counters = counters
  }

  /** Returns the verified hash, so that the change can check that it is still current. */
  async password({ actorId }: Principal, password: string): Promise<string> {
    const user = await users.findUser(this.#deps.db, actorId)
    return withAttemptLimits(this.#counters, [attemptLimits.user(actorId)], async () => {
      const isRight = await users.verifyPassword(user?.password_hash, password, ofUser(actorId))
      if (!isRight || !user?.password_hash) throw apiError('wrong_credentials', 'The password is wrong')
      return user.password_hash
    })
  }

  async change(principal: Principal, { currentPassword, newPassword }: ChangePassword): Promise<{ checked: string; hash: string }> {
    const checked = await this.password(principal, currentPassword)
    return { checked, hash: await users.hashPassword(newPassword, ofUser(principal.actorId)) }
  }

  /** Rate-limits codes of signed-in users too. */
  code<T>(principal: Principal, attempt: () => Promise<T>): Promise<T> {
    return withAttemptLimits(this.#counters, [attemptLimits.codeAt(principal.actorId, signedIn(principal).sessionId)], attempt)
  }
}

const ofUser = (key: string): users.HashClient => ({ lane: 'known', key })

async function lockChecked(tx: Tx, { actorId }: Principal, checked: string): Promise<users.UserRow> {
  const user = await users.lockUser(tx, actorId)
  if (user.password_hash !== checked) throw apiError('wrong_credentials', 'The password has just been changed: give the new one')
  return user
}

export async function reauthenticate(
  tx: Tx,
  { clock, vault }: Deps,
  principal: Principal,
  { totp }: Reauthenticate,
  checked: string,
): Promise<{ secret: string; withRecoveryCode: boolean }> {
  const now = clock.now()
  const user = await lockChecked(tx, principal, checked)
  const spent = user.totp_enabled_at && (await users.consumeCode(tx, vault, now, user, totp ?? ''))
  const { secret } = await rotateSession(tx, now, signedIn(principal).sessionId, now)
  return { secret, withRecoveryCode: spent === 'recovery' }
}

/** Ends all other sessions of the user. */
export async function changePassword(
  tx: Tx,
  { clock }: Deps,
  principal: Principal,
  { checked, hash }: { checked: string; hash: string },
): Promise<string> {
  const { sessionId } = signedIn(principal)
  const user = await lockChecked(tx, principal, checked)
  await users.setPassword(tx, user.id, hash)
  await users.dropLinksOf(tx, user.id)
  await sql.endOthers(tx, user.id, sessionId)
  return (await rotateSession(tx, clock.now(), sessionId, clock.now())).secret
}

export async function changeUser(tx: Tx, { actorId }: Principal, { name, language }: ChangeUser): Promise<void> {
  if (name !== undefined) await users.setName(tx, actorId, name)
  if (language !== undefined) await users.setLanguage(tx, actorId, language)
}

export async function beginTotp(tx: Tx, { vault, branding }: Deps, { actorId }: Principal): Promise<TotpSetup> {
  const { settings } = await branding.current()
  return users.beginTotp(tx, vault, await users.lockUser(tx, actorId), settings.productName)
}

export async function getTotp({ db }: Deps, { actorId }: Principal): Promise<Totp> {
  const user = await users.findUser(db, actorId)
  return { enabled: (user?.totp_enabled_at ?? null) !== null, recoveryCodesLeft: await users.countRecoveryCodes(db, actorId) }
}

interface Changed {
  /** Session secret. */
  secret: string
  recoveryCodes: string[]
}

export async function confirmTotp(tx: Tx, deps: Deps, principal: Principal, code: string): Promise<Changed> {
  const user = await users.lockUser(tx, principal.actorId)
  const recoveryCodes = await users.confirmTotp(tx, deps.vault, deps.clock.now(), user, code)
  return { secret: await afterChange(tx, deps, principal), recoveryCodes }
}

export async function renewRecoveryCodes(tx: Tx, deps: Deps, principal: Principal): Promise<Changed> {
  const user = await users.lockUser(tx, principal.actorId)
  const recoveryCodes = await users.renewRecoveryCodes(tx, deps.vault, deps.clock.now(), user)
  return { secret: await afterChange(tx, deps, principal), recoveryCodes }
}

export async function removeTotp(tx: Tx, deps: Deps, principal: Principal): Promise<string> {
  await users.removeTotp(tx, await users.lockUser(tx, principal.actorId))
  return afterChange(tx, deps, principal)
}

async function afterChange(tx: Tx, { clock }: Deps, principal: Principal): Promise<string> {
  const { sessionId, authenticatedAt: provedAt } = signedIn(principal)
  return (await rotateSession(tx, clock.now(), sessionId, provedAt)).secret
}

/** Of sessions in an account each, those whose users may still do there what the scope allows. */
export async function listAllowed<Use extends { sessionId: string; accountId: string }>(
  db: Queries,
  now: Date,
  uses: Use[],
  scope: string,
): Promise<Use[]> {
  const rows = await sql.listRights(db, now, idleSince(now), [...new Set(uses.map(({ sessionId }) => sessionId))])
  const allowed = rows.filter((row) => scopesOf(row).has(scope) && (row.has_totp || !row.requires_totp))
  const keys = new Set(allowed.map(({ id, account_id }) => `${id} ${account_id}`))
  return uses.filter(({ sessionId, accountId }) => keys.has(`${sessionId} ${accountId}`))
}

export async function listSessions({ db, clock }: Deps, principal: Principal): Promise<SessionEntry[]> {
  const now = clock.now()
  const rows = await sql.listOf(db, now, idleSince(now), principal.actorId)
  return rows.map((row) => toEntry(row, signedIn(principal).sessionId))
}

export async function endSession(tx: Tx, { actorId }: Principal, id: string): Promise<void> {
  if ((await sql.endSession(tx, actorId, id)) === 0) throw notFound('Session')
}

export const endOtherSessions = (tx: Tx, principal: Principal): Promise<number> =>
  sql.endOthers(tx, principal.actorId, signedIn(principal).sessionId)
