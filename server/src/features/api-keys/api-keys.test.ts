import { describe, expect, test } from 'vitest'
import { givenBrowser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { SCOPES } from '../accounts/service.ts'

const app = await testApp()
const make = async (browser: Awaited<ReturnType<typeof givenBrowser>>, input: object = {}) =>
  browser.post('/api-keys', { name: 'laptop', scopes: ['vms:read'], ...input })

describe('an API key', () => {
  test('shows its secret once, authenticates on the public API and is limited to its scopes', async () => {
    const browser = await givenBrowser(app)
    const { status, body } = await make(browser, { scopes: ['vms:read', 'wallet:*'] })
    expect(status).toBe(201)
    const { secret, ...key } = body.data as Record<string, unknown> & { secret: string }
    expect(secret).toMatch(/^vmk_\w{46}$/)
    expect(key).toMatchObject({
      name: 'laptop',
      prefix: secret.slice(0, 12),
      scopes: ['vms:read', 'wallet:read', 'wallet:deposit'],
      isActive: true,
      expiresAt: null,
      lastUsedAt: null,
      lastUsedFrom: null,
    })
    const program = app.clientOf(secret)
    expect((await program.get('/vms')).status).toBe(200)
    expect((await program.get('/wallet')).status).toBe(200)
    expect((await program.post('/ssh-keys', {})).body.error).toBe('This token lacks the required scope: ssh_keys:create')
    const listed = await browser.get('/api-keys')
    expect(listed.body.data).toEqual([key])
    expect(JSON.stringify(listed.body)).not.toContain(secret.slice(12))
  })

  test('shows when and from which IP it was last used', async () => {
    const browser = await givenBrowser(app)
    const { secret } = (await make(browser)).body.data as { secret: string }
    await app.app.inject({ url: '/api/public/v1/vms', headers: { 'x-api-key': secret }, remoteAddress: '10.3.2.1' })
    await expect
      .poll(async () => (await browser.get('/api-keys')).body.data[0], { timeout: 20_000 })
      .toMatchObject({ lastUsedAt: app.clock.now().toISOString(), lastUsedFrom: '10.3.2.1' })
  })

  test('stops working at its expiry and reads as expired', async () => {
    const browser = await givenBrowser(app)
    const expiresAt = new Date(app.clock.now().getTime() + 3_600_000).toISOString()
    const { secret } = (await make(browser, { expiresAt })).body.data as { secret: string }
    const program = app.clientOf(secret)
    expect((await program.get('/vms')).status).toBe(200)
    app.clock.advance('1h')
    expect((await program.get('/vms')).body.error).toBe('API token has expired')
    expect((await browser.get('/api-keys')).body.data).toMatchObject([{ isActive: false, expiresAt }])
  })

  test('is renamed, revoked permanently and deleted, with immediate effect', async () => {
    const browser = await givenBrowser(app)
    const { id, secret } = (await make(browser)).body.data as { id: string; secret: string }
    const program = app.clientOf(secret)
    expect((await browser.patch(`/api-keys/${id}`, { name: 'desktop' })).body.data).toMatchObject({ name: 'desktop', isActive: true })
    expect((await browser.patch(`/api-keys/${id}`, { isActive: true })).status).toBe(400)
    expect((await browser.patch(`/api-keys/${id}`, {})).status).toBe(400)
    expect((await browser.patch(`/api-keys/${id}`, { isActive: false })).body.data).toMatchObject({ isActive: false })
    await expect.poll(async () => (await program.get('/vms')).body.error).toBe('API token has been revoked')
    expect((await browser.delete(`/api-keys/${id}`)).body.data).toEqual({ id, deleted: true })
    await expect.poll(async () => (await program.get('/vms')).body.error).toBe('Invalid API token')
    expect((await browser.get('/api-keys')).body.data).toEqual([])
  })

  test('is bound to addresses at its creation and later, with a recent password', async () => {
    const browser = await givenBrowser(app)
    const made = (await make(browser, { allowedIps: ['10.3.0.0/16'] })).body.data as { id: string; secret: string; allowedIps: string[] }
    expect(made.allowedIps).toEqual(['10.3.0.0/16'])
    const from = async (remoteAddress: string) =>
      (await app.app.inject({ url: '/api/public/v1/vms', headers: { 'x-api-key': made.secret }, remoteAddress })).statusCode
    expect([await from('10.3.2.1'), await from('10.4.2.1')]).toEqual([200, 401])
    const change = (allowedIps: string[]) => browser.patch(`/api-keys/${made.id}`, { allowedIps })
    expect((await change(['2001:db8::/32'])).body.data).toMatchObject({ name: 'laptop', allowedIps: ['2001:db8::/32'] })
    await expect.poll(() => from('10.3.2.1')).toBe(401)
    expect(await from('2001:db8::7')).toBe(200)
    app.clock.advance('16m')
    expect((await change([])).headers['x-error-code']).toBe('reauthentication_required')
    expect((await browser.patch(`/api-keys/${made.id}`, { name: 'desktop' })).status).toBe(200)
    await browser.post('/reauthenticate', { password: PASSWORD })
    expect((await change([])).body.data).toMatchObject({ allowedIps: [] })
  })

  test('counts against the quota of the account', async () => {
    const browser = await givenBrowser(app)
    await app.db.run(sql`
      insert into account_quotas (account_id, name, limit_override) values (${browser.person.accountId}, 'tokens', 1)`)
    const { id } = (await make(browser)).body.data as { id: string }
    expect((await make(browser)).headers['x-error-code']).toBe('quota_exceeded')
    await browser.delete(`/api-keys/${id}`)
    expect((await make(browser)).status).toBe(201)
  })

  test.each([
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['vms:fly'] }],
    ["the operators' scope", { scopes: ['operator'] }],
    ['an expiry that is over', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['an expiry that is no time', { expiresAt: 'soon' }],
    ['no name', { name: '' }],
    ['addresses that are none', { allowedIps: ['10/8'] }],
  ])('is refused with %s', async (_, input) => {
    const { status, headers } = await make(await givenBrowser(app), input)
    expect([status, headers['x-error-code']]).toEqual([400, 'validation_failed'])
  })

  test('is in the audit log without its secret', async () => {
    const browser = await givenBrowser(app)
    const { id, secret } = (await make(browser)).body.data as { id: string; secret: string }
    const { body } = await browser.get('/v1/audit-log?action=createApiKey')
    expect(body.data).toMatchObject([{ actor: { type: 'person', name: browser.person.email }, resourceId: id, result: 'succeeded' }])
    expect(JSON.stringify(body)).not.toContain(secret.slice(12))
  })
})

test('GET /scopes lists every scope that a key can have', async () => {
  const { body } = await (await givenBrowser(app)).get('/scopes')
  expect((body.data as { scope: string }[]).map(({ scope }) => scope)).toEqual(SCOPES)
  expect(body.data).toContainEqual({ scope: 'vms:power', resource: 'vms', verb: 'power' })
})
