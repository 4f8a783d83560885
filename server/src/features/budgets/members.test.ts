import { describe, expect, test } from 'vitest'
import { budgetFixture, money, refusal, told, type Client } from '../../../test/budget-fixture.ts'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { fingerprint } from '../../../test/fingerprint.ts'
import { testApp, type Answer } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneInvitations } from '../members/prune.reconciler.ts'

const app = await testApp()
const { input, price, medium, rich, spender: tokenBy, create, created, refused, spent, budgetOf } = await budgetFixture(app)
const spender = (by: Client, budget?: object, scopes = ['vms:*', 'tokens:*']) => tokenBy(by, budget, { scopes })
type Browser = Awaited<ReturnType<typeof givenMember>>
type Account = Awaited<ReturnType<typeof account>>

/** Of the dashboard, by the paths of the public API. */
const signedIn = (browser: Browser): Client & Pick<Browser, 'person' | 'choose'> & { browser: Browser } => ({
  browser,
  person: browser.person,
  choose: browser.choose,
  get: (path) => browser.get(`/v1${path}`),
  post: (path, body) => browser.post(`/v1${path}`, body),
  patch: (path, body) => browser.patch(`/v1${path}`, body),
  delete: (path) => browser.delete(`/v1${path}`),
})

/** With money, an owner, and `customer`, a token that nobody made. */
async function account() {
  const customer = await rich()
  const join = async (role: string, budget?: object, scopes?: string[]) => {
    const member = signedIn(await givenMember(app, customer.accountId, role, scopes))
    if (budget) await owner.patch(`/members/${member.person.id}`, { budget })
    return member
  }
  const owner = signedIn(await givenMember(app, customer.accountId, 'owner'))
  return { customer, accountId: customer.accountId, owner, join }
}

type Member = Awaited<ReturnType<Account['join']>>
const budgetOfMember = async ({ customer }: Account, { person }: Pick<Member, 'person'>) =>
  ((await customer.get('/members')).body.data as { id: string; budget: Record<string, unknown> | null }[]).find(
    ({ id }) => id === person.id,
  )?.budget
const secretOf = ({ body }: Answer): string => /#(inv_\w+)$/.exec(body.data.url as string)![1]!
const accept = (member: Pick<Member, 'browser'>, invited: Answer) =>
  member.browser.post('/invitations/accept', { token: secretOf(invited) })

/** Refused without effect. */
async function unchanged(ask: () => Promise<Answer>): Promise<[number, string | undefined]> {
  const before = await fingerprint(app.db)
  const { status, headers } = await ask()
  expect(await fingerprint(app.db)).toEqual(before)
  return [status, headers['x-error-code']]
}

describe('a budget of a member', () => {
  test('limits what the member does signed in and by tokens together, and tells what is left', async () => {
    const all = await account()
    const member = await all.join('admin', { monthlyAmount: money(price * 3n + 100n), maxVms: 5 })
    const token = await spender(member)
    const narrow = await spender(token, { monthlyAmount: money(price) })
    const first = await create(member)
    expect([first.status, ...told(first)]).toEqual([202, money(price * 2n + 100n), '4'])
    await created(narrow)
    expect(told(await narrow.get('/vms'))).toEqual(['0.00', '3'])
    expect(told(await token.get('/vms'))).toEqual([money(price + 100n), '3'])
    expect((await create(narrow)).body.error).toContain('token ci may spend')
    await created(token)
    expect(await refused((query) => create(member, {}, query))).toBe(
      `Budget exceeded: you may spend ${money(price * 3n + 100n)} USD a month. ${money(price * 3n)} are used, 1.00 are left, and this costs ${money(price)}. Choose what costs less, wait for the next month (UTC), or have the budget raised`,
    )
    expect(await refused((query) => create(token, {}, query))).toBe(
      `Budget exceeded: of the budget of the member who made this token 1.00 USD are left this month, and this costs ${money(price)}. Choose what costs less, wait for the next month (UTC), or have the budget raised`,
    )
    const budget = {
      monthlyAmount: money(price * 3n + 100n),
      used: money(price * 3n),
      remaining: '1.00',
      maxVms: 5,
      vms: 3,
      labelSelector: null,
    }
    expect(await budgetOfMember(all, member)).toEqual(budget)
    expect((await member.browser.get('/session')).body.data.account.budget).toEqual(budget)
    expect((await all.owner.browser.get('/session')).body.data.account.budget).toBeNull()
    expect(await budgetOf(all.customer, narrow)).toMatchObject({ used: money(price), remaining: '0.00' })
    const other = await all.join('operator')
    expect((await create(other)).status).toBe(202)
    expect([told(await other.get('/vms')), told(await all.customer.get('/vms'))]).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ])
    expect(await spent(all)).toBe(price * 4n)
    await app.settle()
  })

  test('counts what was used before there was one, and what tokens do that were made before', async () => {
    const all = await account()
    const member = await all.join('admin')
    const token = await spender(member)
    await created(member)
    await created(token)
    expect(told(await token.get('/vms'))).toEqual([undefined, undefined])
    await all.owner.patch(`/members/${member.person.id}`, { budget: { monthlyAmount: money(price * 2n), maxVms: 9 } })
    expect(await budgetOfMember(all, member)).toMatchObject({ used: money(price * 2n), remaining: '0.00', vms: 2 })
    await expect.poll(async () => told(await token.get('/vms'))).toEqual(['0.00', '7'])
    for (const each of [member, token]) expect((await create(each)).headers['x-error-code']).toBe('budget_exceeded')
    expect((await all.owner.patch(`/members/${member.person.id}`, { budget: { monthlyAmount: null } })).body.data.budget).toMatchObject({
      monthlyAmount: null,
      maxVms: 9,
    })
    expect((await all.owner.patch(`/members/${member.person.id}`, { budget: null })).body.data.budget).toBeNull()
    expect((await create(token)).status).toBe(202)
    await app.settle()
  })

  test('is not shed by deleting tokens and making others', async () => {
    const all = await account()
    const member = await all.join('admin', { monthlyAmount: money(price), maxVms: 1 })
    const token = await spender(member)
    const id = await created(token)
    await member.delete(`/tokens/${token.id}`)
    const another = await spender(member)
    for (const each of [member, another]) {
      expect(told(await each.get('/vms'))).toEqual(['0.00', '0'])
      expect((await create(each)).headers['x-error-code']).toBe('budget_exceeded')
    }
    await another.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    const used = await spent(all)
    expect(used).toBeLessThan(price)
    expect(await budgetOfMember(all, member)).toMatchObject({ used: money(used), vms: 0 })
  })

  test('counts renewals, which it does not stop, of VMs and of what is charged later', async () => {
    const all = await account()
    await app.db.run(sql`update catalog_values set value = 100 where name = 'price.copies_gib'`)
    const member = await all.join('operator', { monthlyAmount: '900.00' })
    const id = await created(member)
    expect((await member.post(`/vms/${id}/snapshots`, { name: 'one' })).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await spent(all)).toBeGreaterThan(price)
    expect(await budgetOfMember(all, member)).toMatchObject({ used: money(await spent(all)) })
    await all.owner.patch(`/members/${member.person.id}`, { budget: { monthlyAmount: '0.01' } })
    const before = await spent(all)
    const now = app.clock.now()
    app.clock.set(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, now.getUTCDate(), 11)))
    await app.reconcile()
    await app.settle()
    expect((await all.customer.get(`/vms/${id}`)).body.data.billing.status).toBe('ACTIVE')
    expect(await budgetOfMember(all, member)).toMatchObject({ used: money((await spent(all)) - before), remaining: '0.00', vms: 1 })
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.copies_gib'`)
  })

  test('for labels lets nothing else be made or charged', async () => {
    const all = await account()
    const member = await all.join('operator', { labelSelector: 'env=ci' })
    const other = await created(all.customer, { labels: { env: 'prod' } })
    const sentence = 'Budget exceeded: you may spend only on what has labels env=ci, and this has not'
    expect(await refused((query) => create(member, {}, query))).toBe(sentence)
    expect(await refused((query) => member.post(`/vms/${other}/upgrade${query}`, { planId: medium.id }))).toBe(sentence)
    expect(refusal(await member.patch(`/vms/${other}`, { labels: { env: 'ci' } }))).toEqual([402, 'budget_exceeded', sentence])
    await created(member, { labels: { env: 'ci' } })
    expect(await budgetOfMember(all, member)).toMatchObject({ used: money(price), vms: 1, labelSelector: 'env=ci' })
  })

  test('starts with the invitation, and outlives leaving, removal and joining again', async () => {
    const all = await account()
    const person = signedIn(await givenBrowser(app))
    const invite = (budget?: object | null) =>
      all.owner.post('/invitations', { email: person.person.email, role: 'operator', ...(budget !== undefined && { budget }) })
    const budget = { monthlyAmount: money(price * 2n), maxVms: 3, labelSelector: null }
    const invited = await invite({ monthlyAmount: money(price * 2n), maxVms: 3 })
    expect(invited.body.data.budget).toEqual(budget)
    expect((await all.customer.get('/invitations')).body.data[0].budget).toEqual(budget)
    expect((await accept(person, invited)).status).toBe(200)
    person.choose(all.accountId)
    await created(person)
    expect(await budgetOfMember(all, person)).toMatchObject({ ...budget, used: money(price), vms: 1 })
    person.choose(undefined)
    expect((await person.browser.delete(`/memberships/${all.accountId}`)).status).toBe(200)
    expect(await app.db.many(sql`select from budgets where subject_type = 'MEMBER' and account_id = ${all.accountId}`)).toEqual([])
    await accept(person, await invite({ monthlyAmount: money(price * 2n) }))
    person.choose(all.accountId)
    expect(await budgetOfMember(all, person)).toMatchObject({ used: money(price), remaining: money(price), maxVms: null, vms: 1 })
    await created(person)
    await all.owner.delete(`/members/${person.person.id}`)
    person.choose(undefined)
    await accept(person, await invite({ monthlyAmount: money(price * 2n) }))
    person.choose(all.accountId)
    expect((await create(person)).headers['x-error-code']).toBe('budget_exceeded')
    await all.owner.delete(`/members/${person.person.id}`)
    person.choose(undefined)
    await accept(person, await invite())
    expect(await budgetOfMember(all, person)).toBeNull()
  })

  test('is not what owners have', async () => {
    const all = await account()
    const sentence = 'Owners have no budget: give another role, or no budget'
    const budget = { monthlyAmount: '5.00' }
    const other = await all.join('operator', budget)
    for (const ask of [
      () => all.owner.patch(`/members/${all.owner.person.id}`, { budget }),
      () => all.owner.patch(`/members/${other.person.id}`, { role: 'owner' }),
      () => all.owner.patch(`/members/${other.person.id}`, { role: 'owner', budget }),
      () => all.owner.post('/invitations', { email: 'grace@example.com', role: 'owner', budget }),
    ]) {
      expect(await unchanged(ask)).toEqual([422, 'incompatible'])
      expect((await ask()).body.error).toBe(sentence)
    }
    expect((await all.owner.patch(`/members/${other.person.id}`, { role: 'owner', budget: null })).body.data).toMatchObject({
      role: 'owner',
      budget: null,
    })
    expect((await all.owner.patch(`/members/${other.person.id}`, { role: 'operator', budget })).body.data).toMatchObject({
      role: 'operator',
      budget: { monthlyAmount: '5.00', used: '0.00' },
    })
    for (const bad of [{}, { scopes: ['vms:read'] }, { budget: { monthlyAmount: '-1' } }, { budget: { day: 1 } }])
      expect((await all.owner.patch(`/members/${other.person.id}`, bad)).status).toBe(400)
  })

  test('is widened neither by the member nor by a token of the member, nor by way of others', async () => {
    const all = await account()
    const budget = { monthlyAmount: '50.00', maxVms: 3, labelSelector: 'env=ci' }
    const member = await all.join('admin', budget)
    const token = await spender(member, undefined, (await member.browser.get('/session')).body.data.account.scopes)
    const [free, poor, richer] = [
      await all.join('operator'),
      await all.join('operator', { ...budget, monthlyAmount: '5.00' }),
      await all.join('operator', { ...budget, monthlyAmount: '51.00' }),
    ]
    const theirs = await spender(all.customer, { ...budget, monthlyAmount: '10.00' })
    const wider = [null, { monthlyAmount: '50.01' }, { monthlyAmount: null }, { maxVms: 4 }, { maxVms: null }, { labelSelector: null }]
    for (const by of [member, token]) {
      const attempts: [string, () => Promise<Answer>, number][] = [
        ...wider.map((change): [string, () => Promise<Answer>, number] => [
          `own ${JSON.stringify(change)}`,
          () => by.patch(`/members/${member.person.id}`, { budget: change }),
          422,
        ]),
        ['raise of another', () => by.patch(`/members/${poor.person.id}`, { budget: { monthlyAmount: '6.00' } }), 422],
        ['another without', () => by.patch(`/members/${poor.person.id}`, { budget: null }), 422],
        ['one without', () => by.patch(`/members/${free.person.id}`, { budget }), 403],
        ['one with more', () => by.patch(`/members/${richer.person.id}`, { role: 'read-only' }), 403],
        ['removal of one without', () => by.delete(`/members/${free.person.id}`), 403],
        ['removal of one with more', () => by.delete(`/members/${richer.person.id}`), 403],
        ['invitation', () => by.post('/invitations', { email: 'mallory@example.com', role: 'operator' }), 403],
        ['invitation with one', () => by.post('/invitations', { email: 'mallory@example.com', role: 'operator', budget }), 403],
        ['token of another', () => by.patch(`/tokens/${theirs.id}`, { budget: { monthlyAmount: '11.00' } }), 422],
        ['token of another, without', () => by.patch(`/tokens/${theirs.id}`, { budget: null }), 422],
      ]
      for (const [what, ask, status] of attempts)
        expect([what, ...(await unchanged(ask))]).toEqual([what, status, status === 422 ? 'incompatible' : 'missing_scope'])
    }
    expect(await budgetOfMember(all, member)).toMatchObject(budget)
    expect((await member.patch(`/tokens/${theirs.id}`, { budget: { monthlyAmount: '9.00' } })).status).toBe(200)
    expect((await member.patch(`/members/${poor.person.id}`, { role: 'read-only' })).body.data.budget).toMatchObject({
      monthlyAmount: '5.00',
    })
    expect((await member.patch(`/members/${poor.person.id}`, { budget: { maxVms: 1 } })).status).toBe(200)
    expect((await member.patch(`/members/${member.person.id}`, { budget: { maxVms: 2 } })).body.data.budget).toMatchObject({
      ...budget,
      maxVms: 2,
    })
    expect((await member.delete(`/members/${poor.person.id}`)).status).toBe(200)
  })

  test('withdraws the invitations that the member has made, and is told in an event and the audit log', async () => {
    const all = await account()
    const member = await all.join('admin')
    expect((await member.post('/invitations', { email: 'mallory@example.com', role: 'operator' })).status).toBe(201)
    await all.owner.patch(`/members/${member.person.id}`, { budget: { maxVms: 1 } })
    expect((await all.customer.get('/invitations')).body.data).toEqual([])
    const events = (await all.customer.get('/events?limit=100')).body.data as { type: string; data: { member: object } }[]
    expect(events.filter(({ type }) => type === 'member.updated').map(({ data }) => data.member)).toEqual([
      expect.objectContaining({ id: member.person.id, role: 'admin', budget: { monthlyAmount: null, maxVms: 1, labelSelector: null } }),
    ])
    const { body } = await all.customer.get('/audit-log')
    expect(body.data.filter(({ action }: { action: string }) => action === 'updateMember')).toHaveLength(1)
  })

  test('goes with an old invitation', async () => {
    const all = await account()
    await all.owner.post('/invitations', { email: 'mallory@example.com', role: 'operator', budget: { maxVms: 1 } })
    app.clock.set(new Date(app.clock.now().getTime() + 40 * 86_400_000))
    await pruneInvitations.runOnce(app.deps)
    expect(await app.db.many(sql`select from budgets where account_id = ${all.accountId}`)).toEqual([])
  })

  test('is exact with 100 requests at once, signed in and by tokens', { timeout: 300_000 }, async () => {
    const all = await account()
    const member = await all.join('admin', { monthlyAmount: money(price * 7n + price / 2n) })
    const spenders = [member, await spender(member), await spender(member, { maxVms: 2 }), await spender(member)]
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => create(spenders[i % 4]!)))
    const codes = new Set(answers.map(({ status, headers }) => (status === 202 ? 'created' : headers['x-error-code'])))
    expect(codes).toEqual(new Set(['created', 'budget_exceeded']))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7)
    expect(await spent(all)).toBe(price * 7n)
    expect(await budgetOfMember(all, member)).toMatchObject({ used: money(price * 7n), remaining: money(price / 2n), vms: 7 })
    expect((await all.customer.get('/vms')).body.pagination.total).toBe(7)
    await app.settle()
  })

  test('ends with the membership: who is removed meanwhile is charged nothing more', async () => {
    const all = await account()
    const member = await all.join('admin', { monthlyAmount: money(price) })
    const token = await spender(member)
    const spenders = [member, token]
    const [, ...answers] = await Promise.all([
      all.owner.delete(`/members/${member.person.id}`),
      ...Array.from({ length: 20 }, (_, i) => create(spenders[i % 2]!)),
    ])
    expect(answers.filter(({ status }) => ![202, 401, 402, 403].includes(status)).map(refusal)).toEqual([])
    expect(await spent(all)).toBeLessThanOrEqual(price)
    await app.settle()
  })

  test('of another account is neither shown nor changed', async () => {
    const [mine, theirs] = [await account(), await account()]
    const member = await theirs.join('operator', { maxVms: 1 })
    expect((await mine.owner.patch(`/members/${member.person.id}`, { budget: null })).status).toBe(404)
    await app.db.run(sql`
      insert into members (account_id, user_id, role, created_at) values (${mine.accountId}, ${member.person.id}, 'operator', ${app.clock.now()})`)
    expect(await budgetOfMember(mine, member)).toBeNull()
    member.choose(mine.accountId)
    expect((await create(member, { count: 2, hostname: 'web-{n}' })).status).toBe(202)
    expect(await budgetOfMember(theirs, member)).toMatchObject({ maxVms: 1, vms: 0, used: '0.00' })
    expect(input.regionId).toBeDefined()
    await app.settle()
  })
})
