// Plans with dedicated CPUs: what a customer sees, which CPUs VMs have, and that nobody gets one twice.
import { beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { checkInvariants, formatFailures } from '../../invariants/check.ts'
import { changePlan, createPlan } from '../catalog/service.ts'
import { previewDrain } from '../fleet/service.ts'
import { changeHost, getHost } from '../hosts/service.ts'
import { applyCpus } from './reconcilers/apply-cpus.reconciler.ts'
import { applyPorts } from './reconcilers/apply-ports.reconciler.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'
import { startMigration } from './service.ts'

const soon = () => AbortSignal.timeout(10_000)

describe('dedicated CPUs', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  await app.db.run(sql`update hosts set vcpu_total = 32, cpu_nodes = null, ram_total_mib = 1000000`)
  const other = await givenHost(app, 'other')
  const customer = await app.given.customer({ credit: '10000.00' })
  const size = {
    ram_mib: 1024,
    disk_gib: 10,
    bandwidth_gb: 1000,
    network_mbps: 1000,
    throttleMbps: 10,
    diskIops: null,
    diskMiBPerSecond: null,
  }
  const addPlan = async (slug: string, vcpu: number, dedicatedCpu: boolean) =>
    (
      await app.db.tx((tx) =>
        createPlan(tx, app.clock.now(), {
          ...size,
          slug,
          name: slug,
          vcpu,
          storage: 'LOCAL',
          price: '10.00',
          dedicatedCpu,
          available: true,
          regions: null,
        }),
      )
    ).id
  const [two, four, shared] = [await addPlan('d2', 2, true), await addPlan('d4', 4, true), await addPlan('s2', 2, false)]
  const dedicate = async (name: string, cpus: number[]) =>
    app.db.tx(async (tx) => changeHost(tx, await getHost(tx, name), { dedicatedCpus: cpus }))
  const cpusOf = async (vmId: string, hostId: string) => (await (await app.deps.hypervisors.get(hostId)).findMachine(vmId, soon()))?.cpus
  const pins = async (hostId: string) =>
    app.db.many<{ vm_id: string; cpu: number }>(sql`select vm_id, cpu from cpu_pins where host_id = ${hostId} order by cpu`)
  const taken = async (hostId = app.host.id) => (await pins(hostId)).map(({ cpu }) => cpu)
  const broken = async () => {
    await applyPorts.runOnce(app.deps)
    return formatFailures(await checkInvariants(app.deps))
  }
  const post = async (path: string, body?: object) => {
    const answer = await customer.post(path, body)
    await app.settle()
    return answer
  }
  const remove = async (id: string) => {
    await customer.delete(`/vms/${id}`)
    await app.settle()
  }
  const here = (planId: string) => placeOn(app, app.host.id, () => app.given.vm(customer, { planId }))

  beforeEach(async () => {
    for (const { id } of await app.db.many<{ id: string }>(sql`select id from vms`)) await remove(id)
    for (const name of [app.host.name, 'other']) await dedicate(name, [4, 5, 6, 7])
  })

  test('are a property of plans and VMs, and shared VMs are kept off them', async () => {
    const plans = (await customer.get('/plans')).body.data as { slug: string; dedicatedCpu: boolean }[]
    expect(plans.find(({ slug }) => slug === 'd2')).toMatchObject({ dedicatedCpu: true, traits: [], available: true })
    expect(plans.find(({ slug }) => slug === 's2')).toMatchObject({ dedicatedCpu: false })
    const [own, common] = [await here(two), await here(shared)]
    expect((await customer.get(`/vms/${own.id}`)).body.data).toMatchObject({ dedicatedCpu: true, vcpu: 2 })
    expect(await cpusOf(own.id, app.host.id)).toEqual({ cpus: [4, 5], numaNode: 0 })
    expect((await cpusOf(common.id, app.host.id))!.cpus).toEqual([...Array(32).keys()].filter((cpu) => cpu < 4 || cpu > 7))
    const { vcpu_used } = await getHost(app.db, app.host.id)
    expect([vcpu_used, await taken(), await broken()]).toEqual([2, [4, 5], ''])
    await post(`/vms/${own.id}/restart`)
    expect(await cpusOf(own.id, app.host.id)).toEqual({ cpus: [4, 5], numaNode: 0 })
    await remove(own.id)
    expect([await taken(), await broken()]).toEqual([[], ''])
  })

  test('are sold once, also to 20 that ask at the same time', async () => {
    const osTemplateId = ((await customer.get('/os-templates/debian-12')).body.data as { id: string }).id
    const order = (hostname: string) => ({ regionId: app.host.region_id, osTemplateId, hostname, planId: two })
    const balance = async () => (await customer.get('/wallet')).body.data.balance
    const before = await balance()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => customer.post('/vms', order(`vm-${i}`))))
    const codes = Map.groupBy(answers, ({ status, headers }) => `${status} ${headers['x-error-code'] ?? ''}`)
    expect(Object.fromEntries([...codes].map(([code, all]) => [code, all.length]))).toEqual({ '202 ': 4, '503 no_capacity': 16 })
    await app.settle()
    expect([await taken(), await taken(other.id), await broken()]).toEqual([[4, 5, 6, 7], [4, 5, 6, 7], ''])
    expect(Number(before) - Number(await balance())).toBe(40)
  })

  test('are of one NUMA node', async () => {
    await app.db.run(sql`update hosts set cpu_nodes = array[0,0,0,0,0,0,1,1] || array_fill(1, array[24]) where id = ${app.host.id}`)
    const [first, second] = [await here(two), await here(two)]
    expect([await cpusOf(first.id, app.host.id), await cpusOf(second.id, app.host.id)]).toEqual([
      { cpus: [4, 5], numaNode: 0 },
      { cpus: [6, 7], numaNode: 1 },
    ])
    await remove(first.id)
    await remove(second.id)
    await expect(here(four)).rejects.toThrow('503') // two of each node are free
    await app.db.run(sql`update hosts set cpu_nodes = null`)
  })

  test('grow with an upgrade, and are given back when it fails', async () => {
    const { id } = await here(two)
    await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    expect((await post(`/vms/${id}/upgrade`, { planId: four })).status).toBe(202)
    expect([await taken(), await cpusOf(id, app.host.id), await broken()]).toEqual([[4, 5], { cpus: [4, 5], numaNode: 0 }, ''])
    expect((await post(`/vms/${id}/upgrade`, { planId: four })).status).toBe(202)
    expect([await taken(), await cpusOf(id, app.host.id), await broken()]).toEqual([[4, 5, 6, 7], { cpus: [4, 5, 6, 7], numaNode: 0 }, ''])
    const common = await here(shared)
    expect(await post(`/vms/${common.id}/upgrade`, { planId: four })).toMatchObject({
      status: 422,
      headers: { 'x-error-code': 'incompatible' },
    })
    await remove(id)
    await dedicate('other', [])
    const [one, another] = [await here(two), await here(two)]
    expect(await post(`/vms/${one.id}/upgrade`, { planId: four })).toMatchObject({
      status: 503,
      headers: { 'x-error-code': 'no_capacity' },
    })
    expect([await taken(), await broken(), another.id]).toEqual([[4, 5, 6, 7], '', expect.any(String)])
  })

  test('grow on another host where this one has too few, and shrink with the VM', async () => {
    const [one] = [await here(two), await here(two)]
    await controlOf(app, other.id).faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    await post(`/vms/${one.id}/resize`, { planId: four })
    expect(await broken()).toBe('')
    expect([await taken(), await taken(other.id)]).toEqual([
      [6, 7],
      [4, 5],
    ])
    await post(`/vms/${one.id}/upgrade`, { planId: four })
    expect([await taken(), await taken(other.id), await broken()]).toEqual([[6, 7], [4, 5, 6, 7], ''])
    expect(await cpusOf(one.id, other.id)).toEqual({ cpus: [4, 5, 6, 7], numaNode: 0 })
    await post(`/vms/${one.id}/resize`, { planId: two })
    expect([await taken(other.id), await cpusOf(one.id, other.id), await broken()]).toEqual([[4, 5], { cpus: [4, 5], numaNode: 0 }, ''])
    expect(await post(`/vms/${one.id}/resize`, { planId: shared })).toMatchObject({ status: 422 })
  })

  test('are free while the VM is shelved', async () => {
    await sellReplicated(app)
    const plan = await addPlan('r2', 2, true)
    await app.db.run(sql`update plans set storage = 'REPLICATED' where id = ${plan}`)
    const { id } = await here(plan)
    await post(`/vms/${id}/shelve`)
    await reconcileStaleMachines.runOnce(app.deps)
    expect([await taken(), await broken()]).toEqual([[], ''])
    await placeOn(app, app.host.id, () => post(`/vms/${id}/unshelve`))
    expect([await taken(), await cpusOf(id, app.host.id), await broken()]).toEqual([[4, 5], { cpus: [4, 5], numaNode: 0 }, ''])
    await app.db.run(sql`update plans set storage = 'LOCAL'`)
  })

  test('move with the VM: others on the new host, and those of the old one are free', async () => {
    const { id } = await here(two)
    await dedicate('other', [8, 9])
    const migrate = async (to: string) => {
      const { actionId } = await app.db.tx((tx) => startMigration(tx, app.deps, id, { to }))
      expect([await taken(), await taken(other.id)]).toEqual([
        [4, 5],
        [8, 9],
      ])
      await app.settle({ subjectId: id })
      return (await customer.get(`/vms/${id}/actions/${actionId}`)).body.data.status
    }
    await controlOf(app, app.host.id).faults.plant({ verb: 'ensureMigrated', kind: 'permanent' })
    expect(await migrate('other')).toBe('FAILED')
    expect([await taken(), await taken(other.id), await broken()]).toEqual([[4, 5], [], ''])
    expect(await migrate('other')).toBe('COMPLETED')
    expect([await taken(), await taken(other.id), await broken()]).toEqual([[], [8, 9], ''])
    expect(await cpusOf(id, other.id)).toEqual({ cpus: [8, 9], numaNode: 0 })
    await dedicate(app.host.name, [])
    const drain = await previewDrain(app.deps, await getHost(app.db, 'other'))
    expect(drain.stays).toMatchObject([{ reason: expect.stringContaining('1 full') }])
  })

  test('change only where no VM has them, and shared machines that run follow', async () => {
    const [own, common] = [await here(two), await here(shared)]
    await expect(dedicate(app.host.name, [5, 6])).rejects.toThrow('dedicated VMs have CPU 4')
    await dedicate(app.host.name, [4, 5])
    await applyCpus.runOnce(app.deps)
    expect((await cpusOf(common.id, app.host.id))!.cpus).toEqual([...Array(32).keys()].filter((cpu) => cpu !== 4 && cpu !== 5))
    expect(await cpusOf(own.id, app.host.id)).toEqual({ cpus: [4, 5], numaNode: 0 })
    const { cpus_version, cpus_applied } = await getHost(app.db, app.host.id)
    expect(cpus_applied).toBe(cpus_version)
    await remove(own.id)
    await dedicate(app.host.name, [])
    await app.simulated.faults.plant({ verb: 'ensureCpus', kind: 'transient' })
    await applyCpus.runOnce(app.deps)
    expect((await cpusOf(common.id, app.host.id))!.cpus).toHaveLength(30) // tried again later
    await applyCpus.runOnce(app.deps)
    expect(await cpusOf(common.id, app.host.id)).toBe(null)
  })

  test('traits of a plan are kept to when its VMs move', async () => {
    await app.db.tx((tx) => changePlan(tx, 's2', { traits: ['gpu'] }))
    await app.db.run(sql`update hosts set traits = '{gpu}' where id = ${app.host.id}`)
    const { id } = await app.given.vm(customer, { planId: shared })
    await expect(app.db.tx((tx) => startMigration(tx, app.deps, id, { to: 'other' }))).rejects.toThrow('1 host checked, 1 without gpu')
    await app.db.run(sql`update hosts set traits = '{gpu}'`)
    expect((await app.db.tx((tx) => startMigration(tx, app.deps, id, {}))).to).toBe('other')
    await app.settle()
    await app.db.run(sql`update hosts set traits = '{}'`)
    await app.db.tx((tx) => changePlan(tx, 's2', { traits: [] }))
  })

  test('a host that was chosen for its traits is not had for the price of another plan', async () => {
    await app.db.tx((tx) => changePlan(tx, 's2', { traits: ['gpu'] }))
    await app.db.run(sql`update hosts set traits = '{gpu}' where id = ${app.host.id}`)
    const { id } = await app.given.vm(customer, { planId: shared })
    const nano = ((await customer.get('/plans')).body.data as { id: string; slug: string }[]).find(({ slug }) => slug === 'nano')!
    for (const to of [
      { planId: nano.id },
      { customConfig: { vcpu: 1, ram: 512, disk: 10 } },
      { customConfig: { vcpu: 4, ram: 4096, disk: 10 } },
    ]) {
      const { status, headers, body } = await customer.post(`/vms/${id}/resize`, to)
      expect([status, headers['x-error-code'], body.error]).toEqual([
        422,
        'incompatible',
        expect.stringContaining('is on a host with gpu, which'),
      ])
    }
    await app.db.tx((tx) => changePlan(tx, 'nano', { traits: ['gpu'] }))
    expect((await customer.post(`/vms/${id}/resize`, { planId: nano.id })).status).toBe(202)
    await app.settle()
    await app.db.run(sql`update hosts set traits = '{}'`)
    for (const slug of ['s2', 'nano']) await app.db.tx((tx) => changePlan(tx, slug, { traits: [] }))
  })
})
