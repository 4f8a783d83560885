import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenRegion } from '../../../test/hosts.ts'
import type { NetworkSpec } from '../../hypervisor/network-controller.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { applyNetworks } from './apply.reconciler.ts'

const app = await testApp()
const nodeId = app.host.id
const customer = await app.given.customer({ credit: '1000.00' })
await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'networks', 200n))
const stranger = await app.given.customer()

let ranges = 0
const givenNetwork = async (name = 'lan', settings: object = {}) => {
  const { data } = (await customer.post('/networks', { name, nodeId, cidr: `10.30.${ranges++}.0/24`, ...settings })).body
  return data as { id: string; name: string; cidr: string; gateway: string }
}
const peer = (id: string, networkId: string) => customer.post(`/networks/${id}/peerings`, { networkId })
const peeringsOf = async (id: string) => (await customer.get(`/networks/${id}/peerings`)).body.data
const made = async (networkId: string): Promise<NetworkSpec['peers'] | undefined> =>
  (await app.db.maybe<{ spec: NetworkSpec }>(sql`select spec from simulated.networks where network_id = ${networkId}`))?.spec.peers
const apply = () => applyNetworks.runOnce(app.deps)
const asPeer = ({ id, cidr, gateway }: { id: string; cidr: string; gateway: string }) => ({ networkId: id, cidr, gateway })

test('connects two networks, seen and ended from either side', async () => {
  const [one, two] = [await givenNetwork('one'), await givenNetwork('two')]
  await apply()
  const { status, body } = await peer(one.id, two.id)
  const id = body.data.id as string
  const createdAt = app.clock.now().toISOString()
  expect([status, body.data]).toEqual([201, { id, networkId: two.id, name: 'two', cidr: two.cidr, createdAt }])
  expect(await peeringsOf(one.id)).toEqual([body.data])
  expect(await peeringsOf(two.id)).toEqual([{ id, networkId: one.id, name: 'one', cidr: one.cidr, createdAt }])
  await apply()
  expect([await made(one.id), await made(two.id)]).toEqual([[asPeer(two)], [asPeer(one)]])

  expect((await customer.delete(`/networks/${two.id}/peerings/${id}`)).body.data).toEqual({ id })
  expect([await peeringsOf(one.id), await peeringsOf(two.id)]).toEqual([[], []])
  await apply()
  expect([await made(one.id), await made(two.id)]).toEqual([[], []])
})

test('deleting a network ends its peerings', async () => {
  const [hub, one, two] = [await givenNetwork('hub'), await givenNetwork('one'), await givenNetwork('two')]
  await peer(hub.id, one.id)
  await peer(two.id, hub.id)
  await apply()
  expect(await made(hub.id)).toEqual([asPeer(one), asPeer(two)])
  expect((await customer.delete(`/networks/${hub.id}`)).status).toBe(200)
  expect([await peeringsOf(one.id), await peeringsOf(two.id)]).toEqual([[], []])
  await apply()
  expect([await made(hub.id), await made(one.id), await made(two.id)]).toEqual([undefined, [], []])
})

describe('is refused', () => {
  test('with itself', async () => {
    const { id } = await givenNetwork()
    const { status, headers } = await peer(id, id)
    expect([status, headers['x-error-code']]).toEqual([422, 'incompatible'])
  })

  test('a second time, from either side, also of concurrent requests', async () => {
    const [one, two] = [await givenNetwork(), await givenNetwork()]
    const answers = await Promise.all([peer(one.id, two.id), peer(two.id, one.id), peer(one.id, two.id)])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ headers }) => headers['x-error-code'] === 'already_exists')).toHaveLength(2)
    expect(await peeringsOf(one.id)).toHaveLength(1)
  })

  test('in another region', async () => {
    const { id: elsewhere } = await givenRegion(app, 'ber1')
    const [one, two] = [await givenNetwork(), await givenNetwork('far', { nodeId: elsewhere })]
    for (const [id, networkId] of [
      [one.id, two.id],
      [two.id, one.id],
    ]) {
      const { status, headers } = await peer(id!, networkId!)
      expect([status, headers['x-error-code']]).toEqual([422, 'region_mismatch'])
    }
  })

  test('without a gateway', async () => {
    const [one, two] = [await givenNetwork(), await givenNetwork('isolated', { enableSnat: false, enableDhcp: false })]
    const { status, body } = await peer(one.id, two.id)
    expect([status, body.error]).toEqual([422, 'The network isolated has no gateway, so nothing routes in it: create one with a gateway'])
    expect(await peeringsOf(one.id)).toEqual([])
  })

  test('where its range has become a public one', async () => {
    const [one, two] = [await givenNetwork(), await givenNetwork()]
    await app.db.tx(async (tx) => {
      await tx.run(sql`update networks set cidr = '10.77.9.0/24', gateway = '10.77.9.1' where id = ${two.id}`)
    })
    const { status, headers } = await peer(one.id, two.id)
    expect([status, headers['x-error-code']]).toEqual([409, 'networks_overlap'])
  })

  test('where one answer of DHCP cannot announce it', async () => {
    const [one, two] = [await givenNetwork(), await givenNetwork('full')]
    const nextHop = two.gateway.replace(/1$/, '9')
    for (let i = 0; i < 31; i++) await customer.post(`/networks/${two.id}/routes`, { destination: `192.168.${i}.0/24`, nextHop })
    const { status, body } = await peer(one.id, two.id)
    expect([status, body.error]).toEqual([422, expect.stringContaining('more routes in the network full')])
    expect([await peeringsOf(one.id), await peeringsOf(two.id)]).toEqual([[], []])
  })
})

test("answers 404 for another account's network or peering in every operation", async () => {
  const [one, two] = [await givenNetwork(), await givenNetwork()]
  const theirs = (await stranger.post('/networks', { name: 'theirs', nodeId, cidr: '10.40.0.0/24' })).body.data
  const { id } = (await peer(one.id, two.id)).body.data
  const other = await givenNetwork()
  const answers = [
    await stranger.get(`/networks/${one.id}/peerings`),
    await stranger.post(`/networks/${one.id}/peerings`, { networkId: theirs.id }),
    await stranger.post(`/networks/${theirs.id}/peerings`, { networkId: one.id }),
    await stranger.delete(`/networks/${one.id}/peerings/${id}`),
    await stranger.delete(`/networks/${theirs.id}/peerings/${id}`),
    await customer.delete(`/networks/${other.id}/peerings/${id}`),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    ...Array(4).fill([404, 'Network not found']),
    ...Array(2).fill([404, 'Peering not found']),
  ])
  expect(await peeringsOf(one.id)).toHaveLength(1)
})

test('the database refuses peers of two accounts', async () => {
  const mine = await givenNetwork()
  const theirs = (await stranger.post('/networks', { name: 'theirs', nodeId, cidr: '10.41.0.0/24' })).body.data.id as string
  const [first, second] = [mine.id, theirs].toSorted((a, b) => (a < b ? -1 : 1))
  const insert = app.db.run(sql`
    insert into network_peerings (id, network_id, peer_id, account_id, region_id, created_at)
    values ('cforged', ${first}, ${second}, ${customer.accountId}, ${app.host.region_id}, now())`)
  await expect(insert).rejects.toThrow(/foreign key/)
})

test('peerings, deletions and attachments at once do not deadlock', async () => {
  const networks = await Promise.all(Array.from({ length: 6 }, () => givenNetwork()))
  for (const [i, one] of networks.entries()) for (const two of networks.slice(i + 1)) await peer(one.id, two.id)
  const vm = await app.given.vm(customer)
  const answers = await Promise.all([
    ...networks.slice(0, 3).map(({ id }) => customer.delete(`/networks/${id}`)),
    ...networks.slice(3).map(async ({ id }) => customer.delete(`/networks/${id}/peerings/${(await peeringsOf(id))[0]?.id}`)),
    customer.post(`/vms/${vm.id}/networks`, { networkId: networks[5]!.id }),
  ])
  expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
  await app.settle({ subjectId: vm.id })
  await apply()
  for (const { id } of networks.slice(0, 3)) expect(await made(id)).toBeUndefined()
})
