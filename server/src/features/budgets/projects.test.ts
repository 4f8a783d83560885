import { describe, expect, test } from 'vitest'
import { budgetFixture, money, refusal, told, type Client } from '../../../test/budget-fixture.ts'
import { givenMember } from '../../../test/browser.ts'
import { fingerprint } from '../../../test/fingerprint.ts'
import { testApp, type Answer } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
const { price, rich, spender, create, created, refused, spent } = await budgetFixture(app)
type Browser = Awaited<ReturnType<typeof givenMember>>
type Company = Awaited<ReturnType<typeof company>>

/** Of the dashboard, by the paths of the public API, in the account where it is a member or in another one. */
function signedIn(browser: Browser, accountId?: string): Client & { browser: Browser } {
  const at = accountId === undefined ? {} : { 'x-account-id': accountId }
  const choose = () => accountId !== undefined && browser.choose(accountId)
  return {
    browser,
    get: (path) => browser.get(`/v1${path}`, at),
    post: (path, body) => browser.post(`/v1${path}`, body, at),
    patch: (path, body) => (choose(), browser.patch(`/v1${path}`, body)),
    delete: (path) => (choose(), browser.delete(`/v1${path}`)),
  }
}

/** An account with a project that has this budget. `project`: a token of it, which nobody made. */
async function company(budget?: object) {
  const payer = await rich()
  const project = await app.given.project(payer)
  if (budget) await payer.patch(`/projects/${project.accountId}`, { budget })
  const member = async (role: string) => {
    const browser = await givenMember(app, payer.accountId, role)
    return { person: browser.person, here: signedIn(browser, payer.accountId), there: signedIn(browser, project.accountId) }
  }
  const guest = async (role: string) => {
    const browser = await givenMember(app, project.accountId, role)
    return { ...signedIn(browser), person: browser.person }
  }
  return { payer, project, member, guest }
}

const budgetOf = async ({ payer, project }: Company) =>
  (await payer.get(`/projects/${project.accountId}`)).body.data.budget as object | null
const budgetOfMember = async ({ payer }: Company, id: string) =>
  ((await payer.get('/members')).body.data as { id: string; budget: object | null }[]).find((each) => each.id === id)?.budget
const scopesOf = async ({ browser }: { browser: Browser }): Promise<string[]> => (await browser.get('/session')).body.data.account.scopes

async function unchanged(ask: () => Promise<Answer>): Promise<[number, string | undefined]> {
  const before = await fingerprint(app.db)
  const { status, headers } = await ask()
  expect(await fingerprint(app.db)).toEqual(before)
  return [status, headers['x-error-code']]
}

describe('a budget of a project', () => {
  test('limits what is charged in it, by whomever, and tells them what is left', async () => {
    const all = await company({ monthlyAmount: money(price * 3n + 100n), maxVms: 9 })
    const [owner, guest] = [await all.member('owner'), await all.guest('operator')]
    const first = await create(owner.there)
    expect([first.status, ...told(first)]).toEqual([202, money(price * 2n + 100n), '8'])
    await created(guest)
    await created(all.project)
    const sentence = `Budget exceeded: this project may spend ${money(price * 3n + 100n)} USD a month. ${money(price * 3n)} are used, 1.00 are left, and this costs ${money(price)}. Choose what costs less, wait for the next month (UTC), or have the budget raised`
    for (const each of [owner.there, guest, all.project]) {
      expect(await refused((query) => create(each, {}, query))).toBe(sentence)
      expect(told(await each.get('/vms'))).toEqual(['1.00', '6'])
    }
    const budget = {
      monthlyAmount: money(price * 3n + 100n),
      used: money(price * 3n),
      remaining: '1.00',
      maxVms: 9,
      vms: 3,
      labelSelector: null,
    }
    expect(await budgetOf(all)).toEqual(budget)
    expect((await guest.get('/account')).body.data.budget).toEqual(budget)
    expect((await all.payer.get('/account')).body.data.budget).toBeNull()
    expect(told(await owner.here.get('/vms'))).toEqual([undefined, undefined])
    expect((await create(owner.here)).status).toBe(202)
    const other = await app.given.project(all.payer, 'other')
    expect((await create(other)).status).toBe(202)
    expect(await spent(all.payer)).toBe(price * 5n)
    await app.settle()
  })

  test('counts renewals, which it does not stop, and gets back what is refunded', async () => {
    const all = await company({ monthlyAmount: money(price * 2n) })
    const [kept, deleted] = [await created(all.project), await created(all.project)]
    await all.project.delete(`/vms/${deleted}`)
    await app.settle({ subjectId: deleted })
    expect(await budgetOf(all)).toMatchObject({ used: money(await spent(all.payer)), vms: 1 })
    await all.payer.patch(`/projects/${all.project.accountId}`, { budget: { monthlyAmount: '0.01' } })
    const before = await spent(all.payer)
    const now = app.clock.now()
    app.clock.set(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, now.getUTCDate(), 11)))
    await app.reconcile()
    await app.settle()
    expect((await all.project.get(`/vms/${kept}`)).body.data.billing.status).toBe('ACTIVE')
    expect(await budgetOf(all)).toMatchObject({ used: money((await spent(all.payer)) - before), remaining: '0.00', vms: 1 })
  })

  test('for labels lets nothing else be made, and covers what is charged later', async () => {
    const all = await company({ labelSelector: 'env=ci', monthlyAmount: '900.00' })
    await app.db.run(sql`update catalog_values set value = 100 where name = 'price.copies_gib'`)
    const sentence = 'Budget exceeded: this project may spend only on what has labels env=ci, and this has not'
    expect(await refused((query) => create(all.project, {}, query))).toBe(sentence)
    const id = await created(all.project, { labels: { env: 'ci' } })
    expect((await all.project.post(`/vms/${id}/snapshots`, { name: 'one' })).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await spent(all.payer)).toBeGreaterThan(price)
    expect(await budgetOf(all)).toMatchObject({ used: money(await spent(all.payer)) })
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.copies_gib'`)
  })

  test('is set by owners and admins of the account that pays, and by nobody in the project', async () => {
    const all = await company({ monthlyAmount: '50.00' })
    const { accountId } = all.project
    const change = { budget: { monthlyAmount: '60.00' } }
    for (const role of ['operator', 'billing', 'read-only']) {
      const { here } = await all.member(role)
      expect([role, ...(await unchanged(() => here.patch(`/projects/${accountId}`, change)))]).toEqual([role, 403, 'missing_scope'])
    }
    const [owner, guest] = [await all.member('owner'), await all.guest('owner')]
    for (const each of [owner.there, guest, all.project])
      expect(await unchanged(() => each.patch(`/projects/${accountId}`, change))).toEqual([403, 'in_project'])
    for (const role of ['owner', 'admin']) {
      const { here } = await all.member(role)
      expect((await here.patch(`/projects/${accountId}`, change)).body.data.budget).toMatchObject(change.budget)
    }
    const types = ((await all.payer.get('/events?limit=100')).body.data as { type: string }[]).map(({ type }) => type)
    expect(types.filter((type) => type === 'project.updated')).toHaveLength(3)
    for (const bad of [{}, { budget: { monthlyAmount: '-1' } }, { budget: { day: 1 } }, { budget: { labelSelector: '==(' } }])
      expect((await all.payer.patch(`/projects/${accountId}`, bad)).status).toBe(400)
    expect((await all.payer.patch(`/projects/${accountId}`, { budget: null })).body.data.budget).toBeNull()
    expect(told(await all.project.get('/vms'))).toEqual([undefined, undefined])
  })

  test('ends with the project', async () => {
    const all = await company({ monthlyAmount: '50.00' })
    const guest = await all.guest('operator')
    const owner = await all.member('owner')
    expect((await owner.there.patch(`/members/${guest.person.id}`, { budget: { maxVms: 1 } })).status).toBe(200)
    await all.payer.delete(`/projects/${all.project.accountId}`)
    expect(await app.db.many(sql`select from budgets where account_id = ${all.project.accountId}`)).toEqual([])
  })

  test('is exact with 100 requests at once, of several members and tokens', { timeout: 300_000 }, async () => {
    const all = await company({ monthlyAmount: money(price * 7n + price / 2n) })
    const [owner, guest, second] = [await all.member('owner'), await all.guest('operator'), await all.guest('admin')]
    await owner.there.patch(`/members/${guest.person.id}`, { budget: { maxVms: 2 } })
    const token = await spender(second, undefined, { scopes: await scopesOf(second) })
    const spenders = [owner.there, guest, second, token, all.project]
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => create(spenders[i % 5]!)))
    const codes = new Set(answers.map(({ status, headers }) => (status === 202 ? 'created' : headers['x-error-code'])))
    expect(codes).toEqual(new Set(['created', 'budget_exceeded']))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7)
    expect(await spent(all.payer)).toBe(price * 7n)
    expect(await budgetOf(all)).toMatchObject({ used: money(price * 7n), remaining: money(price / 2n), vms: 7 })
    expect((await all.project.get('/vms')).body.pagination.total).toBe(7)
    await app.settle()
  })
})

describe('a budget of a member, in projects', () => {
  test('of the account that pays covers all its projects, by tokens made there too', async () => {
    const all = await company()
    const admin = await all.member('admin')
    await all.payer.patch(`/members/${admin.person.id}`, { budget: { monthlyAmount: money(price * 3n), maxVms: 9 } })
    const token = await spender(admin.there, undefined, { scopes: ['vms:*'] })
    await created(admin.here)
    await created(admin.there)
    expect(told(await token.get('/vms'))).toEqual([money(price), '7'])
    await created(token)
    for (const each of [admin.here, admin.there, token]) expect((await create(each)).headers['x-error-code']).toBe('budget_exceeded')
    expect(await budgetOfMember(all, admin.person.id)).toMatchObject({ used: money(price * 3n), remaining: '0.00', vms: 3 })
    admin.there.browser.choose(all.project.accountId)
    expect((await admin.there.browser.get('/session')).body.data.account.budget).toMatchObject({ remaining: '0.00', vms: 3 })
    const [line] = (await all.project.get('/members')).body.data as { budget: object | null }[]
    expect(line!.budget).toBeNull()
  })

  test('of the account that pays is not shed by way of a project', async () => {
    const all = await company({ monthlyAmount: '5.00' })
    const admin = await all.member('admin')
    const guest = await all.guest('operator')
    await all.payer.patch(`/members/${admin.person.id}`, { budget: { monthlyAmount: '50.00' } })
    const theirs = await spender(all.project, { monthlyAmount: '1.00' }, { scopes: ['vms:*'] })
    const { accountId } = all.project
    const attempts: [string, () => Promise<Answer>, (number | string)[]][] = [
      ['invitation', () => admin.there.post('/invitations', { email: 'mallory@example.com', role: 'operator' }), [403, 'missing_scope']],
      ['one without', () => admin.there.patch(`/members/${guest.person.id}`, { role: 'admin' }), [403, 'missing_scope']],
      ['token of another', () => admin.there.patch(`/tokens/${theirs.id}`, { budget: null }), [422, 'incompatible']],
      [
        'budget of the project',
        () => admin.here.patch(`/projects/${accountId}`, { budget: { monthlyAmount: '6.00' } }),
        [422, 'incompatible'],
      ],
      ['no budget of the project', () => admin.here.patch(`/projects/${accountId}`, { budget: null }), [422, 'incompatible']],
    ]
    for (const [what, ask, answer] of attempts) expect([what, ...(await unchanged(ask))]).toEqual([what, ...answer])
    expect((await admin.here.patch(`/projects/${accountId}`, { name: 'web', budget: { monthlyAmount: '4.00' } })).body.data).toMatchObject({
      name: 'web',
      budget: { monthlyAmount: '4.00' },
    })
  })

  test('of a project limits who is in the project alone', async () => {
    const all = await company()
    const [owner, guest, other] = [await all.member('owner'), await all.guest('operator'), await all.guest('operator')]
    expect((await owner.there.patch(`/members/${guest.person.id}`, { budget: { monthlyAmount: money(price) } })).status).toBe(200)
    await created(guest)
    expect(refusal(await create(guest)).slice(0, 2)).toEqual([402, 'budget_exceeded'])
    expect((await create(other)).status).toBe(202)
    expect(told(await guest.get('/vms'))).toEqual(['0.00', undefined])
    await app.settle()
  })

  test('of a project is not that of an owner of the account that pays', async () => {
    const all = await company()
    const [owner, guest] = [await all.member('owner'), await all.guest('operator')]
    await owner.there.patch(`/members/${guest.person.id}`, { budget: { monthlyAmount: '0.01' } })
    expect(refusal(await create(guest)).slice(0, 2)).toEqual([402, 'budget_exceeded'])
    await app.db.run(sql`
      insert into members (account_id, user_id, role, created_at) values (${all.payer.accountId}, ${guest.person.id}, 'owner', ${app.clock.now()})`)
    expect((await create(guest)).status).toBe(202)
    expect((await guest.post('/invitations', { email: 'grace@example.com', role: 'operator' })).status).toBe(201)
    await app.settle()
  })
})
