import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'

describe('POST /vms/{vmId}/backups/{id}/restore', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const vmOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]

  /** A VM whose disk reads "before", as its backup does, or "after". */
  const given = async (input: Record<string, unknown> = {}) => {
    const { id: vmId } = await app.given.vm(customer, input)
    const disk = diskOf(app, vmId)
    await disk.write('before')
    const { backup } = (await customer.post(`/vms/${vmId}/backups`, { name: 'before' })).body.data
    await app.settle()
    await disk.write('after')
    const path = `/vms/${vmId}/backups/${backup.id}`
    return { vmId, disk, backupId: backup.id as string, path, restore: `${path}/restore` }
  }

  test('restores the point in time, and the VM shows REBUILDING meanwhile', async () => {
    const { vmId, disk, path, restore } = await given()
    const { status, headers, body } = await customer.post(restore)
    expect([status, body]).toEqual([202, { success: true, data: { actionId: expect.any(String) } }])
    expect(headers['location']).toBe(`/api/public/v1/vms/${vmId}/actions/${body.data.actionId}`)
    expect(await vmOf(vmId)).toMatchObject({ status: 'REBUILDING', currentAction: { action: 'BACKUP_RESTORE' } })
    expect((await customer.get(path)).body.data.status).toBe('RESTORING')
    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect(await disk.read()).toBe('before')
    expect((await customer.get(path)).body.data.status).toBe('AVAILABLE')
    expect(await volumesOf(app, vmId)).toEqual(['backup', 'disk 2', 'seed 2'])
    const event = await app.db.one<{ data: unknown }>(sql`select data from events where subject_id = ${vmId} and type = 'backup.restored'`)
    expect(event.data).toMatchObject({ actionId: body.data.actionId, backup: { status: 'AVAILABLE' }, vm: { status: 'RUNNING' } })
  })

  test('keeps the old disk when the host has no space for a new one', async () => {
    const { vmId, disk, path, restore } = await given()
    await app.simulated.faults.fillDisk()
    await customer.post(restore)
    await app.settle()
    await app.simulated.faults.freeDisk()
    expect(await vmOf(vmId)).toMatchObject({
      status: 'RUNNING',
      statusReason: expect.stringContaining('The host has run out of disk space.'),
    })
    expect(await disk.read()).toBe('after')
    expect((await customer.get(path)).body.data.status).toBe('AVAILABLE')
    expect(await volumesOf(app, vmId)).toEqual(['backup', 'disk 1', 'seed 1'])
  })

  test('is refused while the VM is protected, busy or suspended', async () => {
    const { vmId, restore } = await given({ isProtected: true })
    expect(refusal(await customer.post(restore))).toEqual([
      409,
      'protected',
      'VM is protected against restore: set isProtected to false first',
    ])
    await customer.patch(`/vms/${vmId}`, { isProtected: false })
    const { actionId } = (await customer.post(`/vms/${vmId}/restart`)).body.data
    expect(refusal(await customer.post(restore))).toEqual([409, 'busy', `VM is busy: action RESTART (${actionId}) is waiting`])
    await app.settle()
    await app.db.run(sql`update vms set status = 'SUSPENDED' where id = ${vmId}`)
    const sentence = 'VM must be RUNNING or STOPPED or ERROR to restore; it is SUSPENDED'
    expect(refusal(await customer.post(restore))).toEqual([409, 'invalid_state', sentence])
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vmId}`)
  })

  test('is refused for a backup that is being deleted', async () => {
    const { path, restore } = await given()
    await customer.delete(path)
    expect(refusal(await customer.post(restore))).toEqual([409, 'invalid_state', 'Backup must be AVAILABLE to restore; it is DELETING'])
  })

  test('reports another account, another VM and an unknown id as not found', async () => {
    const { vmId, backupId, restore } = await given()
    const { id: otherVm } = await app.given.vm(customer)
    const stranger = await app.given.customer()
    expect(refusal(await stranger.post(restore))).toEqual([404, 'not_found', 'VM not found'])
    for (const path of [`/vms/${otherVm}/backups/${backupId}/restore`, `/vms/${vmId}/backups/${newId()}/restore`]) {
      expect(refusal(await customer.post(path))).toEqual([404, 'not_found', 'Backup not found'])
    }
  })
})
