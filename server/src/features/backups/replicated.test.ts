// Backups of VMs whose disk is in a storage backend.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { allowManyVms, checkpointsOf, diskOf, givenSecondHost, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { watchStorage } from '../storage/watch.reconciler.ts'
import { dailyBackups } from './daily.reconciler.ts'
import { proveBackups } from './prove.reconciler.ts'
import { removeInTargets } from './purge-targets.reconciler.ts'
import { removeBackups } from './purge.reconciler.ts'

describe.each(['its own host', 'another host', 'a backup target'])('a backup of a replicated disk on %s', async (where) => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  await sellReplicated(app)
  if (where === 'another host') await givenSecondHost(app)
  if (where === 'a backup target') await givenBackupTarget(app)
  const stored = { 'its own host': ['backup'], 'another host': ['backup on second'], 'a backup target': [] }[where]!

  const act = async (path: string, body?: object) => {
    const answer = await customer.post(path, body)
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    await app.settle()
    return answer.body.data
  }
  const make = async (vmId: string) => {
    const { id } = (await act(`/vms/${vmId}/backups`, { name: 'x' })).backup
    return (await customer.get(`/vms/${vmId}/backups/${id}`)).body.data
  }
  /** Returns its id and that of its parent, from the journal: in a target no row has one. */
  const daily = async (vmId: string, moment: string): Promise<{ id: string; parentId: string | null }> => {
    await diskOf(app, vmId).write(moment)
    const { id, run_id } = await startDailyBackup(app, vmId)
    await app.settle()
    const { result } = await app.db.one<{ result: { parentId: string | null } }>(
      sql`select result from workflow_steps where run_id = ${run_id} and name = 'copy'`,
    )
    return { id, parentId: result.parentId }
  }
  const remove = async (vmId: string, id: string) => {
    expect((await customer.delete(`/vms/${vmId}/backups/${id}`)).status).toBe(200)
    await (where === 'a backup target' ? removeInTargets : removeBackups).runOnce(app.deps)
  }
  const hostRoom = async () =>
    (await app.db.many<{ gib: number }>(sql`select disk_used_gib as gib from hosts order by name`)).map(({ gib }) => gib)

  test('restores its point in time, and leaves nothing in the pool', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const before = await hostRoom()
    await diskOf(app, vmId).write('before')
    const backup = await make(vmId)
    expect(backup).toMatchObject({ status: 'AVAILABLE', consistency: 'FILESYSTEM', error: null })
    expect([await volumesOf(app, vmId), await checkpointsOf(app, vmId)]).toEqual([[...stored, 'disk 1', 'seed 1'], []])
    await diskOf(app, vmId).write('after')
    await act(`/vms/${vmId}/backups/${backup.id}/restore`)
    expect(await diskOf(app, vmId).read()).toBe('before')
    expect(await volumesOf(app, vmId)).toEqual([...stored, 'disk 2', 'seed 2'])
    await app.checkInvariants()
    await remove(vmId, backup.id)
    expect(await volumesOf(app, vmId)).toEqual(['disk 2', 'seed 2'])
    expect(await hostRoom()).toEqual(before)
  })

  test('is incremental on the daily one before it, which alone is kept as a base', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const first = await daily(vmId, 'one')
    await make(vmId)
    const second = await daily(vmId, 'two')
    expect([first.parentId, second.parentId, await checkpointsOf(app, vmId)]).toEqual([null, first.id, [second.id]])
    await customer.post(`/vms/${vmId}/stop`)
    await app.settle()
    const third = await daily(vmId, 'three')
    expect([third.parentId, await checkpointsOf(app, vmId)]).toEqual([second.id, [third.id]])
    for (const [{ id }, moment] of [
      [first, 'one'],
      [third, 'three'],
      [second, 'two'],
    ] as const) {
      await act(`/vms/${vmId}/backups/${id}/restore`)
      expect(await diskOf(app, vmId).read()).toBe(moment)
    }
    expect(await checkpointsOf(app, vmId)).toEqual([]) // its disk is another
    expect(await daily(vmId, 'four')).toMatchObject({ parentId: null })
    await app.checkInvariants()
  })

  test('is full, and right, when the pool was below its reserve: the base gives way', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await daily(vmId, 'one')
    const measure = async (gib: number) => {
      await app.db.run(sql`update storage_backends set monitors = ${[`simulated:///?diskGiB=${gib}`]}`)
      await watchStorage.runOnce(app.deps)
    }
    await measure(1_000_000)
    expect(await checkpointsOf(app, vmId)).toEqual([id])
    await measure(1)
    expect(await checkpointsOf(app, vmId)).toEqual([])
    await measure(1_000_000)
    const second = await daily(vmId, 'two')
    expect(second.parentId).toBeNull()
    await diskOf(app, vmId).write('later')
    await act(`/vms/${vmId}/backups/${second.id}/restore`)
    expect(await diskOf(app, vmId).read()).toBe('two')
  })

  test('takes its base with it when it is deleted', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await daily(vmId, 'one')
    expect(await checkpointsOf(app, vmId)).toEqual([id])
    await remove(vmId, id)
    expect([await checkpointsOf(app, vmId), await volumesOf(app, vmId)]).toEqual([[], ['disk 1', 'seed 1']])
  })

  test('goes with its VM', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await daily(vmId, 'one')
    await customer.delete(`/vms/${vmId}`)
    await app.settle()
    for (const purge of [removeInTargets, removeBackups]) await purge.runOnce(app.deps)
    expect(await volumesOf(app, vmId)).toEqual([])
    expect(await app.db.many(sql`select id from backups where vm_id = ${vmId}`)).toEqual([])
  })

  test('becomes a VM of either kind of storage, and so does one of a local disk', async () => {
    const { osTemplateId: _, ...input } = await app.given.vmInput()
    const planId = async (storage: string) =>
      (await app.db.one<{ id: string }>(sql`update plans set storage = ${storage} where slug = 'small' returning id`)).id
    const replicated = await app.given.vm(customer)
    await diskOf(app, replicated.id).write('replicated')
    const fromReplicated = await make(replicated.id)
    const local = await act('/vms', { ...input, planId: await planId('LOCAL'), fromBackupId: fromReplicated.id })
    expect(await diskOf(app, local.vm.id).read()).toBe('replicated')
    await diskOf(app, local.vm.id).write('local')
    const fromLocal = await make(local.vm.id)
    const copy = await act('/vms', { ...input, planId: await planId('REPLICATED'), fromBackupId: fromLocal.id })
    expect(await diskOf(app, copy.vm.id).read()).toBe('local')
    for (const [vmId, storage] of [
      [local.vm.id, 'LOCAL'],
      [copy.vm.id, 'REPLICATED'],
    ]) {
      expect((await customer.get(`/vms/${vmId}`)).body.data).toMatchObject({ status: 'RUNNING', storage })
      expect((await volumesOf(app, vmId)).filter((each) => !each.startsWith('backup'))).toEqual(['disk 1', 'seed 1'])
    }
    await app.checkInvariants()
  })

  test('is made every day once that is bought, and proved', async () => {
    const { id: vmId } = await app.given.vm(customer)
    expect((await customer.get(`/vms/${vmId}`)).body.data.allowedActions).toContain('backup')
    expect((await customer.patch(`/vms/${vmId}`, { dailyBackupEnabled: true })).status).toBe(200)
    await dailyBackups.runOnce(app.deps)
    app.clock.advance('24h')
    await dailyBackups.runOnce(app.deps)
    await app.settle()
    const [backup] = (await customer.get(`/vms/${vmId}/backups`)).body.data
    expect(backup).toMatchObject({ type: 'DAILY', status: 'AVAILABLE' })
    await app.db.run(
      sql`update backup_proof_times set next_at = case when vm_id = ${vmId} then ${app.clock.now()} else 'infinity'::timestamptz end`,
    )
    await proveBackups.runOnce({ ...app.deps, config: { ...app.config, backupProofShare: 90 } })
    await app.settle()
    expect((await customer.get(`/vms/${vmId}/backups/${backup.id}`)).body.data).toMatchObject({ verification: 'BOOTED' })
    await app.checkInvariants()
  })
})
