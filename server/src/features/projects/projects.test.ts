import { describe, expect, test } from 'vitest'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { generateKey } from '../../../test/openssh-keys.ts'
import { addDuration, manualClock } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { issueInvoices } from '../invoices/issue.reconciler.ts'

const app = await testApp()
type Answer = Awaited<ReturnType<ReturnType<typeof app.clientOf>['get']>>

const codeOf = ({ status, headers }: Pick<Answer, 'status' | 'headers'>) => [status, headers['x-error-code']]
const key = () => ({ name: 'laptop', publicKey: generateKey().line })
const projects = async (payer: ReturnType<typeof app.clientOf>) =>
  ((await payer.get('/projects')).body.data as { id: string; name: string }[]).map(({ name }) => name)

/** An account with an owner and admins and others, whose name and address nobody in its projects may learn. */
async function company(credit = '100.00') {
  const payer = await app.given.customer({ credit })
  await app.db.run(
    sql`update accounts set name = 'Secret Ltd', email = ${`secret-${payer.accountId}@example.com`} where id = ${payer.accountId}`,
  )
  const member = (role: string, scopes?: string[]) => givenMember(app, payer.accountId, role, scopes)
  const project = await app.given.project(payer)
  return { payer, project, member, owner: await member('owner') }
}

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

describe('what a project costs', () => {
  test('is paid by its account, whose ledger names the project', async () => {
    const { payer, project } = await company()
    const { id } = await app.given.vm(project)
    const lines = (await payer.get('/wallet/transactions')).body.data as Record<string, unknown>[]
    expect(lines[0]).toMatchObject({
      type: 'VM_CHARGE',
      referenceId: id,
      project: { id: project.accountId, name: 'shop' },
      balanceAfter: expect.any(String),
    })
    expect(lines[1]).toMatchObject({ type: 'CREDIT', project: null })
    const own = (await project.get('/wallet/transactions')).body
    expect(own.data).toEqual([{ ...lines[0], balanceAfter: null }])
    expect(own.pagination.total).toBe(1)
    expect((await project.get('/wallet/transactions?type=CREDIT')).body.data).toEqual([])
    await payer.patch(`/projects/${project.accountId}`, { name: 'renamed' })
    await project.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    const names = ((await payer.get('/wallet/transactions')).body.data as { project: { name: string } | null }[]).map(
      ({ project: of }) => of?.name,
    )
    expect(names).toEqual(['renamed', 'shop', undefined])
    expect(await app.db.many(sql`select from wallets where account_id = ${project.accountId}`)).toEqual([])
  })

  test('is on the invoice of the account that pays, in its name', async () => {
    const { payer, project } = await company()
    await app.given.vm(project)
    await issueInvoices.runOnce({ ...app.deps, clock: manualClock(addDuration(app.clock.now(), '32d')) })
    const { id } = (await payer.get('/invoices')).body.data[0] as { id: string }
    const { customer, lines } = (await payer.get(`/invoices/${id}`)).body.data as {
      customer: { name: string }
      lines: { project: { name: string } | null }[]
    }
    expect([customer.name, lines.map((line) => line.project?.name)]).toEqual(['Secret Ltd', [undefined, 'shop']])
    expect(await app.db.many(sql`select from invoices where account_id = ${project.accountId}`)).toEqual([])
  })

  test('is refused where the wallet does not cover it, without a word of what it holds', async () => {
    const { payer, project } = await company('3.21')
    const order = await app.given.vmInput()
    const { status, headers, body } = await project.post('/vms', order)
    expect([status, headers['x-error-code'], body.error]).toEqual([
      402,
      'insufficient_funds',
      'Insufficient wallet balance of the account that pays for this project: 6.00 USD required',
    ])
    expect((await payer.post('/vms', order)).body.error).toContain('3.21 USD available')
  })

  test('is told by a dry run whether the wallet covers it or not, and the balance is not', async () => {
    for (const credit of ['3.21', '100.00']) {
      const { payer, project } = await company(credit)
      const order = await app.given.vmInput()
      expect((await project.post('/vms?dryRun=true', order)).body.data).toMatchObject({ charge: '6.00', balanceAfter: null })
      expect((await payer.get('/wallet')).body.data.balance).toBe(credit)
      expect(codeOf(await payer.post('/vms?dryRun=true', order))).toEqual(
        credit === '3.21' ? [402, 'insufficient_funds'] : [200, undefined],
      )
      const { id } = (await project.post('/volumes?dryRun=true', { name: 'v', regionId: order.regionId, sizeGiB: 10 })).body.data as {
        id?: string
      }
      expect(id).toBeUndefined()
    }
  })

  test('says nothing of the wallet to who is refused in any case', async () => {
    for (const credit of ['3.21', '100.00']) {
      const { project } = await company(credit)
      for (const budget of [{ maxVms: 0 }, { monthlyAmount: '0.00' }]) {
        const { secret } = (await project.post('/tokens', { name: 'x', scopes: ['*'], budget })).body.data as { secret: string }
        for (const query of ['?dryRun=true', '']) {
          const answer = await app.clientOf(secret).post(`/vms${query}`, await app.given.vmInput())
          expect([credit, query, ...codeOf(answer)]).toEqual([credit, query, 402, 'budget_exceeded'])
        }
      }
    }
  })

  test('is in the forecast of the account that pays', async () => {
    const { payer, project } = await company()
    await app.given.vm(project)
    await app.given.vm(payer)
    app.clock.advance('25d')
    expect((await payer.get('/wallet')).body.data).toMatchObject({ dueNext7Days: '12.00' })
  })

  test('is renewed from the wallet, and suspended and brought back with it', async () => {
    const { payer, project } = await company('6.00')
    const { id } = await app.given.vm(project)
    const billing = async () => {
      await app.reconcile()
      await app.settle({ subjectId: id })
      const { status, billing: of } = (await project.get(`/vms/${id}`)).body.data as { status: string; billing: { status: string } }
      return [status, of.status]
    }
    app.clock.advance('32d')
    expect(await billing()).toEqual(['RUNNING', 'PAST_DUE'])
    app.clock.advance('25h')
    expect(await billing()).toEqual(['SUSPENDED', 'SUSPENDED'])
    await app.db.tx(async (tx) => {
      const { creditByOperator } = await import('../wallet/adjustments.ts')
      await creditByOperator(tx, app.deps, { accountId: payer.accountId, amount: 5_000n, reason: 'x', currency: 'USD' })
    })
    expect(await billing()).toEqual(['RUNNING', 'ACTIVE'])
    const [{ project: of }] = (await payer.get('/wallet/transactions?type=VM_RENEWAL')).body.data as [{ project: { id: string } }]
    expect(of.id).toBe(project.accountId)
  })
})

describe('the limits of an account', () => {
  test('are those of its projects too, together', async () => {
    const { payer, project } = await company('1000.00')
    const other = await app.given.project(payer, 'other')
    await app.db.run(sql`insert into account_quotas (account_id, name, limit_override) values (${payer.accountId}, 'ssh_keys', 3)`)
    for (const who of [payer, project, other]) expect((await who.post('/ssh-keys', key())).status).toBe(201)
    for (const who of [payer, project, other]) expect(codeOf(await who.post('/ssh-keys', key()))).toEqual([422, 'quota_exceeded'])
    const limit = ((await project.get('/account/limits')).body.data as { name: string }[]).find(({ name }) => name === 'sshKeys')
    expect(limit).toEqual({ name: 'sshKeys', limit: 3, used: 3 })
    const [{ id }] = (await other.get('/ssh-keys')).body.data as [{ id: string }]
    expect((await other.delete(`/ssh-keys/${id}`)).status).toBe(200)
    expect((await payer.post('/ssh-keys', key())).status).toBe(201)
  })

  test('hold among 100 requests at once in four projects and the account', async () => {
    const payer = await app.given.customer({ credit: '1000.00' })
    const all = [payer, ...(await Promise.all(['a', 'b', 'c', 'd'].map((name) => app.given.project(payer, name))))]
    const order = await app.given.vmInput()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => all[i % 5]!.post('/vms', { ...order, hostname: `vm-${i}` })))
    expect([202, 422].map((status) => answers.filter((answer) => answer.status === status).length)).toEqual([10, 90])
    const { count } = await app.db.one<{ count: number }>(sql`
      select count(*)::int as count from vms v join accounts a on a.id = v.account_id where ${payer.accountId} in (a.id, a.payer_account_id)`)
    expect([count, (await payer.get('/wallet')).body.data.balance]).toEqual([10, '940.00'])
  })

  test('leave no wallet below zero among 100 requests at once', async () => {
    const payer = await app.given.customer({ credit: '26.00' })
    const all = [payer, ...(await Promise.all(['a', 'b', 'c', 'd'].map((name) => app.given.project(payer, name))))]
    const order = await app.given.vmInput()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => all[i % 5]!.post('/vms', { ...order, hostname: `vm-${i}` })))
    expect([202, 402].map((status) => answers.filter((answer) => answer.status === status).length)).toEqual([4, 96])
    expect((await payer.get('/wallet')).body.data.balance).toBe('2.00')
  })

  test('are for Idempotency-Keys, event streams, consoles and invitations as well', async () => {
    const { payer, project, owner } = await company('1000.00')
    const now = app.clock.now()
    await app.db.run(sql`
      insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
      select ${payer.accountId}, 'old-' || n, '', 200, '', ${now}, ${addDuration(now, '1h')} from generate_series(1, 50000) n`)
    expect(codeOf(await project.post('/ssh-keys', key(), { 'idempotency-key': 'new' }))).toEqual([422, 'too_many_idempotency_keys'])
    await app.db.run(sql`delete from idempotency_keys where account_id = ${payer.accountId}`)

    const stopping = new AbortController()
    const open = (accountId: string) => app.deps.feed.stream(accountId, '0', stopping.signal, undefined, payer.accountId)
    for (let i = 0; i < 10; i++) (await open(i % 2 === 0 ? payer.accountId : project.accountId)).resume()
    await expect(open(project.accountId)).rejects.toThrow(/10 event streams/)
    stopping.abort()

    const { id } = await app.given.vm(project)
    for (let i = 0; i < 5; i++) {
      const { id: vmId } = await app.given.vm(payer, { hostname: `vm-${i}` })
      await app.db.run(sql`
        insert into console_sessions (vm_id, type, id, account_id, opened_at, alive_until)
        select ${vmId}, type, type || ${vmId}, ${payer.accountId}, ${now}, ${addDuration(now, '1h')} from unnest(array['serial', 'vnc']) type`)
    }
    expect(codeOf(await project.post(`/vms/${id}/console`, { type: 'serial' }))).toEqual([422, 'quota_exceeded'])
    await app.db.run(sql`delete from console_sessions`)

    const invite = (accountId: string, n: number) => {
      owner.choose(accountId)
      return owner.post('/v1/invitations', { email: `guest${n}@example.net`, role: 'billing' })
    }
    for (let i = 0; i < 30; i++) expect((await invite(i % 2 === 0 ? payer.accountId : project.accountId, i)).status).toBe(201)
    for (const accountId of [payer.accountId, project.accountId]) expect(codeOf(await invite(accountId, 99))).toEqual([429, 'rate_limited'])
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
})
