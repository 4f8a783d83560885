import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { bindFirewall } from './service.ts'

// These tests use VM ids without VM rows.
const app = await testApp({ breaks: ['firewalls.owner'] })

const givenFirewall = async (customer: Awaited<ReturnType<typeof app.given.customer>>, more: object = {}): Promise<string> =>
  (await customer.post('/firewalls', { name: 'web', ...more })).body.data.id

describe('POST /firewalls', () => {
  test('creates a firewall that drops inbound traffic', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/firewalls', { name: 'web', description: 'ssh and https' })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^c[a-z0-9]{24}$/),
      name: 'web',
      labels: {},
      description: 'ssh and https',
      defaultInbound: 'DROP',
      defaultOutbound: 'ACCEPT',
      coversPrivate: false,
      ruleCount: 0,
      bindingCount: 0,
      applied: true,
      pendingCount: 0,
      rulesVersion: expect.stringMatching(/^[0-9a-f]{32}$/),
      undoUntil: null,
      confirmBy: null,
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    expect((await customer.get(`/firewalls/${body.data.id}`)).body.data).toEqual(body.data)
    expect((await customer.get(`/firewalls/${body.data.id}/rules`)).body).toEqual({ success: true, data: [] })
  })

  test.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 101 characters', { name: 'n'.repeat(101) }, 'name'],
    ['a description of 501 characters', { name: 'web', description: 'd'.repeat(501) }, 'description'],
    ['a maybe', { name: 'web', coversPrivate: 'yes' }, 'coversPrivate'],
    ['defaults of its own', { name: 'web', defaultInbound: 'ACCEPT' }, 'defaultInbound'],
  ])('refuses %s', async (_, body, field) => {
    const customer = await app.given.customer()
    const answer = await customer.post('/firewalls', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(field)
  })

  test('refuses a firewall above the quota', async () => {
    const customer = await app.given.customer()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'firewalls', 1n))
    await givenFirewall(customer)
    const { status, headers } = await customer.post('/firewalls', { name: 'second' })
    expect([status, headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
  })

  test('does not exceed the quota under concurrency', async () => {
    const customer = await app.given.customer()
    const answers = await Promise.all(Array.from({ length: 30 }, () => customer.post('/firewalls', { name: 'race' })))
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(10)
    expect((await customer.get('/firewalls')).body.pagination.total).toBe(10)
  })
})

test('GET /firewalls lists the newest first, page by page', async () => {
  const customer = await app.given.customer()
  for (const name of ['one', 'two', 'three']) await givenFirewall(customer, { name })
  const { body } = await customer.get('/firewalls?limit=2')
  expect(body.data.map((firewall: { name: string }) => firewall.name)).toEqual(['three', 'two'])
  expect(body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 })
  expect((await customer.get('/firewalls?page=5')).body.data).toEqual([])
})

describe('PATCH /firewalls/{id}', () => {
  test('changes only the given fields', async () => {
    const customer = await app.given.customer()
    const id = await givenFirewall(customer, { description: 'old' })
    app.clock.advance('1m')
    const now = app.clock.now().toISOString()
    expect((await customer.patch(`/firewalls/${id}`, { name: 'db' })).body.data).toMatchObject({
      name: 'db',
      description: 'old',
      updatedAt: now,
    })
    expect((await customer.patch(`/firewalls/${id}`, { description: '' })).body.data).toMatchObject({ name: 'db', description: '' })
  })
})

describe('DELETE /firewalls/{id}', () => {
  test('deletes the firewall with its rules and releases its quota', async () => {
    const customer = await app.given.customer()
    const id = await givenFirewall(customer)
    await customer.post(`/firewalls/${id}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'ANY' })
    const { status, body } = await customer.delete(`/firewalls/${id}`)
    expect([status, body.data]).toEqual([200, { id }])
    expect((await customer.get(`/firewalls/${id}`)).status).toBe(404)
    expect((await customer.get('/firewalls')).body.pagination.total).toBe(0)
  })

  test('refuses while the firewall is bound', async () => {
    const customer = await app.given.customer()
    const id = await givenFirewall(customer)
    await app.db.tx((tx) => bindFirewall(tx, app.clock.now(), customer.accountId, id, 'cvm-bound'))
    const { status, headers, body } = await customer.delete(`/firewalls/${id}`)
    expect([status, headers['x-error-code'], body.error]).toEqual([409, 'in_use', 'The firewall web is bound to 1 VM: unbind it first'])
  })

  test('concurrent with a binding, exactly one of the two succeeds', async () => {
    const customer = await app.given.customer()
    for (let round = 0; round < 5; round++) {
      const id = await givenFirewall(customer)
      const [deleted, bound] = await Promise.allSettled([
        customer.delete(`/firewalls/${id}`),
        app.db.tx((tx) => bindFirewall(tx, app.clock.now(), customer.accountId, id, `cvm-race-${round}`)),
      ])
      const isDeleted = deleted.status === 'fulfilled' && deleted.value.status === 200
      const isUnknown = bound.status === 'rejected' && (bound.reason as { code: string }).code === 'not_found'
      expect([isDeleted, isUnknown]).toEqual(bound.status === 'fulfilled' ? [false, false] : [true, true])
    }
  })
})

test("another account's firewall is reported as not found everywhere", async () => {
  const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
  const id = await givenFirewall(customer)
  const rule = { direction: 'IN', action: 'ACCEPT', protocol: 'ANY' }
  const { id: ruleId } = (await customer.post(`/firewalls/${id}/rules`, rule)).body.data
  const answers = [
    await stranger.get(`/firewalls/${id}`),
    await stranger.patch(`/firewalls/${id}`, { name: 'mine' }),
    await stranger.delete(`/firewalls/${id}`),
    await stranger.get(`/firewalls/${id}/rules`),
    await stranger.post(`/firewalls/${id}/rules`, rule),
    await stranger.put(`/firewalls/${id}/rules`, { rules: [] }),
    await stranger.patch(`/firewalls/${id}/rules/${ruleId}`, { action: 'DROP' }),
    await stranger.delete(`/firewalls/${id}/rules/${ruleId}`),
    await stranger.get(`/firewalls/${id}/bindings`),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(Array(9).fill([404, 'Firewall not found']))
  expect((await customer.get(`/firewalls/${id}/rules`)).body.data).toHaveLength(1)
})
