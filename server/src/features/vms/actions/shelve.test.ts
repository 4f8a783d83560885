import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../../test/backup-target-fixture.ts'
import { testApp } from '../../../../test/harness.ts'
import { controlOf } from '../../../../test/hosts.ts'
import { sellReplicated } from '../../../../test/replicated-storage.ts'
import { allowManyVms, diskOf, givenSecondHost, volumesOf } from '../../../../test/snapshot-backup-fixture.ts'
import { BackupTargetError } from '../../../backup-target/errors.ts'
import { sql } from '../../../kernel/database/db.ts'
import { dailyBackups } from '../../backups/daily.reconciler.ts'
import { removeInTargets } from '../../backups/purge-targets.reconciler.ts'
import { reconcileStaleMachines } from '../reconcilers/stale-machines.reconciler.ts'
import { unmanage } from '../service.ts'

describe('POST /vms/{id}/shelve and /unshelve', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const store = await givenBackupTarget(app)
  const customer = await app.given.customer({ credit: '10000.00' })

  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const post = async (id: string, verb: string) => {
    const answer = await customer.post(`/vms/${id}/${verb}`)
    await app.settle({ subjectId: id })
    return answer
  }
  const clean = async () => {
    await reconcileStaleMachines.runOnce(app.deps)
    await removeInTargets.runOnce(app.deps)
  }
  /** And gone from its host. */
  const shelved = async (input: Record<string, unknown> = {}): Promise<string> => {
    const { id } = await app.given.vm(customer, input)
    expect(await post(id, 'shelve')).toMatchObject({ status: 202 })
    await clean()
    return id
  }
  const used = (id = app.host.id) => app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts where id = ${id}`)
  const manifestsOf = async (vmId: string): Promise<number> => {
    const row = await app.db.maybe<{ id: string }>(sql`select id from backup_repositories where vm_id = ${vmId}`)
    return row ? store.keys(`${row.id}/manifests/`).length : 0
  }
  const portsOf = (vmId: string) => app.db.many(sql`select mac::text, addresses from simulated.ports where vm_id = ${vmId} order by 1`)
  const eventsOf = async (id: string): Promise<string[]> =>
    (await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} order by number`)).map(({ type }) => type)
  const lastAction = async (id: string) => (await customer.get(`/vms/${id}/actions?limit=1`)).body.data[0]

  test('takes a VM off its host and brings it back with the same identity and disk', async () => {
    const nodeId = app.host.id
    const network = (await customer.post('/networks', { name: 'inside', nodeId, cidr: '10.8.0.0/24' })).body.data
    const firewall = (await customer.post('/firewalls', { name: 'web' })).body.data
    await app.rest()
    const empty = await used()
    const { id } = await app.given.vm(customer, { privateNetworkIds: [network.id], firewallIds: [firewall.id] })
    await diskOf(app, id).write('kept')
    const [before, ports] = [await vm(id), await portsOf(id)]
    expect(ports).toHaveLength(2)

    const answer = await customer.post(`/vms/${id}/shelve`)
    expect(answer.status).toBe(202)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', shelvedAt: null, currentAction: { action: 'SHELVE' }, allowedActions: [] })
    await app.settle({ subjectId: id })
    const away = await vm(id)
    expect(away).toMatchObject({
      status: 'STOPPED',
      statusReason: 'Shelved by its owner',
      shelvedAt: app.clock.now().toISOString(),
      billing: { priceMonthly: '2.50' },
      allowedActions: ['delete', 'unshelve'],
    })
    const identity = ['id', 'name', 'hostname', 'ipAddress', 'ipv6Address', 'privateNetworks', 'firewalls', 'plan', 'osTemplate', 'sshKeys']
    for (const field of identity) expect([field, away[field]]).toEqual([field, before[field]])
    expect(await used()).toEqual(empty)
    expect(await portsOf(id)).toEqual([])
    await clean()
    expect(await volumesOf(app, id)).toEqual([])
    expect(await manifestsOf(id)).toBe(1)
    expect((await customer.get('/vms?shelved=true')).body.data).toMatchObject([{ id }])
    const other = await app.given.vm(customer)
    const reach = (await customer.post(`/vms/${other.id}/reach`, { to: id, protocol: 'ICMP' })).body.data
    expect(reach.steps.at(-1)).toMatchObject({ step: 'RECEIVER', detail: `${before.name} is shelved`, remedy: 'Unshelve it' })
    await app.rest()
    await app.checkInvariants()

    expect((await post(id, 'unshelve')).status).toBe(202)
    const back = await vm(id)
    expect(back).toMatchObject({ status: 'RUNNING', readiness: 'reachable', shelvedAt: null, billing: { priceMonthly: '6.00' } })
    for (const field of identity) expect([field, back[field]]).toEqual([field, before[field]])
    expect(await diskOf(app, id).read()).toBe('kept')
    expect(await portsOf(id)).toEqual(ports)
    expect(await volumesOf(app, id)).toEqual(['disk 2', 'seed 2'])
    await clean()
    expect(await manifestsOf(id)).toBe(0)
    expect(await app.db.many(sql`select from shelved_disks where vm_id = ${id}`)).toEqual([])
    expect((await eventsOf(id)).slice(-3)).toEqual(['vm.shelved', 'vm.unshelved', 'vm.started'])
    await app.rest()
    await app.checkInvariants()
  })

  test('leaves a VM off that was off', async () => {
    const { id } = await app.given.vm(customer)
    await post(id, 'stop')
    await diskOf(app, id).write('off')
    await post(id, 'shelve')
    await clean()
    await post(id, 'unshelve')
    expect(await vm(id)).toMatchObject({ status: 'STOPPED', shelvedAt: null })
    expect((await eventsOf(id)).at(-1)).toBe('vm.unshelved')
    expect(await diskOf(app, id).read()).toBe('off')
    await post(id, 'start')
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
  })

  test('keeps its volumes off its host, its floating addresses, its placement group and its backups', async () => {
    await app.db.run(sql`update address_pools set host_id = null`)
    const group = (await customer.post('/placement-groups', { name: 'apart', policy: 'STRICT_SPREAD' })).body.data
    const { id } = await app.given.vm(customer, { placementGroupId: group.id })
    const { regionId } = await app.given.vmInput()
    const address = (await customer.post('/addresses', { regionId })).body.data
    await customer.post(`/addresses/${address.id}/assignment`, { vmId: id })
    await customer.post(`/vms/${id}/backups`, { name: 'before' })
    await app.settle()
    await post(id, 'shelve')
    await clean()
    expect((await customer.get(`/addresses/${address.id}`)).body.data).toMatchObject({ vmId: id })
    expect((await customer.get(`/vms/${id}/backups`)).body.data).toMatchObject([{ name: 'before', status: 'AVAILABLE' }])
    expect(await vm(id)).toMatchObject({ placementGroup: { id: group.id } })
    expect((await customer.get(`/placement-groups/${group.id}`)).body.data).toMatchObject({ hostCount: 0 })
    // Its host is free for another of the group, which then keeps it away.
    const other = await app.given.vm(customer, { placementGroupId: group.id })
    expect(await customer.post(`/vms/${id}/unshelve`)).toMatchObject({ status: 503, headers: { 'x-error-code': 'no_capacity' } })
    expect(await vm(id)).toMatchObject({ shelvedAt: expect.any(String), billing: { priceMonthly: '2.50' } })
    await customer.delete(`/vms/${other.id}`)
    await app.settle()
    await post(id, 'unshelve')
    expect(await portsOf(id)).toMatchObject([{ addresses: expect.arrayContaining([address.address]) }])
    await customer.post(`/addresses/${address.id}/unassign`)
    await app.settle()
  })

  test('a floating address leaves a shelved VM', async () => {
    await app.db.run(sql`update address_pools set host_id = null`)
    const { regionId } = await app.given.vmInput()
    const address = (await customer.post('/addresses', { regionId })).body.data
    const [{ id }, { id: heir }] = [await app.given.vm(customer), await app.given.vm(customer)]
    await customer.post(`/addresses/${address.id}/assignment`, { vmId: id })
    await app.settle()
    await post(id, 'shelve')
    await customer.post(`/addresses/${address.id}/assignment`, { vmId: heir })
    await app.settle()
    expect((await customer.get(`/addresses/${address.id}`)).body.data).toMatchObject({ vmId: heir })
    const refused = await customer.post(`/addresses/${address.id}/assignment`, { vmId: id })
    expect(refused).toMatchObject({ status: 409 })
  })

  test('refuses everything else while it is shelved, in words', async () => {
    const id = await shelved()
    const { osTemplateId } = await app.given.vmInput()
    const planId = (await customer.get('/plans')).body.data.find(({ slug }: { slug: string }) => slug === 'large').id
    const refusals = [
      await customer.post(`/vms/${id}/shelve`),
      await customer.post(`/vms/${id}/start`),
      await customer.post(`/vms/${id}/stop`),
      await customer.post(`/vms/${id}/restart`),
      await customer.post(`/vms/${id}/upgrade`, { planId }),
      await customer.post(`/vms/${id}/rebuild`, { osTemplateId }),
      await customer.post(`/vms/${id}/password`, { password: 'a new password' }),
      await customer.post(`/vms/${id}/snapshots`, { name: 'x' }),
      await customer.post(`/vms/${id}/backups`, { name: 'x' }),
      await customer.post(`/vms/${id}/console`, { type: 'serial' }),
      await customer.post('/images', { name: 'x', vmId: id }),
    ]
    for (const { status, headers, body } of refusals)
      expect([status, headers['x-error-code'], body.error]).toEqual([409, 'invalid_state', 'VM is shelved: unshelve it first'])
    for (const change of [{ dailyBackupEnabled: true }, { network10gEnabled: true }])
      expect(await customer.patch(`/vms/${id}`, change)).toMatchObject({ status: 409, headers: { 'x-error-code': 'invalid_state' } })
    expect(await customer.post(`/vms/${id}/bandwidth/packs`, { gigabytes: 1000 })).toMatchObject({ status: 409 })
    await expect(app.db.tx((tx) => unmanage(tx, app.deps, id))).rejects.toThrow('VM is shelved')
    expect(await customer.patch(`/vms/${id}`, { name: 'renamed', isProtected: true })).toMatchObject({
      status: 200,
      body: { data: { name: 'renamed' } },
    })
    expect(await customer.post(`/vms/${id}/unshelve`)).toMatchObject({ status: 202 })
    expect(await customer.post(`/vms/${id}/unshelve`)).toMatchObject({ status: 409, headers: { 'x-error-code': 'busy' } })
    await app.settle()
    expect((await customer.post(`/vms/${id}/unshelve`)).body.error).toBe('VM is not shelved')
  })

  test('refuses a VM whose snapshots or volumes are on its host', async () => {
    const { id } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${id}/snapshots`, { name: 'before' })).body.data
    await app.settle()
    for (const query of ['', '?dryRun=true'])
      expect(await customer.post(`/vms/${id}/shelve${query}`)).toMatchObject({ status: 409, headers: { 'x-error-code': 'in_use' } })
    await customer.delete(`/vms/${id}/snapshots/${snapshot.id}`)
    await app.settle()
    const { regionId } = await app.given.vmInput()
    const volume = (await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId, vmId: id })).body.data
    await app.settle()
    const { status, body } = await customer.post(`/vms/${id}/shelve`)
    expect([status, body.error]).toEqual([409, 'The VM has volumes on the local storage of its host (data): detach them first'])
    await customer.post(`/volumes/${volume.id}/detach`)
    await app.settle()
    expect((await post(id, 'shelve')).status).toBe(202)
    expect(await vm(id)).toMatchObject({ shelvedAt: expect.any(String) })
  })

  test('is gone from host, bucket and pool when it is deleted, and its unused days are refunded', async () => {
    const id = await shelved()
    const before = Number((await customer.get('/wallet')).body.data.balance)
    await customer.delete(`/vms/${id}`)
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
    expect(Number((await customer.get('/wallet')).body.data.balance)).toBeGreaterThan(before)
    await clean()
    expect(await app.db.many(sql`select from backup_repositories where vm_id = ${id}`)).toEqual([])
    expect(await app.db.many(sql`select from shelved_disks where vm_id = ${id}`)).toEqual([])
    await app.rest()
    await app.checkInvariants()
  })

  test('that fails leaves the VM running where it was, and nothing in the bucket', async () => {
    const { id } = await app.given.vm(customer)
    await diskOf(app, id).write('safe')
    const [before, capacity, ports] = [await customer.get('/wallet'), await used(), await portsOf(id)]
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('refused', 'the keys were withdrawn')
    }
    await post(id, 'shelve')
    store.before = async () => {}
    expect(await lastAction(id)).toMatchObject({ action: 'SHELVE', status: 'FAILED', error: 'The backup storage refused access.' })
    expect(await vm(id)).toMatchObject({
      status: 'RUNNING',
      shelvedAt: null,
      statusReason: 'It could not be shelved, and is where it was: The backup storage refused access.',
    })
    expect((await eventsOf(id)).at(-1)).toBe('vm.shelve_failed')
    expect([(await customer.get('/wallet')).body, await used(), await portsOf(id)]).toEqual([before.body, capacity, ports])
    expect([await diskOf(app, id).read(), await volumesOf(app, id)]).toEqual(['safe', ['disk 1', 'seed 1']])
    await clean()
    const { id: repository } = await app.db.one<{ id: string }>(sql`select id from backup_repositories where vm_id = ${id}`)
    expect(store.keys(`data/${repository}`)).toEqual([])
    await app.rest()
    await app.checkInvariants()
  })

  test('a disk that was stored damaged is noticed before that on the host is deleted', async () => {
    const { id } = await app.given.vm(customer)
    await diskOf(app, id).write('safe')
    store.before = async (call, key) => {
      if (call !== 'get' || !key.includes('/chunks/')) return
      const [version] = store.objects.get(key)!
      version!.body = Buffer.from(version!.body!.map((byte) => byte ^ 1))
    }
    await post(id, 'shelve')
    store.before = async () => {}
    expect(await lastAction(id)).toMatchObject({ status: 'FAILED', error: 'Data of the backup is damaged.' })
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', shelvedAt: null })
    expect(await diskOf(app, id).read()).toBe('safe')
    await clean()
  })

  test('unshelving that fails leaves it shelved as before, and costs nothing', async () => {
    const id = await shelved()
    const [before, wallet, capacity] = [await vm(id), await customer.get('/wallet'), await used()]
    store.before = async (call, key) => {
      if (call === 'get' && key.includes('/chunks/')) throw new BackupTargetError('refused', 'the keys were withdrawn')
    }
    await post(id, 'unshelve')
    store.before = async () => {}
    expect(await lastAction(id)).toMatchObject({ action: 'UNSHELVE', status: 'FAILED' })
    const after = await vm(id)
    expect(after).toMatchObject({ shelvedAt: before.shelvedAt, billing: before.billing, ipAddress: before.ipAddress })
    expect(after.statusReason).toBe('Shelved by its owner. It could not be unshelved: The backup storage refused access.')
    expect([(await customer.get('/wallet')).body, await used(), await portsOf(id)]).toEqual([wallet.body, capacity, []])
    expect(await volumesOf(app, id)).toEqual([])
    expect((await eventsOf(id)).at(-1)).toBe('vm.unshelve_failed')
    await app.rest()
    await app.checkInvariants()
    await post(id, 'unshelve')
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', shelvedAt: null })
  })

  test('without room it stays shelved, and says why', async () => {
    const id = await shelved()
    await app.db.run(sql`update hosts set maintenance = true`)
    for (const query of ['', '?dryRun=true']) {
      const { status, headers, body } = await customer.post(`/vms/${id}/unshelve${query}`)
      expect([status, headers['x-error-code'], body.error]).toEqual([503, 'no_capacity', expect.stringContaining('in maintenance')])
    }
    await app.db.run(sql`update hosts set maintenance = false`)
    expect(await vm(id)).toMatchObject({ shelvedAt: expect.any(String), billing: { priceMonthly: '2.50' } })
  })

  test('makes no daily backups meanwhile', async () => {
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    const backups = async () => (await customer.get(`/vms/${id}/backups`)).body.data.length
    const aDay = async () => {
      for (let hour = 0; hour < 24; hour++) {
        app.clock.advance('1h')
        await dailyBackups.runOnce(app.deps)
        await app.settle({ subjectId: id })
      }
    }
    await dailyBackups.runOnce(app.deps) // its first time is within a day of this
    await aDay()
    expect(await backups()).toBe(1)
    await post(id, 'shelve')
    await clean()
    await aDay()
    await aDay()
    expect(await backups()).toBe(1)
    await post(id, 'unshelve')
    await aDay()
    await aDay()
    expect(await backups()).toBeGreaterThan(1)
  })

  test('a host that is lost meanwhile is cleaned when it returns, and is not chosen before', async () => {
    const { id } = await app.given.vm(customer)
    await post(id, 'shelve')
    const { faults } = controlOf(app, app.host.id)
    await faults.loseHost()
    await reconcileStaleMachines.runOnce(app.deps)
    expect(await customer.post(`/vms/${id}/unshelve`)).toMatchObject({ status: 503 })
    await faults.returnHost()
    expect(await volumesOf(app, id)).toEqual(['disk 1', 'seed 1'])
    await clean()
    expect(await volumesOf(app, id)).toEqual([])
    await post(id, 'unshelve')
    expect(await vm(id)).toMatchObject({ status: 'RUNNING' })
  })

  test('comes back on another host where its addresses are served there', async () => {
    const id = await shelved()
    const second = await givenSecondHost(app)
    await app.db.run(sql`update hosts set maintenance = id <> ${second.id}`)
    await app.db.run(sql`update address_pools set host_id = ${app.host.id} where cidr <> '10.66.0.0/24'`)
    expect(await customer.post(`/vms/${id}/unshelve`)).toMatchObject({ status: 503 })
    await app.db.run(sql`update address_pools set host_id = null where cidr <> '10.66.0.0/24'`)
    const before = await vm(id)
    await post(id, 'unshelve')
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', ipAddress: before.ipAddress })
    expect(await volumesOf(app, id)).toEqual(['disk 2 on second', 'seed 2 on second'])
    await app.db.run(sql`update hosts set maintenance = false`)
  })
})

describe('a region without a backup target', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })

  test('refuses to shelve a VM on local storage, and says what to do', async () => {
    const { id } = await app.given.vm(customer)
    for (const query of ['', '?dryRun=true']) {
      const { status, headers, body } = await customer.post(`/vms/${id}/shelve${query}`)
      expect([status, headers['x-error-code'], body.error]).toEqual([
        422,
        'unavailable',
        'Region fra1 has no backup target to keep the disk of a shelved VM in: ask the provider for one (as an operator: berthd backup-target add)',
      ])
    }
  })

  test('shelves VMs on replicated storage: the disk stays in its pool, with its snapshots and volumes', async () => {
    await sellReplicated(app)
    const pool = () => app.db.one(sql`select used_gib from storage_backends`)
    const host = () => app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts where id = ${app.host.id}`)
    const empty = await host()
    const { id } = await app.given.vm(customer)
    await diskOf(app, id).write('kept')
    await customer.post(`/vms/${id}/snapshots`, { name: 'before' })
    await app.settle()
    const { regionId } = await app.given.vmInput()
    await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId, vmId: id, storage: 'REPLICATED' })
    await app.settle()
    const [booked, before] = [await pool(), (await customer.get(`/vms/${id}`)).body.data]
    await customer.post(`/vms/${id}/shelve`)
    await app.settle()
    await reconcileStaleMachines.runOnce(app.deps)
    expect([await host(), await pool()]).toEqual([empty, booked])
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ shelvedAt: expect.any(String), billing: { priceMonthly: '4.50' } })
    const { data: snapshots } = (await customer.get(`/vms/${id}/snapshots`)).body
    expect(await customer.delete(`/vms/${id}/snapshots/${snapshots[0].id}`)).toMatchObject({ status: 409 })
    expect(await customer.post('/images', { name: 'x', snapshotId: snapshots[0].id })).toMatchObject({ status: 409 })
    const { data: volumes } = (await customer.get('/volumes')).body
    expect(volumes).toMatchObject([{ status: 'ATTACHED', vmId: id }])
    expect(await customer.post(`/volumes/${volumes[0].id}/detach`)).toMatchObject({ status: 409 })
    await app.rest()
    await app.checkInvariants()
    await customer.post(`/vms/${id}/unshelve`)
    await app.settle()
    const back = (await customer.get(`/vms/${id}`)).body.data
    expect(back).toMatchObject({ status: 'RUNNING', shelvedAt: null, ipAddress: before.ipAddress })
    expect(await diskOf(app, id).read()).toBe('kept')
    expect((await customer.get('/volumes')).body.data).toMatchObject([{ status: 'ATTACHED', vmId: id }])
    await app.rest()
    await app.checkInvariants()
    await customer.post(`/vms/${id}/shelve`)
    await app.settle()
    await reconcileStaleMachines.runOnce(app.deps)
    await customer.delete(`/vms/${id}`)
    await app.settle()
    expect(await app.db.many(sql`select kind from simulated.volumes where vm_id = ${id}`)).toEqual([])
    expect(await pool()).toEqual({ used_gib: 10 })
  })
})
