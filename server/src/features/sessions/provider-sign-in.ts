// Sign-in by an identity provider. Whoever it names signs in by the identity that is linked, never by an e-mail address: an address that
// somebody signs in with already is refused, until that person has linked the identity.
import type { Counters } from '../../kernel/database/window-counters.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/net/client-network.ts'
import type { Deps } from '../deps.ts'
import * as identities from '../identities/service.ts'
import type { SignInByProvider } from '../identities/schema.ts'
import { useInvitation } from '../members/service.ts'
import * as users from '../users/service.ts'
import { attemptLimits, withAttemptLimits } from './lockout.ts'
import type { Origin } from './session-lifecycle.ts'
import { withRecoveryCode, type ClientInfo, type SignInResult, type SignInService } from './sign-in.ts'
import { limitSignUps } from './sign-up.ts'

/** Signed in, or the code of a second factor is owed, by whoever has the secret in the cookie. */
export type ProviderSignIn = (SignInResult & { isNew: boolean }) | { awaitsCode: string }

export class ProviderSignInService {
  readonly #deps: Deps
  readonly #counters: Counters
  readonly #desk: SignInService

  constructor(deps: Deps, counters: Counters, desk: SignInService) {
    this.#deps = deps
    this.#counters = counters
    this.#desk = desk
  }

  begin = (provider: string, base: string): Promise<identities.Begun> =>
    identities.beginFlow(this.#deps.db, this.#deps, { provider, base, purpose: { kind: 'SIGN_IN' } })

  async signIn(
    visitor: ClientInfo,
    browserSecret: string | undefined,
    { invitation, ...given }: SignInByProvider,
  ): Promise<ProviderSignIn> {
    const { db } = this.#deps
    const finish = () => identities.finishFlow(this.#deps, given, browserSecret, { kind: 'SIGN_IN' })
    const returned = await withAttemptLimits(this.#counters, [attemptLimits.returnAt(visitor.ip)], finish)
    const { provider, claims, hasSecondFactor } = returned
    const named = by(visitor, provider.name)
    const identity = await identities.findIdentity(db, provider.id, claims.subject)
    if (!identity) return { ...(await this.#welcome(named, returned, invitation)), isNew: true }
    const person = await users.findUser(db, identity.user_id)
    if (person?.totp_enabled_at && !hasSecondFactor) return { awaitsCode: await identities.awaitCode(this.#deps, returned, identity) }
    const enter = async (tx: Tx): Promise<SignInResult> => {
      const origin = originOf(this.#deps, await identities.holdProvider(tx, returned), identity.id)
      return this.#enter(tx, named, identity, origin, claims.label)
    }
    return { ...(await db.tx(enter)), isNew: false }
  }

  /** Locks the person first, as unlinking does. */
  async #enter(
    tx: Tx,
    visitor: ClientInfo,
    { id, user_id }: Pick<identities.IdentityRow, 'id' | 'user_id'>,
    origin: Origin,
    label?: string,
    totp?: string,
  ): Promise<SignInResult> {
    const { clock, vault } = this.#deps
    const person = await users.lockUser(tx, user_id)
    await identities.useIdentity(tx, clock.now(), id, label)
    const mustProve = person.totp_enabled_at && !origin.hasSecondFactor
    const spent = mustProve && (await users.consumeCode(tx, vault, clock.now(), person, totp ?? ''))
    return this.#desk.arrive(tx, spent === 'recovery' ? withRecoveryCode(visitor) : visitor, person, 200, origin)
  }

  /** The code of the second factor, after the provider. */
  async complete(visitor: ClientInfo, browserSecret: string | undefined, totp: string): Promise<SignInResult> {
    const { db } = this.#deps
    const flow = await identities.requireCodeFlow(this.#deps, browserSecret)
    const named = by(visitor, flow.provider.name)
    const origin = { identityId: flow.identity_id, hasSecondFactor: false, authenticatedAt: flow.authenticated_at }
    const person = await users.findUser(db, flow.user_id)
    const signIn = person && (await users.findSignIn(db, person.email, visitor.ip))
    const isAtHome = signIn?.is_known_address === true
    const limit = isAtHome ? attemptLimits.codeAt(flow.user_id, clientNetwork(visitor.ip)) : attemptLimits.code(flow.user_id)
    const enter = () =>
      db.tx(async (tx) => {
        const result = await this.#enter(tx, named, { id: flow.identity_id, user_id: flow.user_id }, origin, undefined, totp)
        await identities.useCodeFlow(tx, flow.id)
        return result
      })
    try {
      return await withAttemptLimits(this.#counters, [limit], enter)
    } catch (error) {
      if (error instanceof ApiError && person) await this.#desk.noteRefusal(named, person, error)
      throw error
    }
  }

  /** Somebody whom nobody knows here. */
  async #welcome(visitor: ClientInfo, returned: identities.Returned, invitation: string | undefined): Promise<SignInResult> {
    const { db, clock } = this.#deps
    const { provider, claims } = returned
    const { email, name } = claims
    if (email === null)
      throw identities.identityRefused(
        `Nobody signs in here with this account of ${provider.title}, and it does not say that your e-mail address is verified. If you have an account here, sign in with the password and link it under Security in the settings`,
      )
    const known = await users.findByEmail(db, email)
    if (known) {
      const refusal = identities.identityRefused(
        `Somebody signs in with ${email} already. If it is you, sign in with the password first, and link ${provider.title} under Security in the settings`,
      )
      await this.#desk.noteRefusal(visitor, known, refusal)
      throw refusal
    }
    if (invitation === undefined) this.#desk.requireOpenSignUp()
    await limitSignUps(this.#counters, visitor.ip)
    return db.tx(async (tx) => {
      const now = clock.now()
      const held = await identities.holdProvider(tx, returned)
      const user = { name, passwordHash: null }
      const register = (invited: string) => users.register(tx, now, { ...user, email: invited })
      const person =
        invitation === undefined
          ? await users.signUp(tx, now, { ...user, email })
          : (await useInvitation(tx, now, invitation, { isSignUpOpen: false, provenEmail: email, register })).user
      const identity = await identities.insertIdentity(tx, now, { returned, userId: person.id })
      return this.#desk.arrive(tx, visitor, person, 201, originOf(this.#deps, held, identity.id))
    })
  }
}

const originOf = ({ clock }: Pick<Deps, 'clock'>, { claims, hasSecondFactor }: identities.Returned, identityId: string): Origin => ({
  identityId,
  hasSecondFactor,
  authenticatedAt: identities.provedAt(clock.now(), claims),
})

/** The audit log says by which provider. */
const by = (visitor: ClientInfo, provider: string): ClientInfo => ({
  ...visitor,
  operation: { ...visitor.operation, action: `${visitor.operation.action}:${provider}` },
})
