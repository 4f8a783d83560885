// Backups stored on another host than their VM.
import { describe, expect, test } from 'vitest'
import { diskOf, givenSecondHost, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { removeBackups } from './purge.reconciler.ts'

describe('a backup stored on another host', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const second = await givenSecondHost(app)
  const other = controlOf(app, second.id)

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
  const vmOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data
  const away = (minutes: number | null) =>
    app.db.run(sql`update hosts set unreachable_since = ${minutes && new Date(app.clock.now().getTime() - minutes * 60_000)}
      where id = ${app.host.id}`)

  test("leaves no data on its VM's host, carries no warning, and restores its point in time", async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('before')
    const backup = await make(vmId)
    expect(backup).toMatchObject({ status: 'AVAILABLE', warning: null })
    expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 1', 'seed 1'])
    await diskOf(app, vmId).write('after')
    await restore(vmId, backup.id)
    expect(await diskOf(app, vmId).read()).toBe('before')
    expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 2', 'seed 2'])
  })

  test('uses a parent that the same host stores', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const ids: string[] = []
    for (const moment of ['one', 'two', 'three']) {
      await diskOf(app, vmId).write(moment)
      ids.push((await startDailyBackup(app, vmId)).id)
      await app.settle()
    }
    expect(await app.db.many(sql`select parent_id, host_id from backups where vm_id = ${vmId} order by depth`)).toEqual([
      { parent_id: null, host_id: second.id },
      { parent_id: ids[0], host_id: second.id },
      { parent_id: ids[1], host_id: second.id },
    ])
    for (const [index, moment] of ['one', 'two', 'three'].entries()) {
      await restore(vmId, ids[index]!)
      expect(await diskOf(app, vmId).read()).toBe(moment)
    }
    expect((await volumesOf(app, vmId)).filter((each) => each.startsWith('backup'))).toEqual(Array(3).fill('backup on second'))
  })

  test('is not restored when its data was modified on the storing host', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('before')
    const { id } = await make(vmId)
    await diskOf(app, vmId).write('after')
    await app.db.run(sql`update simulated.volumes set content = content || '{"files": {"moment": "forged"}}' where id = ${id}`)
    await restore(vmId, id)
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', statusReason: expect.stringContaining('arrived damaged') })
    const marked = { verification: 'FAILED', verificationError: 'Data of the backup is damaged.' }
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject(marked)
    expect(await diskOf(app, vmId).read()).toBe('after')
    expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 1', 'seed 1'])
  })

  test('is not marked when it arrives whole in the end', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await make(vmId)
    const { content } = await app.db.one<{ content: unknown }>(sql`select content from simulated.volumes where id = ${id}`)
    await app.db.run(sql`update simulated.volumes set content = content || '{"files": {"moment": "forged"}}' where id = ${id}`)
    const { actionId } = (await customer.post(`/vms/${vmId}/backups/${id}/restore`)).body.data
    for (let tries = 0; tries < 4; tries++) {
      await resumeRun(testRunner(app.deps), actionId)
      app.clock.advance('1h')
    }
    await app.db.run(sql`update simulated.volumes set content = ${JSON.stringify(content)}::jsonb where id = ${id}`)
    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject({ status: 'AVAILABLE', verification: null })
  })

  test('is not marked as missing when it goes with its VM', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await make(vmId)
    const { regionId } = await app.given.vmInput()
    const { actionId } = (await customer.post('/vms', { regionId, hostname: 'new', fromBackupId: id })).body.data
    expect((await customer.delete(`/vms/${vmId}`)).status).toBeLessThan(300)
    await app.db.run(sql`delete from simulated.volumes where id = ${id}`)
    await resumeRun(testRunner(app.deps), actionId)
    await app.settle()
    expect(await app.db.many(sql`select type from events where type = 'backup.verification_failed' and subject_id = ${vmId}`)).toEqual([])
  })

  test('that found no free space reports it, and the next one uses another host', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await other.faults.fillDisk()
    expect(await make(vmId)).toMatchObject({ status: 'FAILED', error: 'The host has run out of disk space.' })
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    expect(await make(vmId)).toMatchObject({ status: 'AVAILABLE', warning: expect.stringContaining('on the host of its VM') })
    await other.faults.freeDisk()
    expect(await volumesOf(app, vmId)).toEqual(['backup', 'disk 1', 'seed 1'])
  })

  test('is purged when it or its VM is deleted', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const [first] = [await make(vmId), await make(vmId)]
    await customer.delete(`/vms/${vmId}/backups/${first.id}`)
    await removeBackups.runOnce(app.deps)
    expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 1', 'seed 1'])
    await other.faults.loseHost()
    await customer.delete(`/vms/${vmId}`)
    await app.settle()
    await removeBackups.runOnce(app.deps)
    await other.faults.returnHost()
    expect((await customer.get(`/vms/${vmId}`)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['backup on second'])
    app.clock.advance('1m')
    await removeBackups.runOnce(app.deps)
    expect(await volumesOf(app, vmId)).toEqual([])
    expect(await app.db.many(sql`select from backups where vm_id = ${vmId}`)).toEqual([])
  })

  test.each([
    ['within the time to take it back', '1m'],
    ['after it', '7h'],
  ])('that is cancelled by the deletion of its VM leaves no data when its host becomes reachable %s', async (_, later) => {
    const { id: vmId } = await app.given.vm(customer, { dailyBackupEnabled: true })
    const { run_id } = await startDailyBackup(app, vmId)
    const goOn = (runId: string) => resumeRun(testRunner(app.deps), runId)
    await other.faults.plant({ verb: 'ensureBackupCopy', kind: 'halfway' })
    await goOn(run_id)
    expect(await volumesOf(app, vmId)).toContain('backup half made on second')
    await other.faults.loseHost()
    const { actionId } = (await customer.delete(`/vms/${vmId}`)).body.data
    await goOn(actionId)
    expect((await customer.get(`/vms/${vmId}`)).status).toBe(404)
    app.clock.advance(later)
    await goOn(run_id)
    await other.faults.returnHost()
    app.clock.advance('1m')
    await goOn(run_id)
    await removeBackups.runOnce(app.deps)
    expect(await volumesOf(app, vmId)).toEqual([])
    expect(await app.db.many(sql`select from backups where vm_id = ${vmId}`)).toEqual([])
    expect(await app.db.one(sql`select status, compensating from workflow_runs where id = ${run_id}`)).toEqual({
      status: 'CANCELLED',
      compensating: false,
    })
  })

  test('restores its VM on another host when the first is lost; the stale machine is removed once that host returns', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await diskOf(app, vmId).write('before')
    const { id } = await make(vmId)
    await customer.post(`/vms/${vmId}/snapshots`, { name: 'beside the disk' })
    await app.settle()
    const { ipAddress } = await vmOf(vmId)
    await app.simulated.faults.loseHost()
    await away(10)
    await restore(vmId, id)
    const found = await vmOf(vmId)
    expect(found).toMatchObject({ status: 'RUNNING', ipAddress: expect.stringMatching(/^10\.66\./) })
    expect(found.ipAddress).not.toBe(ipAddress)
    expect(await other.drift.readFile(vmId, 'moment')).toBe('before')
    expect((await customer.get(`/vms/${vmId}/snapshots`)).body.data).toMatchObject([{ status: 'FAILED' }])
    expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data.warning).toMatch(/on the host of its VM/)
    await app.simulated.faults.returnHost()
    await away(null)
    await app.rest()
    expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 2 on second', 'seed 2 on second'])
    await app.checkInvariants()
  })

  test("is not restored on another host while its VM's host is only briefly unreachable", async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await make(vmId)
    await away(1)
    await restore(vmId, id)
    expect((await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)).host_id).toBe(app.host.id)
    await away(null)
  })
})
