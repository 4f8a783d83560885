// OpenID Connect as a client: where to send a browser, and who came back. The authorization code flow with PKCE, state and nonce; the ID token's
// signature is verified although it comes from the provider itself.
import type { Configuration, ExportedJWKSCache, IDToken, ServerMetadata } from 'openid-client'
import { NAME_PATTERN } from '../../http/api/schema.ts'
import { isEmailAddress } from '../../kernel/net/email-address.ts'
import { boundedFetch, BoundedFetchError } from '../../kernel/net/bounded-fetch.ts'
import type { Vault } from '../../kernel/crypto.ts'
import { apiError, type ApiError } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import { LIMITS } from './provider-metadata.ts'
import type { ProviderRow } from './sql.ts'

const library = () => import('openid-client')

/** How long ago people may have proved themselves to the provider, where they were asked to do it anew. */
const FRESH_SECONDS = 300
const SCOPE = 'openid email profile'

export interface Attempt {
  verifier: string
  nonce: string
}

/** What the provider says of who came back. */
export interface Claims {
  subject: string
  /** Only one that the provider says is verified. */
  email: string | null
  name: string
  label: string
  /** Whether it says that they gave two factors. */
  saysTwoFactors: boolean
  /** How long before the ID token was made they proved themselves; null where it does not say. */
  ageSeconds: number | null
}

const contextOf = (id: string): string => `identity-provider:${id}`
export const sealSecret = (vault: Vault, id: string, secret: string): Buffer => vault.seal(secret, contextOf(id))

type ClientDeps = { vault: Vault; log: Log }

/** Keys of providers since they were last asked what they can do, so that they are not read at every sign-in. The library reads them again when
 *  one is missing or old. */
const keys = new Map<string, { since: number; cache: ExportedJWKSCache }>()

/** After a restore without the master key nobody can open it. */
function openSecret(vault: Vault, { id, title, client_secret }: ProviderRow): string {
  try {
    return vault.open(client_secret, contextOf(id))
  } catch {
    throw apiError('service_unavailable', `The operator must set the client secret of ${title} again. Until then, sign in in another way`)
  }
}

async function configure({ vault }: Pick<ClientDeps, 'vault'>, row: ProviderRow, fetchFrom = boundedFetch(LIMITS)): Promise<Configuration> {
  const client = await library()
  const metadata = row.metadata as ServerMetadata
  const secret = openSecret(vault, row)
  const methods = metadata.token_endpoint_auth_methods_supported
  const authentication =
    !methods || methods.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret)
  const config = new client.Configuration(metadata, row.client_id, {}, authentication)
  config[client.customFetch] = (url, options) => fetchFrom(url, options as RequestInit)
  config.timeout = LIMITS.timeoutMs / 1000
  client.enableNonRepudiationChecks(config)
  if (row.issuer.startsWith('http:')) client.allowInsecureRequests(config)
  const known = keys.get(row.id)
  if (known?.since === row.discovered_at.getTime()) client.setJwksCache(config, known.cache)
  return config
}

export const newAttempt = async (): Promise<Attempt> => {
  const client = await library()
  return { verifier: client.randomPKCECodeVerifier(), nonce: client.randomNonce() }
}

export interface Order {
  state: string
  redirectUri: string
  /** Whether they must prove themselves to the provider although they are signed in there. */
  isFresh: boolean
}

export async function authorizationUrl(
  deps: Pick<ClientDeps, 'vault'>,
  row: ProviderRow,
  { verifier, nonce }: Attempt,
  { state, redirectUri, isFresh }: Order,
): Promise<string> {
  const client = await library()
  const url = client.buildAuthorizationUrl(await configure(deps, row), {
    redirect_uri: redirectUri,
    scope: SCOPE,
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(isFresh && { prompt: 'login', max_age: '0' }),
  })
  return url.href
}

/** `response`: the query that the browser came back with. Throws what can be shown to whoever came back. */
export async function redeem(deps: ClientDeps, row: ProviderRow, attempt: Attempt, order: Order, response: string): Promise<Claims> {
  const client = await library()
  const failures: Error[] = []
  const inner = boundedFetch(LIMITS)
  const config = await configure(deps, row, (url, init) =>
    inner(url, init).catch((error: Error) => {
      failures.push(error)
      throw error
    }),
  )
  try {
    const url = new URL(order.redirectUri)
    url.search = new URLSearchParams(response).toString()
    const tokens = await client.authorizationCodeGrant(config, url, {
      expectedState: order.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.verifier,
      idTokenExpected: true,
      ...(order.isFresh && { maxAge: FRESH_SECONDS }),
    })
    const found = client.getJwksCache(config)
    if (found) keys.set(row.id, { since: row.discovered_at.getTime(), cache: found })
    const claims = tokens.claims()!
    const isTold = claims.email !== undefined || !config.serverMetadata().userinfo_endpoint
    const more = isTold ? {} : await client.fetchUserInfo(config, tokens.access_token, claims.sub)
    return toClaims(claims, more)
  } catch (error) {
    const [failure] = failures
    const fields = { ...describe(failure ?? error), provider: row.name }
    if (failure) deps.log.warn(fields, 'identity provider did not answer as it should; sign-in refused')
    else deps.log.info(fields, 'answer of identity provider was not accepted; sign-in refused')
    throw explain(client, row.title, failure ?? error)
  }
}

/** Errors of the library hold what was answered, which may be tokens. */
function describe(error: unknown): { reason: string; code: string | undefined } {
  const { message, code, error: answered } = error as Error & { code?: string; error?: unknown }
  return { reason: typeof answered === 'string' ? `${message}: ${answered.slice(0, 100)}` : message, code }
}

function explain(client: Awaited<ReturnType<typeof library>>, title: string, error: unknown): Error {
  if (error instanceof BoundedFetchError)
    return apiError(
      'service_unavailable',
      `${title} does not answer as it should at the moment: try again later, or sign in in another way`,
    )
  if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
    return identityRefused(`${title} says that you declined`)
  if (isOfOurClient(client, error)) return identityRefused(`${title} does not accept this site: the operator must check how it is set up`)
  return identityRefused(`What ${title} answered is not valid, or was used already. Begin again`)
}

/** With 401 the library tells of a challenge instead of the error. */
const isOfOurClient = (client: Awaited<ReturnType<typeof library>>, error: unknown): boolean =>
  error instanceof client.WWWAuthenticateChallengeError ||
  (error instanceof client.ResponseBodyError && ['invalid_client', 'unauthorized_client'].includes(error.error))

export const identityRefused = (message: string): ApiError => apiError('identity_refused', message)

/** All of it is text of others. How they proved themselves is believed of the signed token alone: what `more` tells, people may be able to edit there. */
function toClaims(claims: IDToken & Record<string, unknown>, more: Record<string, unknown>): Claims {
  const { sub, amr, acr, auth_time, iat } = claims
  const { email, email_verified } = claims['email'] === undefined ? more : claims
  const { name, preferred_username } = { ...more, ...claims }
  if (!isShort(sub, 255)) throw new Error('the subject of the ID token is not one')
  const address = isShort(email, 254) && isEmailAddress(email) ? email : null
  const shownName = isShort(name, 100) ? name : ''
  const isVerified = email_verified === true || email_verified === 'true' // some providers send texts
  return {
    subject: sub,
    email: isVerified ? address : null,
    name: shownName,
    label: address ?? (isShort(preferred_username, 254) ? preferred_username : shownName),
    saysTwoFactors: (Array.isArray(amr) && amr.includes('mfa')) || (typeof acr === 'string' && TWO_FACTORS.includes(acr)),
    ageSeconds: typeof auth_time === 'number' ? Math.max(0, Math.ceil(iat - auth_time)) : null,
  }
}

/** Values of `acr` that mean two factors wherever they are used. */
const TWO_FACTORS = ['http://schemas.openid.net/pape/policies/2007/06/multi-factor', 'https://refeds.org/profile/mfa']

const PLAIN = new RegExp(NAME_PATTERN, 'u')

const isShort = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most && PLAIN.test(value)
