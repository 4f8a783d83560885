import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { givenHost, givenRegion, placeOn } from '../../../../test/hosts.ts'
import { NIC_RELEASE_TIMEOUT_MS } from '../../../hypervisor/driver.ts'
import { parseDurationMs } from '../../../kernel/clock.ts'
import { sql } from '../../../kernel/database/db.ts'
import { attachNetwork, detachNetwork } from './attach-network.ts'

test.each([
  ['plugged in', attachNetwork, 'attach'],
  ['unplugged', detachNetwork, 'detach'],
])('the step for an interface that is %s outlasts the time a guest has to release it', (_, workflow, name) => {
  const { timeout } = workflow.steps.find((step) => step.name === name)!
  expect(parseDurationMs(timeout)).toBeGreaterThan(NIC_RELEASE_TIMEOUT_MS)
  expect(workflow.deadlineMs).toBeGreaterThan(parseDurationMs(timeout))
})

describe('a private network', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const [second, elsewhere] = [await givenHost(app, 'second'), await givenRegion(app, 'ber1')]
  await app.db.run(sql`update address_pools set host_id = null`)
  const givenNetwork = async (nodeId: string, cidr: string): Promise<string> =>
    (await customer.post('/networks', { name: 'lan', nodeId, cidr })).body.data.id

  test('names the VMs that are in it, and says which is not', async () => {
    const [networkId, empty] = [await givenNetwork(app.host.id, '10.7.0.0/24'), await givenNetwork(app.host.id, '10.6.0.0/24')]
    const { id } = await app.given.vm(customer, { name: 'db', privateNetworkIds: [networkId] })
    const refused = await customer.delete(`/networks/${networkId}`)
    expect([refused.status, refused.body.error]).toEqual([409, 'The network lan is in use by db: detach or delete them first'])
    const { id: firewallId } = (await customer.post('/firewalls', { name: 'guard' })).body.data
    await customer.post(`/firewalls/${firewallId}/bindings`, { vmId: id })
    const packet = { vmId: id, direction: 'IN', protocol: 'TCP', port: 22, address: '10.6.0.9', networkId: empty }
    const answers = [await customer.delete(`/vms/${id}/networks/${empty}`), await customer.post(`/firewalls/${firewallId}/check`, packet)]
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([404, 'db is not in the network lan']))
  })

  test('takes VMs on every host of its region, at their creation and later', async () => {
    const networkId = await givenNetwork(app.host.id, '10.9.0.0/24')
    const { id: one } = await placeOn(app, second.id, () => app.given.vm(customer, { privateNetworkIds: [networkId] }))
    const { id: other } = await placeOn(app, app.host.id, () => app.given.vm(customer))
    expect((await customer.post(`/vms/${other}/networks`, { networkId })).status).toBe(202)
    await app.settle({ subjectId: other })
    const ports = await app.db.many(
      sql`select vm_id, host, addresses from simulated.ports where network_id = ${networkId} order by addresses`,
    )
    expect(ports).toEqual([
      { vm_id: one, host: 'second', addresses: ['10.9.0.2'] },
      { vm_id: other, host: 'local', addresses: ['10.9.0.3'] },
    ])
  })

  test('takes no VM of another region', async () => {
    const networkId = await givenNetwork(elsewhere.id, '10.10.0.0/24')
    const { id } = await app.given.vm(customer)
    for (const answer of [
      await customer.post(`/vms/${id}/networks`, { networkId }),
      await customer.post('/vms', { ...(await app.given.vmInput()), privateNetworkIds: [networkId] }),
    ])
      expect([answer.status, answer.headers['x-error-code']]).toEqual([422, 'region_mismatch'])
  })

  test.each(['ensurePort', 'ensureNoPort'] as const)(
    'has a port exactly while the VM is attached, also when a change fails at %s',
    async (verb) => {
      const networkId = await givenNetwork(app.host.id, verb === 'ensurePort' ? '10.11.0.0/24' : '10.12.0.0/24')
      const { id } = await app.given.vm(customer)
      const act = async (method: 'post' | 'delete') => {
        if (method === 'post') await customer.post(`/vms/${id}/networks`, { networkId })
        else await customer.delete(`/vms/${id}/networks/${networkId}`)
        await app.settle({ subjectId: id })
      }
      const state = async () => [
        (await customer.get(`/vms/${id}`)).body.data.privateNetworks.length,
        (await app.db.many(sql`select from simulated.ports where network_id = ${networkId}`)).length,
      ]
      if (verb === 'ensureNoPort') await act('post')
      await app.networkFaults.plant({ verb, kind: 'permanent' })
      await act(verb === 'ensurePort' ? 'post' : 'delete')
      expect(await state()).toEqual(verb === 'ensurePort' ? [0, 0] : [1, 1]) // a failed detach leaves the VM attached
      await act(verb === 'ensurePort' ? 'post' : 'delete')
      expect(await state()).toEqual(verb === 'ensurePort' ? [1, 1] : [0, 0])
    },
  )
})
