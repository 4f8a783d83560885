// VMs whose disk is in a storage backend: what a customer sees, what is booked, and what is left behind.
import { beforeAll, describe, expect, test } from 'vitest'
import { diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { GIB } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import { createPlan } from '../catalog/service.ts'
import { addSimulatedStorage, getStorageBackend, recordSpace, removeStorageBackend } from '../storage/service.ts'
import { sweepOrphanImages } from './reconcilers/orphan-images.reconciler.ts'

const PLAN = { vcpu: 1, ram_mib: 1024, bandwidth_gb: 1000, network_mbps: 1000, throttleMbps: 10, diskIops: null, diskMiBPerSecond: null }

describe('a VM on replicated storage', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  await app.db.run(
    sql`update catalog_values set value = value * 10 where name in ('quota.vms', 'quota.vcpu', 'quota.ram_mib', 'quota.disk_gib')`,
  )
  const addPlan = async (slug: string, diskGiB: number, vcpu = 1) =>
    (
      await app.db.tx((tx) =>
        createPlan(tx, app.clock.now(), {
          ...PLAN,
          slug,
          name: slug,
          vcpu,
          disk_gib: diskGiB,
          storage: 'REPLICATED',
          price: '10.00',
          available: true,
          regions: null,
        }),
      )
    ).id
  const [planId, larger, huge] = [await addPlan('safe', 20), await addPlan('safer', 30, 2), await addPlan('safest', 900)]
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string; available: boolean; storage: string }[]
  const planOf = (slug: string) => plans.find((plan) => plan.slug === slug)!
  const regionId = ((await customer.get('/regions')).body.data as { id: string }[])[0]!.id
  const osTemplateId = ((await customer.get('/os-templates/debian-12')).body.data as { id: string }).id
  const order = (changes: object = {}) => ({ regionId, osTemplateId, hostname: 'web', planId, ...changes })
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]
  const booked = () =>
    app.db.one<{ pool: number; host: number; ram: number }>(sql`
      select (select used_gib from storage_backends where name = 'pool') as pool, disk_used_gib as host, ram_used_mib as ram
      from hosts where id = ${app.host.id}`)
  const inPool = async (vmId: string) =>
    (
      await app.db.many<{ what: string }>(sql`
        select kind || coalesce(' ' || generation, '') as what from simulated.volumes where vm_id = ${vmId} and storage_id is not null order by 1`)
    ).map(({ what }) => what)
  const act = async (path: string, body?: unknown) => {
    const answer = await customer.post(path, body)
    expect(answer.status, answer.body.error).toBe(202)
    await app.settle()
    return answer.body.data
  }
  const measure = async (freeGiB: number) => {
    const { id } = await getStorageBackend(app.db, 'pool')
    await recordSpace(app.db, id, app.clock.now(), { capacityBytes: 100 * GIB, availableBytes: freeGiB * GIB })
  }

  test('is refused in a region without such storage, and its plan is not offered there', async () => {
    expect([planOf('safe'), planOf('small')]).toMatchObject([
      { storage: 'REPLICATED', available: false, regions: [] },
      { storage: 'LOCAL', available: true },
    ])
    expect(refusal(await customer.post('/vms', order()))).toEqual([
      422,
      'unavailable',
      expect.stringContaining('has no replicated storage: choose a plan with local storage'),
    ])
  })

  describe('of a region that has it', () => {
    let region: string
    beforeAll(async () => {
      region = (await customer.get('/regions')).body.data[0].slug as string
      await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region, sizeGiB: 100, reservePercent: 10 }))
    })

    test('lives, grows, is rebuilt, restored and deleted, and takes room of the pool alone', async () => {
      const before = await booked()
      expect((await customer.get('/plans')).body.data.find((plan: { id: string }) => plan.id === planId)).toMatchObject({
        available: true,
        regions: [region],
      })
      const { id } = await app.given.vm(customer, { planId })
      expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', storage: 'REPLICATED', disk: 20 })
      expect(await inPool(id)).toEqual(['disk 1'])
      expect(await volumesOf(app, id)).toEqual(['disk 1', 'seed 1'])
      expect(await booked()).toEqual({ pool: 20, host: before.host, ram: before.ram + 1024 })

      await diskOf(app, id).write('before')
      const { snapshot } = await act(`/vms/${id}/snapshots`, { name: 'one' })
      expect([await inPool(id), await booked()]).toMatchObject([['disk 1', 'snapshot'], { pool: 40, host: before.host }])
      await act(`/vms/${id}/upgrade`, { planId: larger })
      expect(await booked()).toMatchObject({ pool: 50, host: before.host })
      await act(`/vms/${id}/rebuild`, { osTemplateId })
      expect([await diskOf(app, id).read(), await inPool(id)]).toEqual([null, ['disk 2', 'snapshot']])
      await act(`/vms/${id}/snapshots/${snapshot.id}/restore`)
      expect([await diskOf(app, id).read(), await inPool(id)]).toEqual(['before', ['disk 3', 'snapshot']])
      expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', disk: 30, storage: 'REPLICATED' })
      await app.checkInvariants()
      await expect(app.db.tx((tx) => removeStorageBackend(tx, 'pool'))).rejects.toMatchObject({ code: 'in_use' })

      expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
      await app.settle()
      expect([await inPool(id), await booked()]).toEqual([[], before])
    })

    test('keeps its kind of storage', async () => {
      const [replicated, local] = [await app.given.vm(customer, { planId }), await app.given.vm(customer, { planId: planOf('small').id })]
      const before = await booked()
      const upgrade = (vmId: string, body: object) => customer.post(`/vms/${vmId}/upgrade`, body).then(refusal)
      expect(await upgrade(replicated.id, { planId: planOf('large').id })).toEqual([
        422,
        'incompatible',
        'The disk of this VM is on replicated storage, and plan large has local storage: choose a plan with replicated storage, or create a new VM',
      ])
      expect(await upgrade(replicated.id, { customConfig: { vcpu: 4, ram: 8192, disk: 100 } })).toEqual([
        422,
        'incompatible',
        expect.any(String),
      ])
      expect(await upgrade(local.id, { planId: huge })).toEqual([422, 'incompatible', expect.any(String)])
      expect(await booked()).toEqual(before)
      for (const { id } of [replicated, local]) await customer.delete(`/vms/${id}`)
      await app.settle()
    })

    test('is refused without room above the reserve, booked or measured, and while the pool does not answer', async () => {
      const before = await booked()
      expect(refusal(await customer.post('/vms', order({ planId: huge })))).toMatchObject([
        503,
        'no_capacity',
        expect.stringMatching(/^No capacity in \S+ for 900 GiB of replicated storage: 1 full/),
      ])
      const { id } = await app.given.vm(customer, { planId: larger })
      const second = await app.given.vm(customer, { planId: larger })
      const third = await app.given.vm(customer, { planId: larger })
      expect((await booked()).pool).toBe(90) // all but the reserve
      expect(refusal(await customer.post('/vms', order()))).toEqual([503, 'no_capacity', expect.any(String)])
      expect(refusal(await customer.post(`/vms/${id}/snapshots`, { name: 'x' }))).toEqual([
        503,
        'no_capacity',
        expect.stringContaining('The storage of this VM has no room for a copy of its disk (30 GiB)'),
      ])
      for (const vm of [second, third]) await customer.delete(`/vms/${vm.id}`)
      await app.settle()
      await measure(9)
      expect(refusal(await customer.post('/vms', order()))).toEqual([503, 'no_capacity', expect.any(String)])
      await measure(100)
      await app.db.run(sql`update storage_backends set unreachable_since = now()`)
      expect(refusal(await customer.post('/vms', order()))).toMatchObject([503, 'no_capacity', expect.stringContaining('1 unreachable')])
      await measure(100)
      await customer.delete(`/vms/${id}`)
      await app.settle()
      expect(await booked()).toEqual(before)
    })

    test('that cannot be built or upgraded gives room and money back', async () => {
      const before = await booked()
      const balance = async () => (await customer.get('/wallet')).body.data.balance
      const money = await balance()
      await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
      const { vm } = await act('/vms', order({ hostname: 'broken' }))
      expect((await customer.get(`/vms/${vm.id}`)).body.data).toMatchObject({ status: 'ERROR', storage: 'REPLICATED' })
      expect([await inPool(vm.id), await booked(), await balance()]).toEqual([[], before, money])
      await act(`/vms/${vm.id}/rebuild`, { osTemplateId })
      expect((await customer.get(`/vms/${vm.id}`)).body.data).toMatchObject({ status: 'RUNNING', storage: 'REPLICATED' })
      expect([await inPool(vm.id), (await booked()).pool]).toEqual([['disk 2'], before.pool + 20])

      await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
      await act(`/vms/${vm.id}/upgrade`, { planId: larger })
      expect((await customer.get(`/vms/${vm.id}`)).body.data).toMatchObject({ status: 'RUNNING', disk: 20 })
      await app.simulated.faults.plant({ verb: 'ensureSnapshot', kind: 'permanent' })
      await act(`/vms/${vm.id}/snapshots`, { name: 'x' })
      expect((await booked()).pool).toBe(before.pool + 20)
      await customer.delete(`/vms/${vm.id}`)
      await app.settle()
      expect(await booked()).toEqual(before)
    })

    test('deleted while its host is lost leaves nothing in the pool, once no machine has it open for a day', async () => {
      const { id } = await app.given.vm(customer, { planId })
      const awaySince = (time: Date | null) => app.db.run(sql`update hosts set unreachable_since = ${time} where id = ${app.host.id}`)
      await app.simulated.faults.loseHost()
      await awaySince(new Date(app.clock.now().getTime() - 600_000))
      expect((await customer.delete(`/vms/${id}`)).status).toBe(202)
      await app.settle()
      await sweepOrphanImages.runOnce(app.deps)
      app.clock.advance('25h')
      await sweepOrphanImages.runOnce(app.deps)
      expect(await inPool(id)).toEqual(['disk 1']) // its machine may still run
      await app.simulated.faults.returnHost()
      await awaySince(null)
      await app.rest() // removes the machine
      expect(await inPool(id)).toEqual([])
      const other = await app.given.vm(customer, { planId })
      for (const after of ['10m', '25h'] as const) {
        await sweepOrphanImages.runOnce(app.deps)
        app.clock.advance(after)
      }
      expect(await inPool(other.id)).toEqual(['disk 1'])
      expect(await app.db.many(sql`select vm_id from orphan_images`)).toEqual([])
    })
  })
})
