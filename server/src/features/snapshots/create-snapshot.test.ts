import { describe, expect, test } from 'vitest'
import { allowManyVms, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { setQuotaLimit } from '../accounts/service.ts'

describe('POST /vms/{vmId}/snapshots', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const snapshotsOf = async (vmId: string) => (await customer.get(`/vms/${vmId}/snapshots`)).body.data
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]

  test('answers 202 with the snapshot and its action', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { status, headers, body } = await customer.post(`/vms/${vmId}/snapshots`, { name: 'before', description: 'the upgrade' })
    expect(status).toBe(202)
    expect(headers['location']).toBe(`/api/public/v1/vms/${vmId}/actions/${body.data.actionId}`)
    const snapshot = {
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      vmId,
      name: 'before',
      description: 'the upgrade',
      labels: {},
      status: 'CREATING',
      size: '0',
      sizeRefreshedAt: null,
      createdAt: app.clock.now().toISOString(),
    }
    expect(body).toEqual({ success: true, data: { snapshot, actionId: expect.any(String) } })

    await app.settle({ subjectId: vmId })
    const now = app.clock.now().toISOString()
    expect(await snapshotsOf(vmId)).toEqual([
      { ...snapshot, status: 'AVAILABLE', size: expect.stringMatching(/^[1-9]\d*$/), sizeRefreshedAt: now },
    ])
    const action = (await customer.get(`/vms/${vmId}/actions/${body.data.actionId}`)).body.data
    expect(action).toMatchObject({ action: 'SNAPSHOT_CREATE', status: 'COMPLETED', progress: 100 })
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1', 'snapshot'])
  })

  test('records an event with the snapshot', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { snapshot, actionId } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'before' })).body.data
    await app.settle({ subjectId: vmId })
    const event = await app.db.one<{ data: unknown }>(sql`select data from events where subject_id = ${vmId} and type = 'snapshot.created'`)
    expect(event.data).toMatchObject({ actionId, vm: { id: vmId }, snapshot: { id: snapshot.id, status: 'AVAILABLE' } })
  })

  test('defaults the description to empty', async () => {
    const { id: vmId } = await app.given.vm(customer)
    expect((await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data.snapshot.description).toBe('')
  })

  test('leaves a stopped VM stopped', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await customer.post(`/vms/${vmId}/stop`)
    await app.settle({ subjectId: vmId })
    expect((await customer.post(`/vms/${vmId}/snapshots`, { name: 'cold' })).status).toBe(202)
    await app.settle({ subjectId: vmId })
    expect((await customer.get(`/vms/${vmId}`)).body.data.status).toBe('STOPPED')
    expect(await snapshotsOf(vmId)).toMatchObject([{ status: 'AVAILABLE' }])
  })

  test.each([
    ['no name', {}, 'name is required'],
    ['an empty name', { name: '' }, 'name must be 1-100 characters on one line, without control characters'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name must be 1-100 characters on one line, without control characters'],
    ['a name that is no string', { name: 7 }, 'name must be 1-100 characters on one line, without control characters'],
    [
      'a description of 501 characters',
      { name: 'x', description: 'x'.repeat(501) },
      'description must be 0-500 characters, without control characters',
    ],
    ['a description that is null', { name: 'x', description: null }, 'description must be 0-500 characters, without control characters'],
    [
      'a description with an escape',
      { name: 'x', description: '\u001b[2J' },
      'description must be 0-500 characters, without control characters',
    ],
    [
      'a description that turns the text',
      { name: 'x', description: 'left\u202eright' },
      'description must be 0-500 characters, without control characters',
    ],
    ['an unknown field', { name: 'x', size: '5' }, 'size is not a known field'],
  ])('rejects %s', async (_, body, sentence) => {
    expect(refusal(await customer.post(`/vms/${newId()}/snapshots`, body))).toEqual([
      400,
      'validation_failed',
      `Validation failed: ${sentence}`,
    ])
  })

  test('accepts names and descriptions up to their limits', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const input = { name: 'x'.repeat(100), description: 'y'.repeat(500) }
    expect((await customer.post(`/vms/${vmId}/snapshots`, input)).body.data.snapshot).toMatchObject(input)
  })

  test('rejects a busy VM, and names the open action', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { actionId } = (await customer.post(`/vms/${vmId}/restart`)).body.data
    const answer = refusal(await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' }))
    expect(answer).toEqual([409, 'busy', `VM is busy: action RESTART (${actionId}) is waiting`])
    expect(await snapshotsOf(vmId)).toEqual([])
  })

  test('rejects a VM that failed to provision', async () => {
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id: vmId } = await app.given.vm(customer)
    const answer = refusal(await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' }))
    expect(answer).toEqual([409, 'invalid_state', 'VM must be RUNNING or STOPPED to snapshot; it is ERROR'])
  })

  test('allows five per VM, and more where the operator raised the quota', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const take = async () => {
      const answer = await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })
      await app.settle({ subjectId: vmId })
      return answer
    }
    for (let i = 0; i < 5; i++) expect((await take()).status).toBe(202)
    const sentence = 'Quota exceeded: this VM has 5 of 5 snapshots. Delete one, or ask support for more'
    expect(refusal(await take())).toEqual([422, 'quota_exceeded', sentence])
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'snapshots_per_vm', 6n))
    expect((await take()).status).toBe(202)
    expect((await take()).status).toBe(422)
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'snapshots_per_vm', null))
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
  })

  test('accepts one of many concurrent requests', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const answers = await Promise.all(Array.from({ length: 8 }, () => customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })))
    expect(answers.filter((each) => each.status === 202)).toHaveLength(1)
    expect(answers.filter((each) => each.headers['x-error-code'] === 'busy')).toHaveLength(7)
    await app.settle({ subjectId: vmId })
    expect(await snapshotsOf(vmId)).toHaveLength(1)
  })

  test('is FAILED without data when the host has no capacity, and the VM is unchanged', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.simulated.faults.fillDisk()
    const { actionId } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    await app.settle({ subjectId: vmId })
    await app.simulated.faults.freeDisk()
    expect((await customer.get(`/vms/${vmId}/actions/${actionId}`)).body.data).toMatchObject({
      status: 'FAILED',
      errorCode: 'no_space',
      error: 'The host has run out of disk space.',
    })
    expect(await snapshotsOf(vmId)).toMatchObject([{ status: 'FAILED', size: '0', sizeRefreshedAt: null }])
    expect((await customer.get(`/vms/${vmId}`)).body.data).toMatchObject({ status: 'RUNNING', currentAction: null })
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
  })

  test.each(['transient', 'halfway', 'lost_answer'] as const)('is retried after a failure of kind %s', async (kind) => {
    const { id: vmId } = await app.given.vm(customer)
    await app.simulated.faults.plant({ verb: 'ensureSnapshot', kind, times: 2 })
    await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })
    await app.settle({ subjectId: vmId })
    expect(await snapshotsOf(vmId)).toMatchObject([{ status: 'AVAILABLE' }])
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1', 'snapshot'])
  })

  test('answers 404 for a VM of another account', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const stranger = await app.given.customer()
    expect(refusal(await stranger.post(`/vms/${vmId}/snapshots`, { name: 'x' }))).toEqual([404, 'not_found', 'VM not found'])
    expect(await snapshotsOf(vmId)).toEqual([])
  })
})
