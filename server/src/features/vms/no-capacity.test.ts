// A refusal for want of room says what is missing and what can be had instead, and nothing else.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenRegion } from '../../../test/hosts.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { changePlan, getPlan, getRegion } from '../catalog/service.ts'
import { addPool } from '../hosts/service.ts'

describe('no capacity', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const elsewhere = await givenRegion(app, 'ams1')
  await app.db.tx((tx) =>
    addPool(tx, app.clock.now(), { regionId: elsewhere.region_id, hostId: null, cidr: '198.18.40.0/24', gateway: '198.18.40.1', dns: [] }),
  )
  const region = await getRegion(app.db, app.host.region_id)
  const customer = await app.given.customer({ credit: '1000.00' })
  const planId = (await getPlan(app.db, 'medium')).id
  const osTemplateId = ((await customer.get('/os-templates/debian-12')).body.data as { id: string }).id
  const ask = async (changes: object = {}) => {
    const body = { regionId: region.id, osTemplateId, hostname: 'web', planId, ...changes }
    const answer = await customer.post('/vms', body, { accept: 'application/problem+json' })
    expect(answer.status).toBe(503)
    return answer.body as unknown as { code: string; detail: string; missing: string[]; alternatives: object }
  }
  const limit = (ramMiB: number, hostId = app.host.id) => app.db.run(sql`update hosts set ram_total_mib = ${ramMiB} where id = ${hostId}`)
  const { ram_mib } = await getPlan(app.db, 'medium')

  test('names the resource, another region and smaller plans with room', async () => {
    await limit(ram_mib - 1)
    const { code, detail, missing, alternatives } = await ask()
    expect([code, missing]).toEqual(['no_capacity', ['ram']])
    expect(alternatives).toEqual({ regions: ['ams1'], plans: ['small', 'nano'], later: false })
    expect(detail).toContain('1 host checked, 1 full (RAM). There is room for it in ams1 now')
    expect(detail).toContain(`No host of ${region.slug} could ever take it: waiting does not help`)
    expect(JSON.stringify({ detail, alternatives })).not.toMatch(new RegExp(`${app.host.name}\\b|${elsewhere.name}|${ram_mib - 1}`))
    expect((await customer.post('/vms?dryRun=true', { regionId: region.id, osTemplateId, hostname: 'web', planId })).status).toBe(503)
  })

  test('another region is left out where it is full, not offered, or bound by a network', async () => {
    const network = (await customer.post('/networks', { name: 'n', nodeId: app.host.id, cidr: '10.1.0.0/24' })).body.data
    expect((await ask({ privateNetworkIds: [network.id] })).alternatives).toMatchObject({ regions: [] })
    await app.db.run(sql`update regions set available = false where slug = 'ams1'`)
    expect((await ask()).alternatives).toMatchObject({ regions: [] })
    await app.db.run(sql`update regions set available = true where slug = 'ams1'`)
    await app.db.run(
      sql`update free_addresses set available_at = 'infinity' where pool_id in (select id from address_pools where region_id = ${elsewhere.region_id})`,
    )
    expect((await ask()).alternatives).toMatchObject({ regions: [] })
    await limit(1, elsewhere.id)
    expect((await ask()).alternatives).toMatchObject({ regions: [] })
  })

  test('is worth waiting for where a host is only full or away', async () => {
    await limit(1_000_000)
    await app.db.run(sql`update hosts set maintenance = true where id = ${app.host.id}`)
    const { detail, missing, alternatives } = await ask()
    expect([missing, alternatives]).toEqual([['host'], { regions: [], plans: [], later: true }])
    expect(detail).toMatch(/1 in maintenance\. Try again later$/)
    await app.db.run(sql`update hosts set maintenance = false`)
  })

  test('names traits, dedicated CPUs, the placement group and addresses', async () => {
    await app.db.tx((tx) => changePlan(tx, 'medium', { traits: ['gpu'] }))
    expect(await ask()).toMatchObject({ missing: ['trait'], detail: expect.stringContaining('1 without gpu') })
    await app.db.tx((tx) => changePlan(tx, 'medium', { traits: [], dedicatedCpu: true }))
    expect(await ask()).toMatchObject({ missing: ['dedicated_cpu'], detail: expect.stringContaining('1 full (dedicated CPUs)') })
    await app.db.tx((tx) => changePlan(tx, 'medium', { dedicatedCpu: false }))
    const group = (await customer.post('/placement-groups', { name: 'g', policy: 'STRICT_SPREAD' })).body.data
    await app.given.vm(customer, { planId, placementGroupId: group.id })
    expect(await ask({ placementGroupId: group.id })).toMatchObject({ missing: ['placement_group'] })
    await app.db.run(sql`update free_addresses set available_at = 'infinity'`)
    expect(await ask()).toMatchObject({ missing: ['address'], alternatives: { regions: [], plans: [] } })
  })
})
