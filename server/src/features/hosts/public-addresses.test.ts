import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenRegion } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { getRegion } from '../catalog/service.ts'
import { allocateIpv6 } from './ipv6-ranges.ts'
import { addPool, poolsFor, listPools, removePool } from './public-addresses.ts'

const app = await testApp()
const { db, clock } = app
const region = await getRegion(db, 'fra1')

const add = (cidr: string, gateway: string, except?: string[]) =>
  db.tx((tx) => addPool(tx, clock.now(), { regionId: region.id, hostId: null, cidr, gateway, except }))
const freeIn = async (cidr: string) => (await listPools(db, clock.now())).find((pool) => pool.cidr === cidr)?.free

test('addresses of hosts and routers on the same network are not for VMs', async () => {
  await add('198.51.100.0/28', '198.51.100.1', ['198.51.100.2', '198.51.100.8/30'])
  expect(await freeIn('198.51.100.0/28')).toBe(8n)
  const free = await db.many<{ address: string }>(sql`
    select host(address) as address from free_addresses where address << '198.51.100.0/28' and available_at <= ${clock.now()} order by free_addresses.address`)
  expect(free.map(({ address }) => address.replace(/^.*\./, ''))).toEqual(['3', '4', '5', '6', '7', '12', '13', '14'])
})

test.each([
  ['198.51.100.64/28', '198.51.100.65', '198.51.100.1', 'is no address or range in 198.51.100.64/28'],
  ['198.51.100.64/28', '198.51.100.65', 'everything', 'is no address or range in'],
  ['2001:db8:77::/64', '2001:db8:77::1', '2001:db8:78::2', 'is no address or range in 2001:db8:77::/64'],
  ['2001:db8:77::/64', '2001:db8:77::1', '198.51.100.66', 'is no address or range in 2001:db8:77::/64'],
])('%s refuses the exception %3$s', async (cidr, gateway, except, message) => {
  await expect(add(cidr, gateway, [except])).rejects.toThrow(message)
  expect(await freeIn(cidr)).toBeUndefined()
})

test.each([
  // Without the first and the gateway's.
  ['2001:db8:77::/124', ['2001:db8:77::2', '2001:db8:77::8/125'], ['3', '4', '5', '6', '7'].map((last) => `2001:db8:77::${last}`)],
  // No /64 with an excepted address in it, and none of an excepted range.
  ['2001:db8:77::/61', ['2001:db8:77:3::7', '2001:db8:77:4::/62'], ['2001:db8:77:1::1', '2001:db8:77:2::1']],
])('of %s the exceptions %j are not for VMs', async (cidr, except, expected) => {
  const host = await givenRegion(app, `six-${cidr.slice(-2)}`)
  await db.tx((tx) => addPool(tx, clock.now(), { regionId: host.region_id, hostId: null, cidr, gateway: '2001:db8:77::1', except }))
  const taken: string[] = []
  const rolledBack = new Error('as if nothing had happened')
  const taking = db.tx(async (tx) => {
    for (const _ of expected) taken.push((await allocateIpv6(tx, clock.now(), await poolsFor(tx, host), 'six'))!.address)
    await expect(allocateIpv6(tx, clock.now(), await poolsFor(tx, host), 'six')).rejects.toThrow('No public IPv6 address is free in six')
    throw rolledBack
  })
  await expect(taking).rejects.toBe(rolledBack)
  expect(taken.toSorted()).toEqual(expected)
  await db.tx((tx) => removePool(tx, cidr))
})

test('a range that nothing uses is removed, with its addresses', async () => {
  await add('198.51.100.128/28', '198.51.100.129')
  const id = (await listPools(db, clock.now())).find((pool) => pool.cidr === '198.51.100.128/28')!.id
  await db.tx((tx) => removePool(tx, '198.51.100.128/28'))
  expect(await freeIn('198.51.100.128/28')).toBeUndefined()
  expect(await db.many(sql`select from free_addresses where pool_id = ${id}`)).toEqual([])
  await expect(db.tx((tx) => removePool(tx, '198.51.100.128/28'))).rejects.toThrow('IP pool 198.51.100.128/28 not found')
  await expect(db.tx((tx) => removePool(tx, 'all'))).rejects.toThrow('not found')
})

test('a range of which an address is reserved stays', async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  const small = await givenRegion(app, 'small')
  await db.tx((tx) =>
    addPool(tx, clock.now(), { regionId: small.region_id, hostId: null, cidr: '198.51.100.192/28', gateway: '198.51.100.193' }),
  )
  const { status, body } = await customer.post('/addresses', { regionId: small.region_id })
  expect(status).toBe(201)
  await expect(db.tx((tx) => removePool(tx, '198.51.100.192/28'))).rejects.toThrow('is used by 0 VMs and 1 reserved address')
  expect(await freeIn('198.51.100.192/28')).toBe(12n)
  // Released it rests before it is free, and both are listed apart.
  expect((await customer.delete(`/addresses/${body.data.id}`)).status).toBe(200)
  const usage = async () => (await listPools(db, clock.now())).find(({ cidr }) => cidr === '198.51.100.192/28')
  expect(await usage()).toMatchObject({ free: 12n, resting: 1n })
  clock.advance('10m')
  await app.reconcile()
  expect(await usage()).toMatchObject({ free: 13n, resting: 0n })
})
