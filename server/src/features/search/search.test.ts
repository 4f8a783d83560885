import { afterAll, describe, expect, test } from 'vitest'
import { givenMember } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { generateKey } from '../../../test/openssh-keys.ts'
import { rowsRead } from '../../../test/rows-read.ts'
import { sql, type Sql } from '../../kernel/database/db.ts'
import { addPool } from '../hosts/service.ts'
import type { SearchResult } from './schema.ts'
import { findMatches } from './sql.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)

type Client = { get: (path: string) => Promise<{ status: number; body: { data: unknown } }> }
const find = async ({ get }: Client, text: string, query = '', prefix = '') =>
  (await get(`${prefix}/search?q=${encodeURIComponent(text)}${query}`)).body.data as SearchResult[]
const found = async (client: Client, text: string) => (await find(client, text)).map(({ kind, name }) => `${kind} ${name}`)

describe('a search', async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await customer.post(path, body)
    if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${answer.body.error}`)
    return (answer.body.data.id ??
      Object.values(answer.body.data as Record<string, { id?: string }>).find((each) => each?.id)?.id) as string
  }
  const networkId = await made('/networks', { name: 'inner', nodeId: app.host.id, cidr: '10.91.0.0/24' })
  await made('/ssh-keys', { name: 'laptop', publicKey: generateKey().line })
  const pool = { regionId: app.host.region_id, hostId: null, cidr: '2001:db8:7::/48', gateway: '2001:db8:7::1' }
  await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
  const { id } = await app.given.vm(customer, { hostname: 'shop-web', labels: { env: 'prod' }, privateNetworkIds: [networkId] })
  const { regionId } = await app.given.vmInput()
  const vm = (await customer.get(`/vms/${id}`)).body.data
  const snapshotId = await made(`/vms/${id}/snapshots`, { name: 'before-shop' })
  await app.settle({ subjectId: id })
  await made('/volumes', { name: 'shop', regionId, sizeGiB: 10 })
  await made('/firewalls', { name: 'webshop' })
  const projectId = await made('/projects', { name: 'shop-project' })
  const [address] = await app.db.many<{ address: string }>(sql`select host(ip_address) as address from vms where id = ${id}`)

  test('finds what is the text first, then what begins with it, then what has it in it', async () => {
    expect(await found(customer, 'SHOP')).toEqual([
      'volume shop',
      'vm shop-web',
      'project shop-project',
      'firewall webshop',
      'snapshot before-shop',
    ])
    expect(await find(customer, 'shop', '&limit=1')).toMatchObject([{ kind: 'volume', detail: '10 GiB', labels: {} }])
  })

  test('finds a VM by its id, addresses and labels, and says what was found', async () => {
    const privateAddress = vm.privateNetworks[0].ipAddress as string
    const expected = { kind: 'vm', id, name: 'shop-web', labels: { env: 'prod' } }
    for (const [text, detail] of [
      [id, address!.address],
      [address!.address, address!.address],
      [privateAddress, privateAddress],
      ['10.91.0.', privateAddress],
      ['env=prod', address!.address],
      ['ENV', address!.address],
    ] as const)
      expect(await find(customer, text), text).toContainEqual({ ...expected, detail })
  })

  test('finds a VM by any spelling and any address of its IPv6 prefix, and by its name in reverse DNS', async () => {
    const prefix = (vm.ipv6Prefix as string).replace(/::\/64$/, '')
    for (const text of [vm.ipv6Address.toUpperCase(), `${prefix}:0:0:0:beef`])
      expect(await found(customer, text), text).toEqual(['vm shop-web'])
    expect(await found(customer, '2001:db8:8::1')).toEqual([])
    await app.db.run(sql`
      insert into reverse_names (address, account_id, name, updated_at) values (${vm.ipv6Address}, ${customer.accountId}, 'mail.example.com', now())`)
    expect(await find(customer, 'mail.example')).toMatchObject([{ kind: 'vm', id, detail: 'mail.example.com' }])
    await app.db.run(sql`delete from reverse_names where name = 'mail.example.com'`)
  })

  test('finds other things by what they are known by', async () => {
    expect(await found(customer, '10.91.0.0/24')).toEqual(['network inner'])
    expect(await find(customer, snapshotId)).toEqual([
      { kind: 'snapshot', id: snapshotId, name: 'before-shop', detail: 'shop-web', vmId: id, labels: {} },
    ])
    const [{ fingerprint }] = (await customer.get('/ssh-keys')).body.data
    expect(await found(customer, fingerprint)).toEqual(['ssh_key laptop'])
    const [action] = (await customer.get(`/vms/${id}/actions`)).body.data
    expect(await find(customer, action.id)).toMatchObject([{ kind: 'action', id: action.id, vmId: id, detail: 'COMPLETED' }])
    expect(await found(customer, projectId)).toEqual(['project shop-project'])
  })

  test('takes every character for itself', async () => {
    for (const text of ['%', '\\', '*', '.*', "'", 's%p', 'shop_web']) expect(await found(customer, text), text).toEqual([])
    await made('/firewalls', { name: 'a%b_c\\d' })
    for (const text of ['%', 'b_c', '\\', 'A%B_C\\D']) expect(await found(customer, text), text).toEqual(['firewall a%b_c\\d'])
  })

  test('finds what the scopes may read, and nothing else', async () => {
    const reader = await app.given.token(customer.accountId, { scopes: ['vms:read'] })
    expect(await found(reader, 'shop')).toEqual(['vm shop-web'])
    const other = await app.given.token(customer.accountId, { scopes: ['vms:power', 'volumes:create', 'firewalls:read'] })
    expect(await found(other, 'shop')).toEqual(['firewall webshop'])
    expect(await find(other, id)).toEqual([])
  })

  test('finds what the role of a member may read', async () => {
    const billing = await givenMember(app, customer.accountId, 'billing')
    const kinds = (await find(billing, 'shop', '', '/v1')).map(({ kind }) => kind)
    expect(kinds).toEqual(['volume', 'vm', 'project', 'snapshot'])
    const custom = await givenMember(app, customer.accountId, 'custom', ['volumes:read'])
    expect((await find(custom, 'shop', '', '/v1')).map(({ kind }) => kind)).toEqual(['volume'])
  })

  test('finds nothing of another account, and nothing of a project from its payer, nor the other way round', async () => {
    const stranger = await app.given.customer()
    const project = await app.given.project(customer, 'other')
    await project.post('/firewalls', { name: 'shop-of-project' })
    for (const text of ['shop', id, address!.address, 'env=prod', snapshotId, projectId])
      expect(await find(stranger, text), text).toEqual([])
    expect(await found(customer, 'shop-of-project')).toEqual([])
    expect(await found(project, 'shop')).toEqual(['firewall shop-of-project'])
  })

  test.each(['', 'q=', `q=${'a'.repeat(201)}`, 'q=a%00b', 'q=a%0Ab', 'q=a&limit=51', 'q=a&limit=0'])('refuses ?%s', async (query) => {
    expect((await customer.get(`/search?${query}`)).status).toBe(400)
  })
})

describe('among 10,000 VMs', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const others = await app.given.customer({ credit: '100.00' })
  const copies = async (of: typeof customer, count: number): Promise<void> => {
    const { id } = await app.given.vm(of, { hostname: 'many' })
    await app.db.tx(async (tx) => {
      await tx.raw('set local session_replication_role = replica')
      await tx.run(sql`
        insert into vms select (copy).* from vms v, generate_series(1, ${count}::int) n, lateral jsonb_populate_record(v, jsonb_build_object(
          'id', ${id} || n, 'uuid', gen_random_uuid(), 'name', 'many-' || n, 'host_id', null, 'mac', null, 'ip_address', null,
          'ipv6_address', null, 'ipv6_prefix', null, 'ipv6_pool_id', null)) copy where v.id = ${id}`)
    })
  }
  afterAll(() => app.db.run(sql`delete from vms where name like 'many-%'`))
  await copies(customer, 10_000)
  await copies(others, 200)
  await app.db.raw('analyze')
  const scopes = new Set(['vms:read', 'snapshots:read', 'backups:read', 'addresses:read'])
  const statementFor = async (accountId: string, text: string): Promise<Sql> => {
    let statement: Sql | undefined
    await findMatches({ ...app.db, many: async (query) => ((statement = query), []) }, { accountId, scopes }, { text, ip: null, limit: 20 })
    return statement!
  }

  test('finds the one, within the limit', async () => {
    expect((await find(customer, 'many-7777')).map(({ name }) => name)).toEqual(['many-7777'])
    expect(await find(customer, 'many', '&limit=50')).toHaveLength(50)
  })

  test('reads a row of each VM a few times, and none of another account', async () => {
    expect(await rowsRead(app.db, await statementFor(customer.accountId, 'many-7777'))).toBeLessThan(10_001 * 20)
    expect(await rowsRead(app.db, await statementFor(others.accountId, 'many-77'))).toBeLessThan(201 * 20)
  })
})
