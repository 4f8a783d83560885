import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { givenSecondHost, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { dueVms } from './proofs.ts'
import { proveBackups } from './prove.reconciler.ts'

const PROVES = { BERTH_BACKUP_PROOF_SHARE: '50' }

async function given(options = {}) {
  const app = await testApp({ ...options, environment: PROVES })
  const customer = await app.given.customer({ credit: '10000.00' })
  const { id: vmId } = await app.given.vm(customer)
  const backUp = async (id = vmId): Promise<string> => {
    const { backup } = (await customer.post(`/vms/${id}/backups`, { name: 'x' })).body.data
    await app.settle()
    return backup.id as string
  }
  const seen = async (id: string, of = vmId) => (await customer.get(`/vms/${of}/backups/${id}`)).body.data
  const eventsOf = async (id: string) =>
    (
      await app.db.many<{ type: string }>(
        sql`select type from events where data -> 'backup' ->> 'id' = ${id} and type like 'backup.veri%' order by number`,
      )
    ).map(({ type }) => type)
  return { app, customer, vmId, backUp, seen, eventsOf }
}

const running = (app: TestApp) =>
  app.db.many<{ id: string; run_id: string; host_id: string; vcpu: number }>(
    sql`select id, run_id, host_id, vcpu from backup_proofs order by started_at`,
  )

/** As long as the worker lives. */
const untilStep = async (app: TestApp, runId: string, step: string): Promise<void> => {
  const checkpoint = (where: string): void => {
    if (where === step) throw new Error('killed')
  }
  await resumeRun({ ...testRunner(app.deps), checkpoint }, runId).catch(() => undefined)
  app.clock.advance('31s')
}

const machinesOf = async (app: TestApp): Promise<string[]> => {
  const found: string[] = []
  for await (const { vmId } of (await app.deps.hypervisors.get(app.host.id)).listMachines(AbortSignal.timeout(5_000)))
    if (vmId) found.push(vmId)
  return found
}

describe('a backup is proved', async () => {
  const { app, customer, vmId, backUp, seen, eventsOf } = await given()
  const id = await backUp()

  test('by a guest that is no VM of the customer, costs nothing and has no interface', async () => {
    expect(await seen(id)).toMatchObject({ verification: null, verifiedAt: null, restoreSeconds: null, hasScreenshot: false })
    const state = async () => ({
      vms: (await customer.get('/vms')).body.pagination.total,
      actions: (await customer.get('/actions')).body.pagination.total,
      limits: (await customer.get('/account/limits')).body.data,
      wallet: (await customer.get('/wallet')).body.data,
      ledger: (await customer.get('/wallet/transactions')).body.pagination.total,
    })
    const before = await state()
    await proveBackups.runOnce(app.deps)
    const [proof] = await running(app)
    await untilStep(app, proof!.run_id, 'agent saved')
    const machine = await (await app.deps.hypervisors.get(app.host.id)).findMachine(proof!.id, AbortSignal.timeout(5_000))
    expect(machine).toMatchObject({ power: 'running', nics: [] })
    expect(await volumesOf(app, proof!.id)).toEqual(['disk 1', 'seed 1'])
    await app.checkInvariants()
    expect(await state()).toEqual(before)
    await app.settle()
    expect(await state()).toEqual(before)
    expect(await running(app)).toEqual([])
    expect(await volumesOf(app, proof!.id)).toEqual([])
    expect(await machinesOf(app)).toEqual([vmId])
    await app.checkInvariants()
  })

  test('and its owner sees when, how long a restore takes, and the screen', async () => {
    expect(await seen(id)).toMatchObject({
      verification: 'BOOTED',
      verifiedAt: expect.any(String),
      verificationError: null,
      restoreSeconds: expect.any(Number),
      bootSeconds: expect.any(Number),
      hasScreenshot: true,
    })
    expect((await customer.get(`/vms/${vmId}/backups`)).body.data[0]).toEqual(await seen(id))
    expect(await eventsOf(id)).toEqual(['backup.verified'])
    const { status, body } = await customer.get(`/vms/${vmId}/backups/${id}/screenshot`)
    const png = Buffer.from(body.data.png, 'base64')
    expect([status, png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([200, 'PNG', 320, 200])
  })

  test('and nobody else sees the screen, nor a token that may not see consoles', async () => {
    const path = `/vms/${vmId}/backups/${id}/screenshot`
    const stranger = await app.given.customer()
    expect((await stranger.get(path)).body).toEqual({ success: false, error: 'VM not found' })
    const narrow = await app.given.token(customer.accountId, { scopes: ['backups:read'] })
    expect((await narrow.get(path)).status).toBe(403)
  })

  test('again after four weeks, the newest first', async () => {
    await proveBackups.runOnce(app.deps)
    expect(await running(app)).toEqual([])
    const newer = await backUp()
    app.clock.advance('28d')
    await proveBackups.runOnce(app.deps)
    await app.settle()
    expect(await eventsOf(id)).toEqual(['backup.verified'])
    expect(await eventsOf(newer)).toEqual(['backup.verified'])
  })

  test('honestly: a guest whose agent is silent ran, and no more is said', async () => {
    app.clock.advance('28d')
    await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'guest_failed' })
    await proveBackups.runOnce(app.deps)
    await app.settle()
    const { backup_id } = await app.db.one<{ backup_id: string }>(sql`select id as backup_id from backups order by id desc limit 1`)
    expect(await seen(backup_id)).toMatchObject({
      verification: 'RUNNING',
      verifiedAt: expect.any(String),
      bootSeconds: null,
      hasScreenshot: true,
    })
    expect(await eventsOf(backup_id)).toEqual(['backup.verified', 'backup.verified'])
  })

  test('without an agent in the image too', async () => {
    app.clock.advance('28d')
    await app.db.run(sql`update os_templates set has_agent = false`)
    await proveBackups.runOnce(app.deps)
    await app.settle()
    const { backup_id } = await app.db.one<{ backup_id: string }>(sql`select id as backup_id from backups order by id desc limit 1`)
    expect(await seen(backup_id)).toMatchObject({ verification: 'RUNNING', restoreSeconds: expect.any(Number), bootSeconds: null })
    await app.db.run(sql`update os_templates set has_agent = true`)
  })
})

test('a backup of a VM from an image of its owner is proved like any other', async () => {
  const { app, customer, vmId, backUp, seen } = await given()
  const { image } = (await customer.post('/images', { name: 'golden', vmId })).body.data
  await app.settle()
  const { id: copyId } = await app.given.vm(customer, { osTemplateId: image.id })
  const id = await backUp(copyId)
  await proveBackups.runOnce(app.deps)
  await app.settle()
  expect(await seen(id, copyId)).toMatchObject({ verification: 'BOOTED' })
})

test('VMs that no host has room for keep no others from being looked at', async () => {
  const { app, customer } = await given()
  const ids = [(await app.db.one<{ id: string }>(sql`select id from vms`)).id]
  for (let count = 0; count < 4; count++) ids.push((await app.given.vm(customer)).id)
  for (const [hours, id] of ids.entries())
    await app.db.run(
      sql`insert into backup_proof_times (vm_id, next_at) values (${id}, ${new Date(app.clock.now().getTime() + hours * 3_600_000)})`,
    )
  app.clock.advance('1d')
  const look = async () => (await dueVms(app.db, app.clock.now(), 2)).map(({ vm_id }) => vm_id)
  const seen = new Set<string>()
  await expect
    .poll(async () => {
      const looked = await look()
      expect(looked.slice(0, 2)).toEqual(ids.slice(0, 2))
      for (const id of looked) seen.add(id)
      return seen.size
    })
    .toBe(ids.length)
})

describe('a backup that cannot be restored', async () => {
  const { app, customer, vmId, backUp, seen, eventsOf } = await given(storesInMemory())
  const store = await givenBackupTarget(app)
  const id = await backUp()

  test('has failed, with the reason, an event and an alert', async () => {
    for (const chunk of store.keys('').filter((key) => key.includes('/chunks/'))) store.bodyOf(chunk)[20]! ^= 1
    await proveBackups.runOnce(app.deps)
    await app.settle()
    expect(await seen(id)).toMatchObject({
      status: 'AVAILABLE',
      verification: 'FAILED',
      verifiedAt: null,
      verificationError: 'Data of the backup is damaged.',
      restoreSeconds: null,
      hasScreenshot: false,
    })
    expect(await eventsOf(id)).toEqual(['backup.verification_failed'])
    await proveBackups.runOnce(app.deps)
    expect(await app.deps.metrics.registry.metrics()).toContain('berth_backup_proofs_failed 1')
    expect((await customer.get(`/vms/${vmId}/backups/${id}/screenshot`)).body).toEqual({ success: false, error: 'Screenshot not found' })
    expect(await running(app)).toEqual([])
    await app.checkInvariants()
  })

  test('is passed over for another one, a day later', async () => {
    const newer = await backUp()
    await proveBackups.runOnce(app.deps)
    expect(await running(app)).toEqual([])
    await app.db.run(sql`update backups set verification = case when id = ${newer} then 'FAILED' end`)
    app.clock.advance('1d')
    await proveBackups.runOnce(app.deps)
    await app.settle()
    expect(await eventsOf(newer)).toEqual([])
    expect(await eventsOf(id)).toHaveLength(2)
  })

  test('also where its guest goes off while it boots', async () => {
    app.clock.advance('28d')
    await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'transient' })
    const fresh = await backUp()
    await proveBackups.runOnce(app.deps)
    const [proof] = await running(app)
    await resumeRun(testRunner(app.deps), proof!.run_id)
    await app.simulated.drift.stopMachine(proof!.id, 'crash')
    await app.settle()
    expect(await seen(fresh)).toMatchObject({
      verification: 'FAILED',
      verificationError: 'It was restored, but its guest went off while it booted.',
    })
    expect(await machinesOf(app)).toEqual([vmId])
  })
})

describe('a proof gives way', async () => {
  const { app, customer, vmId, backUp, seen, eventsOf } = await given()
  const id = await backUp()
  const start = async () => {
    await app.db.run(sql`update backup_proof_times set next_at = ${app.clock.now()}`)
    await proveBackups.runOnce(app.deps)
    const [proof] = await running(app)
    return proof!
  }

  test('to a VM that finds no room, which gets it at once', async () => {
    const { id: proofId, run_id, vcpu } = await start()
    expect(vcpu).toBeGreaterThan(0)
    await untilStep(app, run_id, 'boot saved')
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib`)
    const made = await app.given.vm(customer)
    expect((await customer.get(`/vms/${made.id}`)).body.data.status).toBe('RUNNING')
    await app.checkInvariants()
    await proveBackups.runOnce(app.deps)
    await app.settle()
    expect(await running(app)).toEqual([])
    expect(await volumesOf(app, proofId)).toEqual([])
    expect(await seen(id)).toMatchObject({ verification: null })
    await app.checkInvariants()
  })

  test('waits for work of its host, and takes no more than its share', async () => {
    await app.db.run(sql`update hosts set ram_total_mib = 1000000`)
    await app.db.run(sql`update backup_proof_times set next_at = ${app.clock.now()}`)
    await customer.post(`/vms/${vmId}/restart`)
    await proveBackups.runOnce(app.deps)
    expect(await running(app)).toEqual([])
    await app.settle()
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib + 1500`)
    await proveBackups.runOnce(app.deps)
    expect(await running(app)).toEqual([])
    await app.db.run(sql`update hosts set ram_total_mib = 1000000`)
    await proveBackups.runOnce(app.deps)
    expect(await running(app)).toHaveLength(1)
    await app.settle()
  })

  test('waits for a day at most for those who always have something done', async () => {
    await app.db.run(sql`update backup_proof_times set next_at = ${app.clock.now()}`)
    for (const [wait, count] of [
      ['1m', 0],
      ['23h', 0],
      ['1h', 1],
    ] as const) {
      app.clock.advance(wait)
      expect((await customer.post(`/vms/${vmId}/restart`)).status).toBe(202)
      await proveBackups.runOnce(app.deps)
      expect(await running(app)).toHaveLength(count)
      await app.settle({ subjectId: vmId })
    }
    await app.settle()
  })

  test('to the deletion of its backup, and leaves nothing', async () => {
    const before = await eventsOf(id)
    const { id: proofId, run_id } = await start()
    await untilStep(app, run_id, 'boot saved')
    expect((await customer.delete(`/vms/${vmId}/backups/${id}`)).status).toBe(200)
    await proveBackups.runOnce(app.deps)
    expect(await app.db.one(sql`select status from workflow_runs where id = ${run_id}`)).toEqual({ status: 'CANCELLED' })
    await app.rest()
    expect(await running(app)).toEqual([])
    expect(await volumesOf(app, proofId)).toEqual([])
    expect(await machinesOf(app)).not.toContain(proofId)
    expect(await eventsOf(id)).toEqual(before)
  })

  test('to the deletion of its VM', async () => {
    await backUp()
    const { id: proofId, run_id } = await start()
    await untilStep(app, run_id, 'disk saved')
    await customer.delete(`/vms/${vmId}`)
    await app.rest()
    expect(await running(app)).toEqual([])
    expect(await volumesOf(app, proofId)).toEqual([])
    await app.checkInvariants()
  })
})

test('a guest on a host that was lost is removed when it is back, and booked until then', async () => {
  const { app, vmId, backUp } = await given()
  await givenSecondHost(app)
  await backUp()
  await proveBackups.runOnce(app.deps)
  const [proof] = await running(app)
  await untilStep(app, proof!.run_id, 'boot saved')
  const { faults } = controlOf(app, proof!.host_id)
  await faults.loseHost()
  app.clock.advance('7h') // past the deadline of the run and of its compensation
  await app.settle()
  expect(await app.db.one(sql`select status, cleanup_failed from workflow_runs where id = ${proof!.run_id}`)).toEqual({
    status: 'FAILED',
    cleanup_failed: true,
  })
  await proveBackups.runOnce(app.deps)
  expect((await running(app)).map(({ id }) => id)).toEqual([proof!.id])
  await faults.returnHost()
  await proveBackups.runOnce(app.deps)
  expect((await running(app)).map(({ id }) => id)).not.toContain(proof!.id)
  expect(await volumesOf(app, proof!.id)).toEqual([])
  expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 1', 'seed 1'])
  await app.rest()
  await app.checkInvariants()
})
