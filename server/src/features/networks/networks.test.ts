import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost, givenRegion } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { createRegion, getRegion } from '../catalog/service.ts'
import { getHost } from '../hosts/service.ts'
import { applyNetworks } from './apply.reconciler.ts'
import { allocateAddress, releaseAddress, requireNetworks } from './service.ts'

// VMs are bare ids here.
const app = await testApp({ breaks: ['networks.owner'] })
const { id: nodeId } = await getHost(app.db, 'local')
const { id: regionId } = await getRegion(app.db, 'fra1')

let ranges = 0
/** A distinct range per network, so that tests do not overlap. */
const freshRange = (): string => `10.10.${ranges++}.0/24`
const input = (more: object = {}) => ({ name: 'backend', nodeId, cidr: freshRange(), ...more })

const attach = (accountId: string, networkId: string, vmId: string) =>
  app.db.tx(async (tx) => {
    const [network] = await requireNetworks(tx, accountId, [networkId])
    return allocateAddress(tx, network!, vmId)
  })

describe('POST /networks', () => {
  test('creates a network with defaults', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/networks', { name: 'backend', nodeId, cidr: '192.168.40.0/24' })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^c[a-z0-9]{24}$/),
      name: 'backend',
      labels: {},
      cidr: '192.168.40.0/24',
      gateway: '192.168.40.1',
      enableSnat: true,
      enableDhcp: true,
      region: { name: 'Frankfurt 1', country: 'DE', flag: '🇩🇪' },
      attachmentCount: 0,
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    expect((await customer.get(`/networks/${body.data.id}`)).body.data).toEqual(body.data)
  })

  test('masks host bits', async () => {
    const customer = await app.given.customer()
    const { body } = await customer.post('/networks', { name: 'backend', nodeId, cidr: '192.168.41.77/24' })
    expect(body.data.cidr).toBe('192.168.41.0/24')
  })

  test('accepts a region instead of a node', async () => {
    const customer = await app.given.customer()
    expect((await customer.post('/networks', input({ nodeId: regionId }))).status).toBe(201)
  })

  test.each([
    ['no gateway with SNAT alone', { cidr: '172.16.0.0/24', enableDhcp: false }, '172.16.0.1'],
    ['no gateway with DHCP alone', { cidr: '172.16.1.0/24', enableSnat: false, gateway: null }, '172.16.1.1'],
    ['no gateway with both off', { cidr: '172.16.2.0/24', enableSnat: false, enableDhcp: false }, null],
    ['a gateway with both off', { cidr: '172.16.3.0/24', enableSnat: false, enableDhcp: false, gateway: '172.16.3.9' }, '172.16.3.9'],
    ['a gateway of its own', { cidr: '172.16.4.0/24', gateway: '172.16.4.254' }, '172.16.4.254'],
    ['the smallest network', { cidr: '172.16.5.0/30' }, '172.16.5.1'],
  ])('with %s', async (_, more, gateway) => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/networks', input(more))
    expect([status, body.data.gateway]).toEqual([201, gateway])
  })

  test.each([
    ['a public range', { cidr: '8.8.8.0/24' }, '8.8.8.0/24 is not private'],
    ['a range that is only partly private', { cidr: '172.0.0.0/9' }, '172.0.0.0/9 is not private'],
    ['a range larger than /8', { cidr: '10.0.0.0/7' }, 'between /8 and /30'],
    ['a range smaller than /30', { cidr: '10.0.0.1/32' }, 'between /8 and /30'],
    ['a gateway outside', { cidr: '192.168.50.0/24', gateway: '192.168.51.1' }, 'does not lie in 192.168.50.0/24'],
    ['the network address as gateway', { cidr: '192.168.50.0/24', gateway: '192.168.50.0' }, 'first or last address'],
    ['the broadcast address as gateway', { cidr: '192.168.50.0/24', gateway: '192.168.50.255' }, 'first or last address'],
  ])('rejects %s as incompatible', async (_, more, sentence) => {
    const customer = await app.given.customer()
    const { status, headers, body } = await customer.post('/networks', input(more))
    expect([status, headers['x-error-code']]).toEqual([422, 'incompatible'])
    expect(body.error).toContain(sentence)
  })

  test.each([
    ['an octet above 255', { cidr: '10.0.256.0/24' }, 'cidr'],
    ['a prefix above 32', { cidr: '10.0.0.0/33' }, 'cidr'],
    ['a prefix of 0', { cidr: '0.0.0.0/0' }, 'cidr'],
    ['no prefix', { cidr: '10.0.0.0' }, 'cidr'],
    ['an ambiguous octet', { cidr: '010.0.0.0/24' }, 'cidr'],
    ['IPv6', { cidr: 'fd00::/64' }, 'cidr'],
    ['a gateway that is no address', { gateway: '10.0.0' }, 'gateway'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 101 characters', { name: 'n'.repeat(101) }, 'name'],
    ['a node that is no id', { nodeId: 'fra1' }, 'nodeId'],
    ['a field nobody knows', { enableIpv6: true }, 'enableIpv6'],
  ])('rejects %s as invalid', async (_, more, field) => {
    const customer = await app.given.customer()
    const { status, headers, body } = await customer.post('/networks', { name: 'backend', nodeId, cidr: '10.9.0.0/24', ...more })
    expect([status, headers['x-error-code']]).toEqual([400, 'validation_failed'])
    expect(body.error).toContain(field)
  })

  test('answers 404 for an unknown node', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/networks', input({ nodeId: 'c12345678901234567890123' }))
    expect([status, body.error]).toEqual([404, 'Node not found'])
  })

  test('rejects a range that overlaps another of the account in the region, on any node', async () => {
    const customer = await app.given.customer()
    const other = await givenHost(app, 'second')
    await customer.post('/networks', { name: 'first', nodeId, cidr: '192.168.60.0/24' })
    const { status, headers, body } = await customer.post('/networks', { name: 'inside', nodeId: other.id, cidr: '192.168.60.128/25' })
    expect([status, headers['x-error-code']]).toEqual([409, 'networks_overlap'])
    expect(body.error).toBe('192.168.60.128/25 overlaps your network first (192.168.60.0/24): choose another range')
    const larger = await customer.post('/networks', { name: 'larger', nodeId, cidr: '192.0.0.0/7' })
    expect([larger.status, larger.body.error]).toEqual([422, expect.stringContaining('between /8 and /30')])
  })

  test("accepts a range that overlaps another account's on the same node, or the account's own in another region", async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    const other = await givenRegion(app, 'ber1')
    await stranger.post('/networks', { name: 'theirs', nodeId, cidr: '192.168.61.0/24' })
    for (const place of [nodeId, other.id, regionId])
      expect((await customer.post('/networks', { name: 'mine', nodeId: place, cidr: '192.168.0.0/16' })).status).toBe(
        place === regionId ? 409 : 201,
      )
  })

  test('gives every network with SNAT of a region its own address outside, and that of a removed one again', async () => {
    const { region_id, id: node } = await givenRegion(app, 'ber2')
    const customer = await app.given.customer()
    const make = async (cidr: string, enableSnat = true): Promise<string> =>
      (await customer.post('/networks', { name: 'n', nodeId: node, cidr, enableSnat })).body.data.id
    const outside = () =>
      app.db.many<{ cidr: string; address: string | null }>(
        sql`select cidr, host(snat_address) as address from networks where region_id = ${region_id} order by cidr`,
      )
    const [first] = [await make('10.1.0.0/24'), await make('10.2.0.0/24', false), await make('10.3.0.0/24')]
    expect(await outside()).toEqual([
      { cidr: '10.1.0.0/24', address: '100.64.0.2' },
      { cidr: '10.2.0.0/24', address: null },
      { cidr: '10.3.0.0/24', address: '100.64.0.3' },
    ])
    await customer.delete(`/networks/${first}`)
    await make('10.4.0.0/24')
    await applyNetworks.runOnce(app.deps)
    await make('10.5.0.0/24')
    expect((await outside()).slice(2)).toEqual([
      { cidr: '10.4.0.0/24', address: '100.64.0.4' },
      { cidr: '10.5.0.0/24', address: '100.64.0.2' },
    ])
  })

  test('is refused with SNAT when all addresses outside are taken', async () => {
    const { region_id, id: node } = await givenRegion(app, 'ber3')
    const customer = await app.given.customer()
    await customer.post('/networks', { name: 'n', nodeId: node, cidr: '10.1.0.0/24' })
    await app.db.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`) // 65,000 foreign keys take seconds
      await tx.run(sql`
        insert into networks (id, account_id, region_id, name, cidr, gateway, enable_snat, enable_dhcp, snat_address, is_applied, deleted_at, created_at, updated_at)
        select 'taken' || n, account_id, region_id, name, cidr, gateway, true, true, '100.64.0.2'::inet + n, true, created_at, created_at, created_at
        from networks, generate_series(1, 65532) n where region_id = ${region_id}`)
    })
    const refused = await customer.post('/networks', { name: 'n', nodeId: node, cidr: '10.2.0.0/24' })
    expect([refused.status, refused.headers['x-error-code']]).toEqual([503, 'no_capacity'])
    const quiet = { name: 'n', nodeId: node, cidr: '10.2.0.0/24', enableSnat: false }
    expect((await customer.post('/networks', quiet)).status).toBe(201)
    await app.db.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      await tx.run(sql`delete from networks where id like 'taken%'`)
    })
  })

  test('rejects a public range', async () => {
    const customer = await app.given.customer()
    const { status, headers, body } = await customer.post('/networks', { name: 'mine', nodeId, cidr: '10.77.5.0/24' })
    expect([status, headers['x-error-code']]).toEqual([409, 'networks_overlap'])
    expect(body.error).toMatch(/overlaps public addresses of this service \(10\.77\.\d+\.0\/\d+\): choose another range$/)
  })

  test('rejects a region that takes nothing new', async () => {
    const customer = await app.given.customer()
    const { region_id, id: node } = await givenRegion(app, 'ber4')
    await app.db.run(sql`update regions set available = false where id = ${region_id}`)
    for (const place of [region_id, node]) {
      const { status, headers } = await customer.post('/networks', input({ nodeId: place }))
      expect([status, headers['x-error-code']]).toEqual([422, 'unavailable'])
    }
  })

  test('rejects a region without a host', async () => {
    const customer = await app.given.customer()
    const place = { slug: 'ber5', name: 'Berlin', country: 'DE', city: 'Berlin', available: true }
    const { id } = await app.db.tx((tx) => createRegion(tx, app.clock.now(), place))
    const { status, headers } = await customer.post('/networks', input({ nodeId: id }))
    expect([status, headers['x-error-code']]).toEqual([422, 'unavailable'])
  })

  test('rejects a node in maintenance', async () => {
    const customer = await app.given.customer()
    const host = await givenHost(app, 'closed')
    await app.db.run(sql`update hosts set maintenance = true where id = ${host.id}`)
    const { status, headers } = await customer.post('/networks', input({ nodeId: host.id }))
    expect([status, headers['x-error-code']]).toEqual([422, 'unavailable'])
  })

  test('rejects a network above the quota', async () => {
    const customer = await app.given.customer()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'networks', 1n))
    await customer.post('/networks', input())
    const { status, headers } = await customer.post('/networks', input())
    expect([status, headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
  })

  test('creates one network per Idempotency-Key', async () => {
    const customer = await app.given.customer()
    const body = input()
    const answers = [
      await customer.post('/networks', body, { 'idempotency-key': 'k' }),
      await customer.post('/networks', body, { 'idempotency-key': 'k' }),
    ]
    expect(answers[0]!.body).toEqual(answers[1]!.body)
    expect((await customer.get('/networks')).body.pagination.total).toBe(1)
  })

  test('accepts exactly one of many concurrent overlapping requests', async () => {
    const customer = await app.given.customer()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => customer.post('/networks', { name: 'race', nodeId, cidr: `172.20.0.0/${12 + (i % 13)}` })),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19)
  })

  test('accepts all concurrent requests of different accounts for one range, each with its own address outside', async () => {
    const customers = await Promise.all(Array.from({ length: 12 }, () => app.given.customer()))
    const answers = await Promise.all(
      customers.map((customer) => customer.post('/networks', { name: 'race', nodeId: regionId, cidr: '172.30.0.0/16' })),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(12)
    const outside = await app.db.many<{ address: string }>(
      sql`select distinct host(snat_address) as address from networks where cidr = '172.30.0.0/16'`,
    )
    expect(outside).toHaveLength(12)
  })
})

describe('GET /networks', () => {
  test('lists newest first and paginates', async () => {
    const customer = await app.given.customer()
    for (const name of ['one', 'two', 'three']) await customer.post('/networks', input({ name }))
    const { body } = await customer.get('/networks?limit=2')
    expect(body.data.map((network: { name: string }) => network.name)).toEqual(['three', 'two'])
    expect(body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 })
    expect((await customer.get('/networks?limit=2&page=2')).body.data).toHaveLength(1)
    expect((await customer.get('/networks?page=9')).body.data).toEqual([])
  })

  test('counts attached VMs', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/networks', input())).body.data
    await attach(customer.accountId, id, 'cvm1')
    await attach(customer.accountId, id, 'cvm2')
    expect((await customer.get('/networks')).body.data).toMatchObject([{ id, attachmentCount: 2 }])
  })
})

describe('PATCH /networks/{id}', () => {
  test('renames', async () => {
    const customer = await app.given.customer()
    const network = (await customer.post('/networks', input())).body.data
    app.clock.advance('1m')
    const { status, body } = await customer.patch(`/networks/${network.id}`, { name: 'new name' })
    expect([status, body.data]).toEqual([200, { ...network, name: 'new name', updatedAt: app.clock.now().toISOString() }])
  })

  test('rejects changes of other fields', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/networks', input())).body.data
    expect((await customer.patch(`/networks/${id}`, { name: 'new', enableSnat: false })).status).toBe(400)
  })
})

describe('DELETE /networks/{id}', () => {
  test('hides the network at once and releases its quota', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/networks', input())).body.data
    const { status, body } = await customer.delete(`/networks/${id}`)
    expect([status, body.data]).toEqual([200, { id }])
    expect((await customer.get(`/networks/${id}`)).status).toBe(404)
    expect((await customer.delete(`/networks/${id}`)).status).toBe(404)
    expect((await customer.get('/networks')).body).toMatchObject({ data: [], pagination: { total: 0 } })
  })

  test('is rejected while a VM is attached', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/networks', input())).body.data
    await attach(customer.accountId, id, 'cvm3')
    const { status, headers, body } = await customer.delete(`/networks/${id}`)
    expect([status, headers['x-error-code']]).toEqual([409, 'in_use'])
    expect(body.error).toBe('The network backend is in use by cvm3: detach or delete them first')
    await app.db.tx((tx) => releaseAddress(tx, id, 'cvm3'))
    expect((await customer.delete(`/networks/${id}`)).status).toBe(200)
  })

  test('concurrent delete and attach: exactly one succeeds', async () => {
    const customer = await app.given.customer()
    for (let round = 0; round < 5; round++) {
      const { id } = (await customer.post('/networks', input())).body.data
      const [deleted, attached] = await Promise.allSettled([
        customer.delete(`/networks/${id}`),
        attach(customer.accountId, id, `cvm-race-${round}`),
      ])
      const isDeleted = deleted.status === 'fulfilled' && deleted.value.status === 200
      expect(isDeleted).toBe(attached.status === 'rejected')
    }
  })

  test('frees its range at once', async () => {
    const customer = await app.given.customer()
    const wanted = { name: 'again', nodeId, cidr: '192.168.70.0/24' }
    const { id } = (await customer.post('/networks', wanted)).body.data
    await customer.delete(`/networks/${id}`)
    expect((await customer.post('/networks', wanted)).status).toBe(201)
  })
})

test("answers 404 for another account's network in every operation", async () => {
  const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
  const { id } = (await customer.post('/networks', input())).body.data
  const answers = [
    await stranger.get(`/networks/${id}`),
    await stranger.patch(`/networks/${id}`, { name: 'mine now' }),
    await stranger.delete(`/networks/${id}`),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([404, 'Network not found']))
  await expect(attach(stranger.accountId, id, 'cvm4')).rejects.toMatchObject({ code: 'not_found', message: 'Network not found' })
})
