// What somebody who is signed in does with that: prove it again, look at the sessions and end them, change password and second factor.
import type { Principal, SessionContext } from '../../http/api/principal.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { getAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import * as people from '../users/service.ts'
import { sessionExpired, idleSince, rotateSession } from './session-lifecycle.ts'
import { attemptLimits, withAttemptLimits } from './lockout.ts'
import type { ChangePassword, Reauthenticate, Session, SessionEntry, Totp, TotpSetup } from './schema.ts'
import * as sql from './sql.ts'
import { toEntry, toSession } from './view.ts'

export { OPERATOR } from './authenticate.ts'

/** Only behind a mount that lets people in. */
export function signedIn({ signedIn: found }: Principal): SessionContext {
  if (!found) throw new Error('BUG: a token got where only people are let in')
  return found
}

export async function describeSession({ db, config }: Deps, person: people.PersonRow, row: sql.SessionRow): Promise<Session> {
  return toSession(config, await getAccount(db, person.account_id), person, row)
}

export async function getSession(deps: Deps, principal: Principal, from: Queries = deps.db): Promise<Session> {
  const person = await people.findPerson(from, principal.actorId)
  const row = await sql.findSession(from, signedIn(principal).sessionId)
  if (!person || !row) throw sessionExpired()
  return toSession(deps.config, await getAccount(from, person.account_id), person, row)
}

/** What must be proved outside of a transaction: hashing takes its time. */
export class ReauthService {
  readonly #deps: Deps
  readonly #counters: Counters

  constructor(deps: Deps, counters: Counters) {
    this.#deps = deps
    this.#counters = counters
  }

  /** Answers the hash that was looked at, so that the change can make sure that it is still the same. */
  async password({ actorId }: Principal, password: string): Promise<string> {
    const person = await people.findPerson(this.#deps.db, actorId)
    return withAttemptLimits(this.#counters, [attemptLimits.person(actorId)], async () => {
      const isRight = await people.isPassword(person?.password_hash, password)
      if (!isRight || !person?.password_hash) throw apiError('wrong_credentials', 'The password is wrong')
      return person.password_hash
    })
  }

  async change(principal: Principal, { currentPassword, newPassword }: ChangePassword): Promise<{ checked: string; hash: string }> {
    return { checked: await this.password(principal, currentPassword), hash: await people.hashPassword(newPassword) }
  }

  /** Whoever is signed in may not guess codes without end either. */
  code<T>({ actorId }: Principal, attempt: () => Promise<T>): Promise<T> {
    return withAttemptLimits(this.#counters, [attemptLimits.code(actorId)], attempt)
  }
}

async function lockChecked(tx: Tx, { actorId }: Principal, checked: string): Promise<people.PersonRow> {
  const person = await people.lockPerson(tx, actorId)
  if (person.password_hash !== checked) throw apiError('wrong_credentials', 'The password has just been changed: give the new one')
  return person
}

export async function reauthenticate(
  tx: Tx,
  { clock, vault }: Deps,
  principal: Principal,
  { totp }: Reauthenticate,
  checked: string,
): Promise<{ secret: string; withRecoveryCode: boolean }> {
  const now = clock.now()
  const person = await lockChecked(tx, principal, checked)
  const spent = person.totp_enabled_at && (await people.spendAnyCode(tx, vault, now, person, totp ?? ''))
  const { secret } = await rotateSession(tx, now, signedIn(principal).sessionId, now)
  return { secret, withRecoveryCode: spent === 'recovery' }
}

/** Everybody else who is signed in as this person has to give the new one. */
export async function changePassword(
  tx: Tx,
  { clock }: Deps,
  principal: Principal,
  { checked, hash }: { checked: string; hash: string },
): Promise<string> {
  const { sessionId } = signedIn(principal)
  const person = await lockChecked(tx, principal, checked)
  await people.setPassword(tx, person.id, hash)
  await people.dropLinksOf(tx, person.id)
  await sql.endOthers(tx, person.id, sessionId)
  return (await rotateSession(tx, clock.now(), sessionId, clock.now())).secret
}

export const rename = (tx: Tx, { actorId }: Principal, name: string) => people.setName(tx, actorId, name)

export const beginTotp = async (tx: Tx, { vault }: Deps, { actorId }: Principal): Promise<TotpSetup> =>
  people.beginTotp(tx, vault, await people.lockPerson(tx, actorId))

export async function getTotp({ db }: Deps, { actorId }: Principal): Promise<Totp> {
  const person = await people.findPerson(db, actorId)
  return { enabled: (person?.totp_enabled_at ?? null) !== null, recoveryCodesLeft: await people.countRecoveryCodes(db, actorId) }
}

interface Changed {
  /** Of the session. */
  secret: string
  recoveryCodes: string[]
}

export async function confirmTotp(tx: Tx, deps: Deps, principal: Principal, code: string): Promise<Changed> {
  const person = await people.lockPerson(tx, principal.actorId)
  const recoveryCodes = await people.confirmTotp(tx, deps.vault, deps.clock.now(), person, code)
  return { secret: await afterChange(tx, deps, principal), recoveryCodes }
}

export async function renewRecoveryCodes(tx: Tx, deps: Deps, principal: Principal): Promise<Changed> {
  const person = await people.lockPerson(tx, principal.actorId)
  const recoveryCodes = await people.renewRecoveryCodes(tx, deps.vault, deps.clock.now(), person)
  return { secret: await afterChange(tx, deps, principal), recoveryCodes }
}

export async function removeTotp(tx: Tx, deps: Deps, principal: Principal): Promise<string> {
  await people.removeTotp(tx, await people.lockPerson(tx, principal.actorId))
  return afterChange(tx, deps, principal)
}

async function afterChange(tx: Tx, { clock }: Deps, principal: Principal): Promise<string> {
  const { sessionId, authenticatedAt: provedAt } = signedIn(principal)
  return (await rotateSession(tx, clock.now(), sessionId, provedAt)).secret
}

/** Whether each still lasts; one that was ended is not answered. */
export const sessionStates = (db: Queries, now: Date, ids: string[]) => sql.states(db, now, idleSince(now), ids)

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
