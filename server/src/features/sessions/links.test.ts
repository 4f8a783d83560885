import { describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, givenUser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { headerOf, smtpServer } from '../../../test/smtp-server.ts'
import { sql } from '../../kernel/database/db.ts'
import { createAccount, listAccounts } from '../accounts/service.ts'
import { ensureUser, issueWelcomeLink, QUICKSTART_EMAIL } from '../users/service.ts'
import { pruneUsers } from '../users/prune.reconciler.ts'

const server = await smtpServer()
const mail = { BERTH_SMTP_URL: server.url(), BERTH_MAIL_FROM: 'Example Cloud <noreply@cloud.example>' }
const app = await testApp({ environment: { ...mail, BERTH_PUBLIC_URL: 'http://localhost' } })
const secretOf = (url: string): string => url.split('#')[1]!

describe('welcome link', () => {
  const link = async (from = app) => (await issueWelcomeLink(from.db, from.clock.now(), 'http://127.0.0.1:8080')).url

  test('creates the owner with an account and a session, once', async () => {
    const fresh = await testApp()
    const [url, second] = [await link(fresh), await link(fresh)]
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/welcome#lnk_\w{46}$/)
    expect((await browserOf(fresh).get('/setup')).body.data).toEqual({
      hasOwner: false,
      signUpOpen: false,
      canSendMail: false,
      identityProviders: [],
    })
    const browser = browserOf(fresh)
    const body = { email: 'owner@example.com', password: PASSWORD }
    const made = await browser.post('/welcome', { token: secretOf(url), ...body })
    expect(made.status).toBe(201)
    expect(made.body.data.user).toMatchObject({ email: 'owner@example.com', isOperator: true, totpEnabled: false })
    expect((await browser.get('/operator/hosts')).status).toBe(200)
    expect((await browser.get('/v1/account')).body.data).toMatchObject({ email: 'owner@example.com' })
    expect((await browserOf(fresh).get('/setup')).body.data.hasOwner).toBe(true)
    for (const token of [url, second, await link(fresh)].map(secretOf)) {
      const again = await browserOf(fresh).post('/welcome', { token, ...body, email: 'thief@example.com' })
      expect([again.status, again.headers['x-error-code']]).toEqual([410, 'link_gone'])
    }
    expect((await browserOf(fresh).signIn('owner@example.com')).status).toBe(200)
  })

  test('used concurrently by two visitors admits one', async () => {
    const fresh = await testApp()
    const tokens = [await link(fresh), await link(fresh)].map(secretOf)
    const use = async (token: string, i: number) =>
      (await browserOf(fresh).post('/welcome', { token, email: `owner${i}@example.com`, password: PASSWORD })).status
    expect(new Set(await Promise.all(tokens.map(use)))).toEqual(new Set([201, 410]))
  })

  test('takes over an account created by a command, and expires after 15 minutes', async () => {
    const fresh = await testApp()
    const url = await link(fresh)
    fresh.clock.advance('15m')
    const body = { email: 'Owner@Example.com', password: PASSWORD }
    expect((await browserOf(fresh).post('/welcome', { token: secretOf(url), ...body })).status).toBe(410)
    const { id } = await fresh.db.tx((tx) => createAccount(tx, fresh.clock.now(), { email: 'owner@example.com' }))
    const { status, body: made } = await browserOf(fresh).post('/welcome', { token: secretOf(await link(fresh)), ...body })
    expect([status, made.data.account.id]).toEqual([201, id])
  })

  test('takes over the account of quickstart, unless somebody signs in to it', async () => {
    const body = { email: 'owner@example.com', password: PASSWORD }
    for (const isTaken of [false, true]) {
      const fresh = await testApp()
      const now = fresh.clock.now()
      const account = await fresh.db.tx((tx) => createAccount(tx, now, { email: QUICKSTART_EMAIL }))
      if (isTaken) await fresh.db.tx((tx) => ensureUser(tx, now, account))
      const { status, body: made } = await browserOf(fresh).post('/welcome', { token: secretOf(await link(fresh)), ...body })
      expect([status, made.data.account.id === account.id]).toEqual([201, !isTaken])
      expect((await listAccounts(fresh.db)).map(({ email }) => email)).toEqual(
        isTaken ? [QUICKSTART_EMAIL, 'owner@example.com'] : ['owner@example.com'],
      )
    }
  })
})

let withoutMail: ReturnType<typeof testApp> | undefined
const openWithoutMail = () => (withoutMail ??= testApp({ environment: { BERTH_SIGN_UP: 'open' } }))

describe('POST /sign-up', () => {
  test('is disabled by default', async () => {
    const { status, headers } = await browserOf(app).post('/sign-up', { email: 'new@example.com', password: PASSWORD })
    expect([status, headers['x-error-code']]).toEqual([403, 'sign_up_closed'])
  })

  test('creates a customer, and never a user of an existing account', async () => {
    const open = await openWithoutMail()
    const browser = browserOf(open)
    const { status, body } = await browser.post('/sign-up', { email: 'new@example.com', password: PASSWORD, name: 'Grace' })
    expect([status, body.data.user]).toMatchObject([201, { email: 'new@example.com', name: 'Grace', isOperator: false }])
    expect((await browser.get('/v1/wallet')).body.data.balance).toBe('0.00')
    const { email } = await open.given.customer()
    for (const taken of ['NEW@example.com', email]) {
      const again = await browserOf(open).post('/sign-up', { email: taken, password: PASSWORD })
      expect([again.status, again.headers['x-error-code']]).toEqual([409, 'already_exists'])
    }
    const passwordless = await browserOf(open).post('/sign-up', { email: 'other@example.com' })
    expect([passwordless.status, passwordless.body.error]).toEqual([400, 'Validation failed: password is required'])
  })
})

describe('POST /sign-up where mail can be sent', async () => {
  const open = await testApp({ environment: { ...mail, BERTH_PUBLIC_URL: 'http://localhost', BERTH_SIGN_UP: 'open' } })
  let clients = 0
  const signUp = (email: string, more: object = {}) => browserOf(open, `10.6.0.${++clients}`).post('/sign-up', { email, ...more })
  const mailsTo = (email: string) => server.received.filter(({ to }) => to.includes(email))
  const linkTo = async (email: string): Promise<string> => {
    await expect.poll(() => mailsTo(email).length).toBeGreaterThan(0)
    return /http:\/\/\S+?#lnk_\w{46}/.exec(
      mailsTo(email)
        .at(-1)!
        .data.replace(/=\r?\n/g, '')
        .replaceAll('=3D', '='),
    )![0]
  }

  test('makes the account when the link in the mail is used, with the password given then', async () => {
    const asked = await signUp('grace@example.com', { name: 'Grace', password: 'chosen by a stranger' })
    expect([asked.status, asked.body.data]).toEqual([202, { mailed: true, message: 'A mail with a link is on its way to this address' }])
    expect(asked.headers).not.toHaveProperty('set-cookie')
    const url = await linkTo('grace@example.com')
    expect(url).toMatch(/^http:\/\/localhost\/confirm#lnk_/)
    expect(headerOf(mailsTo('grace@example.com')[0]!, 'subject')).toBe('Confirm your email address')
    expect(await open.db.many(sql`select from accounts where email = 'grace@example.com'`)).toEqual([])
    const browser = browserOf(open)
    const done = await browser.post('/sign-up/complete', { token: secretOf(url), password: PASSWORD })
    expect([done.status, done.body.data.user]).toMatchObject([201, { email: 'grace@example.com', name: 'Grace', isOperator: false }])
    expect((await browserOf(open).signIn('grace@example.com')).status).toBe(200)
    expect((await browserOf(open, '10.6.1.1').signIn('grace@example.com', 'chosen by a stranger')).status).toBe(401)
    const again = await browserOf(open).post('/sign-up/complete', { token: secretOf(url), password: PASSWORD })
    expect([again.status, again.headers['x-error-code']]).toEqual([410, 'link_gone'])
  })

  test('answers the same for an address that has an account, and tells only its owner', async () => {
    const { email } = await givenUser(open)
    const [taken, free] = [await signUp(email.toUpperCase()), await signUp('free@example.com')]
    expect([taken.status, taken.body]).toEqual([free.status, free.body])
    await expect.poll(() => mailsTo(email).length).toBe(1)
    const [received] = mailsTo(email)
    expect(headerOf(received!, 'subject')).toBe('You have an account already')
    expect(received!.data).not.toContain('lnk_')
  })

  test('limits mails per address, and sign-ups per client', async () => {
    for (let i = 0; i < 6; i++) expect((await signUp('often@example.com')).status).toBe(202)
    await signUp('after@example.com')
    await linkTo('after@example.com')
    expect(mailsTo('often@example.com').length).toBeLessThanOrEqual(3)
    const from = async (i: number) => (await browserOf(open, `2001:db8:5:5::${i}`).post('/sign-up', { email: `u${i}@example.com` })).status
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push(await from(i))
    expect(statuses).toEqual([...Array(10).fill(202), 429, 429])
  })

  test('of one address twice makes one account, and links expire after a day', async () => {
    await signUp('twice@example.com')
    const first = await linkTo('twice@example.com')
    await signUp('Twice@example.com')
    const second = await linkTo('Twice@example.com')
    const use = async (url: string) =>
      (await browserOf(open).post('/sign-up/complete', { token: secretOf(url), password: PASSWORD })).status
    expect([await use(second), await use(first)]).toEqual([201, 410])
    await signUp('late@example.com')
    const late = await linkTo('late@example.com')
    open.clock.advance('24h')
    expect(await use(late)).toBe(410)
  })
})

test.each(['<victim@x.com>,a', 'a@x.com,b@x.com', '"a"@x.com', 'Name <a@x.com>', 'a@x.com\u0085', 'a b@x.com', 'a@(x)y.com', 'a;b@x.com'])(
  'nobody signs up or gets an account as %j',
  async (email) => {
    const open = await openWithoutMail()
    const answer = await browserOf(open, '10.6.2.1').post('/sign-up', { email, password: PASSWORD })
    expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'validation_failed'])
    await expect(open.db.tx((tx) => createAccount(tx, open.clock.now(), { email }))).rejects.toThrow('is not an e-mail address')
  },
)

describe('password reset', () => {
  const askFor = (email: string, headers: Record<string, string> = {}) => browserOf(app).post('/password-reset', { email }, headers)
  const mailTo = async (email: string, count = 1) => {
    await expect.poll(() => server.received.filter(({ to }) => to.includes(email)).length).toBe(count)
    return server.received.findLast(({ to }) => to.includes(email))!
  }
  const linkIn = ({ data }: { data: string }): string =>
    /http:\/\/\S+?#lnk_\w{46}/.exec(data.replace(/=\r?\n/g, '').replaceAll('=3D', '='))![0]

  test('works once with an emailed link and ends every session', async () => {
    const old = await givenBrowser(app)
    const { email } = old.person
    const asked = await askFor(email.toUpperCase())
    expect([asked.status, asked.body.data.message]).toEqual([
      202,
      'If somebody signs in with this address, a mail with a link is on its way',
    ])
    const received = await mailTo(email)
    expect(headerOf(received, 'subject')).toBe('Set a new password')
    const url = linkIn(received)
    expect(url).toMatch(/^http:\/\/localhost\/reset#lnk_/)
    const browser = browserOf(app)
    const done = await browser.post('/password-reset/complete', { token: secretOf(url), password: 'something better' })
    expect([done.status, done.body.data.user.email]).toEqual([200, email])
    expect((await old.get('/session')).status).toBe(401)
    expect((await browser.get('/session')).status).toBe(200)
    expect((await browserOf(app).signIn(email)).status).toBe(401)
    const { body } = await browser.get('/v1/audit-log')
    const actions = (body.data as { action: string }[]).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['completePasswordReset', 'requestPasswordReset']))
    const again = await browser.post('/password-reset/complete', { token: secretOf(url), password: 'something else' })
    expect([again.status, again.headers['x-error-code']]).toEqual([410, 'link_gone'])
  })

  test('answers the same for an unknown email address, and sends nothing', async () => {
    const before = server.received.length
    const { email } = await givenUser(app)
    const [nobody, somebody] = [await askFor('nobody@example.com'), await askFor(email)]
    expect(nobody.body).toEqual(somebody.body)
    await mailTo(email)
    expect(server.received.length).toBe(before + 1)
  })

  test('links to the configured URL, whatever the Host header says', async () => {
    const { email } = await givenUser(app)
    await askFor(email, { host: 'evil.example', origin: 'http://evil.example' })
    await askFor(email, { 'x-forwarded-host': 'evil.example' })
    expect(linkIn(await mailTo(email))).toMatch(/^http:\/\/localhost\/reset#/)
  })

  test('limits the emails per user', async () => {
    const { email } = await givenUser(app)
    for (let i = 0; i < 10; i++) await askFor(email)
    const later = await givenUser(app)
    await askFor(later.email)
    await mailTo(later.email)
    expect(server.received.filter(({ to }) => to.includes(email))).toHaveLength(3)
  })

  test('expires after an hour', async () => {
    const { email, id } = await givenUser(app)
    await askFor(email)
    const url = linkIn(await mailTo(email))
    app.clock.advance('1h')
    expect((await browserOf(app).post('/password-reset/complete', { token: secretOf(url), password: PASSWORD })).status).toBe(410)
    await pruneUsers.runOnce(app.deps)
    expect(await app.db.many(sql`select from one_time_links where user_id = ${id}`)).toEqual([])
  })

  test('does not bypass the second factor', async () => {
    const { email, id } = await givenUser(app)
    await app.db.run(sql`update users set totp_secret = ${Buffer.from('x')}, totp_enabled_at = now() where id = ${id}`)
    await askFor(email)
    const browser = browserOf(app)
    const done = await browser.post('/password-reset/complete', {
      token: secretOf(linkIn(await mailTo(email))),
      password: 'something better',
    })
    expect([done.status, done.body.data, browser.cookie()]).toEqual([200, { totpRequired: true }, undefined])
    expect((await browser.signIn(email, 'something better')).body.data).toEqual({ totpRequired: true })
  })
})
