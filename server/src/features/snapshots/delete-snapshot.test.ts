import { describe, expect, test } from 'vitest'
import { allowManyVms, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'

describe('DELETE /vms/{vmId}/snapshots/{id}', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]
  const given = async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    await app.settle({ subjectId: vmId })
    return { vmId, path: `/vms/${vmId}/snapshots/${snapshot.id}` }
  }

  test('removes the snapshot and its data', async () => {
    const { vmId, path } = await given()
    const { status, headers, body } = await customer.delete(path)
    expect([status, body]).toEqual([202, { success: true, data: { actionId: expect.any(String) } }])
    expect(headers['location']).toBe(`/api/public/v1/vms/${vmId}/actions/${body.data.actionId}`)
    expect((await customer.get(path)).body.data.status).toBe('DELETING')
    await app.settle({ subjectId: vmId })
    expect((await customer.get(path)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    const action = (await customer.get(`/vms/${vmId}/actions/${body.data.actionId}`)).body.data
    expect(action).toMatchObject({ action: 'SNAPSHOT_DELETE', status: 'COMPLETED' })
    expect(await app.db.many(sql`select type from events where subject_id = ${vmId} order by number desc limit 1`)).toEqual([
      { type: 'snapshot.deleted' },
    ])
  })

  test('retries while the host is unreachable', async () => {
    const { vmId, path } = await given()
    await app.simulated.faults.plant({ verb: 'ensureNoSnapshot', kind: 'transient', times: 12 })
    await customer.delete(path)
    await app.settle({ subjectId: vmId })
    expect((await customer.get(path)).status).toBe(404)
  })

  test('is FAILED when the host rejects the removal, and can be deleted again', async () => {
    const { vmId, path } = await given()
    await app.simulated.faults.plant({ verb: 'ensureNoSnapshot', kind: 'permanent' })
    await customer.delete(path)
    await app.settle({ subjectId: vmId })
    expect((await customer.get(path)).body.data).toMatchObject({ status: 'FAILED', size: '0' })
    expect((await customer.delete(path)).status).toBe(202)
    await app.settle({ subjectId: vmId })
    expect((await customer.get(path)).status).toBe(404)
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
  })

  test('works in states that allow no new snapshots', async () => {
    const { vmId, path } = await given()
    await app.db.run(sql`update vms set status = 'SUSPENDED' where id = ${vmId}`)
    expect((await customer.delete(path)).status).toBe(202)
    await app.settle({ subjectId: vmId })
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vmId}`)
  })

  test('is rejected when the VM is busy or UNMANAGED', async () => {
    const { vmId, path } = await given()
    const { actionId } = (await customer.post(`/vms/${vmId}/restart`)).body.data
    expect(refusal(await customer.delete(path))).toEqual([409, 'busy', `VM is busy: action RESTART (${actionId}) is waiting`])
    await app.settle({ subjectId: vmId })
    await app.db.run(sql`update vms set status = 'UNMANAGED' where id = ${vmId}`)
    expect(refusal(await customer.delete(path))).toMatchObject([409, 'invalid_state', expect.stringMatching(/^VM is UNMANAGED/)])
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vmId}`)
  })

  test('releases the quota for another', async () => {
    const { vmId, path } = await given()
    for (let i = 0; i < 4; i++) {
      await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })
      await app.settle({ subjectId: vmId })
    }
    expect((await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).status).toBe(422)
    await customer.delete(path)
    await app.settle({ subjectId: vmId })
    expect((await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).status).toBe(202)
  })

  test('answers 404 for another account, another VM and an unknown id', async () => {
    const { vmId, path } = await given()
    const { path: elsewhere } = await given()
    const stranger = await app.given.customer()
    expect(refusal(await stranger.delete(path))).toEqual([404, 'not_found', 'VM not found'])
    for (const id of [newId(), elsewhere.split('/').at(-1)]) {
      expect(refusal(await customer.delete(`/vms/${vmId}/snapshots/${id}`))).toEqual([404, 'not_found', 'Snapshot not found'])
    }
  })
})
