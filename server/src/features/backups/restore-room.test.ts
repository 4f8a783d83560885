// What a restore takes for a time is booked while it runs.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { placeOn } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { allowManyVms, diskOf, givenSecondHost, startDailyBackup } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { getHost } from '../hosts/service.ts'
import { declareDestroyed, planRecovery, startRecoveries } from '../recovery/service.ts'

/** Of the plan that is the default. */
const DISK = 25

async function given(app: TestApp) {
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const backUp = async (vmId: string): Promise<string> => {
    await diskOf(app, vmId).write('before')
    const { id } = await startDailyBackup(app, vmId)
    await app.settle()
    return id
  }
  const refusal = async (path: string, body?: object) => {
    const { status, headers, body: answer } = await customer.post(path, body)
    return [status, headers['x-error-code'], answer.error as string]
  }
  const roomOn = async (hostId: string): Promise<number> => (await getHost(app.db, hostId)).disk_used_gib
  /** What the run has booked, by purpose. */
  const rooms = async (runId: string): Promise<Record<string, number>> =>
    Object.fromEntries(
      (
        await app.db.many<{ purpose: string; gib: number }>(
          sql`select purpose, gib from restore_rooms where run_id = ${runId} order by purpose`,
        )
      ).map(({ purpose, gib }) => [purpose, gib]),
    )
  /** So much more can be booked, with the reserve. */
  const leave = (hostId: string, gib: number) =>
    app.db.run(sql`update hosts set disk_total_gib = disk_used_gib + ${gib}, disk_free_gib = null where id = ${hostId}`)
  const widen = (hostId: string) => app.db.run(sql`update hosts set disk_total_gib = 100000 where id = ${hostId}`)
  return { customer, backUp, refusal, roomOn, rooms, leave, widen }
}

const RUN = 'A restore takes'

describe.each(['its own host', 'another host', 'a backup target'])('the restore of a backup on %s', async (where) => {
  const app = await testApp(storesInMemory())
  const { customer, backUp, refusal, roomOn, rooms, leave, widen } = await given(app)
  if (where === 'another host') await givenSecondHost(app)
  if (where === 'a backup target') await givenBackupTarget(app)
  const { id: vmId } = await app.given.vm(customer)
  const backupId = await backUp(vmId)
  const path = `/vms/${vmId}/backups/${backupId}/restore`
  const { id: hostId } = app.host
  const { gib } = await app.db.one<{ gib: number }>(sql`select ceil(size_bytes / 1073741824.0)::int as gib from backups`)
  const expected = { 'its own host': { DISK }, 'another host': { COPY: gib, DISK }, 'a backup target': { COPY: DISK, DISK } }[where]!
  const sum = DISK + ('COPY' in expected ? expected.COPY : 0)

  test('has room for the copy until the disk is made, and for the new disk until it has ended', async () => {
    const before = await roomOn(hostId)
    const { actionId } = (await customer.post(path)).body.data
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([expected, before + sum])
    await app.checkInvariants()
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'transient', times: 1 })
    await resumeRun(testRunner(app.deps), actionId)
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{ DISK }, before + DISK])
    await app.checkInvariants()
    app.clock.advance('1m')
    await app.settle()
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{}, before])
    expect(await diskOf(app, vmId).read()).toBe('before')
  })

  test('gives the room back when it fails, and when it is cancelled', async () => {
    const before = await roomOn(hostId)
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
    const failing = (await customer.post(path)).body.data.actionId
    await app.settle()
    expect([await rooms(failing), await roomOn(hostId)]).toEqual([{}, before])
    const { actionId } = (await customer.post(path)).body.data
    await app.db.tx((tx) => app.deps.workflows.cancel(tx, actionId, 'On purpose'))
    await app.settle()
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{}, before])
  })

  test('is refused where the host has too little, and changes nothing', async () => {
    await leave(hostId, sum - 1)
    const before = await roomOn(hostId)
    expect(await refusal(path)).toEqual([503, 'no_capacity', expect.stringContaining(`${RUN} ${sum} GiB more for a time`)])
    expect(await roomOn(hostId)).toBe(before)
    expect((await customer.get(`/vms/${vmId}`)).body.data).toMatchObject({ status: 'RUNNING', currentAction: null })
    expect((await customer.get(`/vms/${vmId}/backups/${backupId}`)).body.data.status).toBe('AVAILABLE')
    await leave(hostId, sum)
    expect((await customer.post(path)).status).toBe(202)
    await app.settle()
    expect(await roomOn(hostId)).toBe(before)
    await widen(hostId)
  })

  test('a VM from it has room for the copy beside its disk', async () => {
    const { osTemplateId: _, ...input } = await app.given.vmInput()
    const order = { ...input, hostname: 'new', fromBackupId: backupId }
    await app.db.run(sql`update hosts set maintenance = true where id <> ${hostId}`)
    const before = await roomOn(hostId)
    await leave(hostId, 2 * DISK - 1)
    expect(await refusal('/vms', order)).toEqual([
      503,
      'no_capacity',
      expect.stringContaining(`${DISK} GiB disk with ${DISK} GiB for a time for the copy it is made from`),
    ])
    expect(await roomOn(hostId)).toBe(before)
    await leave(hostId, 2 * DISK)
    const { actionId } = (await customer.post('/vms', order)).body.data
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{ COPY: DISK }, before + 2 * DISK])
    await app.settle()
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{}, before + DISK])
    await widen(hostId)
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
    await customer.post('/vms', order)
    await app.settle()
    expect(await roomOn(hostId)).toBe(before + DISK)
  })
})

describe('the restore of a snapshot', async () => {
  const app = await testApp()
  const { customer, refusal, roomOn, rooms, leave, widen } = await given(app)
  const { id: hostId } = app.host

  test('of a VM has room for the new disk', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    await app.settle()
    const before = await roomOn(hostId)
    const path = `/vms/${vmId}/snapshots/${snapshot.id}/restore`
    await leave(hostId, DISK - 1)
    expect(await refusal(path)).toEqual([503, 'no_capacity', expect.stringContaining(RUN)])
    await widen(hostId)
    const { actionId } = (await customer.post(path)).body.data
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{ DISK }, before + DISK])
    await app.settle()
    expect(await roomOn(hostId)).toBe(before)
  })

  test('of a volume has room for the new data', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { regionId } = await app.given.vmInput()
    const { id } = (await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId })).body.data as { id: string }
    await customer.post(`/volumes/${id}/attach`, { vmId })
    await app.settle()
    const { snapshot } = (await customer.post(`/volumes/${id}/snapshots`, { name: 'x' })).body.data
    await app.settle()
    await customer.post(`/volumes/${id}/detach`)
    await app.settle()
    const before = await roomOn(hostId)
    const path = `/volumes/${id}/snapshots/${snapshot.id}/restore`
    await leave(hostId, 9)
    expect(await refusal(path)).toEqual([503, 'no_capacity', expect.stringContaining(RUN)])
    await widen(hostId)
    const { actionId } = (await customer.post(path)).body.data
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{ DISK: 10 }, before + 10])
    await app.settle()
    expect([await rooms(actionId), await roomOn(hostId)]).toEqual([{}, before])
  })
})

test('guests that prove backups give way to a restore', async () => {
  const app = await testApp()
  const { customer, backUp, leave } = await given(app)
  const { id: vmId } = await app.given.vm(customer)
  const backupId = await backUp(vmId)
  const proof = { id: 'proof', run: 'run', gib: 2 * DISK }
  await app.db.run(sql`
    insert into backup_proofs (id, backup_id, vm_id, host_id, run_id, vcpu, ram_mib, disk_gib, started_at)
    values (${proof.id}, ${backupId}, ${vmId}, ${app.host.id}, ${proof.run}, 1, 1024, ${proof.gib}, ${app.clock.now()})`)
  await app.db.run(sql`
    update hosts set vcpu_used = vcpu_used + 1, ram_used_mib = ram_used_mib + 1024, disk_used_gib = disk_used_gib + ${proof.gib}
    where id = ${app.host.id}`)
  await leave(app.host.id, 0)
  expect((await customer.post(`/vms/${vmId}/backups/${backupId}/restore`)).status).toBe(202)
  expect(await app.db.one(sql`select vcpu, disk_gib from backup_proofs`)).toEqual({ vcpu: 0, disk_gib: 0 })
  await app.db.run(sql`delete from backup_proofs`)
  await app.settle()
})

describe('the restore of a backup of a replicated disk', async () => {
  const app = await testApp(storesInMemory())
  const { customer, backUp, refusal, rooms, roomOn } = await given(app)
  await sellReplicated(app)
  await givenBackupTarget(app)
  const used = async () => (await app.db.one<{ used_gib: number }>(sql`select used_gib from storage_backends`)).used_gib
  const leaveInPool = async (gib: number) => {
    await app.db.run(sql`update storage_backends set capacity_gib = used_gib + ${gib}`)
    await app.db.run(sql`update storage_backends set free_gib = reserve_gib + ${gib}`)
  }

  test('has room for both disks in the pool, and for the snapshot that the next daily one builds on', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { backup } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data
    await app.settle()
    const [before, host] = [await used(), await roomOn(app.host.id)]
    const path = `/vms/${vmId}/backups/${backup.id}/restore`
    const { actionId } = (await customer.post(path)).body.data
    expect([await rooms(actionId), await used(), await roomOn(app.host.id)]).toEqual([{ DISK }, before + DISK, host])
    await app.settle()
    expect([await rooms(actionId), await used()]).toEqual([{}, before])
    await backUp(vmId)
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
    const second = (await customer.post(path)).body.data.actionId
    expect([await rooms(second), await used()]).toEqual([{ DISK: 2 * DISK }, before + 2 * DISK])
    await app.checkInvariants()
    await app.settle()
    expect([await rooms(second), await used()]).toEqual([{}, before])
    await leaveInPool(2 * DISK - 1)
    expect(await refusal(path)).toEqual([503, 'no_capacity', expect.stringContaining(`${RUN} ${2 * DISK} GiB more`)])
    expect(await used()).toBe(before)
  })

  test('that of a snapshot has room in the pool for the copy that becomes the disk', async () => {
    await app.db.run(sql`update storage_backends set capacity_gib = 1000000, free_gib = 1000000`)
    const { id: vmId } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    await app.settle()
    const before = await used()
    const { actionId } = (await customer.post(`/vms/${vmId}/snapshots/${snapshot.id}/restore`)).body.data
    expect([await rooms(actionId), await used()]).toEqual([{ DISK }, before + DISK])
    await app.settle()
    expect([await rooms(actionId), await used()]).toEqual([{}, before])
  })

  test('a VM from one needs no more than its disk', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.db.run(sql`update storage_backends set capacity_gib = 1000000, free_gib = 1000000`)
    const backupId = await backUp(vmId)
    const { osTemplateId: _, ...input } = await app.given.vmInput()
    const before = await used()
    const { actionId } = (await customer.post('/vms', { ...input, hostname: 'new', fromBackupId: backupId })).body.data
    expect([await rooms(actionId), await used()]).toEqual([{}, before + DISK])
    await app.settle()
  })
})

describe('a VM of a destroyed host', async () => {
  const app = await testApp(storesInMemory())
  const { customer, backUp, roomOn, rooms, leave, widen } = await given(app)
  const second = await givenSecondHost(app)
  await app.db.run(sql`update address_pools set host_id = null`)

  test('needs no copy on the host that stores its backup', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await backUp(vmId)
    expect(await app.db.one(sql`select host_id from backups where vm_id = ${vmId}`)).toEqual({ host_id: second.id })
    await app.simulated.faults.loseHost()
    await declareDestroyed(app.deps, await getHost(app.db, app.host.id))
    const lost = await getHost(app.db, app.host.id)
    await app.db.run(sql`update hosts set ram_total_mib = ram_total_mib * 8 where id = ${second.id}`)
    const before = await roomOn(second.id)
    await leave(second.id, DISK + 5)
    expect((await planRecovery(app.deps, lost, undefined)).vms).toMatchObject([{ outcome: 'RESTORED', host: 'second' }])
    const [started] = await startRecoveries(app.deps, lost.id, undefined)
    expect(started).toMatchObject({ outcome: 'STARTED' })
    const { runId } = started as { runId: string }
    expect([await rooms(runId), await roomOn(second.id)]).toEqual([{}, before + DISK])
    await app.settle()
    expect((await customer.get(`/vms/${vmId}`)).body.data).toMatchObject({ status: 'RUNNING' })
    expect(await roomOn(second.id)).toBe(before + DISK)
    await widen(second.id)
  })
})

test('a VM of a destroyed host that has its backup in a target has room for the copy until its disk is made', async () => {
  const app = await testApp(storesInMemory())
  const { customer, backUp, roomOn, rooms } = await given(app)
  const second = await givenSecondHost(app)
  await givenBackupTarget(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  await app.db.run(sql`update hosts set ram_total_mib = ram_total_mib * 8 where id = ${second.id}`)
  const { id: vmId } = await placeOn(app, app.host.id, () => app.given.vm(customer))
  await backUp(vmId)
  await app.simulated.faults.loseHost()
  await declareDestroyed(app.deps, await getHost(app.db, app.host.id))
  const before = await roomOn(second.id)
  const [started] = await startRecoveries(app.deps, app.host.id, undefined)
  const { runId } = started as { runId: string }
  expect([await rooms(runId), await roomOn(second.id)]).toEqual([{ COPY: DISK }, before + 2 * DISK])
  await app.checkInvariants()
  await app.settle()
  expect([await rooms(runId), await roomOn(second.id)]).toEqual([{}, before + DISK])
  expect((await customer.get(`/vms/${vmId}`)).body.data).toMatchObject({ status: 'RUNNING' })
})

test('a restore is refused where others have booked what the host has measured as free', async () => {
  const app = await testApp(storesInMemory())
  const { customer, backUp, refusal } = await given(app)
  const [first, second] = [await app.given.vm(customer), await app.given.vm(customer)].map(({ id }) => id) as [string, string]
  const pathOf = async (vmId: string): Promise<string> => `/vms/${vmId}/backups/${await backUp(vmId)}/restore`
  const [one, other] = [await pathOf(first), await pathOf(second)]
  await app.db.run(sql`update hosts set disk_free_gib = disk_reserve_gib + ${DISK + 5}`)
  expect((await customer.post(one)).status).toBe(202)
  expect(await refusal(other)).toEqual([503, 'no_capacity', expect.stringContaining(RUN)])
  await app.settle()
  expect((await customer.post(other)).status).toBe(202)
  await app.settle()
})

test('a host that is sold out restores into what it has measured as free', async () => {
  const app = await testApp(storesInMemory())
  const { customer, backUp, refusal } = await given(app)
  const { id } = await app.given.vm(customer)
  const path = `/vms/${id}/backups/${await backUp(id)}/restore`
  await app.db.run(sql`update hosts set disk_total_gib = disk_used_gib`)
  await app.db.run(sql`update hosts set disk_free_gib = disk_reserve_gib + ${DISK - 1}`)
  expect(await refusal(path)).toEqual([503, 'no_capacity', expect.stringContaining(RUN)])
  await app.db.run(sql`update hosts set disk_free_gib = disk_reserve_gib + ${DISK}`)
  expect((await customer.post(path)).status).toBe(202)
  await app.settle()
  await app.checkInvariants()
})

describe('of 20 restores in the same instant only those begin that have room', () => {
  const COUNT = 20
  const ROOM = 3
  const race = async (app: TestApp, setFree: () => Promise<unknown>) => {
    const { customer, backUp } = await given(app)
    const paths: string[] = []
    for (let i = 0; i < COUNT; i++) {
      const { id } = await app.given.vm(customer)
      paths.push(`/vms/${id}/backups/${await backUp(id)}/restore`)
    }
    await setFree()
    const statuses = (await Promise.all(paths.map((path) => customer.post(path)))).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array(ROOM).fill(202), ...Array(COUNT - ROOM).fill(503)])
    await app.checkInvariants()
    await app.settle()
    expect((await app.deps.metrics.deadlocks.get()).values[0]!.value).toBe(0)
  }

  test('on a host', async () => {
    const app = await testApp(storesInMemory())
    await race(app, () => app.db.run(sql`update hosts set disk_free_gib = disk_reserve_gib + ${ROOM * DISK + 5}`))
    expect(await app.db.many(sql`select distinct disk_restoring_gib as gib from hosts`)).toEqual([{ gib: 0 }])
  })

  test('in a storage backend', async () => {
    const app = await testApp(storesInMemory())
    await sellReplicated(app)
    await givenBackupTarget(app)
    // The snapshot that the next backup builds on grows with the old disk.
    await race(app, () => app.db.run(sql`update storage_backends set free_gib = reserve_gib + ${ROOM * 2 * DISK + 5}`))
    expect(await app.db.many(sql`select restoring_gib as gib from storage_backends`)).toEqual([{ gib: 0 }])
  })
})
