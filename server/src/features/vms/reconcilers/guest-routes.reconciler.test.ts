import { describe, expect, test } from 'vitest'
import type { Customer } from '../../../../test/endpoint-table.ts'
import { testApp } from '../../../../test/harness.ts'
import { DriverError } from '../../../hypervisor/driver.ts'
import { sql } from '../../../kernel/database/db.ts'
import type { Deps } from '../../deps.ts'
import { watchNetworks } from '../../networks/drift.reconciler.ts'
import { applyNetworks } from '../../networks/apply.reconciler.ts'
import { setQuotaLimit } from '../../accounts/service.ts'
import { subscribeHostEvents } from './power-sync.reconciler.ts'
import { tellRoutes } from './guest-routes.reconciler.ts'

const app = await testApp()
const nodeId = app.host.id
const customer = await app.given.customer({ credit: '10000.00' })
await app.db.tx(async (tx) => {
  for (const quota of ['networks', 'vms', 'vcpu', 'ram_gib', 'disk_gib']) await setQuotaLimit(tx, customer.accountId, quota, 1000n)
})

let ranges = 0
const network = async (owner: Customer = customer) => {
  const quad = `10.40.${ranges++}`
  const { id } = (await owner.post('/networks', { name: 'lan', nodeId, cidr: `${quad}.0/24` })).body.data
  return { id: id as string, quad, cidr: `${quad}.0/24`, gateway: `${quad}.1` }
}
const vm = async (...networks: { id: string }[]): Promise<string> =>
  (await app.given.vm(customer, { privateNetworkIds: networks.map(({ id }) => id) })).id
const peer = async (one: { id: string }, two: { id: string }): Promise<string> =>
  (await customer.post(`/networks/${one.id}/peerings`, { networkId: two.id })).body.data.id
const routesIn = async (vmId: string): Promise<string[]> =>
  (await app.db.one<{ routes: string[] }>(sql`select routes from simulated.machines where name = ${vmId}`)).routes
const state = (vmId: string) =>
  app.db.maybe<{ is_told: boolean; due_at: Date; version: string }>(
    sql`select is_told, due_at, version from guest_routes where vm_id = ${vmId}`,
  )
const tell = (deps: Deps = app.deps) => tellRoutes.runOnce(deps)
const act = async (vmId: string, path: string, body: object = {}): Promise<void> => {
  expect((await customer.post(`/vms/${vmId}/${path}`, body)).status).toBe(202)
  await app.settle({ subjectId: vmId })
}

/** `before` runs instead of the first call to these guests, or of each. */
const withDriver = (vmId: string, before: (call: number) => Promise<void>): Deps => {
  let calls = 0
  const get: Deps['hypervisors']['get'] = async (hostId) => {
    const driver = await app.deps.hypervisors.get(hostId)
    const ensureGuestRoutes: typeof driver.ensureGuestRoutes = async (id, ...rest) => {
      if (id === vmId) await before(++calls)
      return driver.ensureGuestRoutes(id, ...rest)
    }
    return { ...driver, ensureGuestRoutes }
  }
  return { ...app.deps, hypervisors: { ...app.deps.hypervisors, get } }
}

describe('a guest is told', () => {
  test('of peers in both networks while they are, and others of nothing', async () => {
    const [one, two, other] = [await network(), await network(), await network()]
    const [a, b, c] = [await vm(one), await vm(two), await vm(other)]
    const id = await peer(one, two)
    await tell()
    const seen = async () => [await routesIn(a), await routesIn(b), await routesIn(c)]
    expect(await seen()).toEqual([[`${two.cidr} via ${one.gateway}`], [`${one.cidr} via ${two.gateway}`], []])
    expect([(await state(a))?.is_told, await state(c)]).toEqual([true, undefined])
    await customer.delete(`/networks/${two.id}/peerings/${id}`)
    await tell()
    expect(await seen()).toEqual([[], [], []])
    expect(await state(a)).toBeUndefined()
  })

  test('when a peer is deleted with its network', async () => {
    const [one, two] = [await network(), await network()]
    const a = await vm(one)
    await peer(one, two)
    await tell()
    expect(await routesIn(a)).toHaveLength(1)
    expect((await customer.delete(`/networks/${two.id}`)).status).toBe(200)
    await tell()
    expect(await routesIn(a)).toEqual([])
  })

  test('of routes, but for those that lead to itself, and of each range once', async () => {
    const [one, two, far] = [await network(), await network(), await network()]
    const [a, hop] = [await vm(one, two), await vm(one)]
    const { ipAddress: nextHop } = (await customer.get(`/vms/${hop}`)).body.data.privateNetworks[0]
    const route = (await customer.post(`/networks/${one.id}/routes`, { destination: '192.168.7.0/24', nextHop })).body.data
    for (const each of [one, two]) await peer(each, far)
    await peer(one, two)
    await tell()
    expect(await routesIn(a)).toEqual([`${far.cidr} via ${one.gateway}`, `192.168.7.0/24 via ${one.gateway}`])
    expect((await routesIn(hop)).sort()).toEqual([two, far].map(({ cidr }) => `${cidr} via ${one.gateway}`).sort())
    await customer.delete(`/networks/${one.id}/routes/${route.id}`)
    await tell()
    expect(await routesIn(a)).toEqual([`${far.cidr} via ${one.gateway}`])
  })

  test('when it is created, attached and detached, and after each boot', async () => {
    const [one, two] = [await network(), await network()]
    await peer(one, two)
    const [a, b] = [await vm(one), await vm()]
    await tell()
    const route = [`${two.cidr} via ${one.gateway}`]
    expect([await routesIn(a), await routesIn(b)]).toEqual([route, []])
    await act(b, 'networks', { networkId: one.id })
    await tell()
    expect(await routesIn(b)).toEqual(route)
    await act(b, 'networks', { networkId: two.id })
    await tell()
    expect(await routesIn(b)).toEqual([])
    expect((await customer.delete(`/vms/${b}/networks/${two.id}`)).status).toBe(202)
    await app.settle({ subjectId: b })
    await tell()
    expect(await routesIn(b)).toEqual(route)
    await act(a, 'restart')
    expect(await routesIn(a)).toEqual([])
    await tell()
    expect(await routesIn(a)).toEqual(route)
    await act(a, 'stop')
    await tell()
    await act(a, 'start')
    await tell()
    expect(await routesIn(a)).toEqual(route)
  })

  test('when its agent is back after a reboot of its own', async () => {
    const [one, two] = [await network(), await network()]
    const a = await vm(one)
    await peer(one, two)
    await tell()
    await subscribeHostEvents.runOnce(app.deps)
    await app.db.run(sql`update simulated.machines set routes = '{}' where name = ${a}`)
    const driver = await app.deps.hypervisors.get(app.host.id)
    await driver.ensureReady(a, { timeoutMs: 5_000 }, AbortSignal.timeout(5_000))
    await expect.poll(async () => (await state(a))?.is_told).toBe(false)
    await tell()
    expect(await routesIn(a)).toHaveLength(1)
  })

  test('again now and then, and when its network was found outdated', async () => {
    const [one, two] = [await network(), await network()]
    const a = await vm(one)
    await peer(one, two)
    await applyNetworks.runOnce(app.deps)
    await tell()
    const lose = () => app.db.run(sql`update simulated.machines set routes = '{}' where name = ${a}`)
    await lose()
    await tell()
    expect(await routesIn(a)).toEqual([])
    app.clock.advance('10m')
    await tell()
    expect(await routesIn(a)).toHaveLength(1)
    await lose()
    await app.db.run(sql`update simulated.networks set spec = jsonb_set(spec, '{version}', '99') where network_id = ${one.id}`)
    await watchNetworks.runOnce(app.deps)
    await tell()
    expect(await routesIn(a)).toHaveLength(1)
  })
})

describe('a guest that is not told', () => {
  test('because it does not answer is asked less and less often, and delays no other', async () => {
    const [one, two] = [await network(), await network()]
    const [a, b] = [await vm(one), await vm(one)]
    await peer(one, two)
    const silent = withDriver(a, () => Promise.reject(new DriverError('transient', 'no answer')))
    const pauses: number[] = []
    for (let i = 0; i < 9; i++) {
      await tell(silent)
      pauses.push(((await state(a))!.due_at.getTime() - app.clock.now().getTime()) / 1000)
      app.clock.advance(`${pauses.at(-1)!}s`)
    }
    expect(pauses).toEqual([10, 10, 20, 40, 80, 160, 320, 600, 600])
    expect([await routesIn(a), (await state(a))?.is_told, (await routesIn(b)).length]).toEqual([[], false, 1])
    await tell()
    expect([(await routesIn(a)).length, (await state(a))?.is_told]).toEqual([1, true])
  })

  test('because its image has no agent is left to its owner', async () => {
    const [one, two] = [await network(), await network()]
    const a = await vm(one)
    await app.db.run(sql`update simulated.machines set has_agent = false where name = ${a}`)
    await peer(one, two)
    await tell()
    expect([await routesIn(a), await state(a)]).toEqual([[], undefined])
  })

  test('because it is off is told when it runs, and not looked for when it is deleted', async () => {
    const [one, two] = [await network(), await network()]
    const a = await vm(one)
    await act(a, 'stop')
    const before = (await peer(one, two)) && (await state(a))
    await tell()
    expect(await state(a)).toEqual(before)
    expect((await customer.delete(`/vms/${a}`)).status).toBe(202)
    await app.settle({ subjectId: a })
    await tell()
    expect(await state(a)).toBeUndefined()
  })

  test('because the worker died is told by the next one', async () => {
    const [one, two] = [await network(), await network()]
    const a = await vm(one)
    await peer(one, two)
    await tell(withDriver(a, () => Promise.reject(new Error('killed'))))
    expect(await routesIn(a)).toEqual([])
    await tell()
    expect(await routesIn(a)).toHaveLength(1)
  })

  test('because it changed while it was told an older state is told again', async () => {
    const [one, two, three] = [await network(), await network(), await network()]
    const a = await vm(one)
    await peer(one, two)
    await tell(withDriver(a, async (call) => void (call === 1 && (await peer(one, three)))))
    expect(await routesIn(a)).toEqual([two, three].map(({ cidr }) => `${cidr} via ${one.gateway}`))
    expect((await state(a))?.is_told).toBe(true)
  })
})
