import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'

describe('POST /vms/{vmId}/snapshots/{id}/restore', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const vmOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]
  const eventsOf = async (vmId: string) =>
    (await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${vmId} order by number`)).map(
      (event) => event.type,
    )
  const act = async (path: string, body?: unknown) => {
    const answer = await customer.post(path, body)
    expect(answer.status, answer.body.error).toBe(202)
    await app.settle()
    return answer.body.data
  }

  /** A VM whose disk contains "before" at the snapshot and "after" since. */
  const given = async (input: Record<string, unknown> = {}) => {
    const { id: vmId } = await app.given.vm(customer, input)
    const disk = diskOf(app, vmId)
    await disk.write('before')
    const { snapshot } = await act(`/vms/${vmId}/snapshots`, { name: 'before' })
    await disk.write('after')
    return { vmId, disk, snapshotId: snapshot.id as string, restore: `/vms/${vmId}/snapshots/${snapshot.id}/restore` }
  }

  test('restores the disk, and the VM is REBUILDING during the action', async () => {
    const { vmId, disk, snapshotId, restore } = await given()
    const { ipAddress } = await vmOf(vmId)
    const { status, headers, body } = await customer.post(restore)
    expect([status, body]).toEqual([202, { success: true, data: { actionId: expect.any(String) } }])
    expect(headers['location']).toBe(`/api/public/v1/vms/${vmId}/actions/${body.data.actionId}`)
    expect(await vmOf(vmId)).toMatchObject({ status: 'REBUILDING', currentAction: { action: 'SNAPSHOT_RESTORE' }, allowedActions: [] })
    expect((await customer.get(`/vms/${vmId}/snapshots/${snapshotId}`)).body.data.status).toBe('RESTORING')

    await app.settle()
    expect(await vmOf(vmId)).toMatchObject({ status: 'RUNNING', ipAddress, currentAction: null, statusReason: null })
    expect(await disk.read()).toBe('before')
    expect((await customer.get(`/vms/${vmId}/snapshots/${snapshotId}`)).body.data.status).toBe('AVAILABLE')
    expect(await volumesOf(app, vmId)).toEqual(['disk 2', 'seed 2', 'snapshot'])
    expect((await eventsOf(vmId)).slice(-2)).toEqual(['snapshot.restored', 'vm.started'])
  })

  test('can be repeated', async () => {
    const { disk, restore } = await given()
    for (let i = 0; i < 2; i++) {
      await act(restore)
      expect(await disk.read()).toBe('before')
      await disk.write('changed')
    }
  })

  test('starts a stopped VM', async () => {
    const { vmId, disk, restore } = await given()
    await act(`/vms/${vmId}/stop`)
    await act(restore)
    expect((await vmOf(vmId)).status).toBe('RUNNING')
    expect(await disk.read()).toBe('before')
  })

  test('restores a rebuilt VM with its previous template', async () => {
    const { vmId, disk, restore } = await given()
    const template = (await customer.get('/os-templates/tiny')).body.data
    await act(`/vms/${vmId}/rebuild`, { osTemplateId: template.id })
    expect((await vmOf(vmId)).osTemplate.slug).toBe('tiny')
    await act(restore)
    expect((await vmOf(vmId)).osTemplate.slug).toBe('debian-12')
    expect(await disk.read()).toBe('before')
  })

  test('of a smaller disk grows to the current disk size', async () => {
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string; disk: number }[]
    const plan = (slug: string) => plans.find((each) => each.slug === slug)!
    const { vmId, disk, restore } = await given({ planId: plan('small').id })
    await act(`/vms/${vmId}/upgrade`, { planId: plan('large').id })
    await act(restore)
    expect(await disk.read()).toBe('before')
    const size = await app.db.one(
      sql`select capacity_bytes / 1024 ^ 3 as gib from simulated.volumes where vm_id = ${vmId} and kind = 'disk'`,
    )
    expect(size).toEqual({ gib: plan('large').disk })
  })

  test('recovers a VM whose machine is missing on its host', async () => {
    const { vmId, disk, restore } = await given()
    await app.simulated.drift.deleteMachine(vmId)
    await app.reconcile()
    app.clock.advance('10s')
    await app.reconcile()
    expect((await vmOf(vmId)).status).toBe('ERROR')
    await act(restore)
    expect((await vmOf(vmId)).status).toBe('RUNNING')
    expect(await disk.read()).toBe('before')
  })

  test('keeps the old disk when the guest does not become ready on the new one', async () => {
    const { vmId, disk, snapshotId, restore } = await given()
    await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'guest_failed' })
    await app.simulated.faults.plant({ verb: 'findMachine', kind: 'permanent' })
    const { actionId } = await act(restore)
    expect((await customer.get(`/vms/${vmId}/actions/${actionId}`)).body.data.status).toBe('FAILED')
    expect(await vmOf(vmId)).toMatchObject({
      status: 'RUNNING',
      statusReason: expect.stringMatching(/^The restore failed and the old disk was kept: /),
    })
    expect(await disk.read()).toBe('after')
    expect((await customer.get(`/vms/${vmId}/snapshots/${snapshotId}`)).body.data.status).toBe('AVAILABLE')
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1', 'snapshot'])
    expect((await eventsOf(vmId)).at(-1)).toBe('vm.restore_failed')
    await act(restore)
    expect(await disk.read()).toBe('before')
  })

  test('keeps the old disk when the host has no capacity for a new one', async () => {
    const { vmId, disk, restore } = await given()
    await act(`/vms/${vmId}/stop`)
    await app.simulated.faults.fillDisk()
    await act(restore)
    await app.simulated.faults.freeDisk()
    expect((await vmOf(vmId)).status).toBe('STOPPED')
    expect(await disk.read()).toBe('after')
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1', 'snapshot'])
  })

  test('is rejected while the VM is protected', async () => {
    const { vmId, restore } = await given({ isProtected: true })
    expect(refusal(await customer.post(restore))).toEqual([
      409,
      'protected',
      'VM is protected against restore: set isProtected to false first',
    ])
    await customer.patch(`/vms/${vmId}`, { isProtected: false })
    await act(restore)
  })

  test('is rejected while the VM is busy', async () => {
    const { vmId, restore } = await given()
    const { actionId } = (await customer.post(`/vms/${vmId}/restart`)).body.data
    expect(refusal(await customer.post(restore))).toEqual([409, 'busy', `VM is busy: action RESTART (${actionId}) is waiting`])
  })

  test('is rejected for a FAILED snapshot', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.simulated.faults.fillDisk()
    const { snapshot } = await act(`/vms/${vmId}/snapshots`, { name: 'x' })
    await app.simulated.faults.freeDisk()
    const answer = refusal(await customer.post(`/vms/${vmId}/snapshots/${snapshot.id}/restore`))
    expect(answer).toEqual([409, 'invalid_state', 'Snapshot must be AVAILABLE to restore; it is FAILED'])
    expect((await vmOf(vmId)).status).toBe('RUNNING')
  })

  test('answers 404 for another account, another VM and an unknown id', async () => {
    const { vmId, snapshotId, restore } = await given()
    const { id: otherVm } = await app.given.vm(customer)
    const stranger = await app.given.customer()
    expect(refusal(await stranger.post(restore))).toEqual([404, 'not_found', 'VM not found'])
    for (const path of [`/vms/${otherVm}/snapshots/${snapshotId}/restore`, `/vms/${vmId}/snapshots/${newId()}/restore`]) {
      expect(refusal(await customer.post(path))).toEqual([404, 'not_found', 'Snapshot not found'])
    }
  })
})
