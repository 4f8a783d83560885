import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { browserOf, givenUser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { CLIENT, realProvider } from '../../../test/openid-provider.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { headerOf, smtpServer } from '../../../test/smtp-server.ts'
import { mailIdentities } from '../../features/identities/mail.reconciler.ts'
import { sql } from '../../kernel/database/db.ts'

describe('berthd identity-provider', { timeout: 120_000 }, async () => {
  const mailbox = await smtpServer()
  const mail = { BERTH_SMTP_URL: mailbox.url(), BERTH_MAIL_FROM: 'noreply@cloud.example' }
  const app = await testApp({ environment: { ...mail, BERTH_SIGN_UP: 'open' } })
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '4711' }
  const real = await realProvider({ names: ['staff'] })
  afterAll(real.close)
  const secret = join(app.config.dataDir, 'client-secret')
  writeFileSync(secret, `${CLIENT.clientSecret}\n`)
  const add = ['identity-provider', 'add', 'staff', '--issuer', real.issuer, '--client-id', 'berth', '--client-secret-file', secret]

  async function signIn(login: string) {
    const browser = browserOf(app)
    const { body } = await browser.post('/sign-in/with', { provider: 'staff' })
    const response = await real.visit(body.data.url as string, login)
    return { browser, answer: await browser.post('/sign-in/with/complete', { provider: 'staff', response }) }
  }
  const comeAnew = async (login: string) => {
    real.people.set(login, { email: `${login}@id.example`, email_verified: true })
    return signIn(login)
  }
  const auditOf = async (email: string) =>
    (
      await app.db.many<{ action: string }>(sql`
        select l.action from audit_log l join users u on u.account_id = l.account_id where u.email = ${email} and l.actor_type = 'operator'`)
    ).map(({ action }) => action)

  test('add says what the provider must allow, and list what there is, but never the secret', async () => {
    const added = await berthd(settings, ...add, '--title', 'Example Inc.')
    expect([added.code, added.stdout]).toEqual([
      0,
      'Sign in with Example Inc. is offered now. Allow this redirect URI there, exactly so: http://127.0.0.1:4711/sign-in/with/staff\n',
    ])
    const listed = await berthd(settings, 'identity-provider', 'list', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { name: 'staff', title: 'Example Inc.', issuer: real.issuer, secondFactor: false, identities: 0, problem: null },
    ])
    expect(listed.stdout + added.stdout).not.toContain(CLIENT.clientSecret)
    expect((await comeAnew('ada')).answer.status).toBe(201)
  })

  test('add refuses what is not a provider, and a name twice', async () => {
    const args = [...add]
    args[4] = `${real.issuer}/nothing`
    const wrong = await berthd(settings, ...args)
    expect([wrong.code, wrong.stderr]).toMatchObject([1, expect.stringContaining('answered 404')])
    const twice = await berthd(settings, ...add)
    expect([twice.code, twice.stderr]).toMatchObject([1, expect.stringContaining('There is an identity provider staff already')])
  })

  test('set changes the secret, and whether it stands for a second factor', async () => {
    expect((await berthd(settings, 'identity-provider', 'set', 'staff')).code).toBe(2)
    const changed = await berthdJson<{ secondFactor: boolean }>(settings, 'identity-provider', 'set', 'staff', '--second-factor', 'true')
    expect(changed.secondFactor).toBe(true)
    const { browser } = await signIn('ada')
    await berthdJson(settings, 'identity-provider', 'set', 'staff', '--second-factor', 'false', '--title', 'Staff')
    expect((await browser.get('/session')).status).toBe(401)
    writeFileSync(secret, 'another secret of the client')
    await berthdJson(settings, 'identity-provider', 'set', 'staff', '--client-secret-file', secret)
    expect((await signIn('ada')).answer.body.error).toContain('the operator must check how it is set up')
    writeFileSync(secret, CLIENT.clientSecret)
    await berthdJson(settings, 'identity-provider', 'set', 'staff', '--client-secret-file', secret)
    expect((await signIn('ada')).answer.status).toBe(200)
  })

  test('user set unlinks what signs somebody in, and ends the sessions that it began', async () => {
    const { browser } = await comeAnew('planted')
    const linkedOf = async () =>
      (await berthdJson<{ email: string; identities: string }[]>(settings, 'user', 'list')).find(
        ({ email }) => email === 'planted@id.example',
      )!.identities
    expect(await linkedOf()).toBe('staff:planted@id.example')
    const args = ['user', 'set', 'planted@id.example', '--without-identities']
    expect((await berthd(settings, ...args)).code).not.toBe(0) // asks first
    await berthdJson(settings, ...args, '--yes')
    expect([await linkedOf(), (await browser.get('/session')).status]).toEqual(['', 401])
    expect((await signIn('planted')).answer.headers['x-error-code']).toBe('identity_refused')
    expect(await auditOf('planted@id.example')).toEqual(['user set'])
  })

  test('remove asks first, ends sessions, and gives a link to whom it leaves without a way in', async () => {
    const { browser } = await signIn('ada')
    const withPassword = await givenUser(app)
    await app.db.run(sql`
      insert into identities (id, provider_id, subject, user_id, label, created_at, last_used_at)
      select 'cidentity1', id, 'grace', ${withPassword.id}, 'grace', now(), now() from identity_providers`)
    expect((await berthd(settings, 'identity-provider', 'remove', 'staff')).code).not.toBe(0)
    const removed = await berthdJson<{ unlinked: number; withoutOtherWay: string[]; links: { email: string; url: string }[] }>(
      settings,
      'identity-provider',
      'remove',
      'staff',
      '--yes',
    )
    expect(removed).toMatchObject({ unlinked: 2, withoutOtherWay: ['ada@id.example'] })
    expect(removed.links).toEqual([
      { email: 'ada@id.example', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4711\/reset#lnk_\w{46}$/) },
    ])
    expect((await browser.get('/session')).status).toBe(401)
    expect((await browserOf(app).get('/setup')).body.data.identityProviders).toEqual([])
    const token = removed.links[0]!.url.split('#')[1]
    const back = await browserOf(app).post('/password-reset/complete', { token, password: PASSWORD })
    expect(back.body.data.user.email).toBe('ada@id.example')
    expect((await browserOf(app).signIn(withPassword.email)).status).toBe(200)
    expect([await auditOf('ada@id.example'), await auditOf(withPassword.email)]).toEqual([
      ['identity-provider remove'],
      ['identity-provider remove'],
    ])
    expect((await berthd(settings, 'identity-provider', 'remove', 'staff', '--yes')).code).toBe(1)
  })

  test('remove mails the link where mail can be sent', async () => {
    await berthdJson(settings, ...add)
    await comeAnew('bob')
    mailbox.received.splice(0)
    await app.db.run(sql`delete from identity_mails`)
    const removed = await berthdJson<{ links: object[] }>({ ...settings, ...mail }, 'identity-provider', 'remove', 'staff', '--yes')
    expect(removed.links).toEqual([])
    app.clock.advance('1h') // the command has the clock of the machine
    await mailIdentities.runOnce(app.deps)
    const [only, ...others] = mailbox.received
    expect([only!.to, headerOf(only!, 'subject'), others]).toEqual([['bob@id.example'], 'Set a password: staff signs you in no more', []])
    const token = /\/reset#(lnk_\w+)/.exec(only!.data.replace(/=\r\n/g, ''))![1]
    const back = await browserOf(app).post('/password-reset/complete', { token, password: PASSWORD })
    expect(back.body.data.user.email).toBe('bob@id.example')
    await mailIdentities.runOnce(app.deps)
    expect(mailbox.received).toHaveLength(1)
  })
})
