import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { crookedProvider, offer } from '../../../test/openid-provider.ts'
import { sql } from '../../kernel/database/db.ts'
import { refreshProviders } from './refresh.reconciler.ts'

const app = await testApp()
const crooked = await crookedProvider()
afterAll(crooked.close)
const { lies } = crooked
beforeEach(() => Object.assign(lies, { discovery: {}, answers: {} }))
const DOCUMENT = '/.well-known/openid-configuration'
const stored = () =>
  app.db.many<{ name: string; discovery_error: string | null; metadata: Record<string, unknown> }>(
    sql`select name, discovery_error, metadata from identity_providers order by name`,
  )

describe('a provider is refused', () => {
  const refused = async (issuer = crooked.issuer, change = {}) => {
    const error = await offer(app, issuer, 'staff', change).then(
      () => null,
      (reason: Error) => reason.message,
    )
    expect(await stored()).toEqual([])
    return error
  }

  test.each([
    ['another issuer', { issuer: 'https://evil.example' }, /it names another issuer, "https:\/\/evil.example"/],
    ['no issuer', { issuer: undefined }, /it names another issuer/],
    ['an endpoint without TLS', { token_endpoint: 'http://id.example/token' }, /its token_endpoint must begin with https/],
    ['an endpoint that is no URL', { authorization_endpoint: 'javascript:alert(1)' }, /its authorization_endpoint must begin with https/],
    ['no keys', { jwks_uri: undefined }, /its jwks_uri must begin with https/],
    ['a userinfo endpoint that is none', { userinfo_endpoint: 'file:///etc/passwd' }, /its userinfo_endpoint must begin with https/],
    ['only other flows', { response_types_supported: ['id_token'] }, /response_types_supported must hold one of code/],
    ['PKCE in the clear only', { code_challenge_methods_supported: ['plain'] }, /must hold one of S256/],
    ['unsigned tokens only', { id_token_signing_alg_values_supported: ['none', 'HS256'] }, /must hold one of RS256/],
    ['other ways for clients only', { token_endpoint_auth_methods_supported: ['private_key_jwt'] }, /client_secret_basic/],
  ])('that says it has %s', async (_, discovery, message) => {
    lies.discovery = discovery
    expect(await refused()).toMatch(message)
  })

  test.each([
    'id.example',
    'http://id.example',
    'http://127.0.0.1.evil.example',
    'ftp://id.example',
    'https://user:password@id.example',
    'https://id.example/?a=1',
    'https://id.example/#x',
    'javascript:alert(1)',
    '',
  ])('at %j', async (issuer) => {
    expect(await refused(issuer)).toMatch(/^Validation failed: the issuer/)
  })

  test.each([
    ['redirects', (response) => response.writeHead(302, { location: '/elsewhere' }).end(), /it redirects \(302\), which is not followed/],
    ['answers with an error', (response) => response.writeHead(404).end(), /answered 404/],
    ['answers with a page', (response) => response.end('<html>'), /is not a JSON object/],
    ['answers with a list', (response) => response.end('[]'), /is not a JSON object/],
    ['closes the connection', (response) => response.destroy(), /cannot be read/],
    [
      'answers 100 MB',
      (response) => {
        let sent = 0
        const more = (): void =>
          void (response.destroyed || (sent += 65_536) > 100 * 2 ** 20 || response.write(Buffer.alloc(65_536, ' '), more))
        more()
      },
      /it answered more than 1024 KiB/,
    ],
  ] as [string, (typeof lies.answers)[string], RegExp][])('that %s', async (_, answer, message) => {
    lies.answers[DOCUMENT] = answer
    expect(await refused()).toMatch(message)
  })

  test('that is not there', async () => {
    const gone = await crookedProvider()
    await gone.close()
    expect(await refused(gone.issuer)).toMatch(/cannot be read: .*ECONNREFUSED/)
  })

  test.each([{ name: 'Staff' }, { name: '../x' }, { title: '' }, { title: 'a\nb' }, { clientId: '' }, { clientSecret: '' }])(
    'with %o',
    async (change) => {
      expect(await refused(crooked.issuer, change)).toMatch(/^Validation failed/)
    },
  )
})

describe('a provider', () => {
  test('is stored once, its secret sealed, and without algorithms that prove nothing', async () => {
    await offer(app, crooked.issuer, 'staff')
    const [row] = await app.db.many<{ row: string }>(sql`select p::text as row from identity_providers p`)
    for (const form of ['a secret between', Buffer.from('a secret between').toString('hex')]) expect(row!.row).not.toContain(form)
    expect((await stored())[0]!.metadata['id_token_signing_alg_values_supported']).toEqual(['RS256'])
    await expect(offer(app, crooked.issuer, 'staff', { clientId: 'other' })).rejects.toThrow('There is an identity provider staff already')
    await expect(offer(app, crooked.issuer, 'other')).rejects.toThrow('or one with this issuer and client')
  })

  test('is asked again; while its answer cannot be used, the one before is', async () => {
    const before = (await stored())[0]!.metadata
    lies.discovery = { issuer: 'https://evil.example' }
    await refreshProviders.runOnce(app.deps)
    expect(await stored()).toMatchObject([{ metadata: before, discovery_error: expect.stringContaining('names another issuer') }])
    lies.discovery = { userinfo_endpoint: `${crooked.issuer}/userinfo` }
    await refreshProviders.runOnce(app.deps)
    expect(await stored()).toMatchObject([{ metadata: { ...before, ...lies.discovery }, discovery_error: null }])
  })
})
