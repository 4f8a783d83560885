import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { openDb } from '../../kernel/database/db.ts'
import { releaseQuota, quotaUsed, setQuotaLimit, reserveQuota } from './service.ts'

const app = await testApp({ breaks: ['quotas.counted'] })

describe('GET /account', () => {
  test('returns the account of the token', async () => {
    await app.given.customer()
    const customer = await app.given.customer()
    const { status, body } = await customer.get('/account')
    expect(status).toBe(200)
    expect(body.data).toEqual({
      id: customer.accountId,
      requireTwoFactor: false,
      email: customer.email,
      name: '',
      isProject: false,
      budget: null,
      createdAt: app.clock.now().toISOString(),
    })
  })

  test('requires the scope account:read', async () => {
    const customer = await app.given.customer({ scopes: ['wallet:read'] })
    expect((await customer.get('/account')).body.error).toBe('This token lacks the required scope: account:read')
    expect((await customer.get('/account/limits')).status).toBe(403)
  })
})

test.each([
  ['10.1.2.3', 200],
  ['::ffff:10.1.2.3', 200],
  ['192.168.7.7', 200],
  ['192.168.7.8', 401],
  ['2001:db8:1::7', 200],
  ['2001:db8:2::7', 401],
])('a token restricted by allowed IPs answers %s with %i', async (remoteAddress, status) => {
  const { accountId } = await app.given.customer()
  const { token } = await app.given.token(accountId, { allowedIps: ['10.0.0.0/8', '192.168.7.7', '2001:db8:1::/48'] })
  const answer = await app.app.inject({ url: '/api/public/v1/account', headers: { 'x-api-key': token }, remoteAddress })
  expect(answer.statusCode).toBe(status)
  expect(answer.json().error).toBe(status === 401 ? 'API token is not allowed from this address' : undefined)
})

describe('GET /account/limits', () => {
  test('lists every quota of the catalog', async () => {
    const customer = await app.given.customer()
    expect((await customer.get('/account/limits')).body.data).toEqual([
      { name: 'addresses', limit: 5, used: 0 },
      { name: 'alerts', limit: 50, used: 0 },
      { name: 'backupsPerVm', limit: 10, used: null },
      { name: 'copies', limit: 1200, used: 0 },
      { name: 'disk', limit: 400, used: 0 },
      { name: 'failedImportGibPerDay', limit: 100, used: null },
      { name: 'firewalls', limit: 10, used: 0 },
      { name: 'imageStorage', limit: 200, used: 0 },
      { name: 'images', limit: 10, used: 0 },
      { name: 'networks', limit: 10, used: 0 },
      { name: 'openTickets', limit: 20, used: 0 },
      { name: 'placementGroups', limit: 20, used: 0 },
      { name: 'projects', limit: 20, used: 0 },
      { name: 'ram', limit: 40960, used: 0 },
      { name: 'repliesPerTicket', limit: 100, used: null },
      { name: 'rulesPerFirewall', limit: 50, used: null },
      { name: 'snapshotsPerVm', limit: 5, used: null },
      { name: 'snapshotsPerVolume', limit: 5, used: null },
      { name: 'sshKeys', limit: 50, used: 0 },
      { name: 'tokens', limit: 25, used: 1 },
      { name: 'vcpu', limit: 20, used: 0 },
      { name: 'vms', limit: 10, used: 0 },
      { name: 'volumeStorage', limit: 2000, used: 0 },
      { name: 'volumes', limit: 20, used: 0 },
      { name: 'webhooks', limit: 20, used: 0 },
    ])
  })

  test('shows raised limits and current usage', async () => {
    const customer = await app.given.customer()
    await app.db.tx(async (tx) => {
      await setQuotaLimit(tx, customer.accountId, 'ram_mib', 81_920n)
      await reserveQuota(tx, customer.accountId, 'ram_mib', 2_048n)
    })
    const { body } = await customer.get('/account/limits')
    expect(body.data).toContainEqual({ name: 'ram', limit: 81_920, used: 2_048 })
  })
})

describe('a quota', () => {
  test('of 100 grants exactly 100 of 400 parallel reservations', async () => {
    const { accountId } = await app.given.customer()
    await app.db.tx((tx) => setQuotaLimit(tx, accountId, 'vms', 100n))
    const db = openDb({ url: app.db.url, maxConnections: 50, onError: () => {} })
    const take = () => db.tx((tx) => reserveQuota(tx, accountId, 'vms', 1n))
    const results = await Promise.allSettled(Array.from({ length: 400 }, take)).finally(() => db.close())
    const refused = results.filter((each) => each.status === 'rejected')
    expect(refused.length).toBe(300)
    expect(new Set(refused.map(({ reason }) => (reason as { code: string }).code))).toEqual(new Set(['quota_exceeded']))
    expect(await quotaUsed(app.db, accountId, 'vms')).toBe(100n)
  })

  test('is not reserved when the transaction rolls back', async () => {
    const { accountId } = await app.given.customer()
    const failing = app.db.tx(async (tx) => {
      await reserveQuota(tx, accountId, 'vms', 1n)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await quotaUsed(app.db, accountId, 'vms')).toBe(0n)
  })

  test('can be released while usage exceeds a limit lowered since', async () => {
    const { accountId } = await app.given.customer()
    await app.db.tx((tx) => reserveQuota(tx, accountId, 'vms', 5n))
    await app.db.tx((tx) => setQuotaLimit(tx, accountId, 'vms', 1n))
    await app.db.tx((tx) => releaseQuota(tx, accountId, 'vms', 2n))
    expect(await quotaUsed(app.db, accountId, 'vms')).toBe(3n)
    const taking = app.db.tx((tx) => reserveQuota(tx, accountId, 'vms', 1n))
    await expect(taking).rejects.toThrow('Quota exceeded: 3 of 1 VMs are in use. Delete some, or ask support for more')
  })
})
