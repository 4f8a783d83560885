import { Writable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { givenBrowser, givenMember, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { tokenFixture, type Json } from '../../../test/token-fixture.ts'
import { newId } from '../../kernel/ids.ts'
import { sql } from '../../kernel/database/db.ts'
import { SCOPES } from '../accounts/service.ts'
import { openTokens } from '../accounts/tokens.ts'

const logged: string[] = []
const logTo = new Writable({
  write(chunk: Buffer, _, done) {
    logged.push(chunk.toString())
    done()
  },
})
const app = await testApp({ logTo })

const { make, made, visitor, inOneHour, refusal } = tokenFixture(app)

describe('a token', () => {
  test('shows its secret once, authenticates on the public API and is limited to its scopes', async () => {
    const browser = await visitor()
    const { status, body } = await make(browser, { scopes: ['vms:read', 'wallet:*'] })
    expect(status).toBe(201)
    const { secret, ...token } = body.data as Record<string, unknown> & { secret: string }
    expect(secret).toMatch(/^vmk_\w{46}$/)
    expect(token).toEqual({
      id: token['id'],
      name: 'laptop',
      prefix: secret.slice(0, 12),
      scopes: ['vms:read', 'wallet:read', 'wallet:deposit'],
      isActive: true,
      expiresAt: null,
      revokedAt: null,
      allowedIps: [],
      requestsPerMinute: 600,
      parentId: null,
      createdAt: app.clock.now().toISOString(),
      lastUsedAt: null,
      lastUsedIp: null,
      budget: null,
    })
    const program = app.clientOf(secret)
    expect((await program.get('/vms')).status).toBe(200)
    expect((await program.get('/wallet')).status).toBe(200)
    expect((await program.post('/ssh-keys', {})).body.error).toBe('This token lacks the required scope: ssh_keys:create')
    expect((await browser.get('/tokens')).body).toMatchObject({ data: [token], pagination: { total: 1 } })
    expect((await browser.get(`/tokens/${token['id'] as string}`)).body.data).toMatchObject({ id: token['id'] })
  })

  test('shows when and from which IP it was last used', async () => {
    const browser = await visitor()
    const { secret } = await made(browser)
    await app.app.inject({ url: '/api/public/v1/vms', headers: { 'x-api-key': secret }, remoteAddress: '10.3.2.1' })
    await expect
      .poll(async () => (await browser.get('/tokens')).body.data[0], { timeout: 20_000 })
      .toMatchObject({ lastUsedAt: app.clock.now().toISOString(), lastUsedIp: '10.3.2.1' })
  })

  test('shows it also where it was being changed when that was to be written', async () => {
    const browser = await visitor()
    const { id, secret } = await made(browser)
    const tokens = await openTokens(app.db, app.clock)
    await tokens.authenticate({ headers: { 'x-api-key': secret } as object, ip: '10.3.2.2' } as FastifyRequest)
    await app.db.tx(async (tx) => {
      await tx.run(sql`select from api_tokens where id = ${id} for update`)
      await tokens.flush()
    })
    expect((await browser.get(`/tokens/${id}`)).body.data.lastUsedIp).toBeNull()
    await tokens.flush()
    expect((await browser.get(`/tokens/${id}`)).body.data.lastUsedIp).toBe('10.3.2.2')
    await tokens.close()
  })

  test('stops working at its expiry and reads as expired', async () => {
    const browser = await visitor()
    const expiresAt = inOneHour()
    const program = await made(browser, { expiresAt })
    expect((await program.get('/vms')).status).toBe(200)
    app.clock.advance('1h')
    expect((await program.get('/vms')).body.error).toBe('API token has expired')
    expect((await browser.get('/tokens')).body.data).toMatchObject([{ isActive: false, expiresAt }])
  })

  test('is renamed, revoked permanently and deleted, with immediate effect and without a recent password', async () => {
    const browser = await visitor()
    const program = await made(browser)
    const path = `/tokens/${program.id}`
    app.clock.advance('16m')
    expect((await browser.patch(path, { name: 'desktop' })).body.data).toMatchObject({ name: 'desktop', isActive: true })
    expect((await browser.patch(path, { isActive: true })).status).toBe(400)
    expect((await browser.patch(path, {})).status).toBe(400)
    expect((await browser.patch(path, { isActive: false })).body.data).toMatchObject({ isActive: false, name: 'desktop' })
    await expect.poll(async () => (await program.get('/vms')).body.error).toBe('API token has been revoked')
    expect((await browser.delete(path)).body.data).toEqual({ id: program.id, alsoRevoked: [] })
    await expect.poll(async () => (await program.get('/vms')).body.error).toBe('Invalid API token')
    expect((await browser.get('/tokens')).body.data).toEqual([])
    expect((await browser.delete(path)).status).toBe(404)
  })

  test('is made, and allowed more, with a recent password only', async () => {
    const browser = await visitor()
    const { id } = await made(browser, { allowedIps: ['10.3.0.0/16'] })
    app.clock.advance('16m')
    expect((await make(browser)).headers['x-error-code']).toBe('reauthentication_required')
    for (const change of [{ allowedIps: [] }, { scopes: ['*'] }, { expiresAt: null }])
      expect((await browser.patch(`/tokens/${id}`, change)).headers['x-error-code']).toBe('reauthentication_required')
    await browser.post('/reauthenticate', { password: PASSWORD })
    expect((await browser.patch(`/tokens/${id}`, { allowedIps: [], scopes: ['*'] })).body.data).toMatchObject({ scopes: SCOPES })
  })

  test('loses no limit by a member who may not do what it may', async () => {
    const owner = await givenBrowser(app)
    owner.choose(owner.person.accountId)
    const { body } = await owner.post('/v1/tokens', { name: 'ci', scopes: ['*'], allowedIps: ['10.9.9.9'] })
    const member = await givenMember(app, owner.person.accountId, 'custom', ['tokens:read', 'tokens:update'])
    for (const change of [{ allowedIps: [] }, { expiresAt: null }, { budget: null }]) {
      const answer = await member.patch(`/v1/tokens/${body.data.id}`, change)
      expect([answer.status, answer.headers['x-error-code']]).toEqual([403, 'missing_scope'])
    }
    expect((await member.patch(`/v1/tokens/${body.data.id}`, { isActive: false })).status).toBe(200)
  })

  test('is bound to addresses at its creation and later', async () => {
    const browser = await visitor()
    const token = await made(browser, { allowedIps: ['10.3.0.0/16'] })
    const from = async (remoteAddress: string) =>
      (await app.app.inject({ url: '/api/public/v1/vms', headers: { 'x-api-key': token.secret }, remoteAddress })).statusCode
    expect([await from('10.3.2.1'), await from('10.4.2.1')]).toEqual([200, 401])
    await browser.patch(`/tokens/${token.id}`, { allowedIps: ['2001:db8::/32'] })
    await expect.poll(() => from('10.3.2.1')).toBe(401)
    expect(await from('2001:db8::7')).toBe(200)
  })

  test('counts against the quota of the account', async () => {
    const customer = await app.given.customer()
    await app.db.run(sql`
      update account_quotas set limit_override = 3 where account_id = ${customer.accountId} and name = 'tokens'`)
    const [first] = await Promise.all([made(customer), made(customer)])
    expect((await make(customer)).headers['x-error-code']).toBe('quota_exceeded')
    await customer.delete(`/tokens/${first.id}`)
    expect((await make(customer)).status).toBe(201)
  })

  test('is never one too many, however many are asked for at once', async () => {
    const customer = await app.given.customer()
    const answers = await Promise.all(Array.from({ length: 60 }, () => make(customer)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(24)
    expect(new Set(answers.filter(({ status }) => status !== 201).map(({ headers }) => headers['x-error-code']))).toEqual(
      new Set(['quota_exceeded']),
    )
  })

  test.each([
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['vms:fly'] }],
    ["the operators' scope", { scopes: ['operator'] }],
    ['an expiry that is over', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['an expiry that is no time', { expiresAt: 'soon' }],
    ['no name', { name: '' }],
    ['a name that changes the line', { name: 'a\u202eb' }],
    ['addresses that are none', { allowedIps: ['10/8'] }],
  ])('is refused with %s', async (_, input) => {
    const customer = await app.given.customer()
    const { id } = await made(customer)
    for (const answer of [await make(customer, input), await customer.patch(`/tokens/${id}`, input)])
      expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'validation_failed'])
    expect((await customer.get(`/tokens/${id}`)).body.data).toMatchObject({ name: 'laptop', scopes: ['vms:read'], expiresAt: null })
  })

  test('of another account is not found', async () => {
    const [mine, theirs] = [await app.given.customer(), await app.given.customer()]
    for (const id of [theirs.tokenId, newId(), 'x'.repeat(65)]) {
      expect(await refusal(mine.get(`/tokens/${id}`))).toEqual([404, 'not_found', 'Token not found'])
      expect(await refusal(mine.patch(`/tokens/${id}`, { isActive: false }))).toEqual([404, 'not_found', 'Token not found'])
      expect(await refusal(mine.delete(`/tokens/${id}`))).toEqual([404, 'not_found', 'Token not found'])
    }
    expect((await theirs.get('/vms')).status).toBe(200)
    expect((await mine.get('/tokens')).body.data.map(({ id }: { id: string }) => id)).toEqual([mine.tokenId])
  })
})

describe('an Idempotency-Key', () => {
  test('gives the same token again to whoever made it, and to no other of the account', async () => {
    const customer = await app.given.customer()
    const weak = await made(customer, { scopes: ['tokens:create'] })
    const input = { scopes: ['*'] }
    const first = await make(customer, input, { 'idempotency-key': 'k1' })
    const again = await make(customer, input, { 'idempotency-key': 'k1' })
    expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', first.body])
    const stolen = await make(weak, input, { 'idempotency-key': 'k1' })
    expect([stolen.status, stolen.headers['x-error-code']]).toEqual([422, 'idempotency_key_reused'])
    expect((await customer.get('/tokens')).body.pagination.total).toBe(3)
  })
})

describe('the secret', () => {
  test('is in no table, event, audit entry, webhook delivery or log, and in no later answer', async () => {
    const customer = await app.given.customer()
    const token = await made(customer, { scopes: ['tokens:create', 'tokens:update', 'tokens:read', 'tokens:delete'] })
    const { body } = await make(token, { scopes: ['tokens:read'] }, { 'idempotency-key': 'k1' })
    const { id, secret } = body.data as { id: string; secret: string }
    await make(token, { scopes: ['tokens:read'] }, { 'idempotency-key': 'k1' })
    expect((await make(token, { scopes: [secret] })).status).toBe(400)
    await token.patch(`/tokens/${id}`, { name: 'renamed' })
    const seen = [
      await token.get('/tokens'),
      await token.get(`/tokens/${id}`),
      await customer.get('/events'),
      await customer.get('/audit-log'),
    ]
    await token.delete(`/tokens/${id}`)
    expect(logged.filter((line) => line.includes('"createToken"'))).not.toEqual([])
    for (const each of [token.secret, secret].map((text) => text.slice(12))) {
      expect(JSON.stringify(seen.map((answer) => answer.body))).not.toContain(each)
      expect(logged.filter((line) => line.includes(each))).toEqual([])
      expect(await tablesWith(each)).toEqual([])
    }
    expect(await tablesWith(customer.accountId)).toContain('public.api_tokens') // a search that finds something
  })

  async function tablesWith(text: string): Promise<string[]> {
    const tables = await app.db.many<{ name: string }>(sql`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)
    const hex = Buffer.from(text).toString('hex')
    const found: string[] = []
    for (const { name } of tables) {
      const { rows } = (await app.db.raw(`select 1 from ${name} t where t::text like $1 or t::text like $2 limit 1`, [
        `%${text}%`,
        `%${hex}%`,
      ])) as {
        rows: unknown[]
      }
      if (rows.length > 0) found.push(name)
    }
    return found
  }
})

test('the audit log and the events say who did what', async () => {
  const browser = await visitor()
  const parent = await made(browser, { name: 'parent', scopes: ['tokens:*', 'vms:read'] })
  const child = await made(parent, { name: 'child' })
  await parent.patch(`/tokens/${child.id}`, { name: 'renamed' })
  await parent.delete(`/tokens/${child.id}`)
  await make(child)
  const entries = (await browser.get('/audit-log')).body.data as Json[]
  expect(
    entries
      .filter(({ action }) => (action as string).endsWith('Token'))
      .map(({ action, actor, resourceId }) => [action, actor.type, actor.name, resourceId]),
  ).toEqual([
    ['revokeToken', 'token', 'parent', child.id],
    ['updateToken', 'token', 'parent', child.id],
    ['createToken', 'token', 'parent', child.id],
    ['createToken', 'person', browser.person.email, parent.id],
  ])
  const events = (await browser.get('/events?limit=100')).body.data as Json[]
  expect(events.map(({ type, data }) => [type, data.token?.name])).toEqual([
    ['token.created', 'parent'],
    ['token.created', 'child'],
    ['token.updated', 'renamed'],
    ['token.revoked', 'renamed'],
  ])
})

test('GET /scopes lists every scope that a token can have', async () => {
  const { body } = await (await givenBrowser(app)).get('/scopes')
  expect((body.data as { scope: string }[]).map(({ scope }) => scope)).toEqual(SCOPES)
  expect(body.data).toContainEqual({ scope: 'vms:power', resource: 'vms', verb: 'power' })
})
