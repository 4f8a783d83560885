import { afterAll, describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, PASSWORD } from '../../../test/browser.ts'
import { codeOf } from '../../../test/dashboard-table.ts'
import { testApp } from '../../../test/harness.ts'
import { offer, realProvider } from '../../../test/openid-provider.ts'
import { headerOf, smtpServer } from '../../../test/smtp-server.ts'
import { sql } from '../../kernel/database/db.ts'
import { mailIdentities } from '../identities/mail.reconciler.ts'

const mailbox = await smtpServer()
const mail = { BERTH_SMTP_URL: mailbox.url(), BERTH_MAIL_FROM: 'noreply@cloud.example' }
const app = await testApp({ environment: { ...mail, BERTH_SIGN_UP: 'open', BERTH_PUBLIC_URL: 'http://localhost' } })
const real = await realProvider({ names: ['real', 'second'] })
afterAll(real.close)
await offer(app, real.issuer)
await offer(app, real.issuer, 'second', { clientId: 'second' })

type Browser = Awaited<ReturnType<typeof givenBrowser>>
type Anyone = ReturnType<typeof browserOf>
let people = 0
let addresses = 0
const somewhere = (): string => `10.13.${Math.floor(++addresses / 250)}.${addresses % 250}`
const refusal = ({ status, headers }: Awaited<ReturnType<Anyone['post']>>) => [status, headers['x-error-code']]

function somebody() {
  const login = `me-${++people}`
  real.people.set(login, { email: `${login}@id.example`, email_verified: true })
  return login
}

async function toLink(browser: Anyone, login: string, provider = 'real') {
  const { status, body } = await browser.post('/identities/begin', { provider })
  expect(status, body.error).toBe(201)
  return { provider, response: await real.visit(body.data.url as string, login) }
}
const link = async (browser: Anyone, login: string, provider?: string) =>
  browser.post('/identities', await toLink(browser, login, provider))

async function signIn(login: string, browser = browserOf(app, somewhere())) {
  const { body } = await browser.post('/sign-in/with', { provider: 'real' })
  const response = await real.visit(body.data.url as string, login)
  return { browser, answer: await browser.post('/sign-in/with/complete', { provider: 'real', response }) }
}

/** Signed up by the provider: without a password. */
async function newcomer() {
  const login = somebody()
  const { browser, answer } = await signIn(login)
  expect(answer.status).toBe(201)
  return { login, browser, id: answer.body.data.user.id as string, email: answer.body.data.user.email as string }
}

const identitiesOf = async (browser: Anyone) =>
  (await browser.get('/identities')).body.data as { identities: { id: string; label: string }[]; hasPassword: boolean; canLink: object[] }
const actionsOf = async ({ person }: Browser) =>
  (
    await app.db.many<{ action: string; status: number; actor_name: string }>(
      sql`select action, status, actor_name from audit_log where account_id = ${person.accountId} order by created_at, id`,
    )
  ).map(({ action, status, actor_name }) => `${action} ${status} ${actor_name}`)

async function mailsTo(email: string) {
  await mailIdentities.runOnce(app.deps)
  return mailbox.received
    .filter(({ to }) => to.includes(email))
    .map((each) => ({ subject: headerOf(each, 'subject'), text: each.data.replace(/=\r\n/g, '') }))
}

describe('an identity', () => {
  test('that signs in beside the password is named where a new password is set', async () => {
    const browser = await givenBrowser(app)
    const login = somebody()
    await link(browser, login)
    await browserOf(app, somewhere()).post('/password-reset', { email: browser.person.email })
    const textOf = async () => (await mailsTo(browser.person.email)).find(({ subject }) => subject === 'Set a new password')?.text
    await expect
      .poll(textOf)
      .toContain(`These sign you in too, and a new password does not change that: The real one (${login}@id.example). Unlink`)
  })

  test('is linked, signs in, and is unlinked; the log and a mail say so', async () => {
    const browser = await givenBrowser(app)
    const { email, id } = browser.person
    const login = somebody()
    const before = browser.cookie()
    const linked = await link(browser, login)
    expect(linked.body.data).toMatchObject({ provider: { name: 'real', title: 'The real one' }, label: `${login}@id.example` })
    expect([linked.status, browser.cookie() === before, browser.cookie()]).toEqual([201, false, expect.stringMatching(/^berth=ses_\w+$/)])
    expect(await identitiesOf(browser)).toEqual({
      identities: [linked.body.data],
      hasPassword: true,
      canLink: [{ name: 'second', title: 'The second one' }],
    })
    const { browser: other, answer } = await signIn(login)
    expect([answer.status, answer.body.data.user.id]).toEqual([200, id])
    const unlinked = await browser.delete(`/identities/${linked.body.data.id}`)
    expect([unlinked.status, unlinked.body.data]).toEqual([200, { id: linked.body.data.id, deleted: true }])
    expect((await other.get('/session')).status).toBe(401)
    expect((await browser.get('/session')).status).toBe(200)
    expect((await signIn(login)).answer.status).toBe(201) // as somebody new
    expect(await actionsOf(browser)).toEqual([
      `beginLinkIdentity 201 ${email}`,
      `linkIdentity:real 201 ${email}`,
      `signInByProvider:real 200 ${email}`,
      `unlinkIdentity:real 200 ${email}`,
    ])
    const mails = await mailsTo(email)
    expect(mails.map(({ subject }) => subject)).toEqual(['You can sign in with The real one now', 'The real one signs you in no more'])
    expect(mails[0]!.text).toContain(`The account there is ${login}@id.example.`)
    expect(mails[0]!.text).toContain('http://localhost/settings')
  })

  test('is linked and unlinked only by who gave the password not long ago', async () => {
    const browser = await givenBrowser(app)
    const { body } = await link(browser, somebody())
    app.clock.advance('15m')
    expect(refusal(await browser.post('/identities/begin', { provider: 'second' }))).toEqual([403, 'reauthentication_required'])
    expect(refusal(await browser.delete(`/identities/${body.data.id}`))).toEqual([403, 'reauthentication_required'])
    await browser.post('/reauthenticate', { password: PASSWORD })
    expect((await browser.delete(`/identities/${body.data.id}`)).status).toBe(200)
  })

  test('is the same one person’s only', async () => {
    const [mine, theirs] = [await givenBrowser(app), await givenBrowser(app)]
    const login = somebody()
    expect((await link(mine, login)).status).toBe(201)
    const answer = await link(theirs, login)
    expect([...refusal(answer), answer.body.error]).toEqual([409, 'already_exists', expect.stringContaining('signs in somebody else here')])
    expect((await identitiesOf(theirs)).identities).toEqual([])
    expect(refusal(await link(mine, somebody()))).toEqual([409, 'already_exists'])
    expect((await link(mine, login, 'second')).status).toBe(201)
    expect((await actionsOf(theirs)).at(-1)).toBe(`linkIdentity:real 409 ${theirs.person.email}`)
  })

  test('of another person is not found', async () => {
    const [mine, theirs] = [await givenBrowser(app), await givenBrowser(app)]
    const { body } = await link(mine, somebody())
    expect((await theirs.delete(`/identities/${body.data.id}`)).status).toBe(404)
    expect((await identitiesOf(mine)).identities).toHaveLength(1)
  })

  test('is linked by one of two people who bring it at once', async () => {
    const login = somebody()
    const browsers = [await givenBrowser(app), await givenBrowser(app)]
    const returns = await Promise.all(browsers.map((browser) => toLink(browser, login)))
    const answers = await Promise.all(browsers.map((browser, i) => browser.post('/identities', returns[i])))
    expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([201, 409]))
  })
})

describe('accounts that are mixed up', () => {
  const GONE = [410, 'link_gone']

  test('what one person began is not finished in the session of another, also in the same browser', async () => {
    const [mine, theirs] = [await givenBrowser(app), await givenBrowser(app)]
    const returned = await toLink(mine, somebody())
    expect(refusal(await theirs.post('/identities', returned))).toEqual(GONE)
    // Even with the cookie of the flow, as in a browser in which somebody else signed in meanwhile.
    const flow = mine
      .cookie()!
      .split('; ')
      .find((each) => each.startsWith('berth-flow='))!
    const session = theirs.cookie()!
    theirs.keep(`${session}; ${flow}`)
    expect(refusal(await theirs.post('/identities', returned))).toEqual(GONE)
    expect((await identitiesOf(theirs)).identities).toEqual([])
    expect((await mine.post('/identities', returned)).status).toBe(201)
  })

  test('nor in another session of the same person', async () => {
    const mine = await givenBrowser(app)
    const returned = await toLink(mine, somebody())
    const flow = mine
      .cookie()!
      .split('; ')
      .find((each) => each.startsWith('berth-flow='))!
    const other = browserOf(app)
    await other.signIn(mine.person.email)
    other.keep(`${other.cookie()}; ${flow}`)
    expect(refusal(await other.post('/identities', returned))).toEqual(GONE)
  })

  test('what was begun to sign in links nothing, and what was begun to link signs nobody in', async () => {
    const browser = await givenBrowser(app)
    const login = somebody()
    const begun = await browser.post('/sign-in/with', { provider: 'real' })
    const response = await real.visit(begun.body.data.url as string, login)
    expect(refusal(await browser.post('/identities', { provider: 'real', response }))).toEqual(GONE)
    expect(refusal(await browser.post('/reauthenticate/with/complete', { provider: 'real', response }))).toEqual(GONE)
    const returned = await toLink(browser, login)
    expect(refusal(await browser.post('/sign-in/with/complete', returned))).toEqual(GONE)
    expect(refusal(await browser.post('/reauthenticate/with/complete', returned))).toEqual(GONE)
  })

  test('a page of another site begins and ends nothing', async () => {
    const browser = await givenBrowser(app)
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    for (const [path, body] of [
      ['/sign-in/with', { provider: 'real' }],
      ['/sign-in/with/complete', { provider: 'real', response: 'code=1&state=1' }],
      ['/identities/begin', { provider: 'real' }],
      ['/identities', { provider: 'real', response: 'code=1&state=1' }],
    ] as const)
      expect(refusal(await browser.post(path, body, foreign))).toEqual([403, 'origin_not_allowed'])
  })
})

describe('somebody without a password', () => {
  test('keeps the last way in, also when two are unlinked at once', async () => {
    const { browser, login } = await newcomer()
    const own = async () => (await identitiesOf(browser)).identities
    await app.db.run(sql`update sessions set authenticated_at = ${app.clock.now()}`)
    expect(refusal(await browser.delete(`/identities/${(await own())[0]!.id}`))).toEqual([409, 'invalid_state'])
    expect((await link(browser, login, 'second')).status).toBe(201)
    const ids = (await own()).map(({ id }) => id)
    const statuses = await Promise.all(ids.map(async (id) => (await browser.delete(`/identities/${id}`)).status))
    expect(statuses).toEqual(expect.arrayContaining([200, 409]))
    expect(await own()).toHaveLength(1)
  })

  test('unlinks it after setting a password by the link for a forgotten one', async () => {
    const { browser, email } = await newcomer()
    expect((await identitiesOf(browser)).hasPassword).toBe(false)
    await browser.post('/password-reset', { email })
    const mailed = () => mailbox.received.find(({ to }) => to.includes(email))?.data.replace(/=\r\n/g, '')
    await expect.poll(mailed).toContain('/reset#')
    const token = /\/reset#(lnk_\w+)/.exec(mailed()!)![1]
    const other = browserOf(app, somewhere())
    expect((await other.post('/password-reset/complete', { token, password: PASSWORD })).status).toBe(200)
    const { identities } = await identitiesOf(other)
    expect((await other.delete(`/identities/${identities[0]!.id}`)).status).toBe(200)
    expect((await browserOf(app, somewhere()).signIn(email)).status).toBe(200)
  })

  test('is not signed in by an empty password', async () => {
    const { email } = await newcomer()
    for (const password of ['', 'null', PASSWORD]) expect((await browserOf(app, somewhere()).signIn(email, password)).status).toBe(401)
  })
})

describe('reauthentication by an identity provider', () => {
  async function prove(browser: Anyone, login: string, totp?: string, jar?: Map<string, string>) {
    const begun = await browser.post('/reauthenticate/with', { provider: 'real', ...(totp && { totp }) })
    if (begun.status !== 201) return begun
    return browser.post('/reauthenticate/with/complete', {
      provider: 'real',
      response: await real.visit(begun.body.data.url as string, login, jar),
    })
  }

  test('asks the provider to have the person prove themselves anew, and counts as the password', async () => {
    const { browser, login } = await newcomer()
    expect(refusal(await browser.post('/totp'))).toEqual([403, 'reauthentication_required'])
    const begun = await browser.post('/reauthenticate/with', { provider: 'real' })
    const asks = new URL(begun.body.data.url as string).searchParams
    expect([asks.get('prompt'), asks.get('max_age')]).toEqual(['login', '0'])
    const proven = await prove(browser, login)
    expect([proven.status, proven.body.data.reauthenticatedAt]).toEqual([200, app.clock.now().toISOString()])
    expect((await browser.post('/totp')).status).toBe(201)
  })

  test('of another account of the provider is refused', async () => {
    const [mine, theirs] = [await newcomer(), await newcomer()]
    expect(refusal(await prove(mine.browser, theirs.login))).toEqual([403, 'identity_refused'])
    expect(refusal(await prove(mine.browser, somebody()))).toEqual([403, 'identity_refused'])
    expect(refusal(await mine.browser.post('/totp'))).toEqual([403, 'reauthentication_required'])
  })

  test('needs a linked identity', async () => {
    const browser = await givenBrowser(app)
    expect((await browser.post('/reauthenticate/with', { provider: 'real' })).status).toBe(404)
  })

  test('needs the code of a second factor before', async () => {
    const { browser, login } = await newcomer()
    await prove(browser, login)
    const { secret } = (await browser.post('/totp')).body.data as { secret: string }
    await browser.post('/totp/confirm', { code: codeOf(secret, app.clock.now()) })
    app.clock.advance('15m')
    expect(refusal(await prove(browser, login))).toEqual([401, 'wrong_totp'])
    expect(refusal(await prove(browser, login, '000000'))).toEqual([401, 'wrong_totp'])
    expect((await prove(browser, login, codeOf(secret, app.clock.now()))).status).toBe(200)
  })
})

test('ten accounts are begun to be linked an hour, so that nobody fills the queue of mails', async () => {
  const browser = await givenBrowser(app)
  const begin = () => browser.post('/identities/begin', { provider: 'real' })
  for (let i = 0; i < 10; i++) expect((await begin()).status).toBe(201)
  const eleventh = await begin()
  expect(refusal(eleventh)).toEqual([429, 'rate_limited'])
  expect(Number(eleventh.headers['retry-after'])).toBeGreaterThan(0)
})
