import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost } from '../../../test/hosts.ts'
import type { Network } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import { applyNetworks } from './apply.reconciler.ts'
import { watchNetworks } from './drift.reconciler.ts'

describe('networks on hosts', async () => {
  const app = await testApp()
  const { deps, clock } = app
  let hosts = 0

  /** A separate host with a customer's network. */
  const givenNetwork = async () => {
    const host = await givenHost(app, `apply-${++hosts}`)
    const customer = await app.given.customer()
    const { data } = (await customer.post('/networks', { name: 'backend', nodeId: host.id, cidr: '10.0.0.0/24' })).body
    return { id: data.id as string, customer, host, control: controlOf(app, host.id) }
  }
  const onHost = async (hostId: string): Promise<Network[]> => {
    const found: Network[] = []
    for await (const network of (await deps.hypervisors.get(hostId)).listNetworks(AbortSignal.timeout(5_000))) found.push(network)
    return found
  }
  const apply = () => applyNetworks.runOnce(deps)
  const rowOf = (id: string) => app.db.maybe<{ is_applied: boolean }>(sql`select is_applied from networks where id = ${id}`)

  test('are created soon after the request', async () => {
    const { id, host } = await givenNetwork()
    expect(await onHost(host.id)).toEqual([])
    await apply()
    const spec = { networkId: id, cidr: '10.0.0.0/24', gateway: '10.0.0.1', enableSnat: true, enableDhcp: true }
    expect(await onHost(host.id)).toEqual([{ ...spec, attachedMacs: [] }])
    expect(await rowOf(id)).toEqual({ is_applied: true })
  })

  test('are removed after deletion, which frees the range', async () => {
    const { id, host, customer } = await givenNetwork()
    await apply()
    await customer.delete(`/networks/${id}`)
    await apply()
    expect(await onHost(host.id)).toEqual([])
    expect(await rowOf(id)).toBeUndefined()
    expect((await customer.post('/networks', { name: 'again', nodeId: host.id, cidr: '10.0.0.0/24' })).status).toBe(201)
  })

  test('wait for an unreachable host, invisibly to the customer', async () => {
    const { id, host, customer, control } = await givenNetwork()
    await control.faults.loseHost()
    await apply()
    expect(await rowOf(id)).toEqual({ is_applied: false })
    const other = (await customer.post('/networks', { name: 'other', nodeId: host.id, cidr: '10.1.0.0/24' })).body.data
    expect((await customer.delete(`/networks/${id}`)).status).toBe(200)
    await apply()
    await control.faults.returnHost()
    clock.advance('10s')
    await apply()
    expect((await onHost(host.id)).map((network) => network.networkId)).toEqual([other.id])
    expect(await rowOf(id)).toBeUndefined()
  })

  test.each(['transient', 'halfway', 'lost_answer', 'permanent'] as const)('are applied despite a %s failure', async (kind) => {
    const { id, host, customer, control } = await givenNetwork()
    await control.faults.plant({ verb: 'ensureNetwork', kind })
    await control.faults.plant({ verb: 'ensureNoNetwork', kind })
    await apply()
    expect(await rowOf(id)).toEqual({ is_applied: false })
    clock.advance('60s')
    await apply()
    expect(await onHost(host.id)).toHaveLength(1)
    await customer.delete(`/networks/${id}`)
    await apply()
    expect(await rowOf(id)).toBeDefined()
    clock.advance('60s')
    await apply()
    expect([await onHost(host.id), await rowOf(id)]).toEqual([[], undefined])
  })

  test('on a failing host do not delay other hosts', async () => {
    const [bad, good] = [await givenNetwork(), await givenNetwork()]
    await bad.control.faults.plant({ verb: '*', kind: 'transient', times: 10 })
    await apply()
    expect(await onHost(good.host.id)).toHaveLength(1)
  })

  test('are removed even when deleted during creation', async () => {
    const { id, host, customer } = await givenNetwork()
    const applying = apply()
    await customer.delete(`/networks/${id}`)
    await applying
    await apply()
    expect([await onHost(host.id), await rowOf(id)]).toEqual([[], undefined])
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

  test('are recreated after manual removal on the host', async () => {
    const { id, host } = await givenNetwork()
    await apply()
    await (await deps.hypervisors.get(host.id)).ensureNoNetwork(id, AbortSignal.timeout(5_000))
    await watchNetworks.runOnce(deps)
    await apply()
    expect((await onHost(host.id)).map((network) => network.networkId)).toEqual([id])
  })

  test('that Berth does not own are left untouched', async () => {
    const { host, id } = await givenNetwork()
    await apply()
    const stranger = { networkId: 'cstranger1', cidr: '10.200.0.0/24', gateway: '10.200.0.1', enableSnat: true, enableDhcp: true }
    const driver = await deps.hypervisors.get(host.id)
    await driver.ensureNetwork(stranger, AbortSignal.timeout(5_000))
    await watchNetworks.runOnce(deps)
    await apply()
    expect((await onHost(host.id)).map((network) => network.networkId).sort()).toEqual([id, 'cstranger1'].sort())
    await driver.ensureNoNetwork('cstranger1', AbortSignal.timeout(5_000))
  })
})
