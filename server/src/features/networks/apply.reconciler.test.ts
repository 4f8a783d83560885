import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenRegion } from '../../../test/hosts.ts'
import type { NetworkSpec } from '../../hypervisor/network-controller.ts'
import { sql } from '../../kernel/database/db.ts'
import { applyNetworks } from './apply.reconciler.ts'
import { watchNetworks } from './drift.reconciler.ts'

describe('networks of a region', async () => {
  const app = await testApp()
  const { deps, clock } = app
  let regions = 0

  /** A separate region with a customer's network. */
  const givenNetwork = async () => {
    const host = await givenRegion(app, `apply-${++regions}`)
    const customer = await app.given.customer()
    const { data } = (await customer.post('/networks', { name: 'backend', nodeId: host.id, cidr: '10.0.0.0/24' })).body
    return { id: data.id as string, customer, host, regionId: host.region_id, control: controlOf(app, host.region_id) }
  }
  const controllerOf = (regionId: string) => deps.networkControllers.get(regionId)
  const present = async (regionId: string): Promise<string[]> => {
    const found: string[] = []
    for await (const { networkId } of (await controllerOf(regionId)).listNetworks(AbortSignal.timeout(5_000))) found.push(networkId)
    return found
  }
  const apply = () => applyNetworks.runOnce(deps)
  const rowOf = (id: string) => app.db.maybe<{ is_applied: boolean }>(sql`select is_applied from networks where id = ${id}`)

  test('are created soon after the request', async () => {
    const { id, regionId } = await givenNetwork()
    expect(await present(regionId)).toEqual([])
    await apply()
    const made = await app.db.one<{ spec: NetworkSpec }>(sql`select spec from simulated.networks where network_id = ${id}`)
    const snat = { address: '100.64.0.2', prefix: 16, gateway: '100.64.0.1' }
    expect(made.spec).toEqual({
      networkId: id,
      version: 1,
      cidr: '10.0.0.0/24',
      gateway: '10.0.0.1',
      enableDhcp: true,
      dns: [],
      snat,
      routes: [],
      peers: [],
    })
    expect(await present(regionId)).toEqual([id])
    expect(await rowOf(id)).toEqual({ is_applied: true })
  })

  test('are removed after deletion, which frees the range', async () => {
    const { id, host, regionId, customer } = await givenNetwork()
    await apply()
    await customer.delete(`/networks/${id}`)
    await apply()
    expect(await present(regionId)).toEqual([])
    expect(await rowOf(id)).toBeUndefined()
    expect((await customer.post('/networks', { name: 'again', nodeId: host.id, cidr: '10.0.0.0/24' })).status).toBe(201)
  })

  test('wait for an unreachable controller, invisibly to the customer', async () => {
    const { id, host, regionId, customer, control } = await givenNetwork()
    await control.faults.loseHost()
    await apply()
    expect(await rowOf(id)).toEqual({ is_applied: false })
    const other = (await customer.post('/networks', { name: 'other', nodeId: host.id, cidr: '10.1.0.0/24' })).body.data
    expect((await customer.delete(`/networks/${id}`)).status).toBe(200)
    await apply()
    await control.faults.returnHost()
    clock.advance('10s')
    await apply()
    expect(await present(regionId)).toEqual([other.id])
    expect(await rowOf(id)).toBeUndefined()
  })

  test.each(['transient', 'halfway', 'lost_answer', 'permanent'] as const)('are applied despite a %s failure', async (kind) => {
    const { id, regionId, customer, control } = await givenNetwork()
    await control.faults.plant({ verb: 'ensureNetwork', kind })
    await control.faults.plant({ verb: 'ensureNoNetwork', kind })
    await apply()
    expect(await rowOf(id)).toEqual({ is_applied: false })
    clock.advance('60s')
    await apply()
    expect(await present(regionId)).toHaveLength(1)
    await customer.delete(`/networks/${id}`)
    await apply()
    expect(await rowOf(id)).toBeDefined()
    clock.advance('60s')
    await apply()
    expect([await present(regionId), await rowOf(id)]).toEqual([[], undefined])
  })

  test('in a failing region do not delay other regions', async () => {
    const [bad, good] = [await givenNetwork(), await givenNetwork()]
    await bad.control.faults.plant({ verb: '*', kind: 'transient', times: 10 })
    await apply()
    expect(await present(good.regionId)).toHaveLength(1)
  })

  test('alternate between accounts, so that one that changes its older networks all the time does not keep others waiting', async () => {
    const { id: first, customer: busy, host, regionId } = await givenNetwork()
    const ids = [first]
    for (let i = 1; i < 4; i++)
      ids.push((await busy.post('/networks', { name: 'n', nodeId: host.id, cidr: `10.${i}.0.0/24` })).body.data.id)
    await apply()
    const other = await app.given.customer()
    const waiting = (await other.post('/networks', { name: 'new', nodeId: host.id, cidr: '10.0.0.0/24' })).body.data.id
    let changes = 0
    const change = async (): Promise<void> => {
      const turn = changes++ % ids.length
      const route = { destination: `192.168.${changes}.0/24`, nextHop: `10.${turn}.0.9` }
      expect((await busy.post(`/networks/${ids[turn]}/routes`, route)).status).toBe(201)
    }
    for (let i = 0; i < ids.length; i++) await change()
    // A request while a network is applied: it is only as fast as the controller.
    const controller = await controllerOf(regionId)
    const applied: string[] = []
    const ensureNetwork: typeof controller.ensureNetwork = async (spec, signal) => {
      await controller.ensureNetwork(spec, signal)
      applied.push(spec.networkId)
      if (changes < 20) await change()
    }
    const slow = { ...deps, networkControllers: { ...deps.networkControllers, get: async () => ({ ...controller, ensureNetwork }) } }
    await applyNetworks.keyed!.runOnce(slow, regionId, new AbortController().signal)
    expect(applied.indexOf(waiting)).toBeGreaterThanOrEqual(0)
    expect(applied.indexOf(waiting)).toBeLessThanOrEqual(1)
    expect(new Set(applied)).toEqual(new Set([...ids, waiting]))
  })

  test('are removed even when deleted during creation', async () => {
    const { id, regionId, customer } = await givenNetwork()
    const applying = apply()
    await customer.delete(`/networks/${id}`)
    await applying
    await apply()
    expect([await present(regionId), await rowOf(id)]).toEqual([[], undefined])
  })

  test('are created once by concurrent processes', async () => {
    const { id } = await givenNetwork()
    await Promise.all([apply(), apply(), apply()])
    expect(await rowOf(id)).toEqual({ is_applied: true })
  })

  test('are taken over from a crashed process when its claim expires', async () => {
    const { id } = await givenNetwork()
    await app.db.run(sql`update networks set claimed_until = ${new Date(clock.now().getTime() + 30_000)} where id = ${id}`)
    await apply()
    expect(await rowOf(id)).toEqual({ is_applied: false })
    clock.advance('30s')
    await apply()
    expect(await rowOf(id)).toEqual({ is_applied: true })
  })

  test('are recreated after manual removal', async () => {
    const { id, regionId } = await givenNetwork()
    await apply()
    await (await controllerOf(regionId)).ensureNoNetwork(id, AbortSignal.timeout(5_000))
    await watchNetworks.runOnce(deps)
    await apply()
    expect(await present(regionId)).toEqual([id])
  })

  test('are applied again after the controller has lost a change', async () => {
    const { id, regionId, customer } = await givenNetwork()
    await apply()
    const specOf = () => app.db.one<{ spec: NetworkSpec }>(sql`select spec from simulated.networks where network_id = ${id}`)
    const { spec: old } = await specOf()
    await customer.post(`/networks/${id}/routes`, { destination: '192.168.7.0/24', nextHop: '10.0.0.9' })
    await apply()
    const { spec } = await specOf()
    await (await controllerOf(regionId)).ensureNetwork(old, AbortSignal.timeout(5_000))
    await watchNetworks.runOnce(deps)
    expect(await rowOf(id)).toEqual({ is_applied: false })
    await apply()
    expect(await specOf()).toEqual({ spec })
    await watchNetworks.runOnce(deps)
    expect(await rowOf(id)).toEqual({ is_applied: true })
  })

  test('that no row knows are removed, and others stay: also one that is being made or deleted', async () => {
    const { id, regionId, host, customer } = await givenNetwork()
    await apply()
    const deleted = (await customer.post('/networks', { name: 'deleted', nodeId: host.id, cidr: '10.1.0.0/24' })).body.data.id
    await apply()
    await customer.delete(`/networks/${deleted}`)
    const made = (await customer.post('/networks', { name: 'made', nodeId: host.id, cidr: '10.2.0.0/24' })).body.data.id
    const controller = await controllerOf(regionId)
    const stranger = { cidr: '10.200.0.0/24', gateway: '10.200.0.1', enableDhcp: true, dns: [], snat: null, routes: [], peers: [] }
    for (const networkId of ['cstranger1', made]) await controller.ensureNetwork({ networkId, ...stranger }, AbortSignal.timeout(5_000))
    await watchNetworks.runOnce(deps)
    expect(new Set(await present(regionId))).toEqual(new Set([id, deleted, made]))
    await apply()
    expect(new Set(await present(regionId))).toEqual(new Set([id, made]))
  })
})
