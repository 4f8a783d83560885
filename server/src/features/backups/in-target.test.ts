// Backups in a bucket.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { allowManyVms, diskOf, givenSecondHost, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { BackupTargetError } from '../../backup-target/errors.ts'
import { DriverError, type Driver } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { removeInTargets } from './purge-targets.reconciler.ts'

describe('a backup in a target', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const second = await givenSecondHost(app)
  const store = await givenBackupTarget(app)

  const make = async (vmId: string) => {
    const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    return (await customer.get(`/vms/${vmId}/backups/${id}`)).body.data
  }
  const restore = async (vmId: string, id: string) => {
    const answer = await customer.post(`/vms/${vmId}/backups/${id}/restore`)
    await app.settle()
    return answer
  }
  const daily = async (vmId: string, moment: string): Promise<string> => {
    await diskOf(app, vmId).write(moment)
    const { id } = await startDailyBackup(app, vmId)
    await app.settle()
    return id
  }
  const purge = () => removeInTargets.runOnce(app.deps)
  const repositoryOf = async (vmId: string) =>
    (await app.db.maybe<{ id: string }>(sql`select id from backup_repositories where vm_id = ${vmId}`))?.id

  test('leaves no data on hosts, carries no warning, and restores its point in time', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('before')
    const backup = await make(vmId)
    expect(backup).toMatchObject({ status: 'AVAILABLE', warning: null })
    expect(Number(backup.size)).toBeGreaterThan(0)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    await diskOf(app, vmId).write('after')
    await restore(vmId, backup.id)
    expect(await diskOf(app, vmId).read()).toBe('before')
    expect(await volumesOf(app, vmId)).toEqual(['disk 2', 'seed 2'])
  })

  test('depends on no other: any of a series is deleted at once, and the rest restores', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const ids: string[] = []
    for (const moment of ['one', 'two', 'three']) ids.push(await daily(vmId, moment))
    expect(await app.db.many(sql`select parent_id, depth, host_id from backups where vm_id = ${vmId}`)).toEqual(
      Array(3).fill({ parent_id: null, depth: 0, host_id: null }),
    )
    await customer.delete(`/vms/${vmId}/backups/${ids[0]}`)
    await customer.delete(`/vms/${vmId}/backups/${ids[1]}`)
    await purge()
    expect((await customer.get(`/vms/${vmId}/backups`)).body.data.map(({ id }: { id: string }) => id)).toEqual([ids[2]])
    expect(store.keys(`${await repositoryOf(vmId)}/manifests/`)).toHaveLength(1)
    await diskOf(app, vmId).write('four')
    await restore(vmId, ids[2]!)
    expect(await diskOf(app, vmId).read()).toBe('three')
  })

  test('goes with its VM, and so do its key and repository', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await make(vmId)
    const repository = (await repositoryOf(vmId))!
    expect(store.keys(repository).length).toBeGreaterThan(2)
    await customer.delete(`/vms/${vmId}`)
    await app.settle()
    await purge()
    expect(store.keys(repository)).toEqual([])
    expect(await repositoryOf(vmId)).toBeUndefined()
    expect(await app.db.many(sql`select id from backups where vm_id = ${vmId}`)).toEqual([])
  })

  test('that is cancelled by the deletion of its VM leaves nothing', async () => {
    const { id: vmId } = await app.given.vm(customer, { dailyBackupEnabled: true })
    const { run_id } = await startDailyBackup(app, vmId)
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('unavailable', 'gone for a while')
    }
    await resumeRun(testRunner(app.deps), run_id)
    const repository = (await repositoryOf(vmId))!
    expect(store.keys(`${repository}/chunks/`).length).toBeGreaterThan(0)
    store.before = async () => {}
    await customer.delete(`/vms/${vmId}`)
    await app.settle()
    await purge()
    expect(store.keys(repository)).toEqual([])
    expect(await repositoryOf(vmId)).toBeUndefined()
  })

  test('that cannot be stored fails with the reason, counts nowhere, and leaves nothing', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const usage = () => app.db.one(sql`select disk_used_gib from hosts where id = ${app.host.id}`)
    const before = await usage()
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('refused', 'the keys were withdrawn')
    }
    const backup = await make(vmId)
    store.before = async () => {}
    expect(backup).toMatchObject({ status: 'FAILED', error: 'The backup storage refused access.' })
    expect(await usage()).toEqual(before)
    await purge()
    expect(store.keys(`data/${await repositoryOf(vmId)}`)).toEqual([])
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    expect(await make(vmId)).toMatchObject({ status: 'AVAILABLE' })
  })

  test('that failed while the bucket was gone keeps nothing of others in it', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await make(vmId)
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('unavailable', 'gone for a while')
    }
    const failed = (await customer.post(`/vms/${vmId}/backups`, { name: 'y' })).body.data
    await resumeRun(testRunner(app.deps), failed.actionId)
    store.before = async () => {
      throw new BackupTargetError('unavailable', 'gone for longer')
    }
    const asked = app.clock.now()
    await app.settle()
    expect(app.clock.now().getTime() - asked.getTime()).toBeLessThan(600_000)
    const error = 'The backup storage does not answer.'
    expect((await customer.get(`/vms/${vmId}/backups/${failed.backup.id}`)).body.data).toMatchObject({ status: 'FAILED', error })
    expect((await customer.post(`/vms/${vmId}/restart`)).status).toBe(202)
    store.before = async () => {}
    await app.settle()
    const repository = (await repositoryOf(vmId))!
    const before = store.keys(`${repository}/chunks/`).length
    await purge()
    const between = store.keys(`${repository}/chunks/`).length
    await customer.delete(`/vms/${vmId}/backups/${id}`)
    await purge()
    expect([between < before, store.keys(`data/${repository}`)]).toEqual([true, []])
    await app.checkInvariants()
  })

  test('counts what it holds of those that are gone', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const [first, second] = [await daily(vmId, 'one'), await daily(vmId, 'two')]
    const counted = () => app.db.many(sql`select id, counted_gib from backups where vm_id = ${vmId} order by id`)
    const used = async () =>
      (
        await app.db.one<{ used: bigint }>(
          sql`select used from account_quotas where name = 'copies_gib' and account_id = ${customer.accountId}`,
        )
      ).used
    const before = await used()
    // As of a full backup of 5 GiB, and what changed since.
    await app.db.run(sql`update backups set counted_gib = 5 where id = ${second}`)
    await app.db.run(sql`update account_quotas set used = used + 4 where name = 'copies_gib' and account_id = ${customer.accountId}`)
    await customer.delete(`/vms/${vmId}/backups/${first}`)
    await purge()
    expect([await counted(), await used()]).toEqual([[{ id: second, counted_gib: 1 }], before - 1n])
    await app.checkInvariants()
  })

  test('is not restored when an object is damaged: the VM keeps its disk, and the backup is marked', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('before')
    const { id } = await make(vmId)
    await diskOf(app, vmId).write('after')
    const [chunk] = store.keys(`${await repositoryOf(vmId)}/chunks/`)
    store.bodyOf(chunk!)[20]! ^= 1
    await restore(vmId, id)
    const vm = (await customer.get(`/vms/${vmId}`)).body.data
    expect(vm).toMatchObject({ status: 'RUNNING', statusReason: expect.stringContaining('Data of the backup is damaged') })
    expect(await diskOf(app, vmId).read()).toBe('after')
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    await app.settle()
    const { regionId } = await app.given.vmInput()
    const { id: newId } = (await customer.post('/vms', { regionId, hostname: 'new', fromBackupId: id })).body.data.vm as { id: string }
    await app.settle()
    expect((await customer.get(`/vms/${newId}`)).body.data).toMatchObject({ status: 'ERROR' })
    const marked = { status: 'AVAILABLE', verification: 'FAILED', verificationError: 'Data of the backup is damaged.' }
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject(marked)
    expect(await app.db.many(sql`select type from events where subject_id = ${vmId} and type = 'backup.verification_failed'`)).toHaveLength(
      1,
    )
  })

  test('is not marked for what the host of its VM, or of a new one, lacks', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await make(vmId)
    const get = async (hostId: string): Promise<Driver> => ({
      ...(await app.deps.hypervisors.get(hostId)),
      ensureBackupFromExtents: async () => {
        throw new DriverError('not_found', 'The region has no such storage backend')
      },
    })
    const runner = testRunner({ ...app.deps, hypervisors: { ...app.deps.hypervisors, get } })
    const { regionId } = await app.given.vmInput()
    const restoring = await customer.post(`/vms/${vmId}/backups/${id}/restore`)
    await resumeRun(runner, restoring.body.data.actionId)
    const creating = await customer.post('/vms', { regionId, hostname: 'new', fromBackupId: id })
    await resumeRun(runner, creating.body.data.actionId)
    await app.settle()
    expect((await customer.get(`/vms/${creating.body.data.vm.id}`)).body.data).toMatchObject({ status: 'ERROR' })
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject({ status: 'AVAILABLE', verification: null })
  })

  test('restores on another host when that of its VM is lost', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('before')
    const { id } = await make(vmId)
    const away = (since: Date | null) => app.db.run(sql`update hosts set unreachable_since = ${since} where id = ${app.host.id}`)
    await app.simulated.faults.loseHost()
    await away(new Date(app.clock.now().getTime() - 600_000))
    await restore(vmId, id)
    expect((await customer.get(`/vms/${vmId}`)).body.data.status).toBe('RUNNING')
    expect(await controlOf(app, second.id).drift.readFile(vmId, 'moment')).toBe('before')
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject({ status: 'AVAILABLE', warning: null })
    await app.simulated.faults.returnHost()
    await away(null)
    await app.rest()
    expect(await volumesOf(app, vmId)).toEqual(['disk 2 on second', 'seed 2 on second'])
    await app.checkInvariants()
  })
})

describe('a locked backup', () => {
  test('stays until its date, and is gone afterwards', async () => {
    const app = await testApp(storesInMemory())
    const customer = await app.given.customer({ credit: '1000.00' })
    const store = await givenBackupTarget(app, { lockDays: 3, clock: app.clock })
    const { id: vmId } = await app.given.vm(customer)
    const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    await customer.delete(`/vms/${vmId}/backups/${id}`)
    await removeInTargets.runOnce(app.deps)
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data.status).toBe('DELETING')
    expect(store.keys('/manifests/')).toHaveLength(1)
    app.clock.advance('4d')
    await removeInTargets.runOnce(app.deps)
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).status).toBe(404)
    app.clock.advance('4d')
    await removeInTargets.runOnce(app.deps)
    expect(store.keys('data/')).toEqual([])
  })
})
