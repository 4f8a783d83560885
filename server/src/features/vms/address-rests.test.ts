// The public addresses of deleted VMs rest, and count for their account meanwhile.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { addPool } from '../hosts/service.ts'

describe('the addresses of deleted VMs', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%' and name <> 'quota.vms'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const cidr = '2001:db8:1::/64'
  await app.db.tx((tx) => addPool(tx, app.clock.now(), { regionId: app.host.region_id, hostId: null, cidr, gateway: '2001:db8:1::1' }))
  const { id: planId } = await app.db.one<{ id: string }>(sql`select id from plans where slug = 'nano'`)

  async function given() {
    const customer = await app.given.customer({ credit: '10000.00' })
    const resting = async (): Promise<number> =>
      (
        await app.db.one<{ count: number }>(
          sql`select count(*)::int from free_addresses where available_at > ${app.clock.now()} and available_at < 'infinity'`,
        )
      ).count
    const before = await resting()
    const create = async (input: object = {}, query = '') =>
      customer.post(`/vms${query}`, { ...(await app.given.vmInput()), planId, ...input })
    /** Their ids, and the refusals. */
    const createMany = async (count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => create()))
      await app.settle()
      return {
        ids: answers.filter(({ status }) => status === 202).map(({ body }) => body.data.vm.id as string),
        refused: answers.filter(({ status }) => status !== 202),
      }
    }
    const remove = async (...ids: string[]) => {
      for (const id of ids) expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
      await app.settle()
    }
    const balance = async () => (await customer.get('/wallet')).body.data.balance as string
    return { customer, create, createMany, remove, balance, resting: async () => (await resting()) - before }
  }

  test('of an account that makes and deletes them over and over are twice its limit of VMs at most', async () => {
    const { createMany, create, remove, resting, balance } = await given()
    for (let wave = 1; wave <= 2; wave++) await remove(...(await createMany(10)).ids)
    expect(await resting()).toBe(20)
    const money = await balance()
    app.clock.advance('4m')
    const { ids, refused } = await createMany(10)
    expect([ids, refused.length]).toEqual([[], 10])
    const free = new Date(app.clock.now().getTime() + 6 * 60_000).toISOString()
    expect(refused[0]).toMatchObject({ status: 422, headers: { 'retry-after': '360' } })
    expect(refused[0]!.body.error).toBe(
      `Quota exceeded: 0 VMs and 20 resting addresses of deleted VMs are in use, and 20 together are allowed. The first address has rested at ${free}: try again then, set publicIpv4 to false, or ask support for more VMs`,
    )
    expect((await create({}, '?dryRun=true')).status).toBe(422)
    expect([await resting(), await balance()]).toEqual([20, money])
    await app.checkInvariants()

    const other = await given()
    expect((await other.createMany(1)).refused).toEqual([])
    expect((await create({ publicIpv4: false })).status).toBe(202)
    await app.settle()
    app.clock.advance('6m')
    expect((await createMany(9)).refused).toEqual([])
    await app.checkInvariants()
  })

  test('count exactly, whatever is made at once', async () => {
    const { createMany, remove } = await given()
    await remove(...(await createMany(10)).ids)
    await remove(...(await createMany(7)).ids)
    const { ids, refused } = await createMany(6)
    expect([ids.length, refused.length]).toEqual([3, 3])
  })

  test('keep nobody from replacing a VM, or all of them', async () => {
    const { createMany, remove } = await given()
    let { ids } = await createMany(10)
    for (const id of ids.slice(0, 5)) {
      await remove(id)
      const made = await createMany(1)
      expect(made.refused).toEqual([])
      ids = [...ids.filter((each) => each !== id), ...made.ids]
    }
    app.clock.advance('10m')
    await remove(...ids)
    expect((await createMany(10)).refused).toEqual([])
  })

  test('may be five beside the only VM of an account', async () => {
    const { customer, createMany, remove } = await given()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'vms', 1n))
    for (let turn = 0; turn < 6; turn++) {
      const { ids, refused } = await createMany(1)
      expect(refused).toEqual([])
      await remove(...ids)
    }
    expect((await createMany(1)).refused).toMatchObject([{ status: 422, body: { error: expect.stringContaining('0 VMs and 6 resting') } }])
  })

  test('count also where building a VM has failed', async () => {
    const { customer, createMany, remove } = await given()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'vms', 1n))
    for (let turn = 0; turn < 6; turn++) {
      await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
      const { ids, refused } = await createMany(1)
      expect(refused).toEqual([])
      expect((await customer.get(`/vms/${ids[0]}`)).body.data.status).toBe('ERROR')
      await remove(...ids)
    }
    expect((await createMany(1)).refused).toMatchObject([{ status: 422, body: { error: expect.stringContaining('0 VMs and 6 resting') } }])
  })

  test('count for nobody where their host is unreachable, though they rest for a day', async () => {
    const { customer, createMany, remove, resting } = await given()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'vms', 6n))
    const { ids } = await createMany(6)
    await app.simulated.faults.loseHost()
    const awaySince = (time: Date | null) => app.db.run(sql`update hosts set unreachable_since = ${time} where id = ${app.host.id}`)
    await awaySince(new Date(app.clock.now().getTime() - 600_000))
    await remove(...ids)
    await app.simulated.faults.returnHost()
    await awaySince(null)
    await app.rest()
    expect(await resting()).toBe(6)
    await remove(...(await createMany(6)).ids)
    expect((await createMany(6)).refused).toEqual([])
  })
})
