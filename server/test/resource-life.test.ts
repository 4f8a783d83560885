// What infrastructure-as-code tools rely on: a resource can be created, read by id, updated in place, read with the changes, deleted, and
// is then 404. Ids never change.
import { describe, expect, test } from 'vitest'
import { fixtureOf, type Fixture } from './endpoint-table.ts'
import { testApp } from './harness.ts'
import { generateKey } from './openssh-keys.ts'

const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' } })

interface Resource {
  /** The collection; `:vm`, `:firewall` and `:network` are its parents. */
  path: string
  create: (fixture: Fixture, path: string) => Promise<object>
  /** Where the response has the resource, when it is nested. */
  within?: string
  change?: object
  /** Why it cannot be updated. */
  unchangeable?: string
  /** The identifying field, when it is not `id`. */
  key?: 'vmId'
  deletable?: false
}

const RESOURCES: Record<string, Resource> = {
  vm: {
    path: '/vms',
    create: async (fixture) => ({ regionId: await fixture.region(), osTemplateId: await fixture.template(), hostname: 'web-1' }),
    within: 'vm',
    change: { name: 'changed', isProtected: false },
  },
  network: {
    path: '/networks',
    create: async (fixture) => ({ name: 'net', nodeId: await fixture.region(), cidr: '10.9.0.0/24' }),
    change: { name: 'changed' },
  },
  address: {
    path: '/addresses',
    create: async (fixture) => {
      await fixture.address()
      return { regionId: await fixture.region() }
    },
    change: { name: 'changed' },
  },
  image: {
    path: '/images',
    create: async (fixture) => ({ name: 'image', vmId: await fixture.vm() }),
    within: 'image',
    change: { name: 'changed' },
  },
  volume: {
    path: '/volumes',
    create: async (fixture) => ({ name: 'data', sizeGiB: 10, regionId: await fixture.region() }),
    change: { name: 'changed', sizeGiB: 20, labels: { team: 'core' }, isProtected: false },
  },
  'volume snapshot': {
    path: '/volumes/:volume/snapshots',
    create: async () => ({ name: 'before' }),
    within: 'snapshot',
    change: { name: 'changed', description: 'why' },
  },
  firewall: { path: '/firewalls', create: async () => ({ name: 'fw' }), change: { name: 'changed', description: 'why' } },
  'firewall rule': {
    path: '/firewalls/:firewall/rules',
    create: async () => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' }),
    change: { port: '80,443' },
  },
  'firewall binding': {
    path: '/firewalls/:firewall/bindings',
    create: async (fixture) => ({ vmId: await fixture.vm() }),
    key: 'vmId',
    unchangeable: 'it binds, or it is not there',
  },
  'network route': {
    path: '/networks/:network/routes',
    create: (fixture, path) => fixture.routeIn(path.split('/')[2]!),
    unchangeable: 'a route to another machine is another route',
  },
  'network peering': {
    path: '/networks/:network/peerings',
    create: async (fixture) => ({ networkId: await fixture.network() }),
    unchangeable: 'it connects, or it is not there',
  },
  'placement group': { path: '/placement-groups', create: async () => ({ name: 'web', policy: 'SPREAD' }), change: { name: 'changed' } },
  alert: {
    path: '/alerts',
    create: async () => ({ name: 'busy', metric: 'cpuPercent', comparison: 'ABOVE', threshold: 90 }),
    change: { threshold: 80 },
  },
  'SSH key': { path: '/ssh-keys', create: async () => ({ name: 'key', publicKey: generateKey().line }), change: { name: 'changed' } },
  'API token': { path: '/tokens', create: async () => ({ name: 'ci', scopes: ['vms:read'] }), change: { name: 'changed' } },
  project: { path: '/projects', create: async () => ({ name: 'shop' }), change: { name: 'changed' } },
  webhook: {
    path: '/webhooks',
    create: async () => ({ url: 'http://127.0.0.1:9/', events: ['vm.created'] }),
    change: { description: 'changed', isActive: false },
  },
  snapshot: {
    path: '/vms/:vm/snapshots',
    create: async () => ({ name: 'before' }),
    within: 'snapshot',
    change: { name: 'changed', description: 'why' },
  },
  backup: {
    path: '/vms/:vm/backups',
    create: async () => ({ name: 'monday' }),
    within: 'backup',
    change: { name: 'changed' },
  },
  ticket: {
    path: '/tickets',
    create: async () => ({ subject: 'Help', body: 'Please' }),
    unchangeable: 'what was said stays said',
    deletable: false,
  },
}

describe.each(Object.entries(RESOURCES))('a %s', (_, resource) => {
  test('is created, read, updated, read and deleted', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    const fixture = fixtureOf(app, customer)
    const path = await pathOf(resource.path, fixture)
    const created = await customer.post(path, await resource.create(fixture, path))
    expect([201, 202]).toContain(created.status)
    const made = resource.within ? created.body.data[resource.within] : created.body.data
    const key = resource.key ?? 'id'
    const id = made[key] as string
    const one = `${path}/${id}`
    await app.settle()

    expect((await customer.get(one)).body.data).toMatchObject({ [key]: id })
    const listed = (await customer.get(path)).body.data as Record<string, unknown>[]
    expect(listed.map((each) => each[key])).toContain(id)

    const change = resource.change ?? {}
    const changed = await customer.patch(one, change)
    expect(changed.status).toBe(resource.change ? 200 : 405)
    expect((await customer.get(one)).body.data).toMatchObject({ [key]: id, ...change })

    const deletable = resource.deletable !== false
    const deleted = await customer.delete(one)
    expect(deletable ? [200, 202] : [405]).toContain(deleted.status)
    await app.rest()
    const after = await customer.get(one)
    expect(after.status).toBe(deletable ? 404 : 200)
    expect(String(after.body.error)).toMatch(deletable ? / not found$/ : /^undefined$/)
    const again = await customer.delete(one)
    expect(again.status).toBe(deletable ? 404 : 405)
  })
})

const LABELLED = Object.entries(RESOURCES).filter(([name]) => !/rule|binding|route|peering|ticket|token|project/.test(name))

describe.each(LABELLED)('the labels of a %s', (_, resource) => {
  test('are given, replaced, selected by and checked', async () => {
    const customer = await app.given.customer({ credit: '1000.00' })
    const fixture = fixtureOf(app, customer)
    const path = await pathOf(resource.path, fixture)
    const order = await resource.create(fixture, path)
    const refused = await customer.post(path, { ...order, labels: { 'not a key': '' } })
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringMatching(/^Validation failed: labels must have keys of 1-63 letters, digits/),
    ])
    const created = await customer.post(path, { ...order, labels: { env: 'prod', tier: '' } })
    const made = resource.within ? created.body.data[resource.within] : created.body.data
    expect(made.labels).toEqual({ env: 'prod', tier: '' })
    await app.settle()
    const selected = async (selector: string) => {
      const { status, body } = await customer.get(`${path}?labelSelector=${encodeURIComponent(selector)}`)
      return status === 200 ? [body.data.map((each: { id: string }) => each.id), body.pagination.total] : body.error
    }
    expect(await selected('env=prod,tier')).toEqual([[made.id], 1])
    expect(await selected('env=prod,!tier')).toEqual([[], 0])
    expect(await selected('env is prod')).toMatch(/^Validation failed: labelSelector: "env is prod" is not understood/)
    const changed = await customer.patch(`${path}/${made.id}`, { labels: { env: 'test' } })
    expect([changed.status, changed.body.data.labels]).toEqual([200, { env: 'test' }])
    expect(await selected('env in (dev, test)')).toEqual([[made.id], 1])
    expect(await selected('env!=test')).not.toContain(made.id)
  })
})

const pathOf = async (path: string, fixture: Fixture): Promise<string> => {
  if (path.includes(':network')) return path.replace(':network', await fixture.network())
  if (path.includes(':volume')) return path.replace(':volume', await fixture.attachedVolume())
  if (path.includes(':vm')) return path.replace(':vm', await fixture.vm())
  return path.includes(':firewall') ? path.replace(':firewall', await fixture.firewall()) : path
}

test('every creatable resource is covered here', () => {
  const collections = app.operations.filter(
    ({ method, path }) => method === 'POST' && app.operations.some((each) => each.path === path && each.method === 'GET'),
  )
  const told = Object.values(RESOURCES).map(({ path }) => path.replace(/:\w+/g, ':'))
  const others = ['/wallet/deposits', '/vms/:/bandwidth/packs', '/tickets/:/replies', '/invitations', '/firewalls/:/undo']
  for (const { path } of collections) expect([...told, ...others]).toContain(path.replace(/[:{]\w+}?/g, ':'))
})
