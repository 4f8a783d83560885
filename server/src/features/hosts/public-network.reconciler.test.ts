import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenRegion } from '../../../test/hosts.ts'
import type { NetworkController, PublicNetworkSpec } from '../../hypervisor/network-controller.ts'
import { addPool } from './public-addresses.ts'
import { applyPublicNetworks } from './public-network.reconciler.ts'

test('the public network of a region has the ranges of its pools, and lets guests reach what the operator allows; its hosts are gateways', async () => {
  const app = await testApp({ environment: { BERTH_GUEST_ALLOWED_RANGES: '192.168.5.7/24, 100.100.0.0/16' } })
  const { deps, db, clock } = app
  const other = await givenRegion(app, 'ber1')
  const asked = new Map<string, PublicNetworkSpec>()
  const networkControllers = {
    ...deps.networkControllers,
    get: async (regionId: string) =>
      ({
        ensurePublicNetwork: async (network) => void asked.set(regionId, network),
        health: async () => ({ problems: [] }),
      }) as Partial<NetworkController> as NetworkController,
  }
  const apply = () => applyPublicNetworks.runOnce({ ...deps, networkControllers })
  const allowed = ['192.168.5.0/24', '100.100.0.0/16']
  await apply()
  expect(Object.fromEntries(asked)).toEqual({
    [app.host.region_id]: { ranges: ['10.77.0.0/20'], withheld: ['10.77.0.1'], allowed, gateways: [app.host.hostname] },
    [other.region_id]: { ranges: [], withheld: [], allowed, gateways: [other.hostname] },
  })
  const pool = { regionId: other.region_id, hostId: null, dns: [] }
  const ipv4 = { ...pool, cidr: '10.66.0.0/24', gateway: '10.66.0.1', except: ['10.66.0.9', '10.66.0.16/28'] }
  const ipv6 = { ...pool, cidr: '2001:db8:1::/48', gateway: '2001:db8:1::1', except: ['2001:db8:1:7::/64'] }
  for (const each of [ipv4, ipv6]) await db.tx((tx) => addPool(tx, clock.now(), each))
  await apply()
  const withheld = ['10.66.0.1', '10.66.0.9', '10.66.0.16/28', '2001:db8:1::1', '2001:db8:1:7::/64']
  expect(asked.get(other.region_id)).toMatchObject({ ranges: [ipv4.cidr, ipv6.cidr], withheld, allowed })
})

test('the public network is made before the first port', async () => {
  const app = await testApp()
  const calls: string[] = []
  const controller = await app.deps.networkControllers.get(app.host.region_id)
  const noted = new Proxy(controller, {
    get: (target, name: keyof NetworkController) => {
      if (name in target) calls.push(name)
      return target[name]
    },
  })
  app.deps.networkControllers.get = async () => noted
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = (await customer.post('/networks', { name: 'lan', cidr: '10.9.0.0/24', nodeId: app.host.id })).body.data
  await app.given.vm(customer, { privateNetworkIds: [id] })
  expect(calls).toEqual(['ensurePublicNetwork', 'ensureNetwork', 'ensurePort', 'ensurePort'])
})
