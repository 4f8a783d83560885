import { describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, givenUser, OWN_PAGE, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { SCOPES } from '../accounts/service.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
let addresses = 0
/** A new IP address per call, so that no test locks out another. */
const somewhere = (): string => `10.9.${Math.floor(++addresses / 250)}.${addresses % 250}`

describe('POST /sign-in', () => {
  test('starts a session of the user', async () => {
    const { email, id, accountId } = await givenUser(app)
    const browser = browserOf(app)
    const { status, body, headers } = await browser.signIn(email.toUpperCase())
    expect(status).toBe(200)
    expect(body.data).toEqual({
      user: { id, email, name: 'Ada', isOperator: false, totpEnabled: false },
      account: { id: accountId, name: 'Ada', role: 'owner', scopes: SCOPES, requireTwoFactor: false, isProject: false, budget: null },
      accounts: [{ id: accountId, name: 'Ada', isProject: false, role: 'owner' }],
      settings: { signUpOpen: false, depositsOpen: false, currency: 'USD', version: expect.stringMatching(/^\d/) },
      visit: null,
      reauthenticatedAt: app.clock.now().toISOString(),
      expiresAt: new Date(app.clock.now().getTime() + 14 * 86_400_000).toISOString(),
    })
    expect(headers['set-cookie']).toMatch(/^berth=ses_\w{46}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/)
    expect(headers['cache-control']).toBe('no-store')
    expect((await browser.get('/session')).body.data).toEqual(body.data)
  })

  test('stores no session secret in plain text', async () => {
    const browser = await givenBrowser(app)
    const secret = browser.cookie()!.split('=')[1]!
    const rows = await app.db.many<{ row: string }>(sql`
      select s::text as row from sessions s union all select p::text from users p union all select a::text from audit_log a`)
    expect(rows.map(({ row }) => row).join()).not.toContain(secret)
    expect(rows.map(({ row }) => row).join()).not.toContain(PASSWORD)
  })

  test('over https uses a cookie that no other host can set', async () => {
    const secure = await testApp({ environment: { BERTH_PUBLIC_URL: 'https://cloud.example.com' } })
    const { email } = await givenUser(secure)
    const page = { host: 'cloud.example.com', origin: 'https://cloud.example.com' }
    const { headers } = await secure.request('POST', '/api/dashboard/sign-in', { body: { email, password: PASSWORD }, headers: page })
    expect(headers['set-cookie']).toMatch(/^__Host-berth=ses_\w+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/)
    const cookie = headers['set-cookie']!.split(';')[0]!
    expect((await secure.request('GET', '/api/dashboard/session', { headers: { cookie } })).status).toBe(200)
    const renamed = cookie.replace('__Host-', '')
    expect((await secure.request('GET', '/api/dashboard/session', { headers: { cookie: renamed } })).status).toBe(401)
  })

  test('is rejected over plain http from other machines', async () => {
    const { email } = await givenUser(app)
    const headers = { host: 'cloud.example.com', origin: 'http://cloud.example.com' }
    const answer = await app.request('POST', '/api/dashboard/sign-in', { body: { email, password: PASSWORD }, headers })
    expect([answer.status, answer.headers['x-error-code']]).toEqual([403, 'https_required'])
  })

  test.each([
    ['a wrong password', { password: 'wrong' }],
    ['an unknown person', { email: 'nobody@example.com' }],
    ['nobody at all', { email: '' }],
  ])('answers %s the same', async (_, change) => {
    const { email } = await givenUser(app)
    const browser = browserOf(app, somewhere())
    const { status, body, headers } = await browser.post('/sign-in', { email, password: PASSWORD, ...change })
    expect([status, headers['x-error-code'], body.error]).toEqual([401, 'wrong_credentials', 'The e-mail address or the password is wrong'])
    expect(headers).not.toHaveProperty('set-cookie')
  })

  test('is rejected for a user without a password', async () => {
    const { email, id } = await givenUser(app)
    await app.db.run(sql`update users set password_hash = null where id = ${id}`)
    expect((await browserOf(app, somewhere()).signIn(email)).status).toBe(401)
  })

  test('never continues an existing session (session fixation): it has a new id, and the old session ends', async () => {
    const attacker = await givenBrowser(app)
    const planted = attacker.cookie()!
    const victim = browserOf(app)
    victim.keep(planted)
    const { email } = await givenUser(app)
    await victim.signIn(email)
    expect(victim.cookie()).not.toBe(planted)
    expect((await victim.get('/session')).body.data.user.email).toBe(email)
    expect((await attacker.get('/session')).status).toBe(401)
    victim.keep('berth=ses_chosenbyme')
    await victim.signIn(email)
    expect(victim.cookie()).toMatch(/^berth=ses_\w{46}$/)
  })

  test('is recorded in the audit log, with rejected attempts', async () => {
    const { email, id } = await givenUser(app)
    const browser = browserOf(app, somewhere())
    await browser.signIn(email, 'wrong')
    app.clock.advance('1s')
    await browser.signIn(email)
    await app.deps.audit.sweep()
    const { body } = await browser.get('/v1/audit-log')
    const actor = { type: 'person', id, name: email }
    expect(body.data).toMatchObject([
      { action: 'signIn', actor, result: 'succeeded', status: 200 },
      { action: 'signIn', actor, result: 'refused', status: 401, errorCode: 'wrong_credentials' },
    ])
  })
})

describe('fifty wrong passwords', () => {
  const wrongFrom = async (email: string, address: string, times: number): Promise<number[]> => {
    const browser = browserOf(app, address)
    const statuses: number[] = []
    for (let i = 0; i < times; i++) statuses.push((await browser.signIn(email, 'wrong')).status)
    return statuses
  }

  test('from one address are stopped at ten, even with the right one, and reset after 15 minutes', async () => {
    const { email } = await givenUser(app)
    const address = somewhere()
    expect(await wrongFrom(email, address, 50)).toEqual([...Array(10).fill(401), ...Array(40).fill(429)])
    const stopped = await browserOf(app, address).signIn(email)
    expect([stopped.status, stopped.headers['x-error-code'], stopped.body.error]).toEqual([
      429,
      'rate_limited',
      'Too many wrong attempts: try again in 15 minutes, or reset the password',
    ])
    expect(Number(stopped.headers['retry-after'])).toBe(900)
    app.clock.advance('15m')
    expect((await browserOf(app, address).signIn(email)).status).toBe(200)
  })

  test('sent concurrently hit the same limit', async () => {
    const { email } = await givenUser(app)
    const browser = browserOf(app, somewhere())
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await browser.signIn(email, 'wrong')).status))
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
  })

  test('from many addresses block unknown addresses, but not known ones', async () => {
    const { email } = await givenUser(app)
    const [home, elsewhere] = [somewhere(), somewhere()]
    expect((await browserOf(app, home).signIn(email)).status).toBe(200)
    for (let i = 0; i < 5; i++) expect(await wrongFrom(email, somewhere(), 10)).toEqual(Array(10).fill(401))
    expect((await browserOf(app, elsewhere).signIn(email)).status).toBe(429)
    expect((await browserOf(app, home).signIn(email)).status).toBe(200)
    app.clock.advance('15m')
    expect((await browserOf(app, elsewhere).signIn(email)).status).toBe(200)
  })

  test('from one IPv6 /64 are those of one address, and so are known addresses', async () => {
    const { email } = await givenUser(app)
    const statuses: number[] = []
    for (let i = 0; i < 45; i++) statuses.push(...(await wrongFrom(email, `2001:db8:7:7::${i.toString(16)}`, 1)))
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(35).fill(429)])
    expect((await browserOf(app, '2001:db8:8:8::1').signIn(email)).status).toBe(200)
    for (let i = 0; i < 4; i++) await wrongFrom(email, somewhere(), 10)
    expect((await browserOf(app, '2001:db8:9:9::1').signIn(email)).status).toBe(429)
    expect((await browserOf(app, '2001:db8:8:8:1234::9').signIn(email)).status).toBe(200)
  })

  test('from an IPv4 address of a dual-stack socket are those of the address', async () => {
    const { email } = await givenUser(app)
    const address = somewhere()
    expect(await wrongFrom(email, `::ffff:${address}`, 10)).toEqual(Array(10).fill(401))
    expect((await browserOf(app, address).signIn(email)).status).toBe(429)
  })

  test('for many users from one address are stopped too', async () => {
    const address = somewhere()
    for (let i = 0; i < 5; i++) await wrongFrom(`nobody${i}@example.com`, address, 10)
    const { email } = await givenUser(app)
    expect((await browserOf(app, address).signIn(email)).status).toBe(429)
  })
})

describe('CSRF: a write', () => {
  const { host } = OWN_PAGE
  test.each([
    ['another site', { host, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another site by its Origin alone', { host, origin: 'https://evil.example' }],
    ['another site that a browser names', { host, 'sec-fetch-site': 'cross-site' }],
    ['a neighbour', { host, origin: 'http://localhost', 'sec-fetch-site': 'same-site' }],
    ['a frame without an origin', { host, origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['somebody who types it', { host, 'sec-fetch-site': 'none' }],
    ['nowhere', { host }],
  ])('that comes from %s is rejected, with a session and without', async (_, headers) => {
    const browser = await givenBrowser(app)
    const sent = { ...headers, cookie: browser.cookie()! }
    const key = { name: 'k', publicKey: 'ssh-ed25519 AAAA' }
    for (const [path, body] of [
      ['/api/dashboard/v1/ssh-keys', key],
      ['/api/dashboard/sign-out', {}],
      ['/api/dashboard/sign-in', { email: browser.person.email, password: PASSWORD }],
    ] as const) {
      const answer = await app.request('POST', path, { body, headers: sent })
      expect([path, answer.status, answer.headers['x-error-code']]).toEqual([path, 403, 'origin_not_allowed'])
    }
    expect((await browser.get('/session')).status).toBe(200)
  })

  test.each([
    ['by Origin', { host, origin: 'http://localhost' }],
    ['by Sec-Fetch-Site', { host, 'sec-fetch-site': 'same-origin' }],
  ])('of the dashboard is recognised %s', async (_, headers) => {
    const browser = await givenBrowser(app)
    const answer = await app.request('POST', '/api/dashboard/sign-out', { body: {}, headers: { ...headers, cookie: browser.cookie()! } })
    expect(answer.status).toBe(200)
  })
})
