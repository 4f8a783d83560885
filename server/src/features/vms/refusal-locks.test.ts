// What is looked up to say more in a refusal for want of room keeps nobody waiting who asks for room too.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { createPlan, getPlan } from '../catalog/service.ts'
import { addSimulatedStorage } from '../storage/service.ts'

const PLAN = { vcpu: 1, bandwidth_gb: 1000, network_mbps: 1000, throttleMbps: 10, diskIops: null, diskMiBPerSecond: null, regions: null }

describe('a refusal for want of room', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region: 'fra1', sizeGiB: 45, reservePercent: 0 }))
  const addPlan = async (slug: string, diskGiB: number, ramMiB: number, price: string) => {
    const plan = { ...PLAN, slug, name: slug, disk_gib: diskGiB, ram_mib: ramMiB, price, available: true, storage: 'REPLICATED' as const }
    return (await app.db.tx((tx) => createPlan(tx, app.clock.now(), plan))).id
  }
  const safe = await addPlan('safe', 20, 1024, '10.00')
  await addPlan('safer', 30, 1024, '11.00')
  const safest = await addPlan('safest', 40, 4096, '12.00')
  const other = await addPlan('other', 20, 4096, '9.00')
  const [regionId, osTemplateId] = [app.host.region_id, ((await customer.get('/os-templates/debian-12')).body.data as { id: string }).id]
  const vm = await app.given.vm(customer, { planId: safe })
  await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib + 1024`)

  const create = (planId: string) => customer.post('/vms', { regionId, osTemplateId, hostname: 'web', planId })
  const resize = (planId: string) => customer.post(`/vms/${vm.id}/resize`, { planId }, { accept: 'application/problem+json' })
  const waiting = () =>
    app.db
      .many(sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      .then(({ length }) => length)

  const asks: [string, () => Promise<{ status: number }>][] = [
    ['a resize whose storage was booked before its host was found full', () => resize(safest)],
    ['a VM whose storage was booked before all hosts were found full', () => create(other)],
    [
      'a VM whose host was booked before no address was found',
      async () => {
        await app.db.run(sql`update free_addresses set available_at = 'infinity'`)
        return create((await getPlan(app.db, 'nano')).id)
      },
    ],
  ]

  test.each(asks)('of %s locks neither storage nor hosts while its advice is looked up', async (_what, ask) => {
    let refused: Promise<{ status: number }>
    await app.db.tx(async (tx) => {
      await tx.run(sql`lock table cpu_pins in access exclusive mode`) // of these only the advice reads it
      refused = ask()
      await expect.poll(waiting, { timeout: 10_000 }).toBe(1)
      await app.db.many(sql`select id from storage_backends for update nowait`)
      await app.db.many(sql`select id from hosts for update nowait`)
    })
    expect((await refused!).status).toBe(503)
    await app.checkInvariants()
  })

  test('counts nothing that it had booked itself', async () => {
    const { status, body } = await resize(safest)
    expect([status, body]).toMatchObject([503, { missing: ['ram'], alternatives: { plans: ['safer'], later: true } }])
  })
})
