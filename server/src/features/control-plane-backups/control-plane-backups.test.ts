// Backups of the control plane in a bucket in memory.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { BackupTargetError } from '../../backup-target/errors.ts'
import { verifyBucket } from '../../backup-target/verify.ts'
import { vaultFrom } from '../../kernel/crypto.ts'
import { sql } from '../../kernel/database/db.ts'
import { inspectArchive, requireAuthentic } from '../../kernel/dump/restore.ts'
import { listTargets, type TargetRow } from '../backup-targets/service.ts'
import { dailyControlPlaneBackups } from './daily.reconciler.ts'
import {
  backUpControlPlane,
  fetchArchive,
  isOverdue,
  KIND,
  listControlPlaneBackups,
  listStored,
  macOf,
  openControlPlaneBackups,
  setControlPlaneDays,
} from './service.ts'

const { signal } = new AbortController()
const folder = await mkdtemp(join(tmpdir(), 'berth-control-plane-'))
afterAll(() => rm(folder, { recursive: true }))

describe('backups of the control plane', async () => {
  const app = await testApp(storesInMemory())
  const store = await givenBackupTarget(app)
  const target = (await listTargets(app.db))[0] as TargetRow
  const state = async () => (await listControlPlaneBackups(app.db))[0]!
  const stored = async () => listStored(await openControlPlaneBackups(store, app.deps.vault, signal), signal)
  const age = async () => (await app.deps.metrics.controlPlaneBackupAge.get()).values.map(({ value }) => value)
  const pass = () => dailyControlPlaneBackups.runOnce(app.deps)

  test('are made once a day, encrypted, and open with the master key alone', async () => {
    await app.given.customer({ credit: '5.00' })
    await setControlPlaneDays(app.db, app.clock.now(), target.id, 3)
    await pass()
    await pass()
    expect(await stored()).toHaveLength(1)
    expect(await state()).toMatchObject({ keep_days: 3, done_at: app.clock.now(), error: null, upload_id: null, claimed_until: null })
    expect(await age()).toEqual([0])
    for (const key of store.keys('data/control-plane/')) expect(store.bodyOf(key).includes('customer1@example.com')).toBe(false)
    const file = join(folder, 'first')
    const repository = await openControlPlaneBackups(store, app.deps.vault, signal)
    await fetchArchive(repository, (await stored())[0]!.backupId, file, signal)
    await requireAuthentic(file, macOf(app.deps.vault))
    const { summary } = await inspectArchive(file, KIND, macOf(app.deps.vault))
    expect(summary.rows).toBeGreaterThan(100)
    await expect(openControlPlaneBackups(store, vaultFrom(Buffer.alloc(32, 7)), signal)).rejects.toMatchObject({ kind: 'wrong_key' })
    expect(await verifyBucket(store, app.deps.vault, [], signal)).toMatchObject({
      problems: [],
      backups: [{ vmId: 'control-plane', problems: [] }],
    })
    app.clock.advance('23h')
    await pass()
    expect(await stored()).toHaveLength(1)
    app.clock.advance('1h')
    await pass()
    expect(await stored()).toHaveLength(2)
  })

  test('are deleted when they are older than asked for', async () => {
    for (let day = 0; day < 5; day++) {
      app.clock.advance('1d')
      await pass()
    }
    const left = await stored()
    expect(left.map(({ backupId }) => (app.clock.now().getTime() - new Date(backupId).getTime()) / 86_400_000)).toEqual([0, 1, 2, 3])
    expect(store.keys('data/control-plane/manifests/')).toHaveLength(4)
  })

  test('that fail are tried again an hour later, are overdue after 36 hours, and leave nothing unfinished', async () => {
    app.clock.advance('1d')
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('unavailable', 'gone for a while')
    }
    await pass()
    expect(await state()).toMatchObject({ error: 'gone for a while', claimed_until: null })
    expect(isOverdue(await state(), app.clock.now())).toBe(false)
    app.clock.advance('13h')
    expect(isOverdue(await state(), app.clock.now())).toBe(true)
    await pass()
    expect(await age()).toEqual([37 * 3600])
    store.before = async () => {}
    app.clock.advance('59m')
    await pass()
    expect((await state()).error).not.toBeNull()
    app.clock.advance('1m')
    await pass()
    expect(await state()).toMatchObject({ error: null, done_at: app.clock.now() })
    expect(store.keys('data/control-plane/uploads/')).toEqual([])
    expect(isOverdue(await state(), app.clock.now())).toBe(false)
  })

  test('are made by one process at a time; another takes over from one that died', async () => {
    const until = new Date(app.clock.now().getTime() + 3_600_000)
    await app.db.run(sql`update control_plane_backups set claimed_until = ${until}, upload_id = 'dead'`)
    await expect(backUpControlPlane(app.deps, target, signal)).rejects.toMatchObject({ code: 'busy' })
    app.clock.advance('61m')
    const before = (await stored()).length
    await backUpControlPlane(app.deps, target, signal)
    expect((await stored()).length).toBe(before + 1)
    expect(await state()).toMatchObject({ upload_id: null, claimed_until: null })
  })

  test('are refused with an impossible number of days, and end without one', async () => {
    for (const days of [0, 1.5, 4_000])
      await expect(setControlPlaneDays(app.db, app.clock.now(), target.id, days)).rejects.toMatchObject({ code: 'validation_failed' })
    await setControlPlaneDays(app.db, app.clock.now(), target.id, null)
    app.clock.advance('3d')
    const before = (await stored()).length
    await pass()
    expect([(await stored()).length, await age(), isOverdue(await state(), app.clock.now())]).toEqual([before, [], false])
  })
})
