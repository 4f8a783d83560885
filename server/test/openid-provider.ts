// OpenID Connect providers: the certified one of npm, and one that answers as a test wants, to be caught lying.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose'
import { Provider } from 'oidc-provider'
import { addProvider, type NewProvider } from '../src/features/identities/providers.ts'
import { newId } from '../src/kernel/ids.ts'
import type { TestApp } from './harness.ts'

export const CLIENT = { clientId: 'berth', clientSecret: 'a secret between the two of us' }

async function listening(server: Server, host = '127.0.0.1'): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

function closer(server: Server) {
  return async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
}

interface Person {
  email?: string
  email_verified?: boolean
  name?: string
}

/** Offered by name in the product. `origin`: of the dashboard. */
export interface RealProvider {
  issuer: string
  /** By the login that they give there. */
  people: Map<string, Person>
  /** Signs in there as a browser does, with the cookies of `jar`; answers the query that it is sent back with. */
  visit(url: string, login: string, jar?: Map<string, string>): Promise<string>
  close(): Promise<void>
}

/** `oidc-provider` behind a real HTTP server. Whoever gives a login there is that person; any password will do.
 *  `names`: by which the product offers it. For the first its client is `CLIENT`, for others one with the name for its id. */
export async function realProvider({ origin = 'http://localhost', names = ['real'], host = '127.0.0.1' } = {}): Promise<RealProvider> {
  let handle: RequestListener = () => {}
  const server = createServer((request, response) => handle(request, response))
  const issuer = await listening(server, host)
  const people = new Map<string, Person>()
  const provider = new Provider(issuer, {
    clients: names.map((name, i) => ({
      client_id: i === 0 ? CLIENT.clientId : name,
      client_secret: CLIENT.clientSecret,
      redirect_uris: [`${origin}/sign-in/with/${name}`],
    })),
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    cookies: { keys: [newId()] },
    findAccount: (_, login) => ({ accountId: login, claims: () => ({ sub: login, ...people.get(login) }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.session!.accountId!, clientId: oidc.client!.clientId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const callback = provider.callback()
  handle = (request, response) => void callback(request, response)
  const visit = async (url: string, login: string, jar = new Map<string, string>()): Promise<string> => {
    let next = url
    let form: URLSearchParams | undefined
    for (let hops = 0; hops < 12; hops++) {
      const cookie = [...jar].map((each) => each.join('=')).join('; ')
      const response = await fetch(next, { redirect: 'manual', headers: { cookie }, ...(form && { method: 'POST', body: form }) })
      for (const given of response.headers.getSetCookie()) {
        const [name = '', value = ''] = given.split(';')[0]!.split(/=(.*)/s)
        jar.set(name, value)
      }
      const page = await response.text()
      const location = response.headers.get('location')
      if (location) {
        next = new URL(location, next).href
        form = undefined
        if (next.startsWith(`${origin}/`)) return new URL(next).search.slice(1)
      } else {
        const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
        if (!action) throw new Error(`${response.status} at ${next}: ${page.slice(0, 500)}`)
        next = new URL(action, next).href
        form = new URLSearchParams({ prompt: 'login', login, password: 'any' })
      }
    }
    throw new Error('the provider sends in circles')
  }
  return { issuer, people, visit, close: closer(server) }
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

/** Answers rightly, except for what a test overrides. */
export async function crookedProvider() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const others = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const lies = {
    discovery: {} as Record<string, unknown>,
    claims: {} as Record<string, unknown>,
    /** Signs the ID token: rightly, by another key under the same name, or not at all. */
    signature: 'own' as 'own' | 'other' | 'none' | 'secret',
    /** Instead of an answer, by path. */
    answers: {} as Record<string, Answer>,
  }
  let nonce = ''
  const asked: string[] = []
  const idToken = async (): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, aud: CLIENT.clientId, sub: 'eve', iat: now, exp: now + 300, nonce, ...lies.claims }
    const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)) as JWTPayload
    if (lies.signature === 'none') return new UnsecuredJWT(payload).encode()
    if (lies.signature === 'secret')
      return new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.clientSecret.padEnd(32, ' ')))
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(lies.signature === 'own' ? privateKey : others.privateKey)
  }
  const server = createServer((request, response) => {
    const path = request.url!.split('?')[0]!
    asked.push(path)
    const answer = lies.answers[path]
    if (answer) return answer(response, request)
    if (path === '/.well-known/openid-configuration') return json(response, { ...discovery, ...lies.discovery })
    if (path === '/jwks') return json(response, { keys: [jwk] })
    if (path === '/userinfo') return json(response, { sub: 'eve', ...lies.claims })
    if (path !== '/token') return json(response, { error: 'not_found' }, 404)
    void text(request).then(async () => json(response, { access_token: 'a', token_type: 'Bearer', id_token: await idToken() }))
  })
  const issuer = await listening(server)
  const discovery = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    authorization_response_iss_parameter_supported: true,
  }
  return {
    issuer,
    lies,
    asked,
    /** The query that the browser is sent back with. */
    answerTo(url: string, change: Record<string, string | null> = {}): string {
      const asks = new URL(url).searchParams
      nonce = asks.get('nonce')!
      const response = { code: newId(), state: asks.get('state'), iss: issuer, ...change }
      return new URLSearchParams(Object.entries(response).filter((each): each is [string, string] => each[1] !== null)).toString()
    },
    close: closer(server),
  }
}

/** Adds a provider to the product. */
export const offer = ({ db, deps, clock }: TestApp, issuer: string, name = 'real', change: Partial<NewProvider> = {}) =>
  addProvider(
    { db, vault: deps.vault, now: clock.now() },
    { name, title: `The ${name} one`, issuer, ...CLIENT, isSecondFactor: false, ...change },
  )
