// GET /availability says what POST /vms would say, of every region, plan and architecture, and nothing of hosts.
import { describe, expect, test } from 'vitest'
import { counting } from '../../../test/counting-db.ts'
import { testApp } from '../../../test/harness.ts'
import { givenHost, givenRegion } from '../../../test/hosts.ts'
import { randomOf } from '../../../test/placement-simulator.ts'
import { sql } from '../../kernel/database/db.ts'
import { changePlan, createPlan, getPlan, getTemplate, listPlanRows, templateForArch } from '../catalog/service.ts'
import { addPool } from '../hosts/service.ts'
import { addSimulatedStorage } from '../storage/service.ts'
import { availabilityReader } from './availability.ts'
import type { Availability } from './schema.ts'

describe('availability', async () => {
  const app = await testApp({ breaks: ['hosts.capacity', 'storage.capacity'] })
  const customer = await app.given.customer({ credit: '1000.00' })
  const { regionId } = await app.given.vmInput()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  /** As it is now, and not as it was some seconds ago. */
  const look = async (query = ''): Promise<Availability[]> => {
    app.clock.advance('5s')
    return (await customer.get(`/availability${query}`)).body.data
  }
  const small = async () => (await look('?plan=small&region=fra1&architecture=x86_64'))[0]
  const available = { available: true, code: null, reason: null }

  test('has a row for each region, plan and architecture, and filters', async () => {
    const [plans, regions] = [await listPlanRows(app.db), (await customer.get('/regions')).body.data]
    const all = await look()
    expect(all).toHaveLength(plans.length * regions.length * 2)
    const plan = await getPlan(app.db, 'small')
    const shown = { region: { id: regionId, slug: 'fra1' }, plan: { id: plan.id, slug: 'small' } }
    expect(await look(`?plan=${plan.id}&region=${regionId}`)).toEqual([
      { ...shown, architecture: 'x86_64', ...available },
      { ...shown, architecture: 'aarch64', ...available },
    ])
    expect(await look('?plan=nothing')).toEqual([])
    expect((await customer.get('/availability?architecture=vax')).status).toBe(400)
    expect((await customer.get('/availability')).body.data.every((each: object) => !JSON.stringify(each).includes(app.host.id))).toBe(true)
  })

  test('gives the reason', async () => {
    const set = (changes: Parameters<typeof changePlan>[2]) => app.db.tx((tx) => changePlan(tx, 'small', changes))
    await set({ available: false })
    expect(await small()).toMatchObject({ code: 'plan_not_offered', reason: 'Plan small is not offered in fra1' })
    await set({ available: true, traits: ['gpu'] })
    expect(await small()).toMatchObject({
      available: false,
      code: 'never',
      reason: 'No host of fra1 is large enough for plan small, or has what it needs',
    })
    await set({ traits: [] })
    await app.db.run(sql`update hosts set arch = 'aarch64'`)
    expect(await small()).toMatchObject({ code: 'architecture_not_offered', reason: 'No host of fra1 runs VMs of x86_64' })
    await app.db.run(sql`update hosts set arch = null, maintenance = true`)
    expect(await small()).toMatchObject({ code: 'full', reason: 'There is no room for plan small in fra1 at the moment' })
    await app.db.run(sql`update hosts set maintenance = false`)
    await app.db.run(sql`update free_addresses set available_at = available_at + interval '1 year'`)
    expect(await small()).toMatchObject({ code: 'no_address', reason: 'No public IPv4 address is free in fra1 at the moment' })
    await app.db.run(sql`update free_addresses set available_at = available_at - interval '1 year'`)
    await app.db.run(sql`update regions set available = false`)
    expect(await small()).toMatchObject({ code: 'region_closed', reason: 'Region fra1 takes no new VMs at the moment' })
    await app.db.run(sql`update regions set available = true`)
    expect(await small()).toMatchObject(available)
  })

  test('is worked out once in five seconds, and an error is not kept', async () => {
    const { db, statements } = counting(app.db)
    let isDown = true
    const read = availabilityReader({
      clock: app.clock,
      db: { ...db, many: (query) => (isDown ? Promise.reject(new Error('down')) : db.many(query)) },
    })
    await expect(read({})).rejects.toThrow('down')
    isDown = false
    await Promise.all(Array.from({ length: 500 }, () => read({})))
    const once = statements()
    expect(once).toBeLessThan(20)
    app.clock.advance('4s')
    await read({})
    expect(statements()).toBe(once)
    app.clock.advance('1s')
    await read({})
    expect(statements()).toBe(2 * once)
  })

  test('agrees with a dry run of POST /vms for any state of the hosts', { timeout: 300_000 }, async () => {
    const random = randomOf(23)
    const upTo = (most: number): number => Math.floor(random() * (most + 1))
    const oneOf = <T>(items: T[]): T => items[upTo(items.length - 1)]!
    await givenHost(app, 'second')
    await givenRegion(app, 'ams1')
    await givenHost(app, 'third', 'ams1')
    const hosts = await app.db.many<{ id: string; name: string; region_id: string }>(
      sql`select id, name, region_id from hosts order by name`,
    )
    for (const [index, { id, name, region_id: inRegion }] of hosts.entries())
      if (id !== app.host.id && name !== 'second') {
        const pool = { regionId: inRegion, hostId: id, cidr: `198.18.${index}.0/29`, gateway: `198.18.${index}.1`, dns: [] }
        await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
      }
    await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region: 'ams1', sizeGiB: 300, reservePercent: 10 }))
    const base = {
      bandwidth_gb: 0,
      network_mbps: 1000,
      price: '5.00',
      throttleMbps: 10,
      diskIops: null,
      diskMiBPerSecond: null,
      available: true,
    }
    const more = { name: 'More', vcpu: 2, ram_mib: 2048, disk_gib: 40, regions: null, ...base }
    await app.db.tx(async (tx) => {
      await createPlan(tx, app.clock.now(), { ...more, slug: 'replicated', storage: 'REPLICATED' })
      await createPlan(tx, app.clock.now(), { ...more, slug: 'dedicated', storage: 'LOCAL', dedicatedCpu: true })
      await createPlan(tx, app.clock.now(), { ...more, slug: 'gpu', storage: 'LOCAL', traits: ['gpu'] })
      await createPlan(tx, app.clock.now(), { ...more, slug: 'elsewhere', storage: 'LOCAL', regions: ['ams1'] })
    })
    const x86 = await getTemplate(app.db, 'debian-12')
    const templates: Record<string, string> = {
      x86_64: x86.id,
      aarch64: (await app.db.tx((tx) => templateForArch(tx, app.clock.now(), x86, 'aarch64', null))).id,
    }
    await app.db.run(sql`update os_templates set min_ram_mib = 1, min_disk_gib = 1`)
    const seen = new Map<string, number>()
    for (let round = 0; round < 5; round++) {
      for (const { id } of hosts) {
        const [vcpu, ram, disk] = [1 + upTo(64), 1024 * (1 + upTo(64)), 30 + upTo(600)]
        const dedicated = random() < 0.4 ? Array.from({ length: 1 + upTo(3) }, (_, cpu) => cpu) : []
        await app.db.run(sql`
          update hosts set vcpu_total = ${vcpu}, ram_total_mib = ${ram}, disk_total_gib = ${disk}, vcpu_used = ${upTo(vcpu)}, ram_used_mib = ${upTo(ram)},
            disk_used_gib = ${upTo(disk)}, maintenance = ${random() < 0.15}, unreachable_since = ${random() < 0.1 ? app.clock.now() : null},
            traits = ${random() < 0.3 ? ['gpu'] : []}, dedicated_cpus = ${dedicated}::int[], arch = ${oneOf([null, 'x86_64', 'aarch64'])}
          where id = ${id}`)
      }
      await app.db.run(sql`update storage_backends set used_gib = ${upTo(280)}, free_gib = ${upTo(300)}`)
      await app.db.run(sql`update regions set available = ${random() < 0.9}`)
      for (const { region, plan, architecture, available: isAvailable, code } of await look()) {
        const body = { regionId: region.id, planId: plan.id, osTemplateId: templates[architecture], hostname: 'web' }
        const { status, headers } = await customer.post('/vms?dryRun=true', body)
        const said = `${region.slug} ${plan.slug} ${architecture}: ${code}`
        const refusal = ['region_closed', 'plan_not_offered'].includes(code!) ? 'unavailable' : 'no_capacity'
        expect([said, status === 200, headers['x-error-code']]).toEqual([said, isAvailable, isAvailable ? undefined : refusal])
        seen.set(String(code), 1 + (seen.get(String(code)) ?? 0))
      }
    }
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['full', 'never', 'null', 'plan_not_offered']))
  })
})
