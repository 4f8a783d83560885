// What a provider says of itself (OpenID Connect Discovery), and whether sign-in can rely on it.
import type { ServerMetadata } from 'openid-client'
import { boundedFetch, isLoopback } from '../../kernel/net/bounded-fetch.ts'
import { apiError, invalid, type ApiError } from '../../kernel/errors.ts'

export const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 }

/** Those by a key pair. A secret that both sides have proves less, and `none` proves nothing. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

export function readIssuer(text: string): URL {
  const url = URL.parse(text)
  if (!url?.hostname) throw invalid(`the issuer ${text} is not a URL`, 'issuer')
  if (url.username || url.password || url.search || url.hash || text.includes('?') || text.includes('#'))
    throw invalid('the issuer must hold no user name, query or fragment', 'issuer')
  if (!isSafe(url)) throw invalid('the issuer must begin with https://; http:// is for this machine itself only', 'issuer')
  return url
}

const isSafe = (url: URL): boolean => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))

/** Rejects with what is wrong, in words for the operator. */
export async function discover(issuer: string): Promise<ServerMetadata> {
  const server = readIssuer(issuer)
  const url = `${server.href.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await boundedFetch(LIMITS)(url, { headers: { accept: 'application/json' } }).catch((error: Error) => {
    throw unusable(`${url} cannot be read: ${error.message}`)
  })
  if (response.status !== 200) throw unusable(`${url} answered ${response.status}`)
  const found: unknown = await response.json().catch(() => null)
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw unusable(`${url} is not a JSON object`)
  return checked(found as Record<string, unknown>, issuer)
}

const USED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint']

/** What sign-in uses of it, and no more is kept. */
function checked(found: Record<string, unknown>, issuer: string): ServerMetadata {
  if (found['issuer'] !== issuer)
    throw unusable(`it names another issuer, ${JSON.stringify(found['issuer'])}: give exactly the one that it names, if it is yours`)
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) requireEndpoint(name, found[name], issuer)
  if (found['userinfo_endpoint'] !== undefined) requireEndpoint('userinfo_endpoint', found['userinfo_endpoint'], issuer)
  requireOneOf(found, 'response_types_supported', ['code'])
  requireOneOf(found, 'code_challenge_methods_supported', ['S256'])
  const methods = requireOneOf(found, 'token_endpoint_auth_methods_supported', ['client_secret_basic', 'client_secret_post'])
  const algorithms = requireOneOf(found, 'id_token_signing_alg_values_supported', ALGORITHMS)
  const used = Object.fromEntries(Object.entries(found).filter(([name]) => USED.includes(name)))
  return {
    ...used,
    issuer,
    ...(methods && { token_endpoint_auth_methods_supported: methods }),
    id_token_signing_alg_values_supported: algorithms ?? ['RS256'],
    authorization_response_iss_parameter_supported: found['authorization_response_iss_parameter_supported'] === true,
  }
}

/** Plain http only of a provider that is on this machine itself. */
function requireEndpoint(name: string, value: unknown, issuer: string): void {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (!url || !isSafe(url) || (url.protocol === 'http:' && issuer.startsWith('https:')))
    throw unusable(`its ${name} must begin with https://, and is ${JSON.stringify(value)}`)
}

/** Answers those of ours; a provider that says nothing of it is believed to do as the standard says. */
function requireOneOf(found: Record<string, unknown>, name: string, ours: string[]): string[] | undefined {
  const value = found[name]
  if (value === undefined) return undefined
  const common = Array.isArray(value) ? ours.filter((each) => value.includes(each)) : []
  if (common.length === 0) throw unusable(`its ${name} must hold one of ${ours.join(', ')}, and is ${JSON.stringify(value)}`)
  return common
}

const unusable = (reason: string): ApiError => apiError('incompatible', `The identity provider cannot be used: ${reason.slice(0, 500)}`)
