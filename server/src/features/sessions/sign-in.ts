// Sign-in by password and second factor, welcome link, sign-up, or password reset link. Hashing happens before the transaction starts.
// Every sign-in and every rejected attempt for a known user is recorded in the audit logs of the user's accounts.
import { toUserAuditRecords } from '../../http/api/audit.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { sha256 } from '../../kernel/crypto.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError, ApiError, invalid } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/net/client-network.ts'
import type { Deps } from '../deps.ts'
import { requireInvitation, useInvitation } from '../members/service.ts'
import * as users from '../users/service.ts'
import { startSession, type Caller, type Origin, type Started } from './session-lifecycle.ts'
import { attemptLimits, withAttemptLimits } from './lockout.ts'
import type { CompleteReset, CompleteSignUp, Register, SignIn, SignUp, Welcome } from './schema.ts'
import * as sql from './sql.ts'

export interface ClientInfo extends Caller {
  /** As the browser asks for it; null for none that mails are written in. */
  language: string | null
  requestId: string
  /** The browser's previous session, if any: it is ended. */
  oldSecret: string | undefined
  operation: { action: string; route: string }
}

export interface SignInResult extends Started {
  person: users.UserRow
}

type DeskDeps = Pick<Deps, 'db' | 'clock' | 'vault' | 'audit' | 'config'>

export class SignInService {
  readonly #deps: DeskDeps
  readonly #counters: Counters

  constructor(deps: DeskDeps, counters: Counters) {
    this.#deps = deps
    this.#counters = counters
  }

  /** Null when the password is right and the second-factor code is missing. */
  async signIn(visitor: ClientInfo, { email, password, totp }: SignIn): Promise<SignInResult | null> {
    const { db, vault } = this.#deps
    const person = await users.findSignIn(db, email, visitor.ip)
    // No email addresses in counter keys. PostgreSQL's lower() equates more spellings than ours, so a user is counted by id.
    const who = person?.id ?? vault.digest(email.toLowerCase()).toString('base64url')
    const isAtHome = person?.is_known_address === true
    const client: users.HashClient = isAtHome ? { lane: 'known', key: person.id } : { lane: 'unknown', key: clientNetwork(visitor.ip) }
    const all = [attemptLimits.address(visitor.ip), attemptLimits.userAt(who, visitor.ip), ...(isAtHome ? [] : [attemptLimits.user(who)])]
    try {
      users.requireHashingRoom(client)
      return await withAttemptLimits(this.#counters, all, () => this.#prove(visitor, person, client, password, totp))
    } catch (error) {
      if (error instanceof ApiError && person) await this.noteRefusal(visitor, person, error)
      throw error
    }
  }

  async #prove(
    visitor: ClientInfo,
    person: users.UserRow | undefined,
    client: users.HashClient,
    password: string,
    totp?: string,
  ): Promise<SignInResult | null> {
    const isRight = await users.verifyPassword(person?.password_hash, password, client)
    if (!isRight || !person) throw wrong()
    if (person.totp_enabled_at && totp === undefined) return null
    const enter = () => this.#deps.db.tx((tx) => this.#enter(tx, visitor, person, totp))
    const limit = client.lane === 'known' ? attemptLimits.codeAt(person.id, clientNetwork(visitor.ip)) : attemptLimits.code(person.id)
    return person.totp_enabled_at ? withAttemptLimits(this.#counters, [limit], enter) : enter()
  }

  async #enter(tx: Tx, visitor: ClientInfo, checked: users.UserRow, totp?: string): Promise<SignInResult> {
    const { vault, clock } = this.#deps
    const person = await users.lockUser(tx, checked.id)
    if (person.password_hash !== checked.password_hash) throw wrong() // changed since it was verified
    const spent = person.totp_enabled_at && (await users.consumeCode(tx, vault, clock.now(), person, totp ?? ''))
    return this.arrive(tx, spent === 'recovery' ? withRecoveryCode(visitor) : visitor, person)
  }

  async welcome(visitor: ClientInfo, { token, password, ...user }: Welcome): Promise<SignInResult> {
    const { db, clock } = this.#deps
    await users.requireLink(db, clock.now(), 'welcome', token)
    const passwordHash = await users.hashPassword(password, newPasswordOf(visitor))
    return db.tx(async (tx) => this.arrive(tx, visitor, await users.createOwner(tx, clock.now(), { ...user, token, passwordHash }), 201))
  }

  /** Without a confirmed address, where no mail can be sent. */
  async signUp(visitor: ClientInfo, { password, ...user }: SignUp): Promise<SignInResult> {
    const { db, clock } = this.#deps
    if (password === undefined) throw invalid('password is required', 'password')
    const passwordHash = await users.hashPassword(password, newPasswordOf(visitor))
    return db.tx(async (tx) => this.arrive(tx, visitor, await users.signUp(tx, clock.now(), { ...user, passwordHash }), 201))
  }

  async completeSignUp(visitor: ClientInfo, { token, password }: CompleteSignUp): Promise<SignInResult> {
    const { db, clock } = this.#deps
    this.requireOpenSignUp()
    await users.requireLink(db, clock.now(), 'sign_up', token)
    const passwordHash = await users.hashPassword(password, newPasswordOf(visitor))
    return db.tx(async (tx) => {
      const user = await users.useSignUpLink(tx, clock.now(), token)
      return this.arrive(tx, visitor, await users.signUp(tx, clock.now(), { ...user, passwordHash }), 201)
    })
  }

  requireOpenSignUp(): void {
    if (this.#deps.config.signUp === 'closed') throw apiError('sign_up_closed', 'Accounts are made by the operator here: ask for one')
  }

  /** By an invitation. Its link proves the address that it was mailed to, so a closed sign-up does not matter. */
  async register(visitor: ClientInfo, { token, password, name }: Register): Promise<SignInResult> {
    const { db, clock, config } = this.#deps
    await requireInvitation(db, clock.now(), token)
    const passwordHash = await users.hashPassword(password, newPasswordOf(visitor))
    return db.tx(async (tx) => {
      const now = clock.now()
      const register = (email: string) => users.register(tx, now, { email, ...(name !== undefined && { name }), passwordHash })
      const { user } = await useInvitation(tx, now, token, { isSignUpOpen: config.signUp === 'open', register })
      return this.arrive(tx, visitor, user, 201)
    })
  }

  /** Ends every session of the user. Null when the user has a second factor, which a link does not bypass. */
  async setPassword(visitor: ClientInfo, { token, password }: CompleteReset): Promise<SignInResult | null> {
    const { db, clock } = this.#deps
    await users.requireLink(db, clock.now(), 'password', token)
    const passwordHash = await users.hashPassword(password, newPasswordOf(visitor))
    return db.tx(async (tx) => {
      const person = await users.usePasswordLink(tx, clock.now(), token)
      await users.setPassword(tx, person.id, passwordHash)
      await sql.endOthers(tx, person.id, null)
      if (!person.totp_enabled_at) return this.arrive(tx, visitor, person)
      await this.#record(tx, visitor, person, 200)
      return null
    })
  }

  /** In the transaction in which it was proved who comes. */
  async arrive(tx: Tx, visitor: ClientInfo, person: users.UserRow, status = 200, origin?: Origin): Promise<SignInResult> {
    const now = this.#deps.clock.now()
    if (visitor.oldSecret) await sql.endByHash(tx, sha256(visitor.oldSecret))
    await users.noteAddress(tx, now, person.id, visitor.ip)
    if (visitor.language !== null) await users.setLanguage(tx, person.id, visitor.language)
    const started = await startSession(tx, now, person.id, visitor, origin)
    await this.#record(tx, visitor, person, status, [started.row.id])
    return { ...started, person }
  }

  async #record(tx: Tx, visitor: ClientInfo, person: users.UserRow, status: number, ids: string[] = []): Promise<void> {
    const accounts = await users.accountsOf(tx, person.id)
    for (const record of toUserAuditRecords(visitor, { ...person, accounts }, status, null, ids)) this.#deps.audit.recordSuccess(tx, record)
  }

  async noteRefusal(visitor: ClientInfo, person: users.UserRow, { status, code }: ApiError): Promise<void> {
    const accounts = await users.accountsOf(this.#deps.db, person.id)
    for (const record of toUserAuditRecords(visitor, { ...person, accounts }, status, code)) this.#deps.audit.recordDenied(record)
  }
}

const newPasswordOf = ({ ip }: ClientInfo): users.HashClient => ({ lane: 'newPassword', key: clientNetwork(ip) })

/** Records in the audit log that a recovery code was used instead of a TOTP code. */
export const withRecoveryCode = (visitor: ClientInfo): ClientInfo => ({
  ...visitor,
  operation: { ...visitor.operation, action: visitor.operation.action.replace(/(?=:|$)/, 'WithRecoveryCode') },
})

const wrong = (): ApiError => apiError('wrong_credentials', 'The e-mail address or the password is wrong')
