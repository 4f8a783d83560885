import { describe, expect, test } from 'vitest'
import { budgetFixture, money, refusal, told } from '../../../test/budget-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { parseCents } from '../../kernel/money.ts'
import { isWithinBudget, lastParts, withChanges } from './service.ts'

const app = await testApp()
const { input, price, medium, rich, spender, create, created, refused, spent, budgetOf } = await budgetFixture(app)

describe('a budget', () => {
  test('limits what is charged in a month, and tells what is left', async () => {
    const customer = await rich()
    const token = await spender(customer, { monthlyAmount: money(price * 2n + 100n) })
    expect(await budgetOf(customer, token)).toEqual({
      monthlyAmount: money(price * 2n + 100n),
      used: '0.00',
      remaining: money(price * 2n + 100n),
      maxVms: null,
      vms: 0,
      labelSelector: null,
    })
    const first = await create(token)
    expect([first.status, ...told(first)]).toEqual([202, money(price + 100n), undefined])
    await create(token)
    expect(await refused((query) => create(token, {}, query))).toBe(
      `Budget exceeded: token ci may spend ${money(price * 2n + 100n)} USD a month. ${money(price * 2n)} are used, 1.00 are left, and this costs ${money(price)}. Choose what costs less, wait for the next month (UTC), or have the budget raised`,
    )
    const over = await create(token)
    expect(told(over)).toEqual(['1.00', undefined])
    expect(told(await token.get('/vms'))).toEqual(['1.00', undefined])
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(price * 2n), remaining: '1.00', vms: 2 })
    expect(told(await customer.get('/vms'))).toEqual([undefined, undefined])
    expect((await create(customer)).status).toBe(202)
    expect(await spent(customer)).toBe(price * 3n)
    await app.settle()
  })

  test('limits the VMs that exist at a time, several in one request too', async () => {
    const customer = await rich()
    const token = await spender(customer, { maxVms: 2 })
    expect((await create(token, { count: 3, hostname: 'web-{n}' })).headers['x-error-code']).toBe('budget_exceeded')
    const id = await created(token)
    expect(told(await token.get('/vms'))).toEqual([undefined, '1'])
    await created(token)
    expect(await refused((query) => create(token, {}, query))).toBe(
      'Budget exceeded: token ci may have 2 VMs at a time, and would have more. Delete one, ask for fewer, or have the budget raised',
    )
    await token.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    expect(await budgetOf(customer, token)).toMatchObject({ vms: 1, maxVms: 2, monthlyAmount: null, remaining: null })
    expect((await create(token)).status).toBe(202)
    await app.settle()
  })

  test('gets back what is refunded, for a VM that is deleted and for one that cannot be built', async () => {
    const customer = await rich()
    const token = await spender(customer, { monthlyAmount: money(price * 2n) })
    const id = await created(token)
    await token.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    const used = await spent(customer)
    expect(used).toBeLessThan(price)
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(used), remaining: money(price * 2n - used), vms: 0 })
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const failed = (await create(token)).body.data.vm.id as string
    await app.settle({ subjectId: failed })
    await app.simulated.faults.clear()
    expect((await customer.get(`/vms/${failed}`)).body.data.status).toBe('ERROR')
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(used), vms: 1 })
  })

  test('covers what is made by tokens that were made with it, also once these are gone', async () => {
    const customer = await rich()
    const parent = await spender(customer, { monthlyAmount: money(price * 3n), maxVms: 3 })
    const child = await spender(parent, undefined)
    expect(await budgetOf(customer, child)).toMatchObject({ monthlyAmount: money(price * 3n), maxVms: 3, remaining: money(price * 3n) })
    const narrow = await spender(child, { monthlyAmount: money(price) })
    await created(narrow)
    expect((await create(narrow)).headers['x-error-code']).toBe('budget_exceeded')
    await created(child)
    expect(await budgetOf(customer, narrow)).toMatchObject({ used: money(price), remaining: '0.00', vms: 1 })
    expect(await budgetOf(customer, child)).toMatchObject({ used: money(price * 2n), remaining: money(price), vms: 2 })
    await parent.delete(`/tokens/${child.id}`)
    expect(await budgetOf(customer, parent)).toMatchObject({ used: money(price * 2n), remaining: money(price), vms: 2 })
    const another = await spender(parent, undefined)
    expect(told(await another.get('/vms'))).toEqual([money(price), '1'])
    await created(another)
    expect(await refused((query) => create(another, {}, query))).toContain('token ci may have 3 VMs at a time')
  })

  test('counts renewals, which it does not stop, and begins anew with the calendar month', async () => {
    const customer = await rich()
    const token = await spender(customer, { monthlyAmount: money(price + 50n) })
    const id = await created(token)
    const before = app.clock.now()
    app.clock.set(new Date('2027-04-01T00:00:00Z'))
    expect(await budgetOf(customer, token)).toMatchObject({ used: '0.00', remaining: money(price + 50n), vms: 1 })
    await created(token)
    app.clock.set(new Date('2027-04-02T11:00:00Z'))
    await app.reconcile()
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).body.data.billing).toMatchObject({
      status: 'ACTIVE',
      nextRenewalAt: '2027-05-02T10:00:00.000Z',
    })
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(price * 2n), remaining: '0.00' })
    expect((await create(token)).headers['x-error-code']).toBe('budget_exceeded')
    expect(before.toISOString()).toContain('2027-03-02')
    // What is refunded of the month before gives no room now: it was spent then.
    await token.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    const { used } = await budgetOf(customer, token)
    expect(parseCents(used as string)).toBeGreaterThanOrEqual(price)
  })

  test('gives nothing back to this month of what was charged in another', async () => {
    const customer = await rich()
    const token = await spender(customer, { monthlyAmount: money(price) })
    const id = await created(token)
    app.clock.set(new Date(Date.UTC(app.clock.now().getUTCFullYear(), app.clock.now().getUTCMonth() + 1, 1)))
    await token.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    expect(await spent(customer)).toBeLessThan(price)
    expect(await budgetOf(customer, token)).toMatchObject({ used: '0.00', remaining: money(price) })
  })

  test('covers upgrades, add-ons, volumes, addresses and traffic, in dry runs too', async () => {
    const customer = await rich()
    const token = await spender(customer, { monthlyAmount: money(price) })
    const id = await created(token)
    for (const [path, body] of [
      [`/vms/${id}/upgrade`, { planId: medium.id }],
      ['/volumes', { name: 'data', sizeGiB: 100, regionId: input.regionId }],
      ['/addresses', { regionId: input.regionId }],
      [`/vms/${id}/bandwidth/packs`, { gigabytes: 1000 }],
    ] as const)
      expect(await refused((query) => token.post(`${path}${query}`, body))).toContain(`may spend ${money(price)} USD a month`)
    expect(await refused((query) => token.patch(`/vms/${id}${query}`, { dailyBackupEnabled: true }))).toContain('Budget exceeded')
    await customer.patch(`/tokens/${token.id}`, { budget: { monthlyAmount: '1000.00' } })
    await expect.poll(async () => (await token.post('/volumes', { name: 'data', sizeGiB: 100, regionId: input.regionId })).status).toBe(201)
    expect((await token.post(`/vms/${id}/upgrade`, { planId: medium.id })).status).toBe(202)
    await app.settle()
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(await spent(customer)) })
    const volumeId = (await customer.get('/volumes')).body.data[0].id as string
    await token.delete(`/volumes/${volumeId}`)
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(await spent(customer)) })
  })

  test('for labels covers what has them, and lets nothing else be made or charged', async () => {
    const customer = await rich()
    const other = await created(customer, { labels: { env: 'prod' } })
    const token = await spender(customer, { monthlyAmount: money(price * 2n), maxVms: 5, labelSelector: 'env=ci' })
    const sentence = 'Budget exceeded: token ci may spend only on what has labels env=ci, and this has not'
    for (const labels of [undefined, {}, { env: 'prod' }])
      expect(await refused((query) => create(token, labels && { labels }, query))).toBe(sentence)
    expect(await refused((query) => token.post(`/vms/${other}/upgrade${query}`, { planId: medium.id }))).toBe(sentence)
    expect(await refused((query) => token.post(`/volumes${query}`, { name: 'data', sizeGiB: 10, regionId: input.regionId }))).toBe(sentence)
    const relabelled = await token.patch(`/vms/${other}`, { labels: { env: 'ci' }, dailyBackupEnabled: true })
    expect(refusal(relabelled)).toEqual([402, 'budget_exceeded', sentence])
    const id = await created(token, { labels: { env: 'ci', job: '7' } })
    // Other labels do not take it out of the count.
    await token.patch(`/vms/${id}`, { labels: { env: 'prod' } })
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(price), vms: 1, labelSelector: 'env=ci' })
    const child = await spender(token, { labelSelector: 'env=ci,job=8' })
    expect((await create(child, { labels: { env: 'ci', job: '7' } })).headers['x-error-code']).toBe('budget_exceeded')
    await created(child, { labels: { env: 'ci', job: '8' } })
    expect(told(await token.get('/vms'))).toEqual(['0.00', '3'])
  })

  test('covers a snapshot that is charged once it is there, and ends one that it no longer covers', async () => {
    const customer = await rich()
    await app.db.run(sql`update catalog_values set value = 100 where name = 'price.copies_gib'`)
    const id = await created(customer)
    const token = await spender(customer, { monthlyAmount: '900.00' })
    const take = (name: string) => token.post(`/vms/${id}/snapshots`, { name })
    const before = await spent(customer)
    expect((await take('one')).status).toBe(202)
    await app.settle({ subjectId: id })
    const cost = (await spent(customer)) - before
    expect(cost).toBeGreaterThan(0n)
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(cost) })
    await customer.patch(`/tokens/${token.id}`, { budget: { monthlyAmount: money(cost * 2n) } })
    const { actionId, snapshot } = (await take('two')).body.data
    await customer.patch(`/tokens/${token.id}`, { budget: { monthlyAmount: money(cost * 2n - 1n) } })
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data).toMatchObject({
      status: 'FAILED',
      errorCode: 'budget_exceeded',
    })
    expect((await customer.get(`/vms/${id}/snapshots`)).body.data.find((each: { id: string }) => each.id === snapshot.id)).toMatchObject({
      status: 'FAILED',
    })
    expect((await spent(customer)) - before).toBe(cost)
    expect((await take('three')).headers['x-error-code']).toBe('budget_exceeded')
    const picky = await spender(customer, { labelSelector: 'env=ci' })
    expect(await refused((query) => picky.post(`/vms/${id}/snapshots${query}`, { name: 'four' }))).toContain(
      'only on what has labels env=ci',
    )
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.copies_gib'`)
  })

  test('covers an image, which is charged once it is made, and its renewals', async () => {
    const customer = await rich()
    await app.db.run(sql`update catalog_values set value = 200 where name = 'price.image_gib'`)
    const vmId = await created(customer)
    const [token, picky] = [await spender(customer, { monthlyAmount: '900.00' }), await spender(customer, { labelSelector: 'env=ci' })]
    const [poor, before] = [await spender(customer, { monthlyAmount: '0.01' }), await spent(customer)]
    expect(await refused((query) => poor.post(`/images${query}`, { name: 'golden', vmId }))).toContain('0.01 are left')
    expect(await refused((query) => picky.post(`/images${query}`, { name: 'golden', vmId }))).toContain('only on what has labels env=ci')
    expect((await token.post('/images', { name: 'golden', vmId })).status).toBe(202)
    await app.settle()
    const cost = (await spent(customer)) - before
    expect(cost).toBeGreaterThan(0n)
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(cost) })
    app.clock.set(addDuration(app.clock.now(), '31d'))
    await app.reconcile()
    expect(await budgetOf(customer, token)).toMatchObject({ used: money(cost) })
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.image_gib'`)
  })

  test('is never widened by the token, nor by one that has less', async () => {
    const customer = await rich()
    const budget = { monthlyAmount: '50.00', maxVms: 3, labelSelector: 'env=ci' }
    const token = await spender(customer, budget)
    const other = await spender(customer, { maxVms: 1 })
    const wider = [
      null,
      { monthlyAmount: '50.01' },
      { monthlyAmount: null },
      { maxVms: 4 },
      { maxVms: null },
      { labelSelector: null },
      { labelSelector: 'env=prod' },
    ]
    for (const change of wider) {
      expect([change, ...refusal(await token.patch(`/tokens/${token.id}`, { budget: change }))]).toEqual([
        change,
        422,
        'incompatible',
        'This token has a budget of 50.00 a month, 3 VMs, for labels env=ci: give one within it',
      ])
      expect(refusal(await token.post('/tokens', { name: 'x', scopes: ['vms:read'], budget: change })).slice(0, 2)).toEqual([
        422,
        'incompatible',
      ])
    }
    expect(refusal(await token.patch(`/tokens/${other.id}`, { budget: { maxVms: 4 } })).slice(0, 2)).toEqual([422, 'incompatible'])
    expect((await token.patch(`/tokens/${other.id}`, { budget: { maxVms: 0 } })).status).toBe(200)
    expect(await budgetOf(customer, token)).toMatchObject(budget)
    expect((await token.patch(`/tokens/${token.id}`, { budget: { maxVms: 2 } })).body.data.budget).toMatchObject({ ...budget, maxVms: 2 })
    expect((await token.patch(`/tokens/${token.id}`, { budget: { maxVms: 3 } })).status).toBe(422)
    for (const bad of [
      { monthlyAmount: '-1.00' },
      { monthlyAmount: 5 },
      { maxVms: -1 },
      { labelSelector: 'env==' + '('.repeat(3) },
      { day: 1 },
    ])
      expect((await customer.patch(`/tokens/${token.id}`, { budget: bad })).status).toBe(400)
    expect((await customer.patch(`/tokens/${token.id}`, { budget: null })).body.data.budget).toBeNull()
  })

  test('of a token narrows those that were made with it, and is removed with it', async () => {
    const customer = await rich()
    const parent = await spender(customer, undefined)
    const child = await spender(parent, { maxVms: 5 })
    const plain = await spender(parent, undefined)
    expect((await plain.get('/vms')).headers).not.toHaveProperty('x-budget-remaining')
    await customer.patch(`/tokens/${parent.id}`, { budget: { monthlyAmount: '20.00', maxVms: 9 } })
    expect(await budgetOf(customer, child)).toMatchObject({ monthlyAmount: '20.00', maxVms: 5 })
    expect(await budgetOf(customer, plain)).toMatchObject({ monthlyAmount: '20.00', maxVms: 9 })
    await expect.poll(async () => told(await plain.get('/vms'))).toEqual(['20.00', '9'])
    const events = (await customer.get('/events?limit=100')).body.data as {
      type: string
      data: { token: { id: string; budget: object } }
    }[]
    expect(events.filter(({ type }) => type === 'token.updated').map(({ data }) => [data.token.id, data.token.budget])).toEqual([
      [parent.id, { monthlyAmount: '20.00', maxVms: 9, labelSelector: null }],
      [child.id, { monthlyAmount: '20.00', maxVms: 5, labelSelector: null }],
      [plain.id, { monthlyAmount: '20.00', maxVms: 9, labelSelector: null }],
    ])
    await customer.delete(`/tokens/${parent.id}`)
    expect(await app.db.many(sql`select 1 from budgets where subject_id in (${parent.id}, ${child.id}, ${plain.id})`)).toEqual([])
  })

  test('is exact with 100 requests at once, of a token and those that were made with it', { timeout: 300_000 }, async () => {
    const customer = await rich()
    const parent = await spender(customer, { monthlyAmount: money(price * 7n + price / 2n) })
    const spenders = [parent, await spender(parent, { maxVms: 2 }), await spender(parent, undefined)]
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => create(spenders[i % 3]!)))
    const codes = new Set(answers.map(({ status, headers }) => (status === 202 ? 'created' : headers['x-error-code'])))
    expect(codes).toEqual(new Set(['created', 'budget_exceeded']))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7)
    expect(await spent(customer)).toBe(price * 7n)
    expect(await budgetOf(customer, parent)).toMatchObject({ used: money(price * 7n), remaining: money(price / 2n), vms: 7 })
    expect((await budgetOf(customer, spenders[1]!))['vms']).toBeLessThanOrEqual(2)
    expect((await customer.get('/vms')).body.pagination.total).toBe(7)
    await app.settle()
  })

  test('counts VMs exactly with 100 requests at once', { timeout: 300_000 }, async () => {
    const customer = await rich()
    const token = await spender(customer, { maxVms: 5 })
    const answers = await Promise.all(Array.from({ length: 100 }, () => create(token)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5)
    expect(await spent(customer)).toBe(price * 5n)
    await app.settle()
  })

  test('does not outlive its token: one that is revoked meanwhile is charged nothing more', async () => {
    const customer = await rich()
    const parent = await spender(customer, { monthlyAmount: money(price) })
    const child = await spender(parent, undefined)
    const [, ...answers] = await Promise.all([customer.delete(`/tokens/${parent.id}`), ...Array.from({ length: 20 }, () => create(child))])
    expect(answers.filter(({ status }) => ![202, 401, 402].includes(status))).toEqual([])
    expect(await spent(customer)).toBeLessThanOrEqual(price)
    await app.settle()
  })

  test('of another account is neither shown nor changed', async () => {
    const [mine, theirs] = [await rich(), await rich()]
    const token = await spender(theirs, { maxVms: 1 })
    expect((await mine.patch(`/tokens/${token.id}`, { budget: null })).status).toBe(404)
    expect((await mine.get(`/tokens/${token.id}`)).status).toBe(404)
    expect(await budgetOf(theirs, token)).toMatchObject({ maxVms: 1 })
  })
})

describe('what a refund gives back', () => {
  const ledger = (...cents: bigint[]) => cents.map((amount_cents, i) => ({ number: i + 1, amount_cents }))

  test.each([
    [[-100n, 40n], 2, [[1, 40n]]],
    [
      [-100n, -30n, 40n],
      3,
      [
        [2, 30n],
        [1, 10n],
      ],
    ],
    [[-100n, -30n, 30n, 40n], 4, [[1, 40n]]],
    [[-100n, 100n, -50n, 20n], 4, [[3, 20n]]],
    [[-100n, -0n, 100n], 3, [[1, 100n]]],
    [[-10n, 50n], 2, [[1, 10n]]],
  ] as [bigint[], number, [number, bigint][]][])('is of the newest charges: case %#', (cents, number, parts) => {
    expect([...lastParts(ledger(...cents), number)].filter(([, part]) => part > 0n)).toEqual(parts)
  })
})

test('a change of a budget leaves what it does not name', () => {
  const before = { monthly_cents: 500n, max_vms: 2, label_selector: null }
  expect(withChanges(before, { maxVms: 1 })).toEqual({ ...before, max_vms: 1 })
  expect(withChanges(before, { maxVms: null, monthlyAmount: null })).toBeNull()
  expect(withChanges(before, undefined)).toBe(before)
  expect(withChanges(null, { monthlyAmount: '1.5' })).toEqual({ monthly_cents: 150n, max_vms: null, label_selector: null })
  expect(isWithinBudget(null, before)).toBe(false)
  expect(isWithinBudget(before, { ...before, label_selector: 'a' })).toBe(false)
  expect(isWithinBudget({ ...before, label_selector: 'ab' }, { ...before, label_selector: 'a' })).toBe(false)
})
