import { afterAll, describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, givenUser, OWN_PAGE } from '../../../test/browser.ts'
import { codeOf } from '../../../test/dashboard-table.ts'
import { testApp } from '../../../test/harness.ts'
import { offer, realProvider } from '../../../test/openid-provider.ts'
import { openApi, openCore } from '../../compose.ts'
import { sql } from '../../kernel/database/db.ts'
import { createLog } from '../../kernel/log.ts'
import { pruneFlows } from '../identities/refresh.reconciler.ts'

const app = await testApp({ environment: { BERTH_SIGN_UP: 'open' } })
const real = await realProvider({ names: ['real', 'strong'] })
afterAll(real.close)
await offer(app, real.issuer)

type Browser = ReturnType<typeof browserOf>
let people = 0
let addresses = 0
const somewhere = (): string => `10.11.${Math.floor(++addresses / 250)}.${addresses % 250}`

/** Somebody with a verified address at the provider. */
function somebody(change: object = {}) {
  const login = `sub-${++people}`
  const email = `${login}@id.example`
  real.people.set(login, { email, email_verified: true, name: 'Grace', ...change })
  return { login, email }
}

const begin = async (browser: Browser, provider = 'real'): Promise<string> =>
  (await browser.post('/sign-in/with', { provider })).body.data.url as string
const complete = (browser: Browser, response: string, more = {}) =>
  browser.post('/sign-in/with/complete', { provider: 'real', response, ...more })

async function signIn(browser: Browser, login: string, more = {}) {
  return complete(browser, await real.visit(await begin(browser), login), more)
}

const refusal = ({ status, headers }: Awaited<ReturnType<Browser['post']>>) => [status, headers['x-error-code']]
const auditOf = async (userId: string) =>
  app.db.many<{ action: string; status: number; actor_name: string }>(
    sql`select action, status, actor_name from audit_log where actor_id = ${userId} order by created_at, id`,
  )

/** Linked without the browser, as the tests of linking do with it. */
async function linked(login: string, userId: string, provider = 'real') {
  const now = app.clock.now()
  await app.db.run(sql`
    insert into identities (id, provider_id, subject, user_id, label, created_at, last_used_at)
    select 'c' || md5(random()::text), id, ${login}, ${userId}, ${login}, ${now}, ${now} from identity_providers where name = ${provider}`)
}

describe('signing in by an identity provider', () => {
  test('is offered by name, without anything secret', async () => {
    const { body } = await browserOf(app).get('/setup')
    expect(body.data.identityProviders).toEqual([{ name: 'real', title: 'The real one' }])
  })

  test('signs up who is new, and signs in who came before, however the address has changed', async () => {
    const { login, email } = somebody()
    const first = await signIn(browserOf(app, somewhere()), login)
    expect(first.status).toBe(201)
    expect(first.body.data).toMatchObject({ user: { email, name: 'Grace', isOperator: false }, account: { role: 'owner' } })
    real.people.set(login, { email: 'other@id.example', email_verified: false })
    const browser = browserOf(app, somewhere())
    const again = await signIn(browser, login)
    expect([again.status, again.body.data.user]).toEqual([200, first.body.data.user])
    expect((await browser.get('/session')).body.data.user.email).toBe(email)
    expect(browser.cookie()).toMatch(/^berth=ses_\w+$/)
    expect(await auditOf(first.body.data.user.id as string)).toEqual([
      { action: 'signInByProvider:real', status: 201, actor_name: email },
      { action: 'signInByProvider:real', status: 200, actor_name: email },
    ])
  })

  test('binds the browser by a cookie of its own, which ends with the sign-in', async () => {
    const browser = browserOf(app, somewhere())
    const { headers, body } = await browser.post('/sign-in/with', { provider: 'real' })
    expect(headers['set-cookie']).toMatch(/^berth-flow=idp_\w{46}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
    const asks = new URL(body.data.url as string)
    expect(asks.origin).toBe(real.issuer)
    expect(Object.fromEntries(asks.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: 'http://localhost/sign-in/with/real',
      scope: 'openid email profile',
      state: expect.any(String),
      nonce: expect.any(String),
    })
    const { headers: after } = await complete(browser, await real.visit(asks.href, somebody().login))
    expect([after['set-cookie']].flat()).toContainEqual(expect.stringMatching(/^berth-flow=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/))
  })

  test('stores no state, nonce, verifier or secret of a cookie in plain text', async () => {
    const browser = browserOf(app, somewhere())
    const asks = new URL(await begin(browser)).searchParams
    const rows = await app.db.many<{ row: string }>(sql`
      select f::text as row from identity_flows f union all select p::text from identity_providers p union all select a::text from audit_log a`)
    const stored = rows.map(({ row }) => row).join()
    for (const secret of [asks.get('state')!, asks.get('nonce')!, browser.cookie()!.split('=')[1]!, 'a secret between'])
      for (const form of [secret, Buffer.from(secret).toString('hex')]) expect(stored).not.toContain(form)
  })

  test('begins in one process and ends in another', async () => {
    const config = { ...app.config, port: 0 }
    const core = await openCore(config, app.db.url, createLog({ level: 'silent', pretty: false }), { worker: false, clock: app.clock })
    const other = await openApi(core, { isOnlyProcess: false })
    afterAll(async () => {
      await other.close(AbortSignal.timeout(0))
      await core.close()
    })
    const browser = browserOf(app, somewhere())
    const response = await real.visit(await begin(browser), somebody().login)
    const answer = await other.app.inject({
      method: 'POST',
      url: '/api/dashboard/sign-in/with/complete',
      headers: { ...OWN_PAGE, cookie: browser.cookie()! },
      payload: { provider: 'real', response },
    })
    expect(answer.statusCode, answer.body).toBe(201)
  })

  test('over https uses a cookie that no other host can set, and returns to the public URL whatever Host says', async () => {
    const secure = await testApp({ environment: { BERTH_PUBLIC_URL: 'https://cloud.example.com' } })
    await offer(secure, real.issuer)
    const headers = { host: 'cloud.example.com', origin: 'https://cloud.example.com', 'x-forwarded-host': 'evil.example' }
    const answer = await secure.request('POST', '/api/dashboard/sign-in/with', { body: { provider: 'real' }, headers })
    expect(answer.headers['set-cookie']).toMatch(/^__Host-berth-flow=idp_\w+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/)
    const asks = new URL(answer.body.data.url as string).searchParams
    expect(asks.get('redirect_uri')).toBe('https://cloud.example.com/sign-in/with/real')
    const strange = await app.request('POST', '/api/dashboard/sign-in/with', {
      body: { provider: 'real' },
      headers: { ...OWN_PAGE, host: 'evil.example', origin: 'http://evil.example' },
    })
    expect(strange.headers['x-error-code']).toBe('https_required')
  })

  test('takes no address to go on to: only fields that it knows, and only paths of its own at the provider', async () => {
    const answer = await browserOf(app, somewhere()).post('/sign-in/with', { provider: 'real', returnTo: 'https://evil.example' })
    expect(refusal(answer)).toEqual([400, 'validation_failed'])
  })

  test('does not know other providers', async () => {
    for (const provider of ['nobody', '../real', 'REAL', ''])
      expect((await browserOf(app, somewhere()).post('/sign-in/with', { provider })).status).toBeOneOf([400, 404])
  })
})

describe('what comes back', () => {
  const GONE = [410, 'link_gone']

  test('is used once', async () => {
    const { login } = somebody()
    const browser = browserOf(app, somewhere())
    const response = await real.visit(await begin(browser), login)
    const kept = browser.cookie()
    expect((await complete(browser, response)).status).toBe(201)
    browser.keep(kept)
    expect(refusal(await complete(browser, response))).toEqual(GONE)
  })

  test('is used once by a hundred at once', async () => {
    const { login } = somebody()
    const browser = browserOf(app, somewhere())
    const response = await real.visit(await begin(browser), login)
    const cookie = browser.cookie()!
    const all = await Promise.all(
      Array.from({ length: 100 }, () => {
        const one = browserOf(app, somewhere())
        one.keep(cookie)
        return complete(one, response)
      }),
    )
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(99).fill(410)])
  })

  test('with a code that was used already is refused', async () => {
    const { login } = somebody()
    const first = browserOf(app, somewhere())
    const used = new URLSearchParams(await real.visit(await begin(first), login))
    expect((await complete(first, used.toString())).status).toBe(201)
    const second = browserOf(app, somewhere())
    const fresh = new URLSearchParams(await real.visit(await begin(second), login))
    fresh.set('code', used.get('code')!)
    expect(refusal(await complete(second, fresh.toString()))).toEqual([403, 'identity_refused'])
    expect((await second.get('/session')).status).toBe(401)
  })

  test('with the code of another flow is refused, because the verifier is not its own', async () => {
    const { login } = somebody()
    const [mine, theirs] = [browserOf(app, somewhere()), browserOf(app, somewhere())]
    const stolen = new URLSearchParams(await real.visit(await begin(theirs), login)).get('code')!
    const own = new URLSearchParams(await real.visit(await begin(mine), somebody().login))
    own.set('code', stolen)
    expect(refusal(await complete(mine, own.toString()))).toEqual([403, 'identity_refused'])
  })

  test('in another browser is refused, and does the first one no harm', async () => {
    const { login } = somebody()
    const [mine, theirs] = [browserOf(app, somewhere()), browserOf(app, somewhere())]
    const response = await real.visit(await begin(mine), login)
    expect(refusal(await complete(theirs, response))).toEqual(GONE)
    await begin(theirs)
    expect(refusal(await complete(theirs, response))).toEqual(GONE)
    expect((await complete(mine, response)).status).toBe(201)
  })

  test('after ten minutes is refused, and is gone from the database', async () => {
    const browser = browserOf(app, somewhere())
    const response = await real.visit(await begin(browser), somebody().login)
    app.clock.advance('10m')
    expect(refusal(await complete(browser, response))).toEqual(GONE)
    await pruneFlows.runOnce(app.deps)
    expect(await app.db.many(sql`select from identity_flows`)).toEqual([])
  })

  test('for another provider than it was begun with is refused', async () => {
    await offer(app, real.issuer, 'strong', { clientId: 'strong' })
    const browser = browserOf(app, somewhere())
    const response = await real.visit(await begin(browser), somebody().login)
    expect(refusal(await browser.post('/sign-in/with/complete', { provider: 'strong', response }))).toEqual(GONE)
    await app.db.run(sql`delete from identity_providers where name = 'strong'`)
  })

  test('says so when the person declined, whatever else it says', async () => {
    const browser = browserOf(app, somewhere())
    const { searchParams } = new URL(await begin(browser))
    const iss = encodeURIComponent(real.issuer)
    const answer = await complete(browser, `error=access_denied&error_description=Call+%2B1&state=${searchParams.get('state')}&iss=${iss}`)
    expect([...refusal(answer), answer.body.error]).toEqual([403, 'identity_refused', 'The real one says that you declined'])
  })

  test.each(['', 'code=1', 'code=1&state=', 'code=1&state=ist_wrong', `code=1&state=${'x'.repeat(8000)}`, 'state[]=1', '%00'])(
    'is refused as %j',
    async (response) => {
      const browser = browserOf(app, somewhere())
      await begin(browser)
      expect((await complete(browser, response)).status).toBeOneOf([400, 410])
    },
  )
})

describe('somebody whom nobody knows', () => {
  const count = async () => (await app.db.one<{ n: number }>(sql`select count(*)::int as n from users`)).n

  test('is refused where an address is somebody else’s already, and that is in the log of whose it is', async () => {
    const { email, id } = await givenUser(app)
    const { login } = somebody({ email: email.toUpperCase() })
    const before = await count()
    const answer = await signIn(browserOf(app, somewhere()), login)
    expect(refusal(answer)).toEqual([403, 'identity_refused'])
    expect(answer.body.error).toMatch(/sign in with the password first, and link The real one/)
    expect([await count(), await app.db.many(sql`select from identities where subject = ${login}`)]).toEqual([before, []])
    await expect.poll(async () => auditOf(id)).toEqual([{ action: 'signInByProvider:real', status: 403, actor_name: email }])
  })

  test.each([
    { email_verified: false },
    { email: undefined, email_verified: undefined },
    { email_verified: 'no' },
    { email: 'no address' },
  ])('is refused without a verified address: %o', async (change) => {
    const before = await count()
    const answer = await signIn(browserOf(app, somewhere()), somebody(change).login)
    expect(refusal(answer)).toEqual([403, 'identity_refused'])
    expect(await count()).toBe(before)
  })

  test('is refused where sign-up is closed, unless invited at the same address', async () => {
    const closed = await testApp()
    await offer(closed, real.issuer)
    const { login, email } = somebody()
    const come = async (invitation?: string, as = login) => {
      const browser = browserOf(closed, somewhere())
      const { body } = await browser.post('/sign-in/with', { provider: 'real' })
      const response = await real.visit(body.data.url as string, as)
      return browser.post('/sign-in/with/complete', { provider: 'real', response, ...(invitation && { invitation }) })
    }
    expect(refusal(await come())).toEqual([403, 'sign_up_closed'])
    const customer = await closed.given.customer()
    const { body } = await customer.post('/invitations', { email, role: 'read-only' })
    const secret = (body.data.url as string).split('#')[1]!
    const other = await come(secret, somebody().login)
    expect(refusal(other)).toEqual([422, 'incompatible'])
    expect(await closed.db.many(sql`select from users`)).toEqual([])
    const joined = await come(secret)
    expect(joined.body.data).toMatchObject({ user: { email }, accounts: [{ id: customer.accountId, role: 'read-only' }] })
    expect(refusal(await come(secret, somebody().login))).toEqual([410, 'link_gone'])
    const again = await come(secret)
    expect([again.status, again.body.data.user.email]).toEqual([200, email])
  })

  test('is one person, when two browsers come at once', async () => {
    const { login, email } = somebody()
    const browsers = [browserOf(app, somewhere()), browserOf(app, somewhere())]
    const responses = await Promise.all(browsers.map(async (browser) => real.visit(await begin(browser), login)))
    const answers = await Promise.all(browsers.map((browser, i) => complete(browser, responses[i]!)))
    expect(answers.some(({ status }) => status === 201)).toBe(true)
    expect(await app.db.many(sql`select from users where email = ${email}`)).toHaveLength(1)
    expect(await app.db.many(sql`select from identities where subject = ${login}`)).toHaveLength(1)
  })

  test('may be called the same by two providers', async () => {
    const second = await realProvider({ names: ['second'] })
    afterAll(second.close)
    await offer(app, second.issuer, 'second')
    const { login } = somebody()
    const first = await signIn(browserOf(app, somewhere()), login)
    second.people.set(login, { email: 'impostor@id.example', email_verified: true })
    const browser = browserOf(app, somewhere())
    const response = await second.visit(await begin(browser, 'second'), login)
    const other = await browser.post('/sign-in/with/complete', { provider: 'second', response })
    expect([other.status, other.body.data.user.email]).toEqual([201, 'impostor@id.example'])
    expect(other.body.data.user.id).not.toBe(first.body.data.user.id)
  })

  test('cannot sign up without limit', async () => {
    const address = somewhere()
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await signIn(browserOf(app, address), somebody().login)).status)
    expect(statuses).toEqual([...Array<number>(10).fill(201), 429, 429])
  })
})

describe('the second factor', async () => {
  async function withTotp(login: string) {
    const browser = await givenBrowser(app)
    const { secret } = (await browser.post('/totp')).body.data as { secret: string }
    const { body } = await browser.post('/totp/confirm', { code: codeOf(secret, app.clock.now()) })
    app.clock.advance('30s')
    await linked(login, browser.person.id)
    const code = () => codeOf(secret, app.clock.now())
    return { browser, code, recoveryCodes: body.data.recoveryCodes as string[], id: browser.person.id, email: browser.person.email }
  }
  const giveCode = (browser: Browser, totp: string) => browser.post('/sign-in/with/code', { totp })

  test('is asked for after the provider, once', async () => {
    const { login } = somebody()
    const { code, id, email } = await withTotp(login)
    const browser = browserOf(app, somewhere())
    const first = await signIn(browser, login)
    expect([first.status, first.body.data]).toEqual([200, { totpRequired: true }])
    expect((await browser.get('/session')).status).toBe(401)
    expect(refusal(await giveCode(browser, '000000'))).toEqual([401, 'wrong_totp'])
    const kept = browser.cookie()
    const second = await giveCode(browser, code())
    expect([second.status, second.body.data.user.email]).toEqual([200, email])
    browser.keep(kept)
    app.clock.advance('30s')
    expect(refusal(await giveCode(browser, code()))).toEqual([410, 'link_gone'])
    await expect
      .poll(async () => (await auditOf(id)).slice(-2).map(({ action, status }) => [action, status]))
      .toEqual(
        expect.arrayContaining([
          ['completeSignInByProvider:real', 401],
          ['completeSignInByProvider:real', 200],
        ]),
      )
  })

  test('may be a recovery code, is limited, and ends with the identity', async () => {
    const { login } = somebody()
    const { code, recoveryCodes, id } = await withTotp(login)
    const browser = browserOf(app, somewhere())
    await signIn(browser, login)
    expect((await giveCode(browser, recoveryCodes[0]!)).status).toBe(200)
    expect((await auditOf(id)).at(-1)).toMatchObject({ action: 'completeSignInByProviderWithRecoveryCode:real' })
    const other = browserOf(app, somewhere())
    await signIn(other, login)
    const statuses: number[] = []
    for (let i = 0; i < 11; i++) statuses.push((await giveCode(other, '000000')).status)
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
    app.clock.advance('15m')
    await signIn(other, login)
    await app.db.run(sql`delete from identities where subject = ${login}`)
    expect(refusal(await giveCode(other, code()))).toEqual([410, 'link_gone'])
  })

  test('is not asked for with another flow’s cookie', async () => {
    const browser = browserOf(app, somewhere())
    await begin(browser)
    expect(refusal(await giveCode(browser, '000000'))).toEqual([410, 'link_gone'])
  })

  test('is given by a provider of which the operator says so, and by no other, also where an account requires one', async () => {
    await offer(app, real.issuer, 'strong', { clientId: 'strong', isSecondFactor: true })
    const { login } = somebody()
    const { browser: own, id } = await withTotp(login)
    await linked(login, id, 'strong')
    const strongly = async (as: string) => {
      const browser = browserOf(app, somewhere())
      const response = await real.visit(await begin(browser, 'strong'), as)
      return { browser, answer: await browser.post('/sign-in/with/complete', { provider: 'strong', response }) }
    }
    const { answer } = await strongly(login)
    expect([answer.status, answer.body.data.user?.totpEnabled]).toEqual([200, true])

    expect((await own.patch('/v1/account', { requireTwoFactor: true })).status).toBe(200)
    const guest = await givenUser(app)
    const accountId = own.person.accountId
    await app.db.run(sql`
      insert into members (account_id, user_id, role, created_at) values (${accountId}, ${guest.id}, 'read-only', ${app.clock.now()})`)
    const weakLogin = somebody().login
    await linked(weakLogin, guest.id)
    await linked(weakLogin, guest.id, 'strong')
    const weak = browserOf(app, somewhere())
    expect((await signIn(weak, weakLogin)).status).toBe(200)
    weak.choose(accountId)
    expect(refusal(await weak.get('/v1/vms'))).toEqual([403, 'two_factor_required'])
    const { browser: strong } = await strongly(weakLogin)
    strong.choose(accountId)
    expect((await strong.get('/v1/vms')).status).toBe(200)
  })
})
