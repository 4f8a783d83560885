import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { removeBackups } from './purge.reconciler.ts'

describe('DELETE /vms/{vmId}/backups/{id}', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]
  const remove = () => removeBackups.runOnce(app.deps)
  const actionOf = async (vmId: string, id: string) => (await customer.get(`/vms/${vmId}/actions/${id}`)).body.data
  const deletions = (vmId: string) =>
    app.db.many(sql`select data ->> 'reason' as reason from events where subject_id = ${vmId} and type = 'backup.deleted'`)
  const begin = async (vmId: string) => {
    const { backup, actionId } = (await customer.post(`/vms/${vmId}/backups`, { name: 'nightly' })).body.data
    return { actionId: actionId as string, path: `/vms/${vmId}/backups/${backup.id}` }
  }
  const given = async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { path } = await begin(vmId)
    await app.settle()
    return { vmId, path }
  }
  /** A chain of incremental backups, as daily backups create. */
  const chain = async (vmId: string, length: number): Promise<string[]> => {
    const ids: string[] = []
    for (let i = 0; i < length; i++) {
      await diskOf(app, vmId).write(`moment ${i}`)
      const row = await startDailyBackup(app, vmId, `Daily ${i}`)
      await app.settle()
      ids.push(row.id)
    }
    return ids
  }

  test('answers at once; the backup reads DELETING until its data is purged', async () => {
    const { vmId, path } = await given()
    const { status, body } = await customer.delete(path)
    expect([status, body]).toEqual([200, { success: true, data: { message: 'Backup nightly is being deleted' } }])
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    expect(await volumesOf(app, vmId)).toContain('backup')
    expect((await customer.delete(path)).status).toBe(200)
    await remove()
    expect((await customer.get(path)).status).toBe(404)
    expect((await customer.delete(path)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    expect(await deletions(vmId)).toEqual([{ reason: 'Deleted by its owner' }])
  })

  test('is accepted while the VM is busy, stopped or suspended', async () => {
    const { vmId, path } = await given()
    await customer.post(`/vms/${vmId}/stop`)
    expect((await customer.delete(path)).status).toBe(200)
    await app.settle()
    const { path: another } = await begin(vmId)
    await app.settle()
    await app.db.run(sql`update vms set status = 'SUSPENDED' where id = ${vmId}`)
    expect((await customer.delete(another)).status).toBe(200)
    await app.db.run(sql`update vms set status = 'STOPPED' where id = ${vmId}`)
  })

  test('cancels a backup that is still queued', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { path, actionId } = await begin(vmId)
    expect((await customer.delete(path)).status).toBe(200)
    expect(await actionOf(vmId, actionId)).toMatchObject({ status: 'CANCELLED', error: 'The backup was deleted while it was being made' })
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    await app.settle()
    expect((await customer.get(path)).status).toBe(404)
    expect(await deletions(vmId)).toEqual([])
  })

  test('cancels a backup in progress and frees the VM at once', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { path, actionId } = await begin(vmId)
    await app.simulated.faults.plant({ verb: 'ensureBackup', kind: 'halfway' })
    await resumeRun(testRunner(app.deps), actionId)
    expect(await volumesOf(app, vmId)).toContain('backup half made')
    expect((await customer.get(path)).body.data.status).toBe('RUNNING')
    await customer.delete(path)
    await remove()
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    expect((await customer.post(`/vms/${vmId}/restart`)).status).toBe(202)
    await app.settle()
    expect((await customer.get(path)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
  })

  test('waits until a restore from the backup has ended', async () => {
    const { vmId, path } = await given()
    await diskOf(app, vmId).write('afterwards')
    const { actionId } = (await customer.post(`${path}/restore`)).body.data
    expect((await customer.delete(path)).status).toBe(200)
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    await remove()
    expect(await volumesOf(app, vmId)).toContain('backup')
    await app.settle()
    expect((await actionOf(vmId, actionId)).status).toBe('COMPLETED')
    expect(await diskOf(app, vmId).read()).toBeNull()
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    await remove()
    expect((await customer.get(path)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['disk 2', 'seed 2'])
  })

  test('keeps a parent as a hidden tombstone until no backup depends on it', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const [first, second, third] = await chain(vmId, 3)
    await customer.delete(`/vms/${vmId}/backups/${first}`)
    await customer.delete(`/vms/${vmId}/backups/${second}`)
    await remove()
    const listed = (await customer.get(`/vms/${vmId}/backups`)).body
    expect([listed.data.map((each: { id: string }) => each.id), listed.pagination.total]).toEqual([[third], 1])
    for (const id of [first, second]) {
      expect((await customer.get(`/vms/${vmId}/backups/${id}`)).status).toBe(404)
      expect((await customer.delete(`/vms/${vmId}/backups/${id}`)).status).toBe(404)
    }
    expect(await deletions(vmId)).toHaveLength(2)
    expect((await volumesOf(app, vmId)).filter((each) => each === 'backup')).toHaveLength(3)

    await diskOf(app, vmId).write('afterwards')
    await customer.post(`/vms/${vmId}/backups/${third}/restore`)
    await app.settle()
    expect(await diskOf(app, vmId).read()).toBe('moment 2')

    await customer.delete(`/vms/${vmId}/backups/${third}`)
    await remove()
    expect(await volumesOf(app, vmId)).toEqual(['disk 2', 'seed 2'])
    expect(await app.db.many(sql`select id from backups where vm_id = ${vmId}`)).toEqual([])
    expect(await deletions(vmId)).toHaveLength(3)
  })

  test('purges a complete chain in one run', async () => {
    const { id: vmId } = await app.given.vm(customer)
    for (const id of await chain(vmId, 3)) await customer.delete(`/vms/${vmId}/backups/${id}`)
    await remove()
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    expect(await deletions(vmId)).toHaveLength(3)
  })

  test('waits for an unreachable host', async () => {
    const { path, vmId } = await given()
    await app.simulated.faults.loseHost()
    expect((await customer.delete(path)).status).toBe(200)
    await remove()
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    await app.simulated.faults.returnHost()
    await remove()
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    app.clock.advance('10s')
    await remove()
    expect((await customer.get(path)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
  })

  test('removes a failed backup from the list', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.simulated.faults.fillDisk()
    const { path } = await begin(vmId)
    await app.settle()
    await app.simulated.faults.freeDisk()
    expect((await customer.delete(path)).status).toBe(200)
    await remove()
    expect((await customer.get(path)).status).toBe(404)
    expect(await deletions(vmId)).toEqual([])
  })

  test('reports another account, another VM and an unknown id as not found', async () => {
    const { vmId, path } = await given()
    const { path: elsewhere } = await given()
    const stranger = await app.given.customer()
    expect(refusal(await stranger.delete(path))).toEqual([404, 'not_found', 'VM not found'])
    for (const id of [newId(), elsewhere.split('/').at(-1)]) {
      expect(refusal(await customer.delete(`/vms/${vmId}/backups/${id}`))).toEqual([404, 'not_found', 'Backup not found'])
    }
    expect((await customer.get(path)).body.data.status).toBe('AVAILABLE')
  })
})
