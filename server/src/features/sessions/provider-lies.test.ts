// Sign-in against a provider, or somebody in its place, that answers what it must not.
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { browserOf } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { crookedProvider, offer } from '../../../test/openid-provider.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp({ environment: { BERTH_SIGN_UP: 'open' } })
const crooked = await crookedProvider()
afterAll(crooked.close)
const { lies } = crooked
await offer(app, crooked.issuer)

const PERSON = { email: 'eve@id.example', email_verified: true }
beforeEach(() => Object.assign(lies, { discovery: {}, claims: PERSON, signature: 'own', answers: {} }))

let addresses = 0
const arrival = () => browserOf(app, `10.12.${Math.floor(++addresses / 250)}.${addresses % 250}`)
const urlFor = async (browser: ReturnType<typeof arrival>) =>
  (await browser.post('/sign-in/with', { provider: 'real' })).body.data.url as string

async function come(change: Record<string, string | null> = {}) {
  const browser = arrival()
  const answer = await browser.post('/sign-in/with/complete', {
    provider: 'real',
    response: crooked.answerTo(await urlFor(browser), change),
  })
  return { ...answer, code: answer.headers['x-error-code'], browser }
}

async function expectRefused(code: string, change: Record<string, string | null> = {}) {
  const answer = await come(change)
  expect([answer.code, (await answer.browser.get('/session')).status]).toEqual([code, 401])
  expect(await app.db.many(sql`select from identities`)).toEqual([])
  return answer
}

const seconds = (ago: number): number => Math.floor(Date.now() / 1000) - ago

describe('an ID token', () => {
  test.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: 'somebody-else' }],
    ['several audiences of which another is authorized', { aud: ['berth', 'other'], azp: 'other' }],
    ['no audience', { aud: undefined }],
    ['another nonce', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['an end that is past', { iat: seconds(7200), exp: seconds(3600) }],
    ['no end', { exp: undefined }],
    ['no time', { iat: undefined }],
    ['a beginning to come', { nbf: seconds(-3600) }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject of several lines', { sub: 'a\nb' }],
    ['a subject that is endless', { sub: 'a'.repeat(256) }],
    ['a number as subject', { sub: 7 }],
  ])('with %s is refused', async (_, claims) => {
    lies.claims = { ...PERSON, ...claims }
    await expectRefused('identity_refused')
  })

  test.each(['other', 'none', 'secret'] as const)('with the signature %j is refused', async (signature) => {
    lies.signature = signature
    await expectRefused('identity_refused')
  })

  test('that is missing, or is no token, is refused', async () => {
    for (const more of [{}, { id_token: 'x' }, { id_token: 'a.b.c' }, { id_token: 7 }]) {
      lies.answers['/token'] = (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', ...more }))
      await expectRefused('identity_refused')
    }
  })
})

describe('a response', () => {
  test('of another issuer is refused, before its code is sent anywhere', async () => {
    const before = crooked.asked.length
    await expectRefused('identity_refused', { iss: 'https://evil.example' })
    expect(crooked.asked.slice(before)).toEqual([])
  })

  test('without the issuer is refused where the provider says that it sends one', async () => {
    const before = crooked.asked.length
    await expectRefused('identity_refused', { iss: null })
    expect(crooked.asked.slice(before)).toEqual([])
  })

  test('without a code is refused', async () => {
    await expectRefused('identity_refused', { code: null })
  })

  test('with a token of its own is refused', async () => {
    await expectRefused('identity_refused', { id_token: 'a.b.c' })
  })
})

describe('userinfo', () => {
  test('of somebody else is refused', async () => {
    lies.claims = { email: undefined }
    await app.db.run(sql`
      update identity_providers set metadata = metadata || ${JSON.stringify({ userinfo_endpoint: `${crooked.issuer}/userinfo` })}::jsonb`)
    lies.answers['/userinfo'] = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...PERSON, sub: 'mallory' }))
    await expectRefused('identity_refused')
    await app.db.run(sql`update identity_providers set metadata = metadata - 'userinfo_endpoint'`)
  })
})

describe('a provider that', () => {
  const AT_FAULT = 'service_unavailable'

  test.each(['/token', '/jwks'])('redirects from %s is not followed', async (path) => {
    let followed = 0
    lies.answers['/elsewhere'] = (response) => void (followed++, response.end('{}'))
    lies.answers[path] = (response) => response.writeHead(307, { location: `${crooked.issuer}/elsewhere` }).end()
    // Another key, so that the one of before is not used.
    await app.db.run(sql`update identity_providers set discovered_at = discovered_at + '1 s'::interval`)
    const answer = await expectRefused(AT_FAULT)
    expect([answer.status, answer.body.error, followed]).toEqual([
      503,
      expect.stringContaining('The real one does not answer as it should'),
      0,
    ])
  })

  test('answers 100 MB is not listened to', async () => {
    let sent = 0
    lies.answers['/token'] = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        if (response.destroyed) return
        sent += 65_536
        if (sent > 100 * 2 ** 20) response.end()
        else response.write(Buffer.alloc(65_536, ' '), more)
      }
      more()
    }
    await expectRefused(AT_FAULT)
    expect(sent).toBeLessThan(20 * 2 ** 20)
  })

  test('fails, closes the connection or speaks no JSON is reported as such', async () => {
    lies.answers['/token'] = (response) => response.writeHead(500).end()
    await expectRefused(AT_FAULT)
    lies.answers['/token'] = (response) => response.destroy()
    await expectRefused(AT_FAULT)
    lies.answers['/token'] = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    await expectRefused('identity_refused')
  })

  test('says nothing is given up after a time, meanwhile nobody waits for the database, and what was begun is used up', async () => {
    lies.answers['/token'] = () => {}
    const browser = arrival()
    const response = crooked.answerTo(await urlFor(browser))
    const complete = () => browser.post('/sign-in/with/complete', { provider: 'real', response })
    const slow = complete()
    await expect.poll(() => crooked.asked.at(-1), { timeout: 10_000 }).toBe('/token')
    const open = await app.db.many(sql`
      select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
    expect(open).toEqual([])
    const answer = await slow
    expect([answer.status, answer.headers['x-error-code']]).toEqual([503, AT_FAULT])
    expect((await complete()).headers['x-error-code']).toBe('link_gone')
  }, 30_000)

  test('does not know our client says nothing of it to whoever signs in, but that the operator must look', async () => {
    lies.answers['/token'] = (response) =>
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: 'invalid_client', error_description: 'no such secret' }))
    const { body } = await expectRefused('identity_refused')
    expect(body.error).toBe('The real one does not accept this site: the operator must check how it is set up')
  })

  test('is not there is reported as such', async () => {
    const gone = await crookedProvider()
    await offer(app, gone.issuer, 'gone')
    const browser = arrival()
    const { body } = await browser.post('/sign-in/with', { provider: 'gone' })
    const response = gone.answerTo(body.data.url as string)
    await gone.close()
    const answer = await browser.post('/sign-in/with/complete', { provider: 'gone', response })
    expect([answer.status, answer.headers['x-error-code']]).toEqual([503, AT_FAULT])
  })
})

describe('when all is right', () => {
  const sessionOf = async (id: string) =>
    app.db.one<{ age: number; second: boolean }>(sql`
      select extract(epoch from ${app.clock.now()}::timestamptz - authenticated_at)::float8 as age, has_second_factor as second
      from sessions where user_id = ${id} order by id desc limit 1`)

  test('the session counts as proved since when the provider says, and long ago where it says nothing', async () => {
    lies.claims = { ...PERSON, sub: 'first', email: 'first@id.example' }
    const first = await come()
    expect([first.status, (await sessionOf(first.body.data.user.id as string)).age > 1e9]).toEqual([201, true])
    const needs = await first.browser.post('/totp')
    expect(needs.headers['x-error-code']).toBe('reauthentication_required')
    lies.claims = { ...lies.claims, auth_time: seconds(100), iat: seconds(0) }
    const again = await come()
    expect((await sessionOf(again.body.data.user.id as string)).age).toBeCloseTo(100, 0)
    expect((await again.browser.post('/totp')).status).toBe(201)
  })

  test.each([
    [{ amr: ['pwd', 'mfa'] }, true],
    [{ acr: 'https://refeds.org/profile/mfa' }, true],
    [{ amr: ['pwd'] }, false],
    [{ amr: 'mfa' }, false],
    [{ acr: '1' }, false],
  ])('%o is two factors: %s', async (more, second) => {
    lies.claims = { ...PERSON, ...more, sub: `of ${JSON.stringify(more)}`, email: `p${++addresses}@id.example` }
    const { status, body } = await come()
    expect([status, (await sessionOf(body.data.user.id as string)).second]).toEqual([201, second])
  })

  test('userinfo, which nobody signs, says who they are and not how they proved it', async () => {
    lies.claims = { email: undefined, sub: 'told', iat: seconds(0) }
    await app.db.run(sql`
      update identity_providers set metadata = metadata || ${JSON.stringify({ userinfo_endpoint: `${crooked.issuer}/userinfo` })}::jsonb`)
    const told = { ...PERSON, sub: 'told', email: 'told@id.example', acr: 'https://refeds.org/profile/mfa', auth_time: seconds(0) }
    lies.answers['/userinfo'] = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told))
    const { status, body } = await come()
    await app.db.run(sql`update identity_providers set metadata = metadata - 'userinfo_endpoint'`)
    const { age, second } = await sessionOf(body.data.user.id as string)
    expect([status, body.data.user.email, age > 1e9, second]).toEqual([201, 'told@id.example', true, false])
  })

  test('a fraction of a second in auth_time is one', async () => {
    lies.claims = { ...PERSON, sub: 'fraction', email: 'fraction@id.example', auth_time: seconds(100) + 0.5, iat: seconds(0) }
    const { status, body } = await come()
    expect([status, Math.round((await sessionOf(body.data.user.id as string)).age)]).toEqual([201, 100])
  })

  test('names that would mislead are left out', async () => {
    lies.claims = { ...PERSON, sub: 'odd', email: 'odd@id.example', name: 'a\u202eb' }
    expect((await come()).body.data.user.name).toBe('')
  })
})

test('whoever returns with codes that they made up is stopped before the provider is asked without end', async () => {
  const browser = browserOf(app, '10.14.0.1')
  const returnWith = async () => {
    const response = crooked.answerTo(await urlFor(browser))
    return (await browser.post('/sign-in/with/complete', { provider: 'real', response })).headers['x-error-code']
  }
  lies.signature = 'other'
  const codes: unknown[] = []
  for (let i = 0; i < 52; i++) {
    if (i % 20 === 0) app.clock.advance('1m') // requests are limited too
    codes.push(await returnWith())
  }
  expect(codes).toEqual([...Array(50).fill('identity_refused'), 'rate_limited', 'rate_limited'])
  lies.signature = 'own'
  expect((await come()).code).toBeUndefined()
})
