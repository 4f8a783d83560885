// Identities of a signed-in user. A flow belongs to the session that began it: what comes back in another, of whomever, links nothing.
import type { Principal } from '../../http/api/principal.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { ApiError, notFound } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import type { Identities, Identity, ReturnFromProvider } from '../identities/schema.ts'
import * as identities from '../identities/service.ts'
import * as users from '../users/service.ts'
import type { BeginReauthentication } from './schema.ts'
import { signedIn } from './service.ts'
import { rotateSession } from './session-lifecycle.ts'
import * as sql from './sql.ts'

const LINKS_PER_HOUR = 10

export async function listIdentities({ db }: Deps, { actorId }: Principal): Promise<Identities> {
  const linked = await identities.listIdentities(db, actorId)
  const user = await users.findUser(db, actorId)
  const offered = await identities.listOffered(db)
  return {
    identities: linked.map(identities.toIdentity),
    hasPassword: (user?.password_hash ?? null) !== null,
    canLink: offered.filter(({ name }) => !linked.some((each) => each.name === name)),
  }
}

type Kind = 'LINK' | 'REAUTHENTICATE'

const purposeOf = (principal: Principal, kind: Kind): identities.Purpose => ({
  kind,
  userId: principal.actorId,
  sessionId: signedIn(principal).sessionId,
})

/** Each sends a mail, and mails of all wait in one queue. */
export async function limitLinks(counters: Counters, { actorId }: Principal): Promise<void> {
  const { count, resetMs } = await counters.add(`identity-links:${actorId}`, 1, parseDurationMs('1h'))
  if (count <= LINKS_PER_HOUR) return
  const seconds = Math.max(1, Math.ceil(resetMs / 1000))
  throw new ApiError(
    'rate_limited',
    `Rate limit exceeded: ${LINKS_PER_HOUR} accounts are linked an hour at most. Try again later`,
    [],
    seconds,
  )
}

export const beginLink = (tx: Tx, deps: Deps, principal: Principal, provider: string, base: string): Promise<identities.Begun> =>
  identities.beginFlow(tx, deps, { provider, base, purpose: purposeOf(principal, 'LINK') })

/** Outside of the transaction, because the provider is asked. */
export const returned = (
  deps: Deps,
  principal: Principal,
  kind: Kind,
  given: ReturnFromProvider,
  browserSecret: string | undefined,
): Promise<identities.Returned> => identities.finishFlow(deps, given, browserSecret, purposeOf(principal, kind))

/** `base`: URL of the dashboard, for the mail. */
export async function link(
  tx: Tx,
  { clock }: Deps,
  principal: Principal,
  found: identities.Returned,
  base: string,
): Promise<{ identity: Identity; secret: string }> {
  const now = clock.now()
  await identities.holdProvider(tx, found)
  const user = await users.lockUser(tx, principal.actorId)
  const row = await identities.insertIdentity(tx, now, { returned: found, userId: user.id })
  const { name, title } = found.provider
  await identities.queueMail(tx, now, { kind: 'LINKED', userId: user.id, providerTitle: title, label: row.label, base })
  const { secret } = await rotate(tx, now, principal)
  return { identity: identities.toIdentity({ ...row, name, title }), secret }
}

/** The sessions that the identity began end with it, but the one that unlinks it. */
export async function unlink(
  tx: Tx,
  { clock }: Deps,
  principal: Principal,
  id: string,
  base: string,
): Promise<{ provider: string; secret: string }> {
  const now = clock.now()
  const user = await users.lockUser(tx, principal.actorId)
  await sql.forgetIdentity(tx, signedIn(principal).sessionId, id)
  const { name } = await identities.deleteIdentity(tx, now, user, id, base)
  return { provider: name, secret: (await rotate(tx, now, principal)).secret }
}

const rotate = (tx: Tx, now: Date, principal: Principal) => {
  const { sessionId, authenticatedAt } = signedIn(principal)
  return rotateSession(tx, now, sessionId, authenticatedAt)
}

/** The code of a second factor is given before the browser goes to the provider, which then proves the rest. */
export async function beginReauthenticate(
  tx: Tx,
  deps: Deps,
  principal: Principal,
  { provider, totp }: BeginReauthentication,
  base: string,
): Promise<identities.Begun & { withRecoveryCode: boolean }> {
  const user = await users.lockUser(tx, principal.actorId)
  if (!(await identities.listIdentities(tx, user.id)).some(({ name }) => name === provider)) throw notFound('Identity')
  const spent = user.totp_enabled_at && (await users.consumeCode(tx, deps.vault, deps.clock.now(), user, totp ?? ''))
  const begun = await identities.beginFlow(tx, deps, { provider, base, purpose: purposeOf(principal, 'REAUTHENTICATE') })
  return { ...begun, withRecoveryCode: spent === 'recovery' }
}

export async function reauthenticate(tx: Tx, { clock }: Deps, principal: Principal, found: identities.Returned): Promise<string> {
  const now = clock.now()
  const user = await users.lockUser(tx, principal.actorId)
  const { provider, claims } = found
  const identity = await identities.findIdentity(tx, provider.id, claims.subject)
  if (identity?.user_id !== user.id) throw identities.identityRefused(`This is not the account of ${provider.title} that you have linked`)
  await identities.useIdentity(tx, now, identity.id, claims.label)
  return (await rotateSession(tx, now, signedIn(principal).sessionId, now)).secret
}
