import { describe, expect, test } from 'vitest'
import { allowManyVms, diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import { dailyBackups } from './daily.reconciler.ts'
import { removeBackups } from './purge.reconciler.ts'
import { nextBackupTime } from './schedule.ts'

describe('daily backups', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  interface Listed {
    id: string
    name: string
    type: string
    status: string
    size: string
    expiresAt: string | null
  }
  const backupsOf = async (vmId: string): Promise<Listed[]> => (await customer.get(`/vms/${vmId}/backups?limit=100`)).body.data
  const statusesOf = async (vmId: string) => (await backupsOf(vmId)).map((each) => each.status)
  const pass = async () => {
    await dailyBackups.runOnce(app.deps)
    await app.settle()
    await removeBackups.runOnce(app.deps)
  }
  /** A VM with daily backups, on the evening before its first backup. */
  const given = async (input: Record<string, unknown> = {}) => {
    const { id: vmId } = await app.given.vm(customer, { dailyBackupEnabled: true, ...input })
    await dailyBackups.runOnce(app.deps)
    return vmId
  }
  const untilNight = (vmId: string) => app.clock.set(nextBackupTime(vmId, app.clock.now()))
  const gone = async (vmId: string) => {
    await customer.delete(`/vms/${vmId}`)
    await app.settle()
  }

  test('are created once a night for VMs that have them enabled', async () => {
    const vmId = await given()
    const { id: without } = await app.given.vm(customer)
    await pass()
    expect(await backupsOf(vmId)).toEqual([])
    untilNight(vmId)
    await pass()
    await pass()
    const now = app.clock.now()
    const expiresAt = new Date(now.getTime() + 7 * 86_400_000).toISOString()
    const made = { name: `Daily ${now.toISOString().slice(0, 10)}`, type: 'DAILY', status: 'AVAILABLE', expiresAt }
    expect(await backupsOf(vmId)).toMatchObject([made])
    const action = (await customer.get(`/vms/${vmId}/actions`)).body.data[0]
    expect(action).toMatchObject({ action: 'BACKUP_CREATE', status: 'COMPLETED' })
    app.clock.advance('23h')
    await pass()
    expect(await backupsOf(vmId)).toHaveLength(1)
    app.clock.advance('1h')
    await pass()
    expect(await backupsOf(vmId)).toHaveLength(2)
    expect(await backupsOf(without)).toEqual([])
    await gone(vmId)
  })

  test('wait for a VM that needs a repair first', async () => {
    const vmId = await given()
    await app.db.run(
      sql`insert into stale_machines (host_id, vm_id, next_attempt_at) select host_id, id, ${app.clock.now()} from vms where id = ${vmId}`,
    )
    untilNight(vmId)
    await pass()
    expect(await backupsOf(vmId)).toEqual([])
    await app.db.run(sql`delete from stale_machines where vm_id = ${vmId}`)
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    await gone(vmId)
  })

  test('keep the newest seven over two weeks, each restorable to its own point in time', async () => {
    const vmId = await given()
    const disk = diskOf(app, vmId)
    const nights = async (from: number, to: number) => {
      for (let hour = from * 24; hour < to * 24; hour += 3) {
        await disk.write(`day ${Math.floor(hour / 24)}`)
        app.clock.advance('3h')
        await pass()
      }
    }
    await nights(0, 12)
    const kept = await backupsOf(vmId)
    expect(kept.map((each) => each.status)).toEqual(Array(7).fill('AVAILABLE'))
    const sizes = kept.map((each) => BigInt(each.size))
    const full = sizes.reduce((most, size) => (size > most ? size : most))
    expect(sizes.filter((size) => size === full)).toHaveLength(1) // one full backup a week
    const hidden = await app.db.many(sql`select id from backups where vm_id = ${vmId} and is_tombstone`)
    expect(hidden).toHaveLength(5) // the full backup and four increments that the oldest visible backups depend on

    const moments: (string | null)[] = []
    for (const { id } of kept) {
      expect((await customer.post(`/vms/${vmId}/backups/${id}/restore`)).status).toBe(202)
      await app.settle()
      moments.push(await disk.read())
    }
    expect(new Set(moments).size).toBe(7)
    expect(moments.toSorted((a, b) => Number(b!.slice(4)) - Number(a!.slice(4)))).toEqual(moments)

    await nights(12, 14)
    expect(await statusesOf(vmId)).toEqual(Array(7).fill('AVAILABLE'))
    await gone(vmId)
    expect(await volumesOf(app, vmId)).toEqual([])
  })

  test('are preempted by a customer action and retried later', async () => {
    const vmId = await given()
    untilNight(vmId)
    await dailyBackups.runOnce(app.deps)
    const run = (await openRunOf(app.db, vmId))!
    await app.simulated.faults.plant({ verb: 'ensureBackup', kind: 'halfway' })
    await resumeRun(testRunner(app.deps), run.id)
    expect(await statusesOf(vmId)).toEqual(['RUNNING'])
    expect(await volumesOf(app, vmId)).toContain('backup half made')
    expect((await customer.get(`/vms/${vmId}`)).body.data.allowedActions).toContain('restart')

    expect((await customer.post(`/vms/${vmId}/restart`)).status).toBe(202)
    const cancelled = (await customer.get(`/vms/${vmId}/actions/${run.id}`)).body.data
    expect(cancelled).toMatchObject({ status: 'CANCELLED', error: 'A daily backup makes way for other actions and is tried again later' })
    await app.settle()
    expect((await customer.get(`/vms/${vmId}/actions`)).body.data[0]).toMatchObject({ action: 'RESTART', status: 'COMPLETED' })
    expect(await backupsOf(vmId)).toEqual([])
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])

    app.clock.advance('29m')
    await pass()
    expect(await backupsOf(vmId)).toEqual([])
    app.clock.advance('1m')
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    await gone(vmId)
  })

  test('are cancelled by the deletion of their VM and leave no data', async () => {
    const vmId = await given()
    untilNight(vmId)
    await dailyBackups.runOnce(app.deps)
    await app.simulated.faults.plant({ verb: 'ensureBackup', kind: 'halfway' })
    await resumeRun(testRunner(app.deps), (await openRunOf(app.db, vmId))!.id)
    expect((await customer.delete(`/vms/${vmId}`)).status).toBe(202)
    await app.settle()
    expect(await volumesOf(app, vmId)).toEqual([])
    expect(await app.db.many(sql`select id from workflow_runs where subject_id = ${vmId} and (compensating or cleanup_failed)`)).toEqual([])
  })

  test('report failures and are retried with growing delays', async () => {
    const vmId = await given()
    untilNight(vmId)
    await app.simulated.faults.fillDisk()
    for (const pause of ['30m', '60m', '120m']) {
      await pass()
      expect(await backupsOf(vmId)).toMatchObject([{ status: 'FAILED', error: 'The host has run out of disk space.' }])
      const [last] = await backupsOf(vmId)
      app.clock.advance(`${Number(pause.slice(0, -1)) - 1}m`)
      await pass()
      expect((await backupsOf(vmId))[0]!.id).toBe(last!.id)
      app.clock.advance('1m')
    }
    await app.simulated.faults.freeDisk()
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    const failures = await app.db.many(sql`select 1 from events where subject_id = ${vmId} and type = 'backup.failed'`)
    expect(failures).toHaveLength(3)
    await gone(vmId)
  })

  test('wait while the VM is busy or suspended, or its host is unreachable', async () => {
    const vmId = await given()
    untilNight(vmId)
    await customer.post(`/vms/${vmId}/restart`)
    await dailyBackups.runOnce(app.deps)
    expect(await backupsOf(vmId)).toEqual([])
    await app.settle()
    for (const [away, back] of [
      [sql`update vms set status = 'SUSPENDED' where id = ${vmId}`, sql`update vms set status = 'RUNNING' where id = ${vmId}`],
      [sql`update hosts set unreachable_since = ${app.clock.now()}`, sql`update hosts set unreachable_since = null`],
    ]) {
      await app.db.run(away!)
      await pass()
      expect(await backupsOf(vmId)).toEqual([])
      await app.db.run(back!)
    }
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    await gone(vmId)
  })

  test('are created for a stopped VM too', async () => {
    const vmId = await given()
    await customer.post(`/vms/${vmId}/stop`)
    await app.settle()
    untilNight(vmId)
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    expect((await customer.get(`/vms/${vmId}`)).body.data.status).toBe('STOPPED')
    await gone(vmId)
  })

  test('are limited in concurrency per host', async () => {
    const vmIds: string[] = []
    for (let i = 0; i < 6; i++) vmIds.push(await given())
    const latest = new Date(Math.max(...vmIds.map((id) => nextBackupTime(id, app.clock.now()).getTime())))
    app.clock.set(latest)
    const begun = async () =>
      Number((await app.db.one<{ n: bigint }>(sql`select count(*) as n from backups where vm_id = any(${vmIds})`)).n)
    await Promise.all([dailyBackups.runOnce(app.deps), dailyBackups.runOnce(app.deps)])
    expect(await begun()).toBe(4)
    await app.settle()
    await pass()
    expect(await begun()).toBe(6)
    for (const vmId of vmIds) await gone(vmId)
  })

  test('that are deleted while being created wait for the next night', async () => {
    const vmId = await given()
    untilNight(vmId)
    await dailyBackups.runOnce(app.deps)
    const [backup] = await backupsOf(vmId)
    await customer.delete(`/vms/${vmId}/backups/${backup!.id}`)
    await app.settle()
    app.clock.advance('2h')
    await pass()
    expect(await backupsOf(vmId)).toEqual([])
    untilNight(vmId)
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    await gone(vmId)
  })

  test('expire when switched off, and resume the next night when switched on again', async () => {
    const vmId = await given()
    untilNight(vmId)
    await pass()
    await customer.patch(`/vms/${vmId}`, { dailyBackupEnabled: false })
    app.clock.advance('6d')
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    app.clock.advance('1d')
    await pass()
    expect(await backupsOf(vmId)).toEqual([])
    await customer.patch(`/vms/${vmId}`, { dailyBackupEnabled: true })
    app.clock.advance('1h')
    await pass()
    expect(await backupsOf(vmId)).toEqual([])
    untilNight(vmId)
    await pass()
    expect(await statusesOf(vmId)).toEqual(['AVAILABLE'])
    await gone(vmId)
  })
})
