import { describe, expect, test } from 'vitest'
import { browserOf, givenBrowser, givenMember, givenUser, PASSWORD } from '../../../test/browser.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { headerOf, smtpServer } from '../../../test/smtp-server.ts'
import { sha256 } from '../../kernel/crypto.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { mailInvitations } from './mail.reconciler.ts'
import { pruneInvitations } from './prune.reconciler.ts'

const server = await smtpServer()
const mail = { BERTH_SMTP_URL: server.url(), BERTH_MAIL_FROM: 'Example Cloud <noreply@cloud.example>' }
const app = await testApp({ environment: { ...mail, BERTH_PUBLIC_URL: 'http://localhost' } })
const codeOf = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-error-code']]
const someEmail = (): string => `${newId()}@example.com`

async function account(from: TestApp = app) {
  const owner = await givenBrowser(from)
  owner.choose(owner.person.accountId)
  return { owner, accountId: owner.person.accountId }
}

const mailsTo = (email: string) => server.received.filter(({ to }) => to.includes(email))

const textOf = (email: string): string => mailsTo(email).at(-1)?.data.replace(/=\r\n/g, '') ?? ''

/** The secret of the last mail to an address. */
async function mailed(email: string): Promise<string> {
  await mailInvitations.runOnce(app.deps)
  return /\/join#(inv_\w+)/.exec(textOf(email))![1]!
}

async function invited(owner: Awaited<ReturnType<typeof givenBrowser>>, email: string, role = 'admin') {
  const { status, body } = await owner.post('/v1/invitations', { email, role })
  expect(status, body.error).toBe(201)
  return { id: body.data.id as string, token: await mailed(email) }
}

let addresses = 0
const register = (token: string, from: TestApp = app) =>
  browserOf(from, `10.4.0.${++addresses}`).post('/invitations/register', { token, password: PASSWORD, name: 'Grace' })
const membersOf = async (owner: Awaited<ReturnType<typeof givenBrowser>>) =>
  ((await owner.get('/v1/members')).body.data as { email: string; role: string }[]).map(({ email, role }) => `${email} ${role}`)

describe('POST /invitations', () => {
  test('leads nobody anywhere in our name: names are no links in the mail', async () => {
    const owner = await givenBrowser(app)
    await app.db.run(sql`update accounts set name = 'Win at https://evil.example/now' where id = ${owner.person.accountId}`)
    const { body } = await owner.post('/v1/tokens', { name: 'See https://evil.example', scopes: ['members:*'] })
    const email = someEmail()
    expect((await app.clientOf(body.data.secret).post('/invitations', { email, role: 'custom', scopes: ['members:read'] })).status).toBe(
      201,
    )
    await mailed(email)
    expect(textOf(email)).toContain(
      `${owner.person.email} invites you to the account Win at https   evil example now, ${owner.person.email}`,
    )
    expect(textOf(email)).not.toContain('evil.example')
  })

  test('mails a link, of which only the hash is stored', async () => {
    const { owner } = await account()
    const email = someEmail()
    const { body } = await owner.post('/v1/invitations', { email, role: 'custom', scopes: ['vms:read'] })
    expect(body.data).toMatchObject({ email, role: 'custom', scopes: ['vms:read'], invitedBy: owner.person.email, url: null })
    const token = await mailed(email)
    expect(headerOf(mailsTo(email)[0]!, 'subject')).toBe('You are invited to an account')
    const rows = await app.db.many<{ hash: Buffer; row: string }>(
      sql`select hash, to_jsonb(i)::text as row from invitations i where email = ${email}`,
    )
    expect(rows.map(({ hash }) => hash)).toEqual([sha256(token)])
    expect(rows[0]!.row).not.toContain(token)
    expect(JSON.stringify((await owner.get('/v1/audit-log')).body)).not.toContain(token)
    expect((await owner.get('/v1/invitations')).body.data).toEqual([
      {
        id: body.data.id,
        email,
        role: 'custom',
        scopes: ['vms:read'],
        budget: null,
        invitedBy: owner.person.email,
        createdAt: body.data.createdAt,
        expiresAt: body.data.expiresAt,
      },
    ])
  })

  test('answers the same for an address that signs in here and for one that does not', async () => {
    const { owner } = await account()
    const [known, unknown] = [(await givenUser(app)).email, someEmail()]
    const ask = async (email: string) => {
      const { status, body } = await owner.post('/v1/invitations', { email, role: 'admin' })
      return [status, Object.keys(body.data), body.data.url, body.data.role]
    }
    expect(await ask(known)).toEqual(await ask(unknown))
    await mailInvitations.runOnce(app.deps)
    const [forKnown, forUnknown] = [known, unknown].map((email) =>
      textOf(email)
        .split('\r\n\r\n')
        .slice(1)
        .join()
        .replaceAll(email, 'X')
        .replace(/inv_\w+/g, 'Y')
        .replace(/--[-\w]+/g, ''),
    )
    expect(forKnown).toEqual(forUnknown)
  })

  test('gives nobody more than the caller has', async () => {
    const { owner, accountId } = await account()
    const clerk = await givenMember(app, accountId, 'custom', ['members:create', 'vms:read'])
    const admin = await givenMember(app, accountId, 'admin')
    const token = await app.given.token(accountId)
    const email = someEmail()
    for (const role of ['owner', 'admin', 'operator', 'billing', 'read-only'])
      expect(codeOf(await clerk.post('/v1/invitations', { email, role }))).toEqual([403, 'missing_scope'])
    expect(codeOf(await clerk.post('/v1/invitations', { email, role: 'custom', scopes: ['vms:*'] }))).toEqual([403, 'missing_scope'])
    expect(codeOf(await admin.post('/v1/invitations', { email, role: 'owner' }))).toEqual([403, 'missing_scope'])
    expect(codeOf(await admin.post('/v1/invitations', { email, role: 'custom', scopes: ['account:update'] }))).toEqual([
      403,
      'missing_scope',
    ])
    expect(codeOf(await token.post('/invitations', { email, role: 'owner' }))).toEqual([403, 'missing_scope'])
    expect((await owner.get('/v1/invitations')).body.data).toEqual([])
    expect((await clerk.post('/v1/invitations', { email, role: 'custom', scopes: ['vms:read'] })).status).toBe(201)
    expect((await owner.post('/v1/invitations', { email: someEmail(), role: 'owner' })).status).toBe(201)
  })

  test('is not made by a token with limits that a member would not have, nor by one that was made with such a token', async () => {
    const { accountId } = await account()
    const free = await app.given.token(accountId)
    const limits = [{ budget: { monthlyAmount: '10.00' } }, { expiresAt: '2100-01-01T00:00:00Z' }, { allowedIps: ['127.0.0.0/8'] }]
    for (const limit of limits) {
      const { body } = await free.post('/tokens', { name: 'limited', scopes: ['*'], ...limit })
      const limited = app.clientOf(body.data.secret as string)
      const child = app.clientOf((await limited.post('/tokens', { name: 'child', scopes: ['*'] })).body.data.secret as string)
      const email = someEmail()
      for (const token of [limited, child])
        expect(codeOf(await token.post('/invitations', { email, role: 'custom', scopes: ['vms:read'] }))).toEqual([403, 'missing_scope'])
      expect((await free.post('/invitations', { email, role: 'custom', scopes: ['vms:read'] })).status).toBe(201)
    }
  })

  test('is refused for a member, and for an address that is invited already until that has ended', async () => {
    const { owner } = await account()
    expect(codeOf(await owner.post('/v1/invitations', { email: owner.person.email.toUpperCase(), role: 'admin' }))).toEqual([
      409,
      'already_exists',
    ])
    const email = someEmail()
    const { id } = await invited(owner, email)
    expect(codeOf(await owner.post('/v1/invitations', { email: email.toUpperCase(), role: 'admin' }))).toEqual([409, 'already_exists'])
    await owner.delete(`/v1/invitations/${id}`)
    expect((await owner.post('/v1/invitations', { email, role: 'admin' })).status).toBe(201)
    const token = await mailed(email)
    app.clock.advance('7d')
    expect(codeOf(await register(token))).toEqual([410, 'link_gone'])
    await owner.signIn(owner.person.email)
    expect((await owner.get('/v1/invitations')).body.data).toEqual([])
    expect((await owner.post('/v1/invitations', { email, role: 'admin' })).status).toBe(201)
  })

  test('sends an address few mails, whoever invites it, and does not tell that others did', async () => {
    const email = someEmail()
    for (let i = 0; i < 8; i++) expect((await (await account()).owner.post('/v1/invitations', { email, role: 'admin' })).status).toBe(201)
    await mailInvitations.runOnce(app.deps)
    expect(mailsTo(email)).toHaveLength(5)
  })

  test('is limited for each account, also where invitations are deleted again', async () => {
    const { owner } = await account()
    const answers: number[] = []
    for (let i = 0; i < 32; i++) {
      const { status, body } = await owner.post('/v1/invitations', { email: someEmail(), role: 'admin' })
      answers.push(status)
      if (status === 201) await owner.delete(`/v1/invitations/${body.data.id}`)
    }
    expect(answers).toEqual([...Array.from({ length: 30 }, () => 201), 429, 429])
    const burst = await account()
    const parallel = await Promise.all(
      Array.from({ length: 60 }, () => burst.owner.post('/v1/invitations', { email: someEmail(), role: 'admin' })),
    )
    expect(parallel.filter(({ status }) => status === 201)).toHaveLength(30)
  })

  test('mails again with another link when the server did not take it, and gives up', async () => {
    const { owner } = await account()
    const email = someEmail()
    await owner.post('/v1/invitations', { email, role: 'admin' })
    server.answer({ RCPT: '451 later' })
    await mailInvitations.runOnce(app.deps)
    expect(mailsTo(email)).toEqual([])
    server.answer({})
    await mailInvitations.runOnce(app.deps)
    expect(mailsTo(email)).toEqual([])
    app.clock.advance('10m')
    const token = await mailed(email)
    app.clock.advance('1h')
    await mailInvitations.runOnce(app.deps)
    expect(mailsTo(email)).toHaveLength(1)
    expect((await register(token)).status).toBe(201)
  })
})

describe('an invitation', () => {
  test('lets somebody new register, who has no other account', async () => {
    const { owner, accountId } = await account()
    const email = someEmail()
    const { token } = await invited(owner, email, 'operator')
    const preview = await browserOf(app).post('/invitations/preview', { token })
    expect(preview.body.data).toMatchObject({
      account: { id: accountId },
      email,
      role: 'operator',
      invitedBy: owner.person.email,
      canRegister: true,
    })
    const browser = browserOf(app)
    const { status, body } = await browser.post('/invitations/register', { token, password: PASSWORD, name: 'Grace' })
    expect([status, body.data]).toMatchObject([
      201,
      { user: { email, name: 'Grace', isOperator: false }, account: { id: accountId, role: 'operator' }, accounts: [{ id: accountId }] },
    ])
    expect((await browser.get('/v1/vms')).status).toBe(200)
    expect(codeOf(await browser.patch('/v1/account', { name: 'Mine' }))).toEqual([403, 'missing_scope'])
    expect((await browserOf(app).signIn(email)).status).toBe(200)
    expect((await owner.get('/v1/audit-log?action=registerByInvitation')).body.data[0].actor.name).toBe(email)
  })

  test('is accepted by the signed-in person of the address, whatever the spelling', async () => {
    const { owner, accountId } = await account()
    const other = await givenBrowser(app)
    const { token } = await invited(owner, other.person.email.replace('person', 'PERSON'), 'billing')
    expect((await other.post('/invitations/accept', { token })).body.data).toEqual({ accountId, role: 'billing' })
    other.choose(accountId)
    expect((await other.get('/session')).body.data.account).toMatchObject({ id: accountId, role: 'billing' })
    expect(await membersOf(owner)).toEqual([`${other.person.email} billing`, `${owner.person.email} owner`])
    expect((await owner.get('/v1/audit-log')).body.data[0]).toMatchObject({ action: 'acceptInvitation', actor: { id: other.person.id } })
    other.choose(other.person.accountId)
    expect((await other.get('/v1/audit-log?action=acceptInvitation')).body.data).toEqual([])
  })

  test('is accepted by nobody who signs in with another address', async () => {
    const { owner } = await account()
    const stranger = await givenBrowser(app)
    const { token } = await invited(owner, someEmail())
    expect(codeOf(await stranger.post('/invitations/accept', { token }))).toEqual([422, 'incompatible'])
    expect(await membersOf(owner)).toEqual([`${owner.person.email} owner`])
    expect((await register(token)).status).toBe(201)
  })

  test('never signs up a second person for an address that has one', async () => {
    const { owner } = await account()
    const other = await givenUser(app)
    const { token } = await invited(owner, other.email)
    expect(codeOf(await register(token))).toEqual([409, 'already_exists'])
    expect(await membersOf(owner)).toEqual([`${owner.person.email} owner`])
    expect((await browserOf(app).signIn(other.email)).status).toBe(200)
  })

  test.each(['accepted', 'revoked', 'expired', 'incomplete'])('does nothing once it is %s', async (how) => {
    const { owner } = await account()
    const other = await givenBrowser(app)
    const { id, token } = await invited(owner, other.person.email)
    if (how === 'accepted') await other.post('/invitations/accept', { token })
    if (how === 'revoked') await owner.delete(`/v1/invitations/${id}`)
    if (how === 'expired') app.clock.advance('7d')
    await other.signIn(other.person.email)
    await owner.signIn(owner.person.email)
    const before = await membersOf(owner)
    const tried = how === 'incomplete' ? token.slice(0, -1) : token
    for (const path of ['/invitations/accept', '/invitations/preview'])
      expect(codeOf(await other.post(path, { token: tried }))).toEqual([410, 'link_gone'])
    expect(codeOf(await register(tried))).toEqual([410, 'link_gone'])
    expect(await membersOf(owner)).toEqual(before)
    const withdrawn = await owner.delete(`/v1/invitations/${id}`)
    expect(withdrawn.status).toBe(how === 'incomplete' ? 200 : 404)
  })

  test('has one outcome when many use it at once', async () => {
    const { owner } = await account()
    const email = someEmail()
    const { token } = await invited(owner, email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => register(token)))
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(19)
    expect(await membersOf(owner)).toEqual([`${email} admin`, `${owner.person.email} owner`])
    const other = await givenBrowser(app)
    const second = await invited(owner, other.person.email)
    const accepted = await Promise.all(Array.from({ length: 20 }, () => other.post('/invitations/accept', { token: second.token })))
    expect(accepted.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('is accepted or withdrawn, never both', async () => {
    for (let round = 0; round < 10; round++) {
      const { owner } = await account()
      const other = await givenBrowser(app)
      const { id, token } = await invited(owner, other.person.email)
      const [accepted, withdrawn] = await Promise.all([other.post('/invitations/accept', { token }), owner.delete(`/v1/invitations/${id}`)])
      expect([accepted!.status, withdrawn!.status]).toEqual(accepted!.status === 200 ? [200, 404] : [410, 200])
      expect(await membersOf(owner)).toHaveLength(accepted!.status === 200 ? 2 : 1)
    }
  })

  test('of another account cannot be withdrawn', async () => {
    const [mine, theirs] = [await account(), await account()]
    const { id } = await invited(theirs.owner, someEmail())
    for (const each of [id, newId()]) expect(codeOf(await mine.owner.delete(`/v1/invitations/${each}`))).toEqual([404, 'not_found'])
    expect((await theirs.owner.get('/v1/invitations')).body.data).toHaveLength(1)
  })

  test('ends when who made it may no longer give that much', async () => {
    const { owner, accountId } = await account()
    const inviter = await givenMember(app, accountId, 'owner')
    const [owning, reading] = [someEmail(), someEmail()]
    await inviter.post('/v1/invitations', { email: owning, role: 'owner' })
    await inviter.post('/v1/invitations', { email: reading, role: 'read-only' })
    await owner.patch(`/v1/members/${inviter.person.id}`, { role: 'admin' })
    expect((await owner.get('/v1/invitations')).body.data).toMatchObject([{ email: reading }])
    await mailInvitations.runOnce(app.deps)
    expect(mailsTo(owning)).toEqual([])
  })

  test('is forgotten 30 days after its end', async () => {
    const { owner, accountId } = await account()
    await invited(owner, someEmail())
    const count = async () =>
      (await app.db.one<{ count: number }>(sql`select count(*)::int as count from invitations where account_id = ${accountId}`)).count
    app.clock.advance('36d')
    await pruneInvitations.runOnce(app.deps)
    expect(await count()).toBe(1)
    app.clock.advance('2d')
    await pruneInvitations.runOnce(app.deps)
    expect(await count()).toBe(0)
  })
})

describe('where no mail can be sent', () => {
  test('the link is in the answer, once, and signs nobody up where sign-up is closed', async () => {
    const closed = await testApp()
    const { owner } = await account(closed)
    const other = await givenBrowser(closed)
    const { body } = await owner.post('/v1/invitations', { email: other.person.email, role: 'admin' }, { host: 'localhost' })
    expect(body.data.url).toMatch(/^http:\/\/localhost\/join#inv_\w+$/)
    expect(JSON.stringify((await owner.get('/v1/invitations')).body)).not.toContain('inv_')
    const token = (url: string) => url.split('#')[1]!
    expect((await other.post('/invitations/accept', { token: token(body.data.url) })).status).toBe(200)
    const fresh = await owner.post('/v1/invitations', { email: someEmail(), role: 'admin' })
    expect((await browserOf(closed).post('/invitations/preview', { token: token(fresh.body.data.url) })).body.data.canRegister).toBe(false)
    expect(codeOf(await register(token(fresh.body.data.url), closed))).toEqual([403, 'sign_up_closed'])
    const open = await testApp({ environment: { BERTH_SIGN_UP: 'open' } })
    const made = await (await account(open)).owner.post('/v1/invitations', { email: someEmail(), role: 'admin' })
    expect((await register(token(made.body.data.url), open)).status).toBe(201)
  })

  test('it never leads to a host that the caller names', async () => {
    const plain = await testApp()
    const { owner, accountId } = await account(plain)
    const token = await plain.given.token(accountId)
    const { body } = await token.post('/invitations', { email: someEmail(), role: 'operator' }, { host: 'evil.example' })
    expect(new URL(body.data.url).hostname).toBe('127.0.0.1')
    expect((await owner.get('/v1/invitations')).body.data).toHaveLength(1)
  })
})
