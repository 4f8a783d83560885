// When daily backups are made, and which are kept.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { allowManyVms, diskOf, startDailyBackup } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { dailyBackups } from './daily.reconciler.ts'
import { removeInTargets } from './purge-targets.reconciler.ts'
import { nextBackupTime } from './schedule.ts'

const DEFAULT = { hour: null, keepDaily: 7, keepWeekly: 0, keepMonthly: 0 }

describe('the backup policy of a VM', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const { id: vmId } = await app.given.vm(customer, { dailyBackupEnabled: true })
  const change = async (backupPolicy: object, id = vmId) => {
    const { status, headers, body } = await customer.patch(`/vms/${id}`, { backupPolicy })
    return { status, code: headers['x-error-code'], error: body.error as string | undefined, policy: body.data?.backupPolicy }
  }

  test('is shown, and changed field by field', async () => {
    expect((await customer.get(`/vms/${vmId}`)).body.data.backupPolicy).toEqual(DEFAULT)
    expect((await change({ keepDaily: 3 })).policy).toEqual({ ...DEFAULT, keepDaily: 3 })
    expect((await change({ hour: 13 })).policy).toEqual({ ...DEFAULT, keepDaily: 3, hour: 13 })
    expect((await change({ hour: null })).policy).toEqual({ ...DEFAULT, keepDaily: 3 })
  })

  test.each([
    [{ hour: 24 }, 'backupPolicy.hour'],
    [{ keepDaily: 0 }, 'backupPolicy.keepDaily must be 1-31'],
    [{ keepDaily: 32 }, 'backupPolicy.keepDaily must be 1-31'],
    [{ keepWeekly: 54 }, 'backupPolicy.keepWeekly must be 0-53'],
    [{ keepMonthly: -1 }, 'backupPolicy.keepMonthly must be 0-24'],
    [{ keepYearly: 1 }, 'keepYearly is not a known field'],
  ])('rejects %j', async (policy, sentence) => {
    const before = (await customer.get(`/vms/${vmId}`)).body.data.backupPolicy
    expect(await change(policy)).toMatchObject({ status: 400, error: expect.stringContaining(sentence) })
    expect((await customer.get(`/vms/${vmId}`)).body.data.backupPolicy).toEqual(before)
  })

  test('keeps weekly and monthly ones only where the region has a backup target', async () => {
    expect(await change({ keepWeekly: 1 })).toMatchObject({ status: 422, code: 'unavailable', error: expect.stringContaining('fra1') })
    expect(await change({ keepMonthly: 1 })).toMatchObject({ status: 422, code: 'unavailable' })
  })

  test('moves the next backup to its hour', async () => {
    const nextAt = async () =>
      (await app.db.one<{ next_at: Date }>(sql`select next_at from backup_schedules where vm_id = ${vmId}`)).next_at
    await dailyBackups.runOnce(app.deps)
    expect(await nextAt()).toEqual(nextBackupTime(vmId, app.clock.now()))
    await change({ hour: 13 })
    await dailyBackups.runOnce(app.deps)
    expect(await nextAt()).toEqual(nextBackupTime(vmId, app.clock.now(), 13))
    expect((await nextAt()).getUTCHours()).toBe(13)
    expect((await customer.get(`/vms/${vmId}`)).body.data.nextBackupAt).toBe((await nextAt()).toISOString())
    app.clock.set(await nextAt())
    await dailyBackups.runOnce(app.deps)
    await app.settle()
    expect((await customer.get(`/vms/${vmId}/backups`)).body.data).toMatchObject([{ type: 'DAILY', status: 'AVAILABLE' }])
    expect((await nextAt()).getTime() - app.clock.now().getTime()).toBe(86_400_000)
  })

  test('makes no second backup within six hours, however often its hour changes', async () => {
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    const made = async () => (await customer.get(`/vms/${id}/backups?limit=100`)).body.data.length as number
    const since = app.clock.now().getTime()
    for (let i = 0; i < 12; i++) {
      await change({ hour: (app.clock.now().getUTCHours() + 1) % 24 }, id)
      for (let quarter = 0; quarter < 8; quarter++) {
        await dailyBackups.runOnce(app.deps)
        await app.settle()
        app.clock.advance('15m')
      }
    }
    expect(await made()).toBeGreaterThan(0)
    expect(await made()).toBeLessThanOrEqual(Math.ceil((app.clock.now().getTime() - since) / (6 * 3_600_000)))
  })

  test('keeps fewer than before only for those who may delete backups', async () => {
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    const token = await app.given.token(customer.accountId, { scopes: ['vms:read', 'vms:update'] })
    const ask = async (backupPolicy: object) => {
      const { status, headers, body } = await token.patch(`/vms/${id}`, { backupPolicy })
      return [status, headers['x-error-code'], body.error]
    }
    expect(await ask({ keepDaily: 8, hour: 3 })).toEqual([200, undefined, undefined])
    expect(await ask({ keepDaily: 7 })).toEqual([
      403,
      'missing_scope',
      'This token lacks the required scope to keep fewer backups: backups:delete',
    ])
    expect((await change({ keepDaily: 7 }, id)).policy).toEqual({ ...DEFAULT, hour: 3 })
  })

  test('decides what is kept, and a kept one restores after the others are gone', async () => {
    await givenBackupTarget(app)
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    expect(await change({ keepDaily: 2, keepWeekly: 2 }, id)).toMatchObject({ status: 200 })
    const now = app.clock.now()
    const monday = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + ((8 - now.getUTCDay()) % 7) + 7, 23)
    const dateOf = (day: number): string => new Date(monday + day * 86_400_000).toISOString().slice(0, 10)
    app.clock.set(new Date(monday))
    for (let day = 0; day < 16; day++) {
      const date = dateOf(day)
      await diskOf(app, id).write(date)
      await startDailyBackup(app, id, date)
      await app.settle()
      await removeInTargets.runOnce(app.deps)
      app.clock.advance('1d')
    }
    const kept = (await customer.get(`/vms/${id}/backups`)).body.data as { id: string; name: string; expiresAt: string }[]
    // Tuesday and Monday, and the Sunday before them.
    expect(kept.map(({ name }) => name)).toEqual([dateOf(15), dateOf(14), dateOf(13)])
    expect(kept.map(({ expiresAt }) => expiresAt.slice(0, 10))).toEqual([dateOf(15 + 14), dateOf(14 + 2), dateOf(13 + 14)])
    await customer.post(`/vms/${id}/backups/${kept[2]!.id}/restore`)
    await app.settle()
    expect(await diskOf(app, id).read()).toBe(dateOf(13))
  })

  test('makes those beyond seven cost what copies cost', async () => {
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    await app.db.run(sql`update catalog_values set value = 10 where name = 'price.copies_gib'`)
    const price = async () => (await customer.get(`/vms/${id}`)).body.data.copiesPriceMonthly
    expect(await change({ keepDaily: 9 }, id)).toMatchObject({ status: 200 })
    const days = async (count: number) => {
      for (let day = 0; day < count; day++) {
        await startDailyBackup(app, id)
        await app.settle()
        app.clock.advance('1d')
      }
    }
    await days(7)
    expect(await price()).toBe('0.00')
    await days(1)
    const { extra } = await app.db.one<{ extra: number }>(
      sql`select sum(counted_gib)::int as extra from backups where vm_id = ${id} and is_extra`,
    )
    expect(extra).toBeGreaterThan(0)
    expect(await price()).toBe((extra / 10).toFixed(2))
    app.clock.advance('31d')
    await app.rest()
    expect(await app.db.many(sql`select from backups where vm_id = ${id} and price_cents > 0`)).toHaveLength(1)
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.copies_gib'`)
  })

  test('makes all of them cost that once daily backups are switched off', async () => {
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    await app.db.run(sql`update catalog_values set value = 10 where name = 'price.copies_gib'`)
    expect(await change({ keepMonthly: 24 }, id)).toMatchObject({ status: 200 })
    const { id: backupId } = await startDailyBackup(app, id)
    await app.settle()
    const shown = async () => (await customer.get(`/vms/${id}`)).body.data
    expect((await shown()).copiesPriceMonthly).toBe('0.00')
    await customer.patch(`/vms/${id}`, { dailyBackupEnabled: false })
    expect((await shown()).copiesPriceMonthly).toBe('0.10')
    app.clock.advance('32d')
    await app.rest()
    expect(await app.db.one(sql`select status, price_cents from backups where id = ${backupId}`)).toEqual({
      status: 'AVAILABLE',
      price_cents: 10n,
    })
    await app.checkInvariants()
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.copies_gib'`)
  })
})
