import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { codeOf, key, projectFixture } from '../../../test/project-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { openTokens } from '../accounts/tokens.ts'

const app = await testApp()
const { company } = projectFixture(app)
const projects = async (payer: ReturnType<typeof app.clientOf>) =>
  ((await payer.get('/projects')).body.data as { id: string; name: string }[]).map(({ name }) => name)

describe('projects', () => {
  test('are made, listed, renamed and deleted by the account that pays', async () => {
    const payer = await app.given.customer()
    const { status, body } = await payer.post('/projects', { name: 'shop' })
    const { id } = body.data as { id: string }
    expect([status, body.data]).toEqual([201, { id, name: 'shop', vmCount: 0, budget: null, createdAt: app.clock.now().toISOString() }])
    expect((await payer.patch(`/projects/${id}`, { name: 'web shop' })).body.data.name).toBe('web shop')
    expect((await payer.get(`/projects/${id}`)).body.data.name).toBe('web shop')
    expect(await projects(payer)).toEqual(['web shop'])
    expect((await payer.delete(`/projects/${id}`)).body.data).toEqual({ id })
    expect(await projects(payer)).toEqual([])
    for (const answer of [
      await payer.get(`/projects/${id}`),
      await payer.patch(`/projects/${id}`, { name: 'x' }),
      await payer.delete(`/projects/${id}`),
    ])
      expect(codeOf(answer)).toEqual([404, 'not_found'])
    const types = ((await payer.get('/events')).body.data as { type: string }[]).map(({ type }) => type)
    expect(types).toEqual(['project.created', 'project.updated', 'project.deleted'])
  })

  test('are no more than the limit of the account', async () => {
    const payer = await app.given.customer()
    await app.db.run(sql`insert into account_quotas (account_id, name, limit_override) values (${payer.accountId}, 'projects', 1)`)
    const { accountId } = await app.given.project(payer)
    expect(codeOf(await payer.post('/projects', { name: 'another' }))).toEqual([422, 'quota_exceeded'])
    await payer.delete(`/projects/${accountId}`)
    expect((await payer.post('/projects', { name: 'another' })).status).toBe(201)
  })

  test('are no more than a hundred in a day, with those that are deleted', async () => {
    const payer = await app.given.customer()
    for (let i = 0; i < 100; i++) await payer.delete(`/projects/${(await app.given.project(payer)).accountId}`)
    expect(codeOf(await payer.post('/projects', { name: 'another' }))).toEqual([429, 'rate_limited'])
    app.clock.advance('25h')
    expect((await payer.post('/projects', { name: 'another' })).status).toBe(201)
  })

  test('are another thing than those of other accounts', async () => {
    const [mine, theirs] = [await app.given.customer(), await app.given.customer()]
    const { accountId } = await app.given.project(theirs)
    for (const answer of [
      await mine.get(`/projects/${accountId}`),
      await mine.patch(`/projects/${accountId}`, { name: 'x' }),
      await mine.delete(`/projects/${accountId}`),
    ])
      expect(codeOf(answer)).toEqual([404, 'not_found'])
    expect(await projects(mine)).toEqual([])
  })

  test('have resources of their own', async () => {
    const { payer, project } = await company()
    const other = await app.given.project(payer, 'other')
    const { id } = await app.given.vm(project)
    expect((await project.get(`/vms/${id}`)).status).toBe(200)
    for (const stranger of [payer, other]) expect(codeOf(await stranger.get(`/vms/${id}`))).toEqual([404, 'not_found'])
    const totals = await Promise.all([project, payer, other].map(async (who) => (await who.get('/vms')).body.pagination.total as number))
    expect(totals).toEqual([1, 0, 0])
    expect((await payer.get('/projects')).body.data.map(({ vmCount }: { vmCount: number }) => vmCount)).toEqual([0, 1])
    const types = async (who: typeof project) => ((await who.get('/events')).body.data as { type: string }[]).map(({ type }) => type)
    expect(await types(project)).toContain('vm.created')
    expect((await types(payer)).filter((type) => type.startsWith('vm.'))).toEqual([])
  })

  test('may do nothing that is the business of the account that pays', async () => {
    const { project } = await company()
    const ofPayer = app.operations.filter(({ isOfPayer }) => isOfPayer)
    expect(ofPayer.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining([
        'createProject',
        'getWallet',
        'createDeposit',
        'listInvoices',
        'getInvoice',
        'updateAccount',
        'deleteProject',
      ]),
    )
    for (const { method, path } of ofPayer) {
      const url = path.replace(/:\w+/, project.accountId)
      const call = { GET: project.get, POST: project.post, PATCH: project.patch, DELETE: project.delete }[method as 'GET']
      expect([
        url,
        ...codeOf(await (method === 'GET' || method === 'DELETE' ? call(url) : (call as typeof project.post)(url, {}))),
      ]).toEqual([url, 403, 'in_project'])
    }
    const alert = { name: 'money', metric: 'balanceDays', comparison: 'BELOW', threshold: 7 }
    expect(codeOf(await project.post('/alerts', alert))).toEqual([403, 'in_project'])
  })

  test('are not made while the version before may come back', async () => {
    const payer = await app.given.customer()
    await app.db.run(sql`alter table accounts add constraint accounts_no_projects check (payer_account_id is null) not valid`)
    expect(codeOf(await payer.post('/projects', { name: 'early' }))).toEqual([422, 'unavailable'])
    await app.db.run(sql`alter table accounts drop constraint accounts_no_projects`)
    expect((await payer.post('/projects', { name: 'early' })).status).toBe(201)
  })
})

test('a suspended account is suspended with its projects, those made meanwhile too', async () => {
  const { payer, project } = await company()
  const { id } = await app.given.vm(project)
  const { suspendAccount, unsuspendAccount } = await import('../operator/customers.ts')
  await app.db.tx((tx) => suspendAccount(tx, app.deps, payer.accountId, 'abuse'))
  await app.settle({ subjectId: id })
  expect((await project.get(`/vms/${id}`)).body.data.status).toBe('SUSPENDED')
  expect(codeOf(await project.post('/ssh-keys', key()))).toEqual([422, 'quota_exceeded'])
  expect(codeOf(await payer.post('/projects', { name: 'way out' }))).toEqual([422, 'quota_exceeded'])
  await expect(app.db.tx((tx) => unsuspendAccount(tx, app.deps, project.accountId))).rejects.toThrow(/pays for it is suspended/)
  await app.db.tx((tx) => unsuspendAccount(tx, app.deps, payer.accountId))
  await app.settle({ subjectId: id })
  expect((await project.get(`/vms/${id}`)).body.data.status).toBe('RUNNING')
})

describe('DELETE /projects/{id}', () => {
  test('is refused while there are resources', async () => {
    const { payer, project } = await company()
    const { id } = await app.given.vm(project)
    await project.post('/ssh-keys', key())
    const { status, headers, body } = await payer.delete(`/projects/${project.accountId}`)
    expect([status, headers['x-error-code'], body.error]).toEqual([
      409,
      'in_use',
      'The project is in use: it has 1 SSH key, 1 VM. Delete these first',
    ])
    expect((await project.get(`/vms/${id}`)).status).toBe(200)
  })

  test('ends its tokens, members, invitations, webhooks, alerts and tickets, and the ledger keeps its name', async () => {
    const { payer, project, owner } = await company()
    const [outsider, guest] = [await givenMember(app, project.accountId, 'admin'), await givenBrowser(app)]
    const { id } = await app.given.vm(project)
    await project.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    await project.post('/webhooks', { url: 'https://example.com/hook', events: ['vm.created'] })
    await project.post('/alerts', { name: 'busy', metric: 'cpuPercent', comparison: 'ABOVE', threshold: 90 })
    await project.post('/tickets', { subject: 'a', body: 'b' })
    outsider.choose(project.accountId)
    const mine = (await outsider.post('/v1/tokens', { name: 'mine', scopes: ['vms:read'] })).body.data.secret as string
    const { url } = (await outsider.post('/v1/invitations', { email: guest.person.email, role: 'billing' })).body.data as { url: string }
    const before = (await payer.get('/wallet/transactions')).body.data
    expect((await payer.delete(`/projects/${project.accountId}`)).status).toBe(200)
    for (const token of [project, app.clientOf(mine)]) await expect.poll(async () => (await token.get('/vms')).status).toBe(401)
    owner.choose(project.accountId)
    for (const browser of [owner, outsider]) expect(codeOf(await browser.get('/v1/vms'))).toEqual([403, 'account_required'])
    expect(codeOf(await guest.post('/invitations/accept', { token: url.split('#')[1] }))).toEqual([410, 'link_gone'])
    expect((await payer.get('/wallet/transactions')).body.data).toEqual(before)
    const used = ((await payer.get('/account/limits')).body.data as { name: string; used: number }[])
      .filter(({ name }) => ['tokens', 'webhooks', 'alerts', 'openTickets', 'projects'].includes(name))
      .map(({ name, used: count }) => [name, count])
    expect(Object.fromEntries(used)).toEqual({ tokens: 1, webhooks: 0, alerts: 0, openTickets: 0, projects: 0 })
  })

  test('leaves nothing that was made at the same moment', async () => {
    const payer = await app.given.customer()
    for (let i = 0; i < 10; i++) {
      const project = await app.given.project(payer)
      const [gone, ...made] = await Promise.all([
        payer.delete(`/projects/${project.accountId}`),
        project.post('/ssh-keys', key()),
        project.post('/tokens', { name: 'late', scopes: ['vms:read'] }),
        project.post('/firewalls', { name: 'late' }),
        project.post('/tickets', { subject: 'a', body: 'b' }),
      ])
      const kept = (
        await app.db.many(sql`
        select 1 from ssh_keys where account_id = ${project.accountId} union all select 1 from firewalls where account_id = ${project.accountId}`)
      ).length
      expect(gone.status === 200 ? kept : kept > 0).toBe(gone.status === 200 ? 0 : true)
      expect(made.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
      if (gone.status === 200) continue
      for (const [path, { data }] of [
        ['/ssh-keys', made[0]!.body],
        ['/firewalls', made[2]!.body],
      ] as const)
        if (data) await project.delete(`${path}/${data.id}`)
      expect((await payer.delete(`/projects/${project.accountId}`)).status).toBe(200)
    }
  })

  test('holds up nobody who writes when its tokens were used', async () => {
    const { payer, project } = await company()
    const other = await app.given.token(project.accountId)
    const child = (await project.post('/tokens', { name: 'child', scopes: ['vms:read'] })).body.data as { id: string; secret: string }
    const tokens = await openTokens(app.db, app.clock)
    for (const secret of [other.token, child.secret])
      await tokens.authenticate({ headers: { 'x-api-key': secret } as object, ip: '127.0.0.1' } as FastifyRequest)
    const waiting = async () =>
      (await app.db.many(sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).length
    let deleting: ReturnType<typeof payer.delete>
    await app.db.tx(async (tx) => {
      await tx.run(sql`select from api_tokens where id = ${child.id} for update`)
      deleting = payer.delete(`/projects/${project.accountId}`)
      await expect.poll(waiting, { timeout: 10_000 }).toBe(1)
      await tokens.flush()
    })
    expect((await deleting!).status).toBe(200)
    await tokens.close()
  })
})
