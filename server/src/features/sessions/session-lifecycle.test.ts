import { describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, givenUser, PASSWORD } from '../../../test/browser.ts'
import { codeOf } from '../../../test/dashboard-table.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneSessions } from './prune.reconciler.ts'

const app = await testApp()
const ENDED = 'Your session has ended: sign in again'

describe('session', () => {
  test('expires after a day without use', async () => {
    const browser = await givenBrowser(app)
    app.clock.advance('23h')
    expect((await browser.get('/session')).status).toBe(200)
    app.clock.advance('23h')
    expect((await browser.get('/session')).status).toBe(200)
    app.clock.advance('24h')
    const { status, body } = await browser.get('/session')
    expect([status, body.error]).toEqual([401, ENDED])
  })

  test('expires after two weeks, even when used', async () => {
    const browser = await givenBrowser(app)
    for (let day = 1; day < 14; day++) {
      app.clock.advance('23h')
      expect((await browser.get('/session')).status).toBe(200)
    }
    app.clock.advance('36h')
    expect((await browser.get('/session')).status).toBe(401)
  })

  test('is pruned after it has expired', async () => {
    const { person } = await givenBrowser(app)
    app.clock.advance('24h')
    await pruneSessions.runOnce(app.deps)
    expect(await app.db.many(sql`select from sessions where user_id = ${person.id}`)).toEqual([])
  })

  test('ends on sign-out, and its cookie is deleted', async () => {
    const browser = await givenBrowser(app)
    const cookie = browser.cookie()
    const { headers } = await browser.post('/sign-out')
    expect(headers['set-cookie']).toBe('berth=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict')
    expect(browser.cookie()).toBeUndefined()
    expect((await browser.get('/session')).body.error).toBe('Sign in first')
    browser.keep(cookie)
    expect((await browser.get('/session')).status).toBe(401)
  })

  test('takes no Idempotency-Key where it changes: nothing is stored, replayed or told apart by it', async () => {
    const browser = await givenBrowser(app)
    const key = { 'idempotency-key': 'k1' }
    const proofs = [PASSWORD, 'wrong', PASSWORD].map((password) => () => browser.post('/reauthenticate', { password }, key))
    for (const [i, status] of [200, 401, 200].entries()) expect((await proofs[i]!()).status).toBe(status)
    const { secret } = (await browser.post('/totp', {}, key)).body.data as { secret: string }
    const confirmed = await browser.post('/totp/confirm', { code: codeOf(secret, app.clock.now()) }, key)
    const renewed = [await browser.post('/totp/recovery-codes', {}, key), await browser.post('/totp/recovery-codes', {}, key)]
    const codes = [confirmed, ...renewed].map(({ body }) => body.data.recoveryCodes as string[])
    expect(new Set(codes.flat()).size).toBe(30)
    const other = browserOf(app)
    app.clock.advance('30s')
    await other.signIn(browser.person.email, PASSWORD, codeOf(secret, app.clock.now()))
    const answers = [await browser.post('/sign-out', {}, key), await other.post('/sign-out', {}, key)]
    expect(answers.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual([
      [200, undefined],
      [200, undefined],
    ])
    expect(await app.db.many(sql`select from sessions where user_id = ${browser.person.id}`)).toEqual([])
    expect(await app.db.many(sql`select from idempotency_keys where account_id = ${browser.person.accountId}`)).toEqual([])
  })

  test('gets a new secret on re-authentication; the old one gains no rights and expires after 10 seconds', async () => {
    const browser = await givenBrowser(app)
    const old = browserOf(app)
    old.keep(browser.cookie())
    app.clock.advance('20m')
    await browser.post('/reauthenticate', { password: PASSWORD })
    expect(browser.cookie()).not.toBe(old.cookie())
    const key = { name: 'k', scopes: ['vms:read'] }
    expect((await old.get('/session')).status).toBe(200)
    expect((await old.post('/v1/tokens', key)).headers['x-error-code']).toBe('reauthentication_required')
    expect((await browser.post('/v1/tokens', key)).status).toBe(201)
    app.clock.advance('10s')
    expect((await old.get('/session')).status).toBe(401)
    expect((await browser.get('/session')).status).toBe(200)
  })

  test('of a demoted operator has no access to the operator area', async () => {
    const browser = await givenBrowser(app, { isOperator: true })
    expect((await browser.get('/operator/hosts')).status).toBe(200)
    await app.db.run(sql`update users set is_operator = false where id = ${browser.person.id}`)
    expect((await browser.get('/operator/hosts')).status).toBe(403)
  })
})

describe('session list', () => {
  async function twice() {
    const { email } = await givenUser(app)
    const [here, there] = [browserOf(app, '10.8.0.1'), browserOf(app, '10.8.0.2')]
    await there.post('/sign-in', { email, password: PASSWORD }, { 'user-agent': 'Phone' })
    app.clock.advance('1m')
    await here.post('/sign-in', { email, password: PASSWORD }, { 'user-agent': `Desk ${'x'.repeat(500)}` })
    return { here, there }
  }

  test('shows all sessions, and ends any of them at once', async () => {
    const { here, there } = await twice()
    const { body } = await here.get('/sessions')
    expect(body.data).toMatchObject([
      { isCurrent: true, ip: '10.8.0.1', userAgent: expect.stringMatching(/^Desk x{295}$/) },
      { isCurrent: false, ip: '10.8.0.2', userAgent: 'Phone' },
    ])
    expect((await here.delete(`/sessions/${body.data[1].id}`)).status).toBe(200)
    expect((await there.get('/session')).status).toBe(401)
    expect((await here.get('/sessions')).body.data).toHaveLength(1)
  })

  test('can be cleared except for the current one', async () => {
    const { here, there } = await twice()
    expect((await here.delete('/sessions')).body.data.message).toBe('1 other session was ended')
    expect([(await there.get('/session')).status, (await here.get('/session')).status]).toEqual([401, 200])
  })

  test('keeps the last fifty', async () => {
    const browser = await givenBrowser(app)
    const user = browser.person.id
    await app.db.run(sql`
      insert into sessions (id, hash, user_id, authenticated_at, ip, user_agent, created_at, last_seen_at, expires_at)
      select 'old' || n, sha256(${user}::bytea || n::text::bytea), ${user}, now(), '', '', now(), ${app.clock.now()}::timestamptz - interval '1 minute', ${app.clock.now()}::timestamptz + interval '1 day'
      from generate_series(1, 60) n`)
    await browserOf(app, '10.8.0.3').signIn(browser.person.email)
    expect((await browser.get('/sessions')).body.data).toHaveLength(50)
  })
})

describe('POST /password', () => {
  test('requires the current password, ends all other sessions and invalidates links', async () => {
    const browser = await givenBrowser(app)
    const other = browserOf(app)
    await other.signIn(browser.person.email)
    const wrong = await browser.post('/password', { currentPassword: 'wrong', newPassword: 'something better' })
    expect([wrong.status, wrong.headers['x-error-code']]).toEqual([401, 'wrong_credentials'])
    const before = browser.cookie()
    expect((await browser.post('/password', { currentPassword: PASSWORD, newPassword: 'something better' })).status).toBe(200)
    expect(browser.cookie()).not.toBe(before)
    expect([(await browser.get('/session')).status, (await other.get('/session')).status]).toEqual([200, 401])
    expect((await other.signIn(browser.person.email)).status).toBe(401)
    expect((await other.signIn(browser.person.email, 'something better')).status).toBe(200)
  })

  test.each([['short'], ['x'.repeat(201)]])('rejects %s', async (newPassword) => {
    const { status, body } = await (await givenBrowser(app)).post('/password', { currentPassword: PASSWORD, newPassword })
    expect([status, body.error]).toEqual([400, 'Validation failed: newPassword must be 10-200 characters'])
  })

  test('limits guesses from an open session', async () => {
    const browser = await givenBrowser(app)
    const statuses: number[] = []
    for (let i = 0; i < 60; i++) statuses.push((await browser.post('/reauthenticate', { password: 'wrong' })).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(50)
    expect((await browser.post('/reauthenticate', { password: PASSWORD })).status).toBe(429)
  })
})
