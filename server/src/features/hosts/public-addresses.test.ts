import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenRegion } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { getRegion } from '../catalog/service.ts'
import { addPool, listPools, removePool } from './public-addresses.ts'

const app = await testApp()
const { db, clock } = app
const region = await getRegion(db, 'fra1')

const add = (cidr: string, gateway: string, except?: string[]) =>
  db.tx((tx) => addPool(tx, clock.now(), { regionId: region.id, hostId: null, cidr, gateway, except }))
const freeIn = async (cidr: string) => (await listPools(db)).find((pool) => pool.cidr === cidr)?.free

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
  ['2001:db8:77::/64', '2001:db8:77::1', '2001:db8:77::2', 'ranges of IPv6 have no exceptions'],
])('%s refuses the exception %3$s', async (cidr, gateway, except, message) => {
  await expect(add(cidr, gateway, [except])).rejects.toThrow(message)
  expect(await freeIn(cidr)).toBeUndefined()
})

test('a range that nothing uses is removed, with its addresses', async () => {
  await add('198.51.100.128/28', '198.51.100.129')
  const id = (await listPools(db)).find((pool) => pool.cidr === '198.51.100.128/28')!.id
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
  const { status } = await customer.post('/addresses', { regionId: small.region_id })
  expect(status).toBe(201)
  await expect(db.tx((tx) => removePool(tx, '198.51.100.192/28'))).rejects.toThrow('is used by 0 VMs and 1 reserved addresses')
  expect(await freeIn('198.51.100.192/28')).toBe(12n)
})
