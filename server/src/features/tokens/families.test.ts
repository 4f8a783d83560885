import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { tokenFixture, type Client, type Json } from '../../../test/token-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { deleteToken as deleteByOperator, revokeToken as revokeByOperator, SCOPES } from '../accounts/service.ts'

const app = await testApp()
const { make, made, visitor, inOneHour, refusal } = tokenFixture(app)

describe('a token made with a token', () => {
  test('needs the scope', async () => {
    const customer = await app.given.customer({ scopes: SCOPES.filter((scope) => scope !== 'tokens:create') })
    expect(await refusal(make(customer))).toEqual([403, 'missing_scope', 'This token lacks the required scope: tokens:create'])
    expect((await customer.get('/tokens')).body.pagination.total).toBe(1)
  })

  test('has what that one has at most, and what is left out as that one has it', async () => {
    const { accountId } = await app.given.customer()
    const expiresAt = new Date(app.clock.now().getTime() + 3_600_000)
    const parent = await app.given.token(accountId, {
      scopes: ['tokens:create', 'tokens:read', 'vms:read'],
      expiresAt,
      allowedIps: ['127.0.0.0/8', '10.0.0.0/8'],
      requestsPerMinute: 100,
    })
    expect(await made(parent)).toMatchObject({
      scopes: ['vms:read'],
      expiresAt: expiresAt.toISOString(),
      allowedIps: ['127.0.0.0/8', '10.0.0.0/8'],
      requestsPerMinute: 100,
      parentId: parent.id,
    })
    expect(await refusal(make(parent, { scopes: ['vms:read', 'vms:delete', 'wallet:read'] }))).toEqual([
      403,
      'missing_scope',
      'This token cannot give what it lacks itself: vms:delete, wallet:read',
    ])
    expect((await make(parent, { scopes: ['*'] })).status).toBe(403)
    const later = new Date(expiresAt.getTime() + 1).toISOString()
    for (const end of [later, null])
      expect(await refusal(make(parent, { expiresAt: end }))).toEqual([
        422,
        'incompatible',
        `This token expires at ${expiresAt.toISOString()}: give an earlier expiresAt`,
      ])
    for (const allowedIps of [[], ['10.0.0.0/7'], ['127.0.0.1', '11.0.0.1'], ['::ffff:10.0.0.1'], ['2001:db8::1']])
      expect(await refusal(make(parent, { allowedIps }))).toEqual([
        422,
        'incompatible',
        'This token may be used from 127.0.0.0/8, 10.0.0.0/8 only: give addresses within these as allowedIps',
      ])
    expect(await made(parent, { allowedIps: ['10.2.0.0/16', '127.0.0.1'] })).toMatchObject({ allowedIps: ['10.2.0.0/16', '127.0.0.1'] })
    expect((await parent.get('/tokens')).body.pagination.total).toBe(4)
  })

  test('does not widen itself, nor another beyond what it has', async () => {
    const customer = await app.given.customer()
    const scopes = ['tokens:create', 'tokens:update', 'vms:read']
    const token = await made(customer, { scopes, expiresAt: inOneHour(), allowedIps: ['127.0.0.0/8'] })
    const other = await made(customer, { scopes: ['wallet:read'], expiresAt: inOneHour(), allowedIps: ['127.0.0.0/8'] })
    for (const id of [token.id, other.id])
      for (const change of [{ scopes: [...scopes, 'vms:delete'] }, { scopes: ['*'] }, { expiresAt: null }, { allowedIps: [] }]) {
        const { status, headers } = await token.patch(`/tokens/${id}`, change)
        expect([change, status, headers['x-error-code']]).toEqual([
          change,
          'scopes' in change || id === other.id ? 403 : 422,
          'scopes' in change || id === other.id ? 'missing_scope' : 'incompatible',
        ])
      }
    const before = (await customer.get(`/tokens/${other.id}`)).body.data as Json
    expect(before).toMatchObject({ scopes: ['wallet:read'], expiresAt: other.expiresAt, allowedIps: ['127.0.0.0/8'] })
    // What it has itself it may give, and it may take from any.
    expect((await token.patch(`/tokens/${other.id}`, { scopes: ['vms:read'] })).body.data).toMatchObject({ scopes: ['vms:read'] })
    const sooner = new Date(app.clock.now().getTime() + 60_000).toISOString()
    expect((await token.patch(`/tokens/${token.id}`, { scopes: ['tokens:update'], expiresAt: sooner })).body.data).toMatchObject({
      scopes: ['tokens:update'],
      expiresAt: sooner,
    })
    await expect.poll(async () => (await make(token)).status).toBe(403)
    expect((await token.patch(`/tokens/${token.id}`, { scopes })).status).toBe(403)
  })

  test('stays within the one that it was made with, whoever changes it', async () => {
    const browser = await visitor()
    const parent = await made(browser, { scopes: ['tokens:create', 'vms:read'] })
    const child = await made(parent)
    expect(await refusal(browser.patch(`/tokens/${child.id}`, { scopes: ['vms:delete'] }))).toEqual([
      403,
      'missing_scope',
      'The token laptop, with which this one was made, cannot give what it lacks itself: vms:delete',
    ])
    expect((await browser.patch(`/tokens/${child.id}`, { scopes: ['vms:read', 'tokens:create'] })).status).toBe(200)
  })

  test('loses what that one loses, and is revoked where nothing is left', async () => {
    const browser = await visitor()
    const scopes = ['tokens:create', 'vms:read', 'wallet:read']
    const parent = await made(browser, { scopes })
    const [child, other] = [await made(parent, { scopes }), await made(parent, { scopes: ['wallet:read'] })]
    const grandchild = await made(child, { scopes: ['vms:read', 'wallet:read'] })
    const expiresAt = inOneHour()
    await browser.patch(`/tokens/${parent.id}`, { scopes: ['tokens:create', 'vms:read'], expiresAt, allowedIps: ['127.0.0.0/8'] })
    const shown = async (id: string) => (await browser.get(`/tokens/${id}`)).body.data as Json
    expect(await shown(child.id)).toMatchObject({ scopes: ['tokens:create', 'vms:read'], expiresAt, allowedIps: ['127.0.0.0/8'] })
    expect(await shown(grandchild.id)).toMatchObject({ scopes: ['vms:read'], expiresAt, allowedIps: ['127.0.0.0/8'], isActive: true })
    expect(await shown(other.id)).toMatchObject({ scopes: ['wallet:read'], isActive: false })
    await expect.poll(async () => (await other.get('/wallet')).body.error).toBe('API token has been revoked')
    await expect.poll(async () => (await grandchild.get('/wallet')).status).toBe(403)
    expect((await grandchild.get('/vms')).status).toBe(200)
    // Given back to the parent, it does not come back to what was made with it.
    await browser.patch(`/tokens/${parent.id}`, { scopes, expiresAt: null, allowedIps: [] })
    expect(await shown(grandchild.id)).toMatchObject({ scopes: ['vms:read'], expiresAt })
  })

  test.each(['revoked', 'deleted'] as const)('is %s with it, and all after it', async (how) => {
    const browser = await visitor()
    const scopes = ['tokens:create', 'vms:read']
    const parent = await made(browser, { scopes })
    const child = await made(parent, { scopes })
    const grandchild = await made(child)
    const stranger = await made(browser)
    expect((await grandchild.get('/vms')).status).toBe(200)
    const path = `/tokens/${parent.id}`
    const { body: answer } = await (how === 'revoked' ? browser.patch(path, { isActive: false }) : browser.delete(path))
    expect(answer.data).toMatchObject(how === 'revoked' ? { isActive: false } : { id: parent.id, alsoRevoked: [child.id, grandchild.id] })
    const sentence = how === 'revoked' ? 'API token has been revoked' : 'Invalid API token'
    for (const each of [parent, child, grandchild]) await expect.poll(async () => (await each.get('/vms')).body.error).toBe(sentence)
    expect(await refusal(make(child))).toEqual([401, 'unauthorized', sentence])
    expect((await stranger.get('/vms')).status).toBe(200)
    const left = (await browser.get('/tokens')).body.data as Json[]
    expect(left.filter(({ isActive }) => isActive)).toMatchObject([{ id: stranger.id }])
    const { body } = await browser.get('/events?limit=100')
    const revoked = (body.data as Json[]).filter(({ type }) => type === 'token.revoked').map(({ data }) => data.token.id)
    expect(revoked).toEqual([parent.id, child.id, grandchild.id])
  })

  test('ends when that one expires', async () => {
    const customer = await app.given.customer()
    const parent = await made(customer, { scopes: ['tokens:create', 'vms:read'], expiresAt: inOneHour() })
    const child = await made(parent)
    app.clock.advance('1h')
    for (const each of [parent, child]) expect(await refusal(each.get('/vms'))).toEqual([401, 'unauthorized', 'API token has expired'])
    expect((await make(parent)).status).toBe(401)
  })

  test('is not made by one that is revoked or narrowed at that moment', async () => {
    for (let i = 0; i < 10; i++) {
      const customer = await app.given.customer()
      const parent = await made(customer, { scopes: ['tokens:create', 'vms:read', 'wallet:read'] })
      const [, ...answers] = await Promise.all([
        i % 2 === 0
          ? customer.delete(`/tokens/${parent.id}`)
          : customer.patch(`/tokens/${parent.id}`, { scopes: ['tokens:create', 'vms:read'] }),
        ...Array.from({ length: 8 }, () => make(parent, { scopes: ['vms:read', 'wallet:read'] })),
      ])
      expect(answers.filter(({ status }) => ![201, 401, 403].includes(status))).toEqual([])
      const left = (await customer.get('/tokens?limit=100')).body.data as Json[]
      const children = left.filter(({ parentId }) => parentId === parent.id).map(({ scopes }) => scopes)
      expect(children.filter((scopes) => i % 2 === 0 || scopes.length > 1)).toEqual([])
    }
  })

  test('by an operator is revoked with it too, and so is one whose maker an older version has deleted', async () => {
    const customer = await app.given.customer()
    const scopes = ['tokens:create', 'vms:read']
    const [one, two, three] = [await made(customer, { scopes }), await made(customer, { scopes }), await made(customer, { scopes })]
    const children = [await made(one), await made(two), await made(three)]
    await app.db.tx((tx) => revokeByOperator(tx, app.clock.now(), one.id))
    await app.db.tx((tx) => deleteByOperator(tx, two.id))
    await app.db.run(sql`update api_tokens set revoked_at = ${app.clock.now()} where id = ${three.id}`)
    for (const each of children) await expect.poll(async () => (await each.get('/vms')).status).toBe(401)
  })

  test('has a limited number of others before it', async () => {
    const customer = await app.given.customer({ scopes: ['tokens:create', 'tokens:read'] })
    let last: Client = customer
    for (let i = 0; i < 8; i++) last = await made(last, { scopes: ['tokens:create'] })
    expect(await refusal(make(last, { scopes: ['tokens:create'] }))).toEqual([
      422,
      'quota_exceeded',
      expect.stringContaining('8 times in a row'),
    ])
  })
})
