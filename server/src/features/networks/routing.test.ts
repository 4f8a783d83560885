import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import type { NetworkController, NetworkSpec } from '../../hypervisor/network-controller.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { applyNetworks } from './apply.reconciler.ts'
import { applyPorts } from '../vms/reconcilers/apply-ports.reconciler.ts'
import { ensureAttachedNetworks } from './service.ts'

const app = await testApp()
const nodeId = app.host.id
const customer = await app.given.customer({ credit: '1000.00' })
await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'networks', 100n))
const stranger = await app.given.customer()
const soon = (): AbortSignal => AbortSignal.timeout(5_000)

let ranges = 0
/** With its first two octets; the range is a /24. */
const givenNetwork = async (settings: object = {}) => {
  const quad = `10.20.${ranges++}`
  const { data } = (await customer.post('/networks', { name: 'lan', nodeId, cidr: `${quad}.0/24`, ...settings })).body
  return { id: data.id as string, quad, cidr: data.cidr as string }
}
const add = (networkId: string, destination: string, nextHop: string) =>
  customer.post(`/networks/${networkId}/routes`, { destination, nextHop })
const routesOf = async (networkId: string) => (await customer.get(`/networks/${networkId}/routes`)).body.data
const made = async (networkId: string): Promise<NetworkSpec['routes'] | undefined> =>
  (await app.db.maybe<{ spec: NetworkSpec }>(sql`select spec from simulated.networks where network_id = ${networkId}`))?.spec.routes
const rangesOf = (vmId: string, networkId: string) =>
  app.db.one<{ ranges: string[] }>(sql`select ranges from simulated.ports where vm_id = ${vmId} and network_id = ${networkId}`)
const apply = async (): Promise<void> => {
  await applyNetworks.runOnce(app.deps)
  await applyPorts.runOnce(app.deps)
}

describe('POST /networks/{id}/routes', () => {
  test('routes a range to a machine of the network', async () => {
    const { id, quad } = await givenNetwork()
    const { status, body } = await add(id, '192.168.7.9/24', `${quad}.9`)
    expect([status, body.data]).toEqual([
      201,
      {
        id: expect.stringMatching(/^c[a-z0-9]{24}$/),
        destination: '192.168.7.0/24',
        nextHop: `${quad}.9`,
        createdAt: app.clock.now().toISOString(),
      },
    ])
    await add(id, '172.16.0.0/12', `${quad}.8`)
    expect((await routesOf(id)).map((route: { destination: string }) => route.destination)).toEqual(['172.16.0.0/12', '192.168.7.0/24'])
    await apply()
    expect(await made(id)).toEqual([
      { destination: '172.16.0.0/12', nextHop: `${quad}.8` },
      { destination: '192.168.7.0/24', nextHop: `${quad}.9` },
    ])
  })

  test.each([
    ['the network itself', (cidr: string) => cidr],
    ['a part of it', (cidr: string) => cidr.replace('0/24', '128/25')],
    ['more than it', () => '10.0.0.0/8'],
    ['public addresses', () => '10.77.5.0/24'],
    ['nearly everything', () => '0.0.0.0/1'],
  ])('rejects %s as overlapping', async (_, destination) => {
    const { id, cidr, quad } = await givenNetwork()
    const { status, headers } = await add(id, destination(cidr), `${quad}.9`)
    expect([status, headers['x-error-code']]).toEqual([409, 'networks_overlap'])
    expect(await routesOf(id)).toEqual([])
  })

  test("rejects another network of the account's, and later a network in what is routed", async () => {
    const [{ id, quad }, other] = [await givenNetwork(), await givenNetwork()]
    const refused = await add(id, other.cidr, `${quad}.9`)
    expect([refused.status, refused.body.error]).toEqual([
      409,
      `${other.cidr} overlaps your network lan (${other.cidr}): choose a range outside of it`,
    ])
    await add(id, '192.168.20.0/22', `${quad}.9`)
    const network = { name: 'late', nodeId, cidr: '192.168.21.0/24' }
    const late = await customer.post('/networks', network)
    expect([late.status, late.body.error]).toEqual([
      409,
      '192.168.21.0/24 overlaps the route to 192.168.20.0/22 of your network lan: delete it first',
    ])
    expect((await stranger.post('/networks', network)).status).toBe(201)
  })

  test.each([
    ['shared addresses', '100.64.0.0/24', 9, '100.64.0.0/10 is reserved'],
    ['loopback', '127.0.0.0/8', 9, '127.0.0.0/8 is reserved'],
    ['link-local addresses', '169.254.169.254/32', 9, '169.254.0.0/16 is reserved'],
    ['multicast', '224.0.0.0/4', 9, '224.0.0.0/3 is reserved'],
    ['the gateway as next hop', '192.168.0.0/24', 1, 'is no machine'],
    ['the first address as next hop', '192.168.0.0/24', 0, 'is no machine'],
    ['the last address as next hop', '192.168.0.0/24', 255, 'is no machine'],
  ])('rejects %s as incompatible', async (_, destination, last, sentence) => {
    const { id, quad } = await givenNetwork()
    const { status, headers, body } = await add(id, destination, `${quad}.${last}`)
    expect([status, headers['x-error-code']]).toEqual([422, 'incompatible'])
    expect(body.error).toContain(sentence)
    expect(await routesOf(id)).toEqual([])
  })

  test('rejects a next hop outside, and a network without a gateway', async () => {
    const { id } = await givenNetwork()
    expect((await add(id, '192.168.0.0/24', '10.99.0.9')).body.error).toContain('does not lie in')
    const isolated = await givenNetwork({ enableSnat: false, enableDhcp: false })
    const { status, body } = await add(isolated.id, '192.168.0.0/24', `${isolated.quad}.9`)
    expect([status, body.error]).toEqual([422, 'The network lan has no gateway, so nothing routes in it: create one with a gateway'])
  })

  test.each([
    ['a default route', { destination: '0.0.0.0/0' }, 'from /1 to /32 such as 192.168.0.0/16: a default route is not possible'],
    ['no prefix', { destination: '192.168.0.0' }, 'destination'],
    ['IPv6', { destination: 'fd00::/64' }, 'destination'],
    ['a next hop that is no address', { nextHop: '10.0.0' }, 'nextHop'],
    ['a field nobody knows', { metric: 1 }, 'metric'],
  ])('rejects %s as invalid', async (_, more, field) => {
    const { id, quad } = await givenNetwork()
    const { status, body } = await customer.post(`/networks/${id}/routes`, { destination: '192.168.0.0/24', nextHop: `${quad}.9`, ...more })
    expect(status).toBe(400)
    expect(body.error).toContain(field)
  })

  test('rejects a second route to the same range, also of concurrent requests', async () => {
    const { id, quad } = await givenNetwork()
    const answers = await Promise.all([7, 8, 9].map((last) => add(id, '192.168.7.0/24', `${quad}.${last}`)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await routesOf(id)).toHaveLength(1)
  })

  test('rejects the 51st, and before it what one answer of DHCP cannot announce', async () => {
    const fill = async (network: { id: string; quad: string }): Promise<[number, string]> => {
      for (let i = 0; ; i++) {
        const { status, headers } = await add(network.id, `192.168.${i}.0/24`, `${network.quad}.9`)
        if (status !== 201) return [i, headers['x-error-code'] as string]
      }
    }
    expect(await fill(await givenNetwork({ enableDhcp: false }))).toEqual([50, 'quota_exceeded'])
    expect(await fill(await givenNetwork())).toEqual([31, 'quota_exceeded'])
  })
})

test("answers 404 for another account's network or route in every operation", async () => {
  const { id, quad } = await givenNetwork()
  const [route, other] = [(await add(id, '192.168.7.0/24', `${quad}.9`)).body.data, await givenNetwork()]
  const answers = [
    await stranger.get(`/networks/${id}/routes`),
    await stranger.post(`/networks/${id}/routes`, { destination: '192.168.8.0/24', nextHop: `${quad}.9` }),
    await stranger.delete(`/networks/${id}/routes/${route.id}`),
    await customer.delete(`/networks/${other.id}/routes/${route.id}`),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    ...Array(3).fill([404, 'Network not found']),
    [404, 'Route not found'],
  ])
  expect(await routesOf(id)).toEqual([route])
})

test('the port of the next hop passes the range as long as the route exists', async () => {
  const { id, quad } = await givenNetwork()
  const vm = await app.given.vm(customer, { privateNetworkIds: [id] })
  const address = (await customer.get(`/vms/${vm.id}`)).body.data.privateNetworks[0].ipAddress
  const early = (await add(id, '192.168.6.0/24', `${quad}.3`)).body.data
  const { data } = (await add(id, '192.168.7.0/24', address)).body
  await apply()
  expect(await rangesOf(vm.id, id)).toEqual({ ranges: ['192.168.7.0/24'] })
  await customer.delete(`/networks/${id}/routes/${data.id}`)
  await apply()
  expect([await rangesOf(vm.id, id), await made(id)]).toEqual([
    { ranges: [] },
    [{ destination: early.destination, nextHop: early.nextHop }],
  ])
  // A machine that gets the address later takes over the route.
  const second = await app.given.vm(customer)
  await customer.post(`/vms/${second.id}/networks`, { networkId: id })
  await app.settle({ subjectId: second.id })
  expect((await customer.get(`/vms/${second.id}`)).body.data.privateNetworks[0].ipAddress).toBe(early.nextHop)
  expect(await rangesOf(second.id, id)).toEqual({ ranges: ['192.168.6.0/24'] })
})

describe('a route made or deleted', () => {
  test('while the network is being applied is applied after it', async () => {
    const { id, quad } = await givenNetwork()
    await apply()
    await add(id, '192.168.7.0/24', `${quad}.9`)
    const controller = await app.deps.networkControllers.get(app.host.region_id)
    let second: string | undefined
    const ensureNetwork: NetworkController['ensureNetwork'] = async (network, signal) => {
      if (network.networkId === id) second ??= (await add(id, '192.168.8.0/24', `${quad}.9`)).body.data.id
      await controller.ensureNetwork(network, signal)
    }
    const networkControllers = { ...app.deps.networkControllers, get: async () => ({ ...controller, ensureNetwork }) }
    await applyNetworks.runOnce({ ...app.deps, networkControllers })
    expect(second).toBeDefined()
    expect(await made(id)).toHaveLength(2)
  })

  test('while a workflow makes the network from an older state is applied again', async () => {
    const { id, quad } = await givenNetwork()
    const vm = await app.given.vm(customer, { privateNetworkIds: [id] })
    const route = (await add(id, '192.168.7.0/24', `${quad}.9`)).body.data
    await apply()
    const controller = await app.deps.networkControllers.get(app.host.region_id)
    const ensureNetwork: NetworkController['ensureNetwork'] = async (network, signal) => {
      await customer.delete(`/networks/${id}/routes/${route.id}`)
      await apply()
      expect(await made(id)).toEqual([])
      await controller.ensureNetwork(network, signal)
    }
    await ensureAttachedNetworks(app.db, { ...controller, ensureNetwork }, vm.id, soon())
    expect(await made(id)).toHaveLength(1)
    await apply()
    expect(await made(id)).toEqual([])
  })

  test('is applied again when a process loses its claim while it applies an older state', async () => {
    const { id, quad } = await givenNetwork()
    await apply()
    const route = (await add(id, '192.168.7.0/24', `${quad}.9`)).body.data
    const controller = await app.deps.networkControllers.get(app.host.region_id)
    let meanwhile: unknown
    const ensureNetwork: NetworkController['ensureNetwork'] = async (network, signal) => {
      if (network.networkId === id && !meanwhile) {
        await customer.delete(`/networks/${id}/routes/${route.id}`)
        app.clock.advance('5m')
        await applyNetworks.runOnce(app.deps)
        meanwhile = await made(id)
      }
      await controller.ensureNetwork(network, signal)
    }
    const networkControllers = { ...app.deps.networkControllers, get: async () => ({ ...controller, ensureNetwork }) }
    await applyNetworks.runOnce({ ...app.deps, networkControllers })
    await apply()
    expect([meanwhile, await made(id)]).toEqual([[], []])
  })
})

test('routes of a deleted network go with it, and their ranges are free at once', async () => {
  const { id, quad } = await givenNetwork()
  await add(id, '192.168.140.0/24', `${quad}.9`)
  await apply()
  await customer.delete(`/networks/${id}`)
  expect((await customer.post('/networks', { name: 'again', nodeId, cidr: '192.168.140.0/24' })).status).toBe(201)
  await apply()
  expect(await app.db.many(sql`select from network_routes where network_id = ${id}`)).toEqual([])
})
