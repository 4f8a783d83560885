import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { givenBrowser, givenMember, PASSWORD } from '../../../test/browser.ts'
import { testApp, type Answer } from '../../../test/harness.ts'
import { newId } from '../../kernel/ids.ts'
import { sql } from '../../kernel/database/db.ts'
import { deleteToken as deleteByOperator, revokeToken as revokeByOperator, SCOPES } from '../accounts/service.ts'

const logged: string[] = []
const logTo = new Writable({
  write(chunk: Buffer, _, done) {
    logged.push(chunk.toString())
    done()
  },
})
const app = await testApp({ logTo })

type Client = Pick<Awaited<ReturnType<typeof app.given.customer>>, 'get' | 'post' | 'patch' | 'delete'>
type Json = Answer['body']['data']

const make = (client: Client, input: object = {}, headers?: Record<string, string>) =>
  client.post('/tokens', { name: 'laptop', scopes: ['vms:read'], ...input }, headers)
const made = async (client: Client, input: object = {}) => {
  const { status, body } = await make(client, input)
  if (status !== 201) throw new Error(`${status}: ${body.error}`)
  const data = body.data as { id: string; secret: string; scopes: string[]; expiresAt: string | null; allowedIps: string[] }
  return { ...data, ...app.clientOf(data.secret) }
}
/** A user: the same routes, with a session. */
const visitor = async () => {
  const browser = await givenBrowser(app)
  return {
    ...browser,
    get: (path: string) => browser.get(`/v1${path}`),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      browser.post(path.startsWith('/re') ? path : `/v1${path}`, body, headers),
    patch: (path: string, body?: unknown) => browser.patch(`/v1${path}`, body),
    delete: (path: string) => browser.delete(`/v1${path}`),
  }
}
const inOneHour = () => new Date(app.clock.now().getTime() + 3_600_000).toISOString()
const refusal = async (answer: Promise<{ status: number; headers: Record<string, string>; body: { error: string } }>) => {
  const { status, headers, body } = await answer
  return [status, headers['x-error-code'], body.error]
}

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
