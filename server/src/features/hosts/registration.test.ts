import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import type { Driver } from '../../hypervisor/driver.ts'
import { createDriverPool, type HostRef } from '../../hypervisor/driver-pool.ts'
import { sql } from '../../kernel/database/db.ts'
import { createRegion, getRegion } from '../catalog/service.ts'
import { releaseCapacity, reserveCapacity, reserveCapacityInRegion } from './capacity.ts'
import { addPool } from './public-addresses.ts'
import { changeHost, findHost, getHost, listHosts, listPools, registerHost, removeHost, seedHosts, type Registration } from './service.ts'

const app = await testApp({ breaks: ['hosts.capacity'] })
const { db, clock } = app

const givenRegion = (slug: string) =>
  db.tx((tx) => createRegion(tx, clock.now(), { slug, name: slug, country: 'DE', city: 'Bonn', available: true }))
const controllerOf = async (slug: string) => (await getRegion(db, slug)).network_controller
await givenRegion('dus1') // simulated hosts are in fra1

const rack = (change: Partial<Registration> = {}): Registration => ({
  name: 'rack1',
  region: 'dus1',
  hostname: `${change.name ?? 'rack1'}.example`,
  networkController: 'unix:/nowhere',
  uri: 'qemu+tls://10.0.0.5/system',
  arch: 'x86_64',
  acceleration: 'kvm',
  guestTypes: ['x86_64'],
  vcpu: 8,
  ramMiB: 30_000,
  diskGiB: 400,
  range: { cidr: '10.90.0.0/24', gateway: '10.90.0.1', dns: ['1.1.1.1'] },
  ...change,
})
const register = (change?: Partial<Registration>) => db.tx((tx) => registerHost(tx, clock.now(), rack(change)))
const poolsOf = async (name: string) =>
  (await listPools(db, clock.now())).filter(({ host_name }) => host_name === name).map(({ cidr }) => cidr)

describe('host registration', () => {
  test('registers a host once, with its range', async () => {
    const host = await register()
    const measured = { arch: 'x86_64', acceleration: 'kvm', vcpu_total: 8, ram_total_mib: 30_000 }
    expect(host).toMatchObject({ driver: 'libvirt', hostname: 'rack1.example', ...measured })
    expect(await poolsOf('rack1')).toEqual(['10.90.0.0/24'])
    await expect(register()).rejects.toThrow('There is a host rack1 already')
    await expect(register({ name: 'rack2', range: null })).rejects.toThrow('is the host rack1 already')
    await expect(register({ name: 'Rack 2' })).rejects.toThrow('is not a name')
    await expect(register({ name: 'rack2', uri: 'qemu+tls://10.0.0.6/system' })).rejects.toThrow('overlaps a pool')
    await expect(register({ name: 'rack2', uri: 'qemu+tls://10.0.0.6/system', region: 'mars1' })).rejects.toThrow('not found')
  })

  test('rejects a second host of the region that calls itself the same', async () => {
    const twin = { name: 'rack2', uri: 'qemu+tls://10.0.0.6/system', range: null, hostname: 'rack1.example' }
    await expect(register(twin)).rejects.toThrow('The host rack1 of region dus1 calls itself rack1.example too')
  })

  test('rejects the name of a simulated host', async () => {
    await expect(register({ name: 'local', uri: 'qemu:///system', range: null })).rejects.toThrow('There is a host local already')
  })

  test('changes maintenance, overcommit and capacity; below what is sold, nothing more is', async () => {
    const host = await getHost(db, 'rack1')
    await db.run(sql`update hosts set vcpu_used = 20, ram_used_mib = 5000 where id = ${host.id}`)
    const sold = await getHost(db, 'rack1')
    const change = (wanted: Parameters<typeof changeHost>[2]) => db.tx((tx) => changeHost(tx, sold, wanted))
    expect(await change({ maintenance: true, overcommit: 3 })).toMatchObject({ maintenance: true, vcpu_overcommit: 3 })
    expect(await change({ overcommit: 2, ramOvercommit: 1.5 })).toMatchObject({
      vcpu_used: 20,
      vcpu_sellable: 16,
      ram_sellable_mib: 45_000,
    })
    const more = { vcpu: 1, ramMiB: 1, diskGiB: 0 }
    expect(await db.tx((tx) => reserveCapacity(tx, host.id, more))).toBe(false)
    await expect(db.run(sql`update hosts set vcpu_used = vcpu_used + 1 where id = ${host.id}`)).rejects.toThrow('would sell 21 vCPU of 16')
    await db.tx((tx) => releaseCapacity(tx, host.id, { ...more, vcpu: 5 }))
    expect(await db.tx((tx) => reserveCapacity(tx, host.id, more))).toBe(true)
    await expect(change({ ramOvercommit: 11 })).rejects.toThrow('from 1 to 10')
    await expect(change({ overcommit: 0.5 })).rejects.toThrow('from 1 to 100')
    expect(await change({ capacity: { vcpu: 2, ramMiB: 1_000, diskGiB: 50 } })).toMatchObject({
      vcpu_total: 2,
      ram_total_mib: 1_000,
      disk_total_gib: 50,
    })
    await db.run(sql`update hosts set vcpu_used = 0, ram_used_mib = 0 where id = ${host.id}`)
    const fenced = { ...sold, fenced_at: clock.now() }
    await expect(db.tx((tx) => changeHost(tx, fenced, { maintenance: false }))).rejects.toThrow('has returned and is being cleaned')
    const away = { ...fenced, unreachable_since: clock.now() }
    await expect(db.tx((tx) => changeHost(tx, away, { maintenance: false }))).rejects.toThrow('is fenced')
  })

  test('has traits that are measured, and those of the operator', async () => {
    const host = await getHost(db, 'rack1')
    const change = (wanted: Parameters<typeof changeHost>[2]) => db.tx((tx) => changeHost(tx, host, wanted))
    expect(host.all_traits).toEqual(['x86_64', 'kvm'])
    expect(await change({ traits: ['gpu', 'a', 'gpu'], uplinkMbps: 10_000 })).toMatchObject({
      traits: ['a', 'gpu'],
      all_traits: ['a', 'gpu', 'x86_64', 'kvm', '10g'],
    })
    for (const wrong of ['10g', 'dedicated-cpu', 'x86_64']) await expect(change({ traits: [wrong] })).rejects.toThrow('is measured')
    for (const wrong of ['GPU', '', 'a b', '-a', 'a'.repeat(33)]) await expect(change({ traits: [wrong] })).rejects.toThrow('is no trait')
    await expect(change({ traits: Array.from({ length: 21 }, (_, i) => `t${i}`) })).rejects.toThrow('20 traits at most')
  })

  test('has CPUs that are dedicated, and sells the others', async () => {
    const host = await getHost(db, 'rack1')
    await db.tx((tx) => changeHost(tx, host, { capacity: { vcpu: 8, ramMiB: 1_000, diskGiB: 50 } }))
    const change = async (dedicatedCpus: number[]) => db.tx(async (tx) => changeHost(tx, await getHost(db, 'rack1'), { dedicatedCpus }))
    expect(await change([6, 7])).toMatchObject({ dedicated_cpus: [6, 7], vcpu_sellable: 12, cpus_version: 1, cpus_applied: 0 })
    expect((await getHost(db, 'rack1')).all_traits).toContain('dedicated-cpu')
    await expect(change([7, 8])).rejects.toThrow('it has no CPU 8, only 0-7')
    await db.run(sql`insert into cpu_pins (host_id, cpu, vm_id, vcpu) values (${host.id}, 7, 'somebody', 0)`)
    await expect(change([6])).rejects.toThrow('dedicated VMs have CPU 7')
    await db.run(sql`delete from cpu_pins`)
    expect(await change([])).toMatchObject({ vcpu_sellable: 16 })
  })

  test('removal deletes a host without resources', async () => {
    const host = await getHost(db, 'rack1')
    expect(await db.tx((tx) => removeHost(tx, clock.now(), host))).toBe('forgotten')
    expect([await findHost(db, 'rack1'), await poolsOf('rack1')]).toEqual([undefined, []])
    expect(await db.one(sql`select count(*)::int as left from free_addresses where address << '10.90.0.0/24'`)).toEqual({ left: 0 })
  })

  test('a removed host with resources comes back with them', async () => {
    const host = await register()
    const customer = await app.given.customer()
    const { body } = await customer.post('/networks', { name: 'lan', cidr: '192.168.7.0/24', nodeId: host.id })
    expect(await db.tx((tx) => removeHost(tx, clock.now(), host))).toBe('kept')
    expect((await listHosts(db)).map(({ name }) => name)).toEqual(['local'])
    expect((await customer.post('/networks', { name: 'lan2', cidr: '192.168.8.0/24', nodeId: host.id })).status).toBe(422)
    const back = await register({ vcpu: 16 })
    expect(back).toMatchObject({ id: host.id, vcpu_total: 16, removed_at: null })
    expect(await poolsOf('rack1')).toEqual(['10.90.0.0/24'])
    await customer.delete(`/networks/${body.data.id}`)
    await db.run(sql`delete from networks where id = ${body.data.id as string}`) // no host is there to remove the network
    await db.tx((tx) => removeHost(tx, clock.now(), back))
  })

  test('a host that comes back with a new address is reached there by every process', async () => {
    const uris = new Map<Driver, string>()
    const libvirt = ({ id, uri }: HostRef): Driver => {
      const driver = { hostId: id, close: async () => void uris.delete(driver) } as Driver
      uris.set(driver, uri)
      return driver
    }
    const processes = [1, 2].map(() => createDriverPool({ factories: { libvirt }, lookup: (id) => findHost(db, id) }))
    const host = await register()
    const customer = await app.given.customer()
    const { body } = await customer.post('/networks', { name: 'lan', cidr: '192.168.7.0/24', nodeId: host.id })
    const reached = () => Promise.all(processes.map(async (each) => uris.get(await each.get(host.id))))
    await reached()
    await db.tx((tx) => removeHost(tx, clock.now(), host))
    const back = await register({ uri: 'qemu+tls://10.0.0.6/system' })
    expect(await reached()).toEqual(processes.map(() => 'qemu+tls://10.0.0.6/system'))
    expect([...uris.values()]).toEqual(await reached())
    await customer.delete(`/networks/${body.data.id}`)
    await db.run(sql`delete from networks where id = ${body.data.id as string}`) // no host is there to remove the network
    await db.tx((tx) => removeHost(tx, clock.now(), back))
    await expect(reached()).rejects.toThrow('There is no host')
    await Promise.all(processes.map((each) => each.close()))
    expect(uris.size).toBe(0)
  })

  describe('of the first libvirt host of a region', () => {
    const { networkController: _, ...bare } = rack({ name: 'first', range: null })
    const join = (change: Partial<Registration>) => db.tx((tx) => registerHost(tx, clock.now(), { ...bare, ...change }))
    const leave = (name: string) => db.tx(async (tx) => removeHost(tx, clock.now(), await getHost(tx, name)))
    const seed = (region: string) => {
      const host = { name: 'pretended', region, driver: 'simulated' as const, uri: '', vcpu: 1, ram: 1024, disk: 10 }
      return db.tx((tx) => seedHosts(tx, clock.now(), [host], 'simulated'))
    }

    test('sets its network controller: that of this machine for a local host, a named one for others', async () => {
      await givenRegion('cgn1')
      await expect(join({ region: 'cgn1' })).rejects.toThrow('region cgn1 has no network controller yet: say where it is')
      await join({ region: 'cgn1', uri: 'qemu:///system' })
      expect(await controllerOf('cgn1')).toBe('unix:/run/ovn')
      await expect(join({ name: 'second', region: 'cgn1', networkController: 'unix:/other' })).rejects.toThrow(
        'The network controller of region cgn1 is unix:/run/ovn, so it cannot be unix:/other',
      )
      await join({ name: 'second', region: 'cgn1', hostname: 'second' })
      await leave('first')
      await leave('second')
    })

    test('is refused while the region has simulated VMs or networks', async () => {
      const customer = await app.given.customer({ credit: '100.00' })
      const { id } = await app.given.vm(customer)
      await expect(join({ region: 'fra1', uri: 'qemu:///system' })).rejects.toThrow(
        'Region fra1 has simulated VMs or networks (1 and 0), so no real host can join it: delete them first, or choose another region',
      )
      await customer.delete(`/vms/${id}`)
      await app.settle()
      const { id: networkId } = (await customer.post('/networks', { name: 'lan', cidr: '10.99.0.0/24', nodeId: app.host.id })).body.data
      await expect(join({ region: 'fra1', uri: 'qemu:///system' })).rejects.toThrow('(0 and 1)')
      expect(await controllerOf('fra1')).toBeNull()
      await customer.delete(`/networks/${networkId}`)
      await app.rest()
    })

    test('keeps simulated hosts out while it has VMs or networks, and no VM is placed on one', async () => {
      await givenRegion('bon1')
      await seed('bon1')
      await join({ region: 'bon1', uri: 'qemu:///system' })
      await db.run(sql`update hosts set maintenance = true where name = 'first'`)
      const region = await getRegion(db, 'bon1')
      const regionId = region.id
      const need = { vcpu: 1, ramMiB: 512, diskGiB: 5, arch: 'x86_64', network10g: false, boughtMbps: 0, publicIpv4: true }
      await expect(db.tx((tx) => reserveCapacityInRegion(tx, region, need))).rejects.toThrow('1 host checked, 1 in maintenance')
      const customer = await app.given.customer()
      await leave('pretended')
      await db.run(sql`update hosts set maintenance = false where name = 'first'`)
      const { id: networkId } = (await customer.post('/networks', { name: 'lan', cidr: '10.98.0.0/24', nodeId: regionId })).body.data
      await expect(seed('bon1')).rejects.toThrow('Region bon1 has real VMs or networks (0 and 1), so no simulated host can join it')
      await db.run(sql`delete from networks where id = ${networkId as string}`)
      await db.run(sql`update account_quotas set used = 0 where account_id = ${customer.accountId} and name = 'networks'`)
      await leave('first')
      await seed('bon1')
      expect(await controllerOf('bon1')).toBeNull()
    })
  })

  test('refuses a pool of the addresses that private networks have outside', async () => {
    const pool = { regionId: app.host.region_id, hostId: null, cidr: '100.64.0.0/12', gateway: '100.64.0.1', dns: [] }
    await expect(db.tx((tx) => addPool(tx, clock.now(), pool))).rejects.toThrow('overlaps 100.64.0.0/16')
  })

  test("takes a public range that overlaps a customer's private network: the two never meet", async () => {
    const customer = await app.given.customer()
    await customer.post('/networks', { name: 'lan', cidr: '10.91.5.0/24', nodeId: app.host.id })
    const pool = { regionId: app.host.region_id, hostId: null, cidr: '10.91.0.0/16', gateway: '10.91.0.1', dns: [] }
    await expect(db.tx((tx) => addPool(tx, clock.now(), pool))).resolves.toEqual(expect.any(String))
  })
})
