import { describe, expect, test } from 'vitest'
import { allowManyVms, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { setQuotaLimit } from '../accounts/service.ts'

describe('POST /vms/{vmId}/backups', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const backupsOf = async (vmId: string) => (await customer.get(`/vms/${vmId}/backups`)).body.data
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]

  test('answers 202 with the backup and its action', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { status, headers, body } = await customer.post(`/vms/${vmId}/backups`, { name: 'before' })
    expect(status).toBe(202)
    expect(headers['location']).toBe(`/api/public/v1/vms/${vmId}/actions/${body.data.actionId}`)
    const now = app.clock.now().toISOString()
    const backup = {
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      vmId,
      name: 'before',
      labels: {},
      type: 'MANUAL',
      status: 'PENDING',
      size: '0',
      disk: 25,
      startedAt: null,
      completedAt: null,
      expiresAt: null,
      error: null,
      consistency: null,
      warning: expect.stringContaining('on the host of its VM'),
      verification: null,
      verifiedAt: null,
      verificationError: null,
      restoreSeconds: null,
      bootSeconds: null,
      hasScreenshot: false,
      createdAt: now,
    }
    expect(body).toEqual({ success: true, data: { backup, actionId: expect.any(String) } })
    expect((await customer.get(`/vms/${vmId}`)).body.data).toMatchObject({ currentAction: { action: 'BACKUP_CREATE' }, allowedActions: [] })

    await app.settle({ subjectId: vmId })
    const made = {
      ...backup,
      status: 'AVAILABLE',
      consistency: 'FILESYSTEM',
      size: expect.stringMatching(/^[1-9]\d*$/),
      startedAt: now,
      completedAt: now,
    }
    expect(await backupsOf(vmId)).toEqual([made])
    const action = (await customer.get(`/vms/${vmId}/actions/${body.data.actionId}`)).body.data
    expect(action).toMatchObject({ action: 'BACKUP_CREATE', status: 'COMPLETED', progress: 100 })
    expect(await volumesOf(app, vmId)).toEqual(['backup', 'disk 1', 'seed 1'])
    const event = await app.db.one<{ data: unknown }>(sql`select data from events where subject_id = ${vmId} and type = 'backup.created'`)
    expect(event.data).toMatchObject({ actionId: body.data.actionId, backup: { id: body.data.backup.id, status: 'AVAILABLE' } })
  })

  test('is crash-consistent where no guest agent answers, and consistent again once the VM is off', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.simulated.drift.hangGuest(vmId)
    await customer.post(`/vms/${vmId}/backups`, { name: 'hung' })
    await app.settle({ subjectId: vmId })
    await customer.post(`/vms/${vmId}/stop`, { force: true })
    await app.settle({ subjectId: vmId })
    await customer.post(`/vms/${vmId}/backups`, { name: 'off' })
    await app.settle({ subjectId: vmId })
    const made = (await backupsOf(vmId)) as { name: string; consistency: string }[]
    expect(made.map(({ name, consistency }) => [name, consistency])).toEqual([
      ['off', 'FILESYSTEM'],
      ['hung', 'CRASH'],
    ])
  })

  test('creates full backups regardless of existing ones', async () => {
    const { id: vmId } = await app.given.vm(customer)
    for (let i = 0; i < 3; i++) {
      await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
      await app.settle({ subjectId: vmId })
    }
    expect(new Set((await backupsOf(vmId)).map((each: { size: string }) => each.size)).size).toBe(1)
  })

  test.each([
    ['no name', {}, 'name is required'],
    ['an empty name', { name: '' }, 'name must be 1-100 characters on one line, without control characters'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name must be 1-100 characters on one line, without control characters'],
    ['an unknown field', { name: 'x', type: 'DAILY' }, 'type is not a known field'],
  ])('refuses %s', async (_, body, sentence) => {
    expect(refusal(await customer.post(`/vms/${newId()}/backups`, body))).toEqual([
      400,
      'validation_failed',
      `Validation failed: ${sentence}`,
    ])
  })

  test('refuses a busy or suspended VM', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { actionId } = (await customer.post(`/vms/${vmId}/restart`)).body.data
    const busy = refusal(await customer.post(`/vms/${vmId}/backups`, { name: 'x' }))
    expect(busy).toEqual([409, 'busy', `VM is busy: action RESTART (${actionId}) is waiting`])
    await app.settle({ subjectId: vmId })
    await app.db.run(sql`update vms set status = 'SUSPENDED' where id = ${vmId}`)
    const suspended = refusal(await customer.post(`/vms/${vmId}/backups`, { name: 'x' }))
    expect(suspended).toEqual([409, 'invalid_state', 'VM must be RUNNING or STOPPED to backup; it is SUSPENDED'])
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vmId}`)
  })

  test('enforces the account’s limit of backups per VM', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'backups_per_vm', 2n))
    const make = async () => {
      const answer = await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
      await app.settle({ subjectId: vmId })
      return answer
    }
    for (let i = 0; i < 2; i++) expect((await make()).status).toBe(202)
    const sentence = 'Quota exceeded: this VM has 2 of 2 manual backups. Delete one, or ask support for more'
    expect(refusal(await make())).toEqual([422, 'quota_exceeded', sentence])
    await customer.delete(`/vms/${vmId}/backups/${(await backupsOf(vmId))[0].id}`)
    expect((await make()).status).toBe(202)
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'backups_per_vm', null))
  })

  test('reports the error of a failed backup and leaves no volume on the host', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await app.simulated.faults.fillDisk()
    const { actionId } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data
    await app.settle({ subjectId: vmId })
    await app.simulated.faults.freeDisk()
    expect((await customer.get(`/vms/${vmId}/actions/${actionId}`)).body.data).toMatchObject({ status: 'FAILED', errorCode: 'no_space' })
    expect(await backupsOf(vmId)).toMatchObject([
      { status: 'FAILED', error: 'The host has run out of disk space.', size: '0', completedAt: null },
    ])
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    const event = await app.db.one<{ data: unknown }>(sql`select data from events where subject_id = ${vmId} and type = 'backup.failed'`)
    expect(event.data).toMatchObject({ actionId, reason: 'The host has run out of disk space.' })
  })

  test('reports the VM of another account as not found', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const stranger = await app.given.customer()
    expect(refusal(await stranger.post(`/vms/${vmId}/backups`, { name: 'x' }))).toEqual([404, 'not_found', 'VM not found'])
    expect(await backupsOf(vmId)).toEqual([])
  })
})
