// Identities: what a person is called by a provider, by which the person signs in. A flow leads to the provider and back: it is stored, because
// any process may see the browser return, used once, and bound to the browser, the provider and the purpose for which it was begun.
import { addDuration, subtractDuration, type Clock } from '../../kernel/clock.ts'
import { isWellFormedToken, newToken, sha256, type Vault } from '../../kernel/crypto.ts'
import type { Db, Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound, type ApiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import { queueMail } from './mails.ts'
import { authorizationUrl, newAttempt, redeem, type Attempt, type Claims } from './provider-client.ts'
import * as sql from './sql.ts'

export { identityRefused, type Claims } from './provider-client.ts'
export { addProvider, changeProvider, removeProvider } from './providers.ts'
export { queueMail } from './mails.ts'
export { toIdentity } from './view.ts'
export { findIdentity, listIdentities, listLinked, listOffered, listProviders, type IdentityRow, type ProviderRow } from './sql.ts'

const LIFE = '10m'
const BROWSER_PREFIX = 'idp_'
const STATE_PREFIX = 'ist_'

type FlowDeps = { db: Db; clock: Clock; vault: Vault; log: Log }

export async function findProvider(db: Queries, name: string): Promise<sql.ProviderRow> {
  const provider = await sql.findProvider(db, name)
  if (!provider) throw notFound('Identity provider')
  return provider
}

export type Purpose = { kind: 'SIGN_IN' } | { kind: 'LINK' | 'REAUTHENTICATE'; userId: string; sessionId: string }

export interface Begun {
  url: string
  /** For the cookie of the browser. */
  browserSecret: string
}

const whoOf = (purpose: Purpose) =>
  purpose.kind === 'SIGN_IN' ? { userId: null, sessionId: null } : { userId: purpose.userId, sessionId: purpose.sessionId }

const contextOf = (id: string): string => `identity-flow:${id}`
const isFresh = ({ kind }: Purpose): boolean => kind === 'REAUTHENTICATE'

/** `base`: URL of the dashboard. A path for each provider, so that the answer of one cannot be taken for that of another. */
export async function beginFlow(
  db: Queries,
  { clock, vault }: Pick<FlowDeps, 'clock' | 'vault'>,
  { provider: name, base, purpose }: { provider: string; base: string; purpose: Purpose },
): Promise<Begun> {
  const provider = await findProvider(db, name)
  const now = clock.now()
  const [id, state, browserSecret] = [newId(), newToken(STATE_PREFIX), newToken(BROWSER_PREFIX)]
  const redirectUri = `${base}/sign-in/with/${provider.name}`
  const attempt = await newAttempt()
  const { userId, sessionId } = whoOf(purpose)
  const isStored = await sql.insertFlow(db, {
    id,
    kind: purpose.kind,
    provider_id: provider.id,
    state_hash: sha256(state),
    browser_hash: sha256(browserSecret),
    secret: vault.seal(JSON.stringify(attempt), contextOf(id)),
    redirect_uri: redirectUri,
    user_id: userId,
    session_id: sessionId,
    identity_id: null,
    authenticated_at: null,
    created_at: now,
    expires_at: addDuration(now, LIFE),
  })
  if (isStored === 0) throw notFound('Identity provider')
  return { url: await authorizationUrl({ vault }, provider, attempt, { state, redirectUri, isFresh: isFresh(purpose) }), browserSecret }
}

export interface Returned {
  provider: sql.ProviderRow
  claims: Claims
  /** Whether they gave two factors there. */
  hasSecondFactor: boolean
}

/** Holds no transaction, because the provider is asked. The flow is used up whatever comes of it. */
export async function finishFlow(
  deps: FlowDeps,
  { provider: name, response }: { provider: string; response: string },
  browserSecret: string | undefined,
  purpose: Purpose,
): Promise<Returned> {
  const { db, clock, vault } = deps
  const provider = await findProvider(db, name)
  const state = new URLSearchParams(response).get('state') ?? ''
  if (!isWellFormedToken(STATE_PREFIX, state) || !isWellFormedToken(BROWSER_PREFIX, browserSecret ?? '')) throw flowGone()
  const flow = await sql.takeFlow(db, clock.now(), {
    kind: purpose.kind,
    providerId: provider.id,
    stateHash: sha256(state),
    browserHash: sha256(browserSecret!),
    ...whoOf(purpose),
  })
  if (!flow) throw flowGone()
  const attempt = JSON.parse(vault.open(flow.secret, contextOf(flow.id))) as Attempt
  const order = { state, redirectUri: flow.redirect_uri, isFresh: isFresh(purpose) }
  const claims = await redeem(deps, provider, attempt, order, response)
  return { provider, claims, hasSecondFactor: provider.is_second_factor || claims.saysTwoFactors }
}

const flowGone = (): ApiError =>
  apiError('link_gone', 'This was begun in another browser or session, more than 10 minutes ago, or was used already. Begin again')

/** When the person last proved themselves; long ago where the provider does not say. */
export const provedAt = (now: Date, { ageSeconds }: Claims): Date =>
  ageSeconds === null ? new Date(0) : subtractDuration(now, `${Math.min(ageSeconds, 1e9)}s`)

/** For somebody whom the provider has proved, and who owes the code of their second factor. Answers the secret for the cookie. */
export async function awaitCode(
  { db, clock }: Pick<FlowDeps, 'db' | 'clock'>,
  { claims }: Returned,
  { id, provider_id, user_id }: sql.IdentityRow,
): Promise<string> {
  const now = clock.now()
  const browserSecret = newToken(BROWSER_PREFIX)
  await sql.insertFlow(db, {
    id: newId(),
    kind: 'CODE',
    provider_id,
    state_hash: null,
    browser_hash: sha256(browserSecret),
    secret: null,
    redirect_uri: '',
    user_id,
    session_id: null,
    identity_id: id,
    authenticated_at: provedAt(now, claims),
    created_at: now,
    expires_at: addDuration(now, LIFE),
  })
  return browserSecret
}

export async function requireCodeFlow({ db, clock }: Pick<FlowDeps, 'db' | 'clock'>, browserSecret: string | undefined) {
  const isPossible = isWellFormedToken(BROWSER_PREFIX, browserSecret ?? '')
  const flow = isPossible ? await sql.findCodeFlow(db, clock.now(), sha256(browserSecret!)) : undefined
  if (!flow) throw flowGone()
  return { ...flow, provider: await sql.getProvider(db, flow.provider_id) }
}

/** In the transaction that lets the person in. */
export async function useCodeFlow(tx: Tx, id: string): Promise<void> {
  if ((await sql.takeCodeFlow(tx, id)) === 0) throw flowGone()
}

/** In the transaction that lets the person in: it may have been unlinked meanwhile. */
export async function useIdentity(tx: Tx, now: Date, id: string, label?: string): Promise<sql.IdentityRow> {
  const identity = await sql.holdIdentity(tx, id)
  if (!identity) throw apiError('identity_refused', 'This account was unlinked just now')
  await sql.noteUse(tx, id, now, label ?? identity.label)
  return identity
}

/** Before a person is locked: who changes or removes a provider locks it first, and then its people. It may have changed while it was asked. */
export async function holdProvider(tx: Tx, returned: Returned): Promise<Returned> {
  const provider = await sql.holdProvider(tx, returned.provider.id)
  if (!provider) throw notFound('Identity provider')
  return { ...returned, hasSecondFactor: provider.is_second_factor || returned.claims.saysTwoFactors }
}

interface NewIdentity {
  returned: Returned
  userId: string
}

/** The provider is held, and the row of the person is locked. */
export async function insertIdentity(tx: Tx, now: Date, { returned: { provider, claims }, userId }: NewIdentity): Promise<sql.IdentityRow> {
  const { subject, label } = claims
  const row = { id: newId(), provider_id: provider.id, subject, user_id: userId, label, created_at: now, last_used_at: now }
  if ((await sql.insertIdentity(tx, row)) === 1) return row
  const other = await sql.findIdentity(tx, provider.id, subject)
  if (other && other.user_id !== userId)
    throw apiError('already_exists', `This account of ${provider.title} signs in somebody else here: unlink it there first`)
  throw apiError('already_exists', `An account of ${provider.title} is linked already: unlink it to link another`)
}

/** The row of the person is locked, so of two that are unlinked at once one stays where there is no other way in. */
export async function deleteIdentity(
  tx: Tx,
  now: Date,
  user: { id: string; password_hash: string | null },
  id: string,
  base: string,
): Promise<sql.ListedIdentity> {
  const all = await sql.listIdentities(tx, user.id)
  const found = all.find((each) => each.id === id)
  if (!found) throw notFound('Identity')
  if (user.password_hash === null && all.length === 1)
    throw apiError('invalid_state', 'This is the only way you can sign in: set a password first, by the link for a forgotten one')
  await unlink(tx, now, found, base)
  return found
}

async function unlink(tx: Tx, now: Date, { id, user_id, title, label }: sql.ListedIdentity, base: string): Promise<void> {
  await sql.deleteIdentity(tx, id)
  await queueMail(tx, now, { kind: 'UNLINKED', userId: user_id, providerTitle: title, label, base })
}

/** By the operator: also of somebody who has no other way in. The row of the person is locked. */
export async function deleteIdentitiesOf(tx: Tx, now: Date, userId: string, base: string): Promise<void> {
  for (const each of await sql.listIdentities(tx, userId)) await unlink(tx, now, each, base)
}
