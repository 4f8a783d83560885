import { describe, expect, test } from 'vitest'
import { fingerprint } from '../../../test/fingerprint.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { parseIp, parseIpRange, rangeContains } from '../../kernel/ip-range.ts'
import { addPool } from '../hosts/service.ts'

const GATEWAY_OF = (cidr: string): string => `${cidr.split('/')[0]}1`

async function fixture() {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const add = (cidr: string, hostId: string | null = null, gateway = GATEWAY_OF(cidr)) =>
    app.db.tx((tx) => addPool(tx, app.clock.now(), { regionId: app.host.region_id, hostId, cidr, gateway }))
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const create = async (input: object = {}) => customer.post('/vms', { ...(await app.given.vmInput()), ...input })
  const remove = async (id: string) => {
    expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
    await app.settle()
  }
  const balance = async () => (await customer.get('/wallet')).body.data.balance as string
  return { app, customer, add, vm, create, remove, balance }
}

const isIn = (range: string, address: string): boolean => rangeContains(parseIpRange(range)!, parseIp(address)!)

describe('a VM in a region with a pool of IPv6', async () => {
  const { app, customer, add, vm, remove } = await fixture()
  const { id: before } = await app.given.vm(customer)
  const poolId = await add('2001:db8:1::/64')
  const [{ id: one }, { id: other }] = [await app.given.vm(customer), await app.given.vm(customer)]

  test('has an address of it, and no other VM has the same', async () => {
    const addresses = [(await vm(one)).ipv6Address, (await vm(other)).ipv6Address]
    expect(addresses.map((address) => isIn('2001:db8:1::/64', address))).toEqual([true, true])
    expect(new Set([...addresses, GATEWAY_OF('2001:db8:1::/64')]).size).toBe(3)
    expect(await vm(one)).toMatchObject({ publicIpv4: true, ipAddress: expect.stringContaining('.'), ipv6Prefix: null })
    const listed = (await customer.get(`/vms?address=${addresses[0].toUpperCase()}`)).body.data
    expect(listed).toMatchObject([{ id: one, ipv6Address: addresses[0], ipv6Prefix: null }])
    await app.checkInvariants()
  })

  test('may send from it, and its guest is told of it', async () => {
    const { ipAddress, ipv6Address } = await vm(one)
    const port = await app.db.one(sql`select addresses, ranges from simulated.ports where vm_id = ${one}`)
    expect(port).toEqual({ addresses: [ipAddress, ipv6Address], ranges: [] })
    expect(await app.db.one(sql`select address, ipv6 from simulated.nics where machine = ${one}`)).toEqual({
      address: ipAddress,
      ipv6: ipv6Address,
    })
  })

  test('reaches the other by it, as far as rules for IPv6 say', async () => {
    const { ipv6Address } = await vm(other)
    const reach = async () => (await customer.post(`/vms/${one}/reach`, { to: ipv6Address, protocol: 'TCP', port: 22 })).body.data
    expect(await reach()).toMatchObject({
      verdict: 'REACHABLE',
      source: { address: (await vm(one)).ipv6Address },
      destination: { vmId: other },
    })
    const { id: firewallId } = (await customer.post('/firewalls', { name: 'closed' })).body.data
    const addRule = async (rule: object) => expect((await customer.post(`/firewalls/${firewallId}/rules`, rule)).status).toBe(201)
    const inbound = { direction: 'IN', protocol: 'TCP', port: '22' }
    await addRule({ ...inbound, action: 'ACCEPT', sourceIps: ['2001:db8:1::/64'] })
    await addRule({ ...inbound, action: 'DROP' })
    await addRule({ direction: 'IN', action: 'DROP', protocol: 'ICMPV6' })
    expect((await customer.post(`/firewalls/${firewallId}/bindings`, { vmId: other })).status).toBeLessThan(300)
    expect((await reach()).verdict).toBe('REACHABLE')
    expect((await customer.post(`/vms/${one}/reach`, { to: other, protocol: 'TCP', port: 22 })).body.data.destination.address).toBe(
      ipv6Address,
    )
    expect((await customer.post(`/vms/${one}/reach`, { to: other, protocol: 'ICMPV6' })).body.data.verdict).toBe('BLOCKED')
    await app.rest()
  })

  test('from before gets one when it is rebuilt, and keeps it', async () => {
    expect(await vm(before)).toMatchObject({ ipv6Address: null, ipv6Prefix: null })
    const { osTemplateId } = await app.given.vmInput()
    const rebuild = async (dryRun = '') => {
      expect((await customer.post(`/vms/${before}/rebuild${dryRun}`, { osTemplateId })).status).toBe(dryRun ? 200 : 202)
      await app.settle()
      return (await vm(before)).ipv6Address as string | null
    }
    expect(await rebuild('?dryRun=true')).toBeNull()
    const address = await rebuild()
    expect(isIn('2001:db8:1::/64', address!)).toBe(true)
    expect(await rebuild()).toBe(address)
    expect(await app.db.one(sql`select addresses[2] as address from simulated.ports where vm_id = ${before}`)).toEqual({ address })
    await app.checkInvariants()
  })

  test('gives it back when it is deleted or cannot be built, and nobody lists the free ones', async () => {
    const held = async () => (await app.db.many(sql`select from ipv6_ranges where pool_id = ${poolId} and available_at is null`)).length
    expect(await held()).toBe(3)
    await remove(other)
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id: failed } = await app.given.vm(customer)
    await app.simulated.faults.clear()
    expect(await vm(failed)).toMatchObject({ status: 'ERROR', ipAddress: null, ipv6Address: null })
    expect(await held()).toBe(2)
    app.clock.advance('11m')
    await remove(before)
    expect(await app.db.many(sql`select available_at from ipv6_ranges where available_at < ${app.clock.now()}`)).toEqual([])
    await app.checkInvariants()
  })

  test.each(['2001:db8:1::zz', '2001:db8:::1', ':', '1::2::3'])('is not searched by %s', async (address) =>
    expect((await customer.get(`/vms?address=${encodeURIComponent(address)}`)).status).toBe(400),
  )
})

describe('a VM in a region with a pool of IPv6 larger than /64', async () => {
  const { app, customer, add, vm, create, remove, balance } = await fixture()
  await add('2001:db8:2::/63')

  test('has a /64 of its own, for which others wait until it is free again', async () => {
    const { id } = await app.given.vm(customer)
    expect(await vm(id)).toMatchObject({ ipv6Address: '2001:db8:2:1::1', ipv6Prefix: '2001:db8:2:1::/64' })
    expect(await app.db.one(sql`select addresses[2], ranges from simulated.ports where vm_id = ${id}`)).toEqual({
      addresses: '2001:db8:2:1::1',
      ranges: ['2001:db8:2:1::/64'],
    })
    expect((await customer.get('/vms?address=2001:db8:2:1::77')).body.data).toMatchObject([{ id }])
    await app.checkInvariants()

    const money = await balance()
    const refused = async () => {
      const { status, headers, body } = await create()
      expect([status, headers['x-error-code'], await balance()]).toEqual([503, 'no_capacity', money])
      return body.error as string
    }
    expect(await refused()).toContain('No public IPv6 address is free in fra1')
    const { body } = await customer.delete(`/vms/${id}?dryRun=true`)
    await remove(id)
    expect(body.data.balanceAfter).toBe(await balance())
    const free = async () => (await create({ hostname: 'again' })).status
    expect(await free()).toBe(503)
    app.clock.advance('11m')
    expect(await free()).toBe(202)
    await app.settle()
    await app.checkInvariants()
  })
})

describe('a VM with publicIpv4: false', async () => {
  const { app, customer, add, vm, create, remove, balance } = await fixture()
  await app.db.run(sql`update catalog_values set value = 150 where name = 'price.ipv4'`)
  const without = { publicIpv4: false }
  const code = ({ status, headers, body }: Awaited<ReturnType<typeof create>>) => [status, headers['x-error-code'], body.error]

  test('is refused in a region without IPv6, and nothing changes', async () => {
    const before = await fingerprint(app.db)
    expect(code(await create(without))).toEqual([
      422,
      'unavailable',
      'Region fra1 has no IPv6 addresses, so a VM there needs a public IPv4 address: leave publicIpv4 out',
    ])
    expect(await fingerprint(app.db)).toEqual(before)
  })

  test('costs less by the price of the address, from the quote to the refund', async () => {
    await add('2001:db8:3::/64')
    expect((await customer.get('/plans')).body.data[0].ipv4PriceMonthly).toBe('1.50')
    const quote = (await customer.post('/vms?dryRun=true', { ...(await app.given.vmInput()), ...without })).body.data
    expect(quote).toMatchObject({ charge: '4.50', monthly: '4.50', balanceAfter: '995.50' })
    const { id } = await app.given.vm(customer, without)
    expect(await balance()).toBe('995.50')
    expect(await vm(id)).toMatchObject({
      status: 'RUNNING',
      publicIpv4: false,
      ipAddress: null,
      ipv6Address: expect.stringContaining('2001:db8:3:'),
      billing: { priceMonthly: '4.50' },
    })
    expect(code(await customer.patch(`/vms/${id}`, { reverseName: 'six.example.com' }))).toEqual([
      409,
      'invalid_state',
      'This VM has no public IPv4 address that could have a reverse name',
    ])
    await app.checkInvariants()
    app.clock.advance('31d')
    await app.rest()
    expect(await balance()).toBe('991.00')
    const large = (await customer.get('/plans')).body.data.find(({ slug }: { slug: string }) => slug === 'large')
    const upgrade = (await customer.post(`/vms/${id}/upgrade?dryRun=true`, { planId: large.id })).body.data
    expect(upgrade.monthly).toBe((Number(large.priceMonthly) - 1.5).toFixed(2))
    const addOn = (await customer.patch(`/vms/${id}?dryRun=true`, { dailyBackupEnabled: true })).body.data
    expect(addOn.monthly).toBe('5.70')
    await remove(id)
    expect(Number(await balance())).toBeLessThanOrEqual(995.5)
    await app.checkInvariants()
  })

  test('never costs less than nothing', async () => {
    await app.db.run(sql`update catalog_values set value = 100000 where name = 'price.ipv4'`)
    const quote = (await customer.post('/vms?dryRun=true', { ...(await app.given.vmInput()), ...without })).body.data
    expect(quote).toMatchObject({ charge: '0.00', monthly: '0.00' })
    await app.db.run(sql`update catalog_values set value = 150 where name = 'price.ipv4'`)
  })

  test('leaves no IPv4 address anywhere, and goes out by SNAT of a private network', async () => {
    const network = { name: 'lan', nodeId: app.host.id, cidr: '10.9.0.0/24', enableSnat: true }
    const { id: networkId } = (await customer.post('/networks', network)).body.data
    await app.rest()
    const { id } = await app.given.vm(customer, { ...without, privateNetworkIds: [networkId] })
    const { ipv6Address } = await vm(id)
    expect(await app.db.one(sql`select addresses from simulated.ports where vm_id = ${id} and network_id is null`)).toEqual({
      addresses: [ipv6Address],
    })
    const reach = async (to: string) => (await customer.post(`/vms/${id}/reach`, { to, protocol: 'TCP', port: 443 })).body.data
    expect(await reach('1.1.1.1')).toMatchObject({ verdict: 'FORWARDED', source: { networkId } })
    expect(await reach('2606:4700::1111')).toMatchObject({ verdict: 'FORWARDED', source: { networkId: null, address: ipv6Address } })
    for (const action of ['stop', 'start', 'restart']) {
      expect((await customer.post(`/vms/${id}/${action}`)).status).toBe(202)
      await app.settle()
    }
    expect((await customer.post(`/vms/${id}/console`, { type: 'serial' })).status).toBe(201)
    const { osTemplateId } = await app.given.vmInput()
    await customer.post(`/vms/${id}/rebuild`, { osTemplateId })
    await app.settle()
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', ipAddress: null, ipv6Address })
    await app.checkInvariants()
  })

  test('that failed to be built is built again without', async () => {
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id } = await app.given.vm(customer, without)
    await app.simulated.faults.clear()
    expect(await vm(id)).toMatchObject({ status: 'ERROR', ipv6Address: null, billing: { priceMonthly: '4.50' } })
    const { osTemplateId } = await app.given.vmInput()
    const money = Number(await balance())
    await customer.post(`/vms/${id}/rebuild`, { osTemplateId })
    await app.settle()
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', ipAddress: null, ipv6Address: expect.any(String) })
    expect(money - Number(await balance())).toBe(4.5)
    await app.checkInvariants()
  })

  test('is placed on a host that has IPv6, and on no other', async () => {
    const second = await givenHost(app, 'second')
    const elsewhere = await placeOn(app, second.id, () => create({ ...without, hostname: 'second' }))
    expect(elsewhere.status).toBe(202)
    await app.settle()
    await remove(elsewhere.body.data.vm.id)
    await app.db.run(sql`update address_pools set host_id = ${app.host.id} where family(cidr) = 6`)
    const { body } = await placeOn(app, second.id, () => create({ ...without, hostname: 'third' }))
    expect(body.error).toContain('without IPv6 addresses')
  })
})

describe('a VM of a lost host', async () => {
  const { app, customer, add, vm } = await fixture()
  const second = await givenHost(app, 'second')
  await app.db.run(sql`update address_pools set host_id = null`)
  await add('2001:db8:4::/48')

  test('gets other addresses on another host, and has its own again where that fails', async () => {
    const { id } = await placeOn(app, second.id, () => app.given.vm(customer, { publicIpv4: false }))
    const before = await vm(id)
    const { id: backupId } = (await customer.post(`/vms/${id}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    const { faults } = controlOf(app, second.id)
    await faults.loseHost()
    await app.db.run(sql`update hosts set unreachable_since = ${new Date(app.clock.now().getTime() - 600_000)} where id = ${second.id}`)
    const restore = async () => {
      const { status } = await customer.post(`/vms/${id}/backups/${backupId}/restore`)
      expect(status).toBe(202)
      await app.settle()
      return vm(id)
    }
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    expect(await restore()).toMatchObject({ ipv6Address: before.ipv6Address, ipv6Prefix: before.ipv6Prefix })
    await app.simulated.faults.clear()
    await app.checkInvariants()
    const after = await restore()
    expect(after).toMatchObject({ status: 'RUNNING', ipAddress: null, ipv6Prefix: expect.stringContaining('2001:db8:4:') })
    expect(after.ipv6Prefix).not.toBe(before.ipv6Prefix)
    const { available_at } = await app.db.one<{ available_at: Date }>(
      sql`select available_at from ipv6_ranges where range = ${before.ipv6Prefix}`,
    )
    expect(available_at.getTime() - app.clock.now().getTime()).toBeGreaterThan(23 * 3_600_000)
  })
})

describe('a pool of IPv6', async () => {
  const { app, add } = await fixture()
  await add('2001:db8:5::/48')

  test.each([
    ['2001:db8:6::/125', '2001:db8:6::1', 'from /16 to /124'],
    ['2000::/15', '2000::1', 'from /16 to /124'],
    ['fe80::/64', 'fe80::1', 'from /16 to /124'],
    ['ff02::/64', 'ff02::1', 'from /16 to /124'],
    ['::ffff:0:0/96', '::ffff:1.2.3.4', 'from /16 to /124'],
    ['2001:db8:6:/64', '2001:db8:6::1', 'from /16 to /124'],
    ['2001:db8:6::/64', '2001:db8:7::1', 'no address of a router'],
    ['2001:db8:6::/64', '2001:db8:6::', 'no address of a router'],
    ['2001:db8:6::/64', '10.0.0.1', 'no address of a router'],
    ['2001:db8:5:7::/64', '2001:db8:5:7::1', 'overlaps a pool'],
  ])('is not %s with the gateway %s', async (cidr, gateway, reason) => {
    const before = await fingerprint(app.db)
    await expect(add(cidr, null, gateway)).rejects.toThrow(reason)
    expect(await fingerprint(app.db)).toEqual(before)
  })
})
