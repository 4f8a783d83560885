import { describe, expect, test } from 'vitest'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { codeOf, key, projectFixture } from '../../../test/project-fixture.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
const { company } = projectFixture(app)

describe('members of a project', () => {
  const roleIn = async (browser: Awaited<ReturnType<typeof givenMember>>, accountId: string) => {
    browser.choose(accountId)
    const { status, body } = await browser.get('/session')
    expect(status).toBe(200)
    return (body.data.account?.role ?? null) as string | null
  }

  test('are the owners and admins of the account that pays, and its own', async () => {
    const { project, member, owner } = await company()
    const [admin, operator, outsider] = [
      await member('admin'),
      await member('operator'),
      await givenMember(app, project.accountId, 'read-only'),
    ]
    const roles = [owner, admin, operator, outsider].map((browser) => roleIn(browser, project.accountId))
    expect(await Promise.all(roles)).toEqual(['owner', 'admin', null, 'read-only'])
    const { body } = await project.get('/members')
    const shown = (body.data as { id: string; role: string; inherited: boolean }[]).map(({ id, role, inherited }) => [id, role, inherited])
    expect(shown).toEqual([
      [outsider.person.id, 'read-only', false],
      [admin.person.id, 'admin', true],
      [owner.person.id, 'owner', true],
    ])
    expect(body.pagination.total).toBe(3)
    expect(await app.db.many(sql`select from members where account_id = ${project.accountId}`)).toHaveLength(1)
  })

  test('are no more than what they are in the account that pays, from the next request on', async () => {
    const { payer, project, member, owner } = await company()
    const admin = await member('admin')
    admin.choose(project.accountId)
    const { body } = await admin.post('/v1/tokens', { name: 'mine', scopes: ['vms:read'] })
    const token = app.clientOf(body.data.secret as string)
    expect((await token.get('/vms')).status).toBe(200)
    owner.choose(payer.accountId)
    const changed = await owner.patch(`/v1/members/${admin.person.id}`, { role: 'operator' })
    expect(changed.body.data.revokedTokenIds).toEqual([body.data.id])
    await expect.poll(async () => (await token.get('/vms')).status).toBe(401)
    expect(codeOf(await admin.get('/v1/vms'))).toEqual([403, 'account_required'])
  })

  test('were in it before they became admins of the account that pays, and are no more when they are that no longer', async () => {
    const { payer, project, member, owner } = await company()
    for (const end of [
      (id: string) => owner.patch(`/v1/members/${id}`, { role: 'operator' }),
      (id: string) => owner.delete(`/v1/members/${id}`),
      (_: string, browser: typeof owner) => browser.delete(`/memberships/${payer.accountId}`),
    ]) {
      const admin = await member('admin')
      const { id } = admin.person
      await app.db.run(sql`
        insert into members (account_id, user_id, role, created_at) values (${project.accountId}, ${id}, 'operator', ${app.clock.now()})`)
      owner.choose(payer.accountId)
      expect((await end(id, admin)).status).toBe(200)
      admin.choose(project.accountId)
      expect(codeOf(await admin.get('/v1/vms'))).toEqual([403, 'account_required'])
    }
  })

  test('are made admins in the account that pays by its owners and admins alone', async () => {
    const { payer, project, member, owner } = await company()
    const [custom, operator] = [await member('custom', ['*']), await member('operator')]
    const admin = { email: 'a@example.net', role: 'admin' }
    const refused = [403, 'missing_scope']
    for (const answer of [
      await payer.post('/invitations', admin),
      await payer.patch(`/members/${operator.person.id}`, { role: 'admin' }),
      await custom.post('/v1/invitations', admin),
      await custom.patch(`/v1/members/${custom.person.id}`, { role: 'admin' }),
    ])
      expect(codeOf(answer)).toEqual(refused)
    owner.choose(payer.accountId)
    expect((await owner.patch(`/v1/members/${operator.person.id}`, { role: 'admin' })).status).toBe(200)
    expect((await operator.post('/v1/invitations', admin)).status).toBe(201)
    expect((await project.post('/invitations', admin)).status).toBe(201)
  })

  test('who inherit their role spend of their budget in the account that pays, and others of one in the project', async () => {
    const { payer, project, member, owner } = await company()
    const [admin, guest] = [await member('admin'), await givenMember(app, project.accountId, 'operator')]
    owner.choose(payer.accountId)
    expect((await owner.patch(`/v1/members/${admin.person.id}`, { budget: { monthlyAmount: '7.00' } })).status).toBe(200)
    owner.choose(project.accountId)
    expect((await owner.patch(`/v1/members/${guest.person.id}`, { budget: { maxVms: 1 } })).status).toBe(200)
    admin.choose(project.accountId)
    const order = await app.given.vmInput()
    const { body } = await admin.post('/v1/tokens', { name: 'mine', scopes: ['vms:create'] })
    const token = app.clientOf(body.data.secret as string)
    const first = await token.post('/vms', order)
    expect([first.status, first.headers['x-budget-remaining']]).toEqual([202, '1.00'])
    for (const answer of [await token.post('/vms', order), await admin.post('/v1/vms', order)])
      expect(codeOf(answer)).toEqual([402, 'budget_exceeded'])
    admin.choose(payer.accountId)
    expect(codeOf(await admin.post('/v1/vms', order))).toEqual([402, 'budget_exceeded'])
    expect((await guest.post('/v1/vms', order)).status).toBe(202)
    expect(codeOf(await guest.post('/v1/vms', order))).toEqual([402, 'budget_exceeded'])
    const budgets = ((await guest.get('/v1/members')).body.data as { id: string; budget: object | null }[]).map(({ id, budget }) => [
      id,
      budget !== null,
    ])
    expect(Object.fromEntries(budgets)).toEqual({ [owner.person.id]: false, [admin.person.id]: false, [guest.person.id]: true })
  })

  test('who inherit their role are changed in the account that pays, and leave there', async () => {
    const { project, member, owner } = await company()
    const admin = await member('admin')
    owner.choose(project.accountId)
    expect(codeOf(await owner.patch(`/v1/members/${admin.person.id}`, { role: 'billing' }))).toEqual([409, 'invalid_state'])
    expect(codeOf(await owner.delete(`/v1/members/${admin.person.id}`))).toEqual([409, 'invalid_state'])
    expect(codeOf(await admin.delete(`/memberships/${project.accountId}`))).toEqual([409, 'invalid_state'])
    expect(codeOf(await owner.post('/v1/invitations', { email: admin.person.email, role: 'billing' }))).toEqual([409, 'already_exists'])
  })

  test('are invited, join and leave as those of any account', async () => {
    const { project, owner } = await company()
    const guest = await givenBrowser(app)
    owner.choose(project.accountId)
    const { body } = await owner.post('/v1/invitations', { email: guest.person.email, role: 'operator' })
    const token = (body.data.url as string).split('#')[1]
    expect((await guest.post('/invitations/preview', { token })).body.data.account).toEqual({ id: project.accountId, name: 'shop' })
    expect((await guest.post('/invitations/accept', { token })).body.data).toEqual({ accountId: project.accountId, role: 'operator' })
    guest.choose(project.accountId)
    expect((await guest.get('/v1/vms')).status).toBe(200)
    expect((await guest.delete(`/memberships/${project.accountId}`)).status).toBe(200)
    expect((await guest.get('/v1/vms')).status).toBe(403)
  })

  test('need the second factor that the account that pays asks for', async () => {
    const { payer, project, owner } = await company()
    const outsider = await givenMember(app, project.accountId, 'admin')
    await app.db.run(sql`update accounts set requires_totp = true where id = ${payer.accountId}`)
    owner.choose(project.accountId)
    for (const browser of [owner, outsider]) expect(codeOf(await browser.get('/v1/vms'))).toEqual([403, 'two_factor_required'])
    expect((await project.get('/account')).body.data.requireTwoFactor).toBe(true)
  })

  test('learn nothing of the account that pays', async () => {
    const { payer, project } = await company('777.77')
    const [sibling, outsider] = [await app.given.project(payer, 'sibling-project'), await givenMember(app, project.accountId, 'owner')]
    await app.given.vm(sibling, { hostname: 'sibling-vm' })
    const { id } = await app.given.vm(project)
    await payer.post('/ssh-keys', key())
    const { balance } = (await payer.get('/wallet')).body.data as { balance: string }
    const secrets = [payer.accountId, 'Secret Ltd', 'secret-', 'sibling', balance, '777.77']
    const lists = app.operations.filter(({ method, path, isOfPayer }) => method === 'GET' && !path.includes(':') && !isOfPayer)
    for (const { path } of [...lists, { path: `/vms/${id}` }, { path: `/vms/${id}/bandwidth/packs` }]) {
      const text = JSON.stringify((await outsider.get(`/v1${path}`)).body)
      expect([path, secrets.filter((secret) => text.includes(secret))]).toEqual([path, []])
    }
    const session = JSON.stringify((await outsider.get('/session')).body)
    expect(secrets.filter((secret) => session.includes(secret))).toEqual([])
  })
})
