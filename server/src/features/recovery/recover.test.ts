// A host and its disks are destroyed: its VMs come back elsewhere from their backups.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { allowManyVms, startDailyBackup } from '../../../test/snapshot-backup-fixture.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { AttemptLostError } from '../../workflow/run-store.ts'
import { renewals } from '../billing/renew.reconciler.ts'
import { addPool, findHost, getHost, listHosts, registerHost, type HostRow } from '../hosts/service.ts'
import { addSimulatedStorage } from '../storage/service.ts'
import { suspendByOperator } from '../vms/service.ts'
import { showHosts } from '../operator/fleet.ts'
import {
  declareDestroyed,
  forgetHost,
  formatAge,
  isAnswering,
  listWaitingRecoveries,
  planRecovery,
  removeLost,
  requestFence,
  startRecoveries,
} from './service.ts'

async function given(options = storesInMemory()) {
  const app = await testApp(options)
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const store = await givenBackupTarget(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  let count = 0
  const hostToLose = async (): Promise<HostRow> => givenHost(app, `rack${++count}`)
  return { app, store, customer, hostToLose }
}

type Given = Awaited<ReturnType<typeof given>>

const vmOn = ({ app, customer }: Pick<Given, 'app' | 'customer'>, host: HostRow, input: Record<string, unknown> = {}) =>
  placeOn(app, host.id, () => app.given.vm(customer, input))

async function backUp({ app }: Pick<Given, 'app'>, host: HostRow, vmId: string, moment = 'before'): Promise<string> {
  const { drift } = controlOf(app, host.id)
  await drift.writeFile(vmId, 'moment', moment)
  const { id } = await startDailyBackup(app, vmId)
  await app.settle({ subjectId: vmId })
  await drift.writeFile(vmId, 'moment', 'after')
  return id
}

/** As the command does. */
async function recover(app: TestApp, host: HostRow, among?: ReadonlySet<string>) {
  await declareDestroyed(app.deps, await getHost(app.db, host.id))
  await app.settle()
  const lost = await removeLost(app.deps, host)
  const started = await startRecoveries(app.deps, host.id, among)
  await app.settle()
  return { lost, started, isForgotten: await forgetHost(app.db, app.clock.now(), host.id) }
}

const placeOf = (app: TestApp, vmId: string) =>
  app.db.one<{ host_id: string | null; address: string | null; mac: string | null; networks: string[] }>(sql`
    select host_id, host(ip_address) as address, mac::text,
      array(select concat_ws(' ', network_id, mac, address) from network_attachments where vm_id = v.id) as networks
    from vms v where id = ${vmId}`)

const eventsOf = async ({ customer }: Pick<Given, 'customer'>, vmId: string) =>
  ((await customer.get('/events?limit=100')).body.data as { type: string; data: { vm?: { id: string }; reason: string | null } }[]).filter(
    ({ data }) => data.vm?.id === vmId,
  )

const momentOn = (app: TestApp, hostId: string, vmId: string) => controlOf(app, hostId).drift.readFile(vmId, 'moment')

describe('a destroyed host', async () => {
  const all = await given()
  const { app, customer, hostToLose } = all
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
  const vmOf = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const balance = async () => Number((await customer.get('/wallet')).body.data.balance)

  test('is refused while it answers, and nothing changes', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(all, host)
    await expect(declareDestroyed(app.deps, host)).rejects.toMatchObject({ code: 'in_use', message: expect.stringContaining('answers') })
    expect(await isAnswering(app.deps, host)).toBe(true)
    await expect(startRecoveries(app.deps, host.id, undefined)).rejects.toThrow('neither fenced nor declared destroyed')
    expect(await getHost(app.db, host.id)).toMatchObject({ lost_at: null, removed_at: null })
    expect((await vmOf(id)).status).toBe('RUNNING')
  })

  test('gives its VMs back elsewhere with id, name, addresses, networks, firewalls and price, and is removed', async () => {
    const host = await hostToLose()
    const { id: networkId } = (await customer.post('/networks', { name: 'inside', nodeId: host.id, cidr: '10.9.0.0/24' })).body.data
    const { id: firewallId } = (await customer.post('/firewalls', { name: 'fw' })).body.data
    await app.rest()
    const { id } = await vmOn(all, host, { privateNetworkIds: [networkId], firewallIds: [firewallId] })
    const { id: floatingId } = (await customer.post('/addresses', { regionId: host.region_id })).body.data
    await customer.post(`/addresses/${floatingId}/assignment`, { vmId: id })
    await app.settle()
    await backUp(all, host, id, 'long before')
    const backupId = await backUp(all, host, id)
    const [before, place, money] = [await vmOf(id), await placeOf(app, id), await balance()]
    await controlOf(app, host.id).faults.loseHost()
    app.clock.advance('5h')

    const plan = await planRecovery(app.deps, host, undefined)
    expect(plan.vms).toEqual([
      expect.objectContaining({
        id,
        outcome: 'RESTORED',
        host: expect.stringMatching(/^(local|rack1)$/),
        addressAfter: place.address,
        backup: expect.objectContaining({ id: backupId, ageMs: expect.any(Number) }),
      }),
    ])
    expect(Math.round(plan.vms[0]!.backup!.ageMs / 3_600_000)).toBe(5)
    expect(await getHost(app.db, host.id)).toMatchObject({ lost_at: null, unreachable_since: null })
    expect(await placeOf(app, id)).toEqual(place)

    const { started, isForgotten } = await recover(app, host)
    expect([started, isForgotten]).toEqual([[{ vmId: id, name: before.name, outcome: 'STARTED', runId: expect.any(String) }], true])
    const after = await placeOf(app, id)
    expect(after).toEqual({ ...place, host_id: expect.not.stringMatching(host.id) })
    expect(await momentOn(app, after.host_id!, id)).toBe('before')
    const { updatedAt: _, ...kept } = before
    expect(await vmOf(id)).toMatchObject({ ...kept, status: 'RUNNING' })
    expect((await customer.get(`/addresses/${floatingId}`)).body.data.vmId).toBe(id)
    expect(await balance()).toBe(money)
    const events = await eventsOf(all, id)
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['vm.recovered', 'backup.restored', 'vm.started']))
    expect(events.find(({ type }) => type === 'vm.recovered')!.data.reason).toMatch(
      /^Its host was destroyed. It was restored from its backup of .*Z: what was written to its disk in the 5 hours after that is lost$/,
    )
    expect(
      await app.db.many(sql`select e.type from emails m join events e on e.id = m.event_id where m.account_id = ${customer.accountId}`),
    ).toEqual([{ type: 'vm.recovered' }])
    const actions = (await customer.get(`/vms/${id}/actions`)).body.data
    expect(actions[0]).toMatchObject({ action: 'BACKUP_RESTORE', status: 'COMPLETED' })
    await app.rest()
    await app.checkInvariants()
  })

  test('gives a VM with 10G back on a host with such a card, or on another where there is none', async () => {
    await app.db.run(sql`update hosts set uplink_mbps = 10000`)
    const [host, fast] = [await hostToLose(), await hostToLose()]
    await app.db.run(sql`update hosts set ram_total_mib = ram_total_mib / 2, disk_total_gib = disk_total_gib / 2 where id = ${fast.id}`)
    const { id } = await vmOn(all, host, { network10gEnabled: true })
    await backUp(all, host, id)
    const setUplinks = (mbps: number) =>
      app.db.run(sql`update hosts set uplink_mbps = case when id = ${fast.id} then ${mbps}::int else 1000 end`)
    const planned = async () => (await planRecovery(app.deps, host, undefined)).vms[0]!.host
    await controlOf(app, host.id).faults.loseHost()
    await setUplinks(1000)
    expect(await planned()).toEqual(expect.any(String))
    await setUplinks(10_000)
    await recover(app, host)
    expect((await placeOf(app, id)).host_id).toBe(fast.id)
    await app.db.run(sql`update hosts set uplink_mbps = null`)
    await app.checkInvariants()
  })

  test('changes an address that only it had, and says so', async () => {
    const host = await hostToLose()
    const pool = { regionId: host.region_id, hostId: host.id, cidr: '10.61.0.0/24', gateway: '10.61.0.1', dns: [] }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    await app.db.run(
      sql`update free_addresses f set available_at = 'infinity' from address_pools p where p.id = f.pool_id and p.host_id is null`,
    )
    const { id } = await vmOn(all, host)
    await app.db.run(
      sql`update free_addresses f set available_at = ${app.clock.now()} from address_pools p where p.id = f.pool_id and p.host_id is null`,
    )
    await backUp(all, host, id)
    expect((await placeOf(app, id)).address).toMatch(/^10\.61\./)
    await controlOf(app, host.id).faults.loseHost()
    expect(await recover(app, host)).toMatchObject({ isForgotten: true })
    const { address } = await placeOf(app, id)
    expect(address).toMatch(/^10\.77\./)
    expect((await eventsOf(all, id)).find(({ type }) => type === 'vm.recovered')!.data.reason).toMatch(
      new RegExp(`is lost. Its public address is ${address} now$`),
    )
    expect(await app.db.many(sql`select from address_pools where cidr = '10.61.0.0/24'`)).toEqual([])
    await app.rest()
    await app.checkInvariants()
  })

  test('loses snapshots, local volumes and VMs without a backup: they cost no longer, and a rebuild makes the VM anew', async () => {
    const host = await hostToLose()
    await app.db.run(sql`update catalog_values set value = 5 where name = 'price.copies_gib'`)
    const [kept, bare] = [await vmOn(all, host), await vmOn(all, host)]
    await backUp(all, host, kept.id)
    const made: string[] = []
    for (const { id } of [kept, bare]) {
      made.push((await customer.post(`/vms/${id}/snapshots`, { name: 's' })).body.data.snapshot.id)
      await app.settle()
    }
    const volume = (
      await customer.post('/volumes', { name: 'data', sizeGiB: 10, vmId: kept.id, regionId: host.region_id, storage: 'LOCAL' })
    ).body.data
    const loose = await placeOn(app, host.id, () =>
      customer.post('/volumes', { name: 'loose', sizeGiB: 10, regionId: host.region_id, storage: 'LOCAL' }),
    )
    await app.settle()
    expect((await customer.post(`/volumes/${volume.id}/snapshots`, { name: 's' })).status).toBe(202)
    await app.settle()
    app.clock.advance('50h')
    const money = await balance()
    await controlOf(app, host.id).faults.loseHost()
    const plan = await planRecovery(app.deps, host, undefined)
    expect(plan).toMatchObject({ snapshots: 2, backups: 0, volumes: ['data', 'loose'] })
    expect(plan.vms.map(({ id, outcome, problem }) => [id, outcome, problem])).toEqual([
      [kept.id, 'RESTORED', null],
      [bare.id, 'LOST', 'There is no backup of it outside of this host'],
    ])
    const { lost, started, isForgotten } = await recover(app, host)
    expect([lost.volumes, started.map(({ outcome }) => outcome), isForgotten]).toEqual([['data', 'loose'], ['STARTED', 'LOST'], true])
    expect((await customer.get(`/volumes/${volume.id}`)).status).toBe(404)
    expect((await customer.get(`/volumes/${loose.body.data.id}`)).status).toBe(404)
    expect(await vmOf(bare.id)).toMatchObject({ status: 'ERROR', ipAddress: null, statusReason: expect.stringContaining('no backup') })
    expect((await eventsOf(all, bare.id)).find(({ type }) => type === 'vm.lost')!.data.reason).toMatch(
      /its disk is lost\. It no longer has 10\.77\.\S+( and \S+)?, and \d+\.\d\d was refunded for unused days$/,
    )
    expect(
      await app.db.many(
        sql`select e.data -> 'volume' ->> 'name' as volume from emails m join events e on e.id = m.event_id where e.type = 'volume.deleted' order by m.id`,
      ),
    ).toEqual([{ volume: 'data' }, { volume: 'loose' }])
    expect((await customer.post(`/vms/${bare.id}/start`)).body.error).toBe(
      'VM has no disk, so there is nothing to start: rebuild or delete it',
    )
    for (const [i, { id }] of [kept, bare].entries())
      expect((await customer.get(`/vms/${id}/snapshots/${made[i]}`)).body.data).toMatchObject({ status: 'FAILED', size: '0' })
    const refunds = await app.db.many<{ type: string; description: string }>(
      sql`select type, description from wallet_transactions where account_id = ${customer.accountId} and amount_cents > 0 and type <> 'CREDIT' order by id`,
    )
    expect(refunds.map(({ description }) => description).toSorted()).toEqual([
      'Unused days of snapshots and backups of web-1',
      'Unused days of volume data',
      'Unused days of volume loose',
      'Unused days of web-1',
    ])
    expect(await balance()).toBeGreaterThan(money)
    await app.rest()
    await app.checkInvariants()
    const { osTemplateId } = await app.given.vmInput()
    expect((await customer.post(`/vms/${bare.id}/rebuild`, { osTemplateId })).status).toBe(202)
    await app.settle()
    expect(await vmOf(bare.id)).toMatchObject({ status: 'RUNNING', id: bare.id })
    await app.rest()
    await app.checkInvariants()
  })

  test('leaves a stopped VM off and a suspended one suspended; both start on their disks', async () => {
    const host = await hostToLose()
    const [off, held] = [await vmOn(all, host), await vmOn(all, host)]
    for (const { id } of [off, held]) await backUp(all, host, id)
    await customer.post(`/vms/${off.id}/stop`, { force: true })
    await suspendByOperator(app.deps, held.id)
    await app.settle()
    await controlOf(app, host.id).faults.loseHost()
    expect((await recover(app, host)).isForgotten).toBe(true)
    expect([(await vmOf(off.id)).status, (await vmOf(held.id)).status]).toEqual(['STOPPED', 'SUSPENDED'])
    expect((await eventsOf(all, off.id)).map(({ type }) => type).slice(-2)).not.toContain('vm.started')
    await app.rest()
    await app.checkInvariants()
    await customer.post(`/vms/${off.id}/start`)
    await app.settle()
    expect(await momentOn(app, (await placeOf(app, off.id)).host_id!, off.id)).toBe('before')
    await app.rest()
    await app.checkInvariants()
  })

  test('ends what was under way on it: nothing waits for it, and a VM that was being made is refunded', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(all, host)
    await backUp(all, host, id)
    const money = await balance()
    const { faults } = controlOf(app, host.id)
    await faults.loseHost()
    const restart = (await customer.post(`/vms/${id}/restart`)).body.data.actionId
    const created = await placeOn(app, host.id, async () => customer.post('/vms', { ...(await app.given.vmInput()), hostname: 'half' }))
    await expect(app.settle({ rounds: 2 })).rejects.toThrow('still open runs')
    const started = app.clock.now().getTime()
    const { started: outcomes } = await recover(app, host)
    expect(outcomes).toMatchObject([{ vmId: id, outcome: 'STARTED' }])
    expect(app.clock.now().getTime() - started).toBeLessThan(60_000)
    expect((await customer.get(`/vms/${id}/actions/${restart}`)).body.data).toMatchObject({
      status: 'CANCELLED',
      error: 'The host of this VM was destroyed.',
    })
    expect(await vmOf(created.body.data.vm.id)).toMatchObject({ status: 'ERROR', ipAddress: null })
    expect([(await vmOf(id)).status, await balance()]).toEqual(['RUNNING', money])
    await app.rest()
    await app.checkInvariants()
  })

  test('keeps what has no room until there is some, unbilled and on the list', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(all, host)
    const backupId = await backUp(all, host, id)
    await controlOf(app, host.id).faults.loseHost()
    await app.db.run(sql`update hosts set maintenance = true`)
    const { started, isForgotten } = await recover(app, host)
    expect([started, isForgotten]).toEqual([
      [{ vmId: id, name: expect.any(String), outcome: 'WAITS', reason: expect.stringMatching(/^No capacity in fra1 .* in maintenance$/) }],
      false,
    ])
    expect(await vmOf(id)).toMatchObject({ status: 'ERROR', statusReason: expect.stringContaining('as soon as there is room') })
    await expect(
      app.db.tx((tx) =>
        registerHost(tx, app.clock.now(), {
          ...host,
          region: 'fra1',
          uri: 'qemu+tls://10.0.0.9/system',
          arch: 'x86_64',
          acceleration: 'kvm',
          guestTypes: [],
          vcpu: 1,
          ramMiB: 1,
          diskGiB: 1,
          range: null,
        }),
      ),
    ).rejects.toMatchObject({ code: 'already_exists', message: expect.stringContaining('declared destroyed') })
    app.clock.advance('40d')
    await renewals.runOnce(app.deps)
    expect((await eventsOf(all, id)).map(({ type }) => type)).not.toContain('vm.renewed')
    await app.db.run(sql`update hosts set maintenance = false where lost_at is null`)
    const { id: only } = await givenHost(app, 'only')
    await app.db.run(sql`update backups set status = 'AVAILABLE', expires_at = null where id = ${backupId}`)
    expect(await recover(app, host, new Set([only]))).toMatchObject({ started: [{ outcome: 'STARTED' }], isForgotten: true })
    expect(await placeOf(app, id)).toMatchObject({ host_id: only })
    expect(await vmOf(id)).toMatchObject({ status: 'RUNNING', statusReason: null })
    await renewals.runOnce(app.deps)
    expect((await eventsOf(all, id)).filter(({ type }) => type === 'vm.renewed')).toHaveLength(1)
    await app.rest()
    await app.checkInvariants()
  })

  test('tries again what failed, and deletes a VM of it without waiting', async () => {
    const host = await hostToLose()
    const [failing, unwanted] = [await vmOn(all, host), await vmOn(all, host)]
    const id = await backUp(all, host, failing.id)
    const place = await placeOf(app, failing.id)
    const { repository } = await app.db.one<{ repository: string }>(
      sql`select id as repository from backup_repositories where vm_id = ${failing.id}`,
    )
    const [chunk] = all.store.keys(`${repository}/chunks/`)
    await controlOf(app, host.id).faults.loseHost()
    await app.db.run(sql`update hosts set maintenance = true`)
    await recover(app, host)
    await app.db.run(sql`update hosts set maintenance = false where lost_at is null`)
    await customer.delete(`/vms/${unwanted.id}`)
    all.store.bodyOf(chunk!)[20]! ^= 1
    await recover(app, host)
    expect((await customer.get(`/vms/${unwanted.id}`)).status).toBe(404)
    expect(await vmOf(failing.id)).toMatchObject({
      status: 'ERROR',
      statusReason: expect.stringMatching(/^The restore failed, and its old disk is gone with its host: .*damaged/),
    })
    expect(await placeOf(app, failing.id)).toEqual(place)
    await app.rest()
    await app.checkInvariants()
    all.store.bodyOf(chunk!)[20]! ^= 1
    expect(await recover(app, host)).toMatchObject({ isForgotten: true })
    expect(await placeOf(app, failing.id)).toEqual({ ...place, host_id: expect.not.stringMatching(host.id) })
    expect(await app.db.one(sql`select status from backups where id = ${id}`)).toEqual({ status: 'AVAILABLE' })
    await app.rest()
    await app.checkInvariants()
  })

  test('that was removed with its VMs unmanaged is recovered too, and billing resumes', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(all, host)
    await backUp(all, host, id)
    await controlOf(app, host.id).faults.loseHost()
    await app.db.run(sql`update vms set status = 'UNMANAGED' where id = ${id}`)
    await app.db.run(sql`update hosts set removed_at = ${app.clock.now()}, unreachable_since = ${app.clock.now()} where id = ${host.id}`)
    expect((await recover(app, host)).isForgotten).toBe(true)
    expect(await vmOf(id)).toMatchObject({ status: 'RUNNING', billing: { status: 'ACTIVE' } })
    await app.rest()
    await app.checkInvariants()
  })

  test('keeps VMs whose disk is in a storage backend waiting until it is fenced: it is not lost', async () => {
    await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'disks', region: 'fra1', sizeGiB: 1000, reservePercent: 0 }))
    const host = await hostToLose()
    const { id: planId } = await app.db.one<{ id: string }>(sql`update plans set storage = 'REPLICATED' where slug = 'small' returning id`)
    const { id } = await vmOn(all, host, { planId })
    await app.db.run(sql`update plans set storage = 'LOCAL' where id = ${planId}`)
    await controlOf(app, host.id).faults.loseHost()
    const { started, isForgotten } = await recover(app, host)
    expect([started, isForgotten]).toEqual([
      [{ vmId: id, name: expect.any(String), outcome: 'WAITS', reason: expect.stringContaining('not lost') }],
      false,
    ])
    expect(await vmOf(id)).toMatchObject({ status: 'ERROR', statusReason: expect.stringContaining('as soon as that is possible') })
    const waits = {
      vm_id: id,
      source: host.name,
      problem: expect.stringContaining(`npx berthd host fence ${host.name}`),
      next_attempt_at: null,
    }
    expect(await listWaitingRecoveries(app.db)).toMatchObject([waits])
    expect((await listHosts(app.db)).map(({ name }) => name)).not.toContain(host.name)
    expect((await showHosts(app.db)).find(({ name }) => name === host.name)).toMatchObject({ state: 'destroyed', vmCount: 1 })
    const listed = await berthdJson<{ name: string; state: string }[]>(settings, 'host', 'list')
    expect(listed.find(({ name }) => name === host.name)!.state).toContain('destroyed, kept until')
    const again = await berthd(settings, 'host', 'recover', host.name, '--destroyed', '--yes')
    expect([again.code, again.stdout]).toEqual([
      1,
      expect.stringMatching(
        /Fence it first: npx berthd host fence rack\d+\. Then run this command again: npx berthd host recover rack\d+ --destroyed\./,
      ),
    ])
    const without = await berthd(settings, 'host', 'recover', host.name)
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('was declared destroyed, and not all of it is recovered')])
    await requestFence(app.deps, await getHost(app.db, host.id))
    await app.settle()
    expect(await recover(app, host)).toMatchObject({ started: [{ vmId: id, outcome: 'STARTED' }], isForgotten: true })
    expect((await vmOf(id)).status).toBe('RUNNING')
    await app.rest()
    await app.checkInvariants()
  })

  test('takes along volumes in a storage backend', async () => {
    await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region: 'fra1', sizeGiB: 1000, reservePercent: 0 }))
    const host = await hostToLose()
    const { id } = await vmOn(all, host)
    const { id: volumeId } = (
      await customer.post('/volumes', { name: 'far', sizeGiB: 10, vmId: id, regionId: host.region_id, storage: 'REPLICATED' })
    ).body.data
    await app.settle()
    await backUp(all, host, id)
    await controlOf(app, host.id).faults.loseHost()
    await recover(app, host)
    expect((await customer.get(`/volumes/${volumeId}`)).body.data).toMatchObject({ vmId: id, status: 'ATTACHED' })
    const { host_id } = await placeOf(app, id)
    const machine = await (await app.deps.hypervisors.get(host_id!)).findMachine(id, AbortSignal.timeout(5_000))
    expect(machine?.volumes).toEqual([volumeId])
    expect(await findHost(app.db, host.id)).toBeUndefined()
    await app.rest()
    await app.checkInvariants()
  })

  test('gives such a volume to no second machine while the first that was restored may run', async () => {
    const [host, other] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(all, host)
    const order = { name: 'near', sizeGiB: 10, vmId: id, regionId: host.region_id, storage: 'REPLICATED' }
    expect((await customer.post('/volumes', order)).status).toBe(201)
    await app.settle()
    await backUp(all, host, id)
    await controlOf(app, host.id).faults.loseHost()
    await declareDestroyed(app.deps, host)
    const restore = async (to: HostRow): Promise<string> => {
      const [started] = await startRecoveries(app.deps, host.id, new Set([to.id]))
      return (started as { runId: string }).runId
    }
    const checkpoint = (where: string): void => {
      if (where === 'boot saved') throw new AttemptLostError('lost')
    }
    await expect(resumeRun({ ...testRunner(app.deps), checkpoint }, await restore(other))).rejects.toThrow('lost')
    await controlOf(app, other.id).faults.loseHost()
    app.clock.advance('4h')
    await app.settle({ subjectId: id, rounds: 1_000 })
    await restore(app.host)
    await app.settle({ subjectId: id, rounds: 1_000 })
    const powerOn = async (hostId: string) =>
      (await app.db.maybe<{ power: string }>(sql`select power from simulated.machines where host_id = ${hostId} and vm_id = ${id}`))?.power
    expect([await powerOn(other.id), await powerOn(app.host.id)]).toEqual(['running', undefined])
    await controlOf(app, other.id).faults.returnHost()
    await app.rest()
    expect(await powerOn(other.id)).toBeUndefined()
    await restore(app.host)
    await app.settle({ subjectId: id })
    expect([(await vmOf(id)).status, await powerOn(app.host.id)]).toEqual(['RUNNING', 'running'])
  })
})

describe('backups on a destroyed host', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '1000.00' })

  test('of VMs elsewhere are gone and cost no longer; those of its VMs on other hosts bring them back', async () => {
    const host = await givenHost(app, 'keeper')
    const [here, there] = [await vmOn({ app, customer }, app.host), await vmOn({ app, customer }, host)]
    const made: string[] = []
    for (const { id } of [here, there]) {
      made.push((await customer.post(`/vms/${id}/backups`, { name: 'x' })).body.data.backup.id)
      await app.settle()
    }
    expect(await app.db.many(sql`select host_id from backups where id = any(${made}::text[]) order by id`)).toEqual([
      { host_id: host.id },
      { host_id: app.host.id },
    ])
    await controlOf(app, host.id).faults.loseHost()
    const result = await recover(app, host)
    expect(result).toMatchObject({ lost: { backups: 1 }, started: [{ vmId: there.id, outcome: 'STARTED' }], isForgotten: true })
    expect((await customer.get(`/vms/${here.id}/backups`)).body.data).toEqual([])
    expect(await placeOf(app, there.id)).toMatchObject({ host_id: app.host.id })
    await app.rest()
    await app.checkInvariants()
  })
})

test.each([
  [0, '0 seconds'],
  [1_000, '1 second'],
  [119_000, '119 seconds'],
  [7_200_000, '2 hours'],
  [19_000_000, '5.3 hours'],
  [200_000_000, '2.3 days'],
])('an age of %d ms is %s', (ms, text) => expect(formatAge(ms)).toBe(text))
