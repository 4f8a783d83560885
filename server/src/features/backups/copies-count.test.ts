// Snapshots and backups take quota, room on hosts and money, and give all of it back.
import { describe, expect, test } from 'vitest'
import { diskOf, givenSecondHost, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { capacityInvariants } from '../../invariants/capacity.ts'
import { moneyInvariants } from '../../invariants/money.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { AttemptLostError } from '../../workflow/run-store.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { renewals } from '../billing/renew.reconciler.ts'
import { adjustByOperator } from '../wallet/adjustments.ts'
import { dailyBackups } from './daily.reconciler.ts'
import { failMissingCopies } from './missing-data.ts'
import { removeBackups } from './purge.reconciler.ts'
import { nextBackupTime } from './schedule.ts'

async function fixture() {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const refusal = (answer: Awaited<ReturnType<typeof customer.post>>) => [answer.status, answer.headers['x-error-code'], answer.body.error]
  return {
    app,
    customer,
    refusal,
    price: (cents: bigint) => app.db.run(sql`update catalog_values set value = ${cents} where name = 'price.copies_gib'`),
    limit: (gib: bigint | null) => app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'copies_gib', gib)),
    used: async (hostId = app.host.id) =>
      (await app.db.one<{ gib: number }>(sql`select disk_used_gib as gib from hosts where id = ${hostId}`)).gib,
    quota: async () =>
      (await customer.get('/account/limits')).body.data.find((each: { name: string }) => each.name === 'copies') as {
        limit: number
        used: number
      },
    balance: async () => Number((await customer.get('/wallet')).body.data.balance),
    snapshot: async (vmId: string) => {
      const answer = await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })
      await app.settle({ subjectId: vmId })
      return answer
    },
    backup: async (vmId: string) => {
      const answer = await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
      await app.settle({ subjectId: vmId })
      return answer
    },
    violations: async () => {
      const context = { db: app.db, now: app.clock.now(), since: new Date(0), hosts: [], regions: [] }
      return (await Promise.all([...capacityInvariants, ...moneyInvariants].map((each) => each.find(context)))).flat()
    },
  }
}

const TEN = { customConfig: { vcpu: 1, ram: 1024, disk: 10 } }

describe('room and quota', async () => {
  const { app, customer, refusal, limit, used, quota, snapshot, backup, violations } = await fixture()

  test('a copy counts as the disk of its VM, on the host and in the quota, until it is deleted', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    expect([await used(), (await quota()).used]).toEqual([10, 0])
    const { id } = (await snapshot(vmId)).body.data.snapshot
    const made = (await backup(vmId)).body.data.backup
    expect([await used(), await quota()]).toEqual([30, { name: 'copies', limit: 1200, used: 20 }])
    expect(await violations()).toEqual([])
    await customer.delete(`/vms/${vmId}/snapshots/${id}`)
    await app.settle({ subjectId: vmId })
    expect([await used(), (await quota()).used]).toEqual([20, 10])
    await customer.delete(`/vms/${vmId}/backups/${made.id}`)
    await removeBackups.runOnce(app.deps)
    expect([await used(), (await quota()).used]).toEqual([10, 0])
    await snapshot(vmId)
    await backup(vmId)
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
    expect([await used(), (await quota()).used]).toEqual([0, 0])
    expect(await violations()).toEqual([])
  })

  test('a full quota refuses further copies', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await limit(15n)
    expect((await snapshot(vmId)).status).toBe(202)
    const sentence = 'Quota exceeded: 10 of 15 GiB of copies are in use, and this needs 10 more. Delete some, or ask support for more'
    expect(refusal(await snapshot(vmId))).toEqual([422, 'quota_exceeded', sentence])
    expect(refusal(await backup(vmId))).toEqual([422, 'quota_exceeded', sentence])
    await limit(null)
    expect((await backup(vmId)).status).toBe(202)
  })

  test('a host without room above its reserve gets no VM and no copy', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    const before = await app.db.one<{ disk_total_gib: number }>(sql`select disk_total_gib from hosts where id = ${app.host.id}`)
    const room =
      'No host has room for a copy of this disk (10 GiB) at the moment: delete snapshots or backups that are no longer needed, or try again later'
    const refused = async () => {
      expect(refusal(await snapshot(vmId))).toEqual([503, 'no_capacity', room])
      expect(refusal(await backup(vmId))).toEqual([503, 'no_capacity', room])
      expect((await customer.post('/vms', { ...(await app.given.vmInput()), ...TEN })).headers['x-error-code']).toBe('no_capacity')
    }
    await app.db.run(sql`update hosts set disk_total_gib = disk_used_gib + 14, disk_reserve_percent = 50 where id = ${app.host.id}`)
    await refused()
    await app.db.run(
      sql`update hosts set disk_total_gib = ${before.disk_total_gib}, disk_reserve_percent = 5, disk_free_gib = 10 where id = ${app.host.id}`,
    )
    await refused()
    await app.db.run(sql`update hosts set disk_free_gib = null where id = ${app.host.id}`)
    expect((await snapshot(vmId)).status).toBe(202)
  })

  test.each(['snapshots', 'backups'])('a failure of %s gives room and quota back', async (kind) => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    const before = [await used(), (await quota()).used]
    await app.simulated.faults.fillDisk()
    await customer.post(`/vms/${vmId}/${kind}`, { name: 'x' })
    expect([await used(), (await quota()).used]).toEqual(before.map((gib) => gib! + 10))
    await app.settle({ subjectId: vmId })
    await app.simulated.faults.freeDisk()
    expect([await used(), (await quota()).used]).toEqual(before)
    expect(await violations()).toEqual([])
  })

  test('copies whose data is lost give room and quota back', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    const before = [await used(), (await quota()).used]
    await snapshot(vmId)
    await backup(vmId)
    for (let i = 0; i < 2; i++) {
      app.clock.advance('1m')
      const present = await app.db.many<{ id: string }>(sql`
        select id from snapshots where vm_id <> ${vmId} union all select id from backups where vm_id <> ${vmId}`)
      await app.db.tx((tx) =>
        failMissingCopies(
          tx,
          app.clock.now(),
          app.host.id,
          present.map((each) => each.id),
        ),
      )
    }
    expect([await used(), (await quota()).used]).toEqual(before)
  })

  test('parallel requests never exceed the quota', async () => {
    const vms = await Promise.all(Array.from({ length: 4 }, () => app.given.vm(customer, TEN)))
    await limit(BigInt((await quota()).used + 25))
    const answers = await Promise.all(vms.map(({ id }) => customer.post(`/vms/${id}/snapshots`, { name: 'x' })))
    await app.settle()
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 202, 422, 422])
    await limit(null)
    expect(await violations()).toEqual([])
  })
})

describe('daily backups', async () => {
  const { app, customer, limit, used, quota, violations } = await fixture()

  test('count as the disk while they are made, on both hosts, then as their size', async () => {
    const second = await givenSecondHost(app)
    const { id: vmId } = await app.given.vm(customer, TEN)
    await startDailyBackup(app, vmId)
    expect([await used(), await used(second.id), (await quota()).used]).toEqual([20, 10, 10])
    expect(await violations()).toEqual([])
    await app.settle({ subjectId: vmId })
    expect([await used(), await used(second.id), (await quota()).used]).toEqual([10, 1, 1])
    await diskOf(app, vmId).write('more')
    await startDailyBackup(app, vmId)
    await customer.post(`/vms/${vmId}/restart`) // cancels the backup
    await app.settle({ subjectId: vmId })
    expect([await used(), await used(second.id), (await quota()).used]).toEqual([10, 1, 1])
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
    expect((await quota()).used).toBe(0)
    await removeBackups.runOnce(app.deps)
    expect([await used(), await used(second.id)]).toEqual([0, 0])
    expect(await violations()).toEqual([])
  })

  test('that the quota refuses are shown as failed, with the reason, and retried', async () => {
    const { id: vmId } = await app.given.vm(customer, { ...TEN, dailyBackupEnabled: true })
    await dailyBackups.runOnce(app.deps)
    await limit(5n)
    app.clock.set(nextBackupTime(vmId, app.clock.now()))
    await dailyBackups.runOnce(app.deps)
    await dailyBackups.runOnce(app.deps)
    const error = 'Quota exceeded: 0 of 5 GiB of copies are in use, and this needs 10 more. Delete some, or ask support for more'
    expect((await customer.get(`/vms/${vmId}/backups`)).body.data).toMatchObject([{ status: 'FAILED', error }])
    const events = await app.db.many(sql`select from events where subject_id = ${vmId} and type = 'backup.failed'`)
    expect(events).toHaveLength(1)
    await limit(null)
    app.clock.advance('31m')
    await dailyBackups.runOnce(app.deps)
    await app.settle()
    await removeBackups.runOnce(app.deps)
    expect((await customer.get(`/vms/${vmId}/backups`)).body.data).toMatchObject([{ status: 'AVAILABLE' }])
  })
})

describe('price', async () => {
  const { app, customer, refusal, price, balance, snapshot, backup, violations } = await fixture()
  const entries = async () => (await customer.get('/wallet/transactions')).body.pagination.total as number
  const priceMonthly = async (vmId: string) => Number((await customer.get(`/vms/${vmId}`)).body.data.billing.priceMonthly)

  test('copies are free by default', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    const before = await balance()
    await snapshot(vmId)
    await backup(vmId)
    expect(await balance()).toBe(before)
    expect((await customer.get(`/vms/${vmId}`)).body.data.copiesPriceMonthly).toBe('0.00')
    expect((await customer.get('/plans')).body.data[0].copyPriceMonthly).toBe('0.00')
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
  })

  test('a copy is charged for the rest of the period, then with the renewal, and its unused days are refunded', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(10n)
    expect((await customer.get('/plans')).body.data[0].copyPriceMonthly).toBe('0.10')
    const [before, monthly] = [await balance(), await priceMonthly(vmId)]
    const quote = await customer.post(`/vms/${vmId}/snapshots?dryRun=true`, { name: 'x' })
    expect([quote.status, quote.body.data]).toMatchObject([200, { charge: '1.00', monthly: (monthly + 1).toFixed(2) }])
    expect([(await customer.post(`/vms/${vmId}/backups?dryRun=true`, { name: 'x' })).body.data.charge, await balance()]).toEqual([
      '1.00',
      before,
    ])
    const { id } = (await snapshot(vmId)).body.data.snapshot
    await backup(vmId)
    expect([await balance(), await priceMonthly(vmId)]).toEqual([before - 2, monthly + 2])
    expect((await customer.get(`/vms/${vmId}`)).body.data.copiesPriceMonthly).toBe('2.00')
    app.clock.advance('31d')
    await renewals.runOnce(app.deps)
    expect(await balance()).toBe(before - 2 - monthly - 2)
    await customer.delete(`/vms/${vmId}/snapshots/${id}`)
    await app.settle({ subjectId: vmId })
    const paid = await balance()
    expect(paid).toBeGreaterThan(before - 2 - monthly - 1.1)
    expect(await priceMonthly(vmId)).toBe(monthly + 1)
    const gone = Number((await customer.delete(`/vms/${vmId}?dryRun=true`)).body.data.charge)
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
    expect(await balance()).toBeCloseTo(paid - gone, 2)
    expect(gone).toBeLessThan(-0.9 * (monthly + 1))
    expect(await violations()).toEqual([])
    await price(0n)
  })

  test.each(['snapshots', 'backups'])('a failure of %s costs nothing', async (kind) => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(10n)
    const before = await entries()
    await app.simulated.faults.fillDisk()
    expect((await customer.post(`/vms/${vmId}/${kind}`, { name: 'x' })).status).toBe(202)
    await app.settle({ subjectId: vmId })
    await app.simulated.faults.freeDisk()
    expect(await entries()).toBe(before)
    await price(0n)
  })

  test('backups that are deleted while they are made cost nothing and leave no ledger entries', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(10n)
    const before = await entries()
    for (let i = 0; i < 5; i++) {
      const { backup: made } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data
      expect((await customer.delete(`/vms/${vmId}/backups/${made.id}`)).status).toBe(200)
      await app.settle({ subjectId: vmId })
    }
    await removeBackups.runOnce(app.deps)
    expect(await entries()).toBe(before)
    await price(0n)
    expect(await violations()).toEqual([])
  })

  test('a backup that is not made yet has no price, so that deleting its VM refunds none', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(10n)
    await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
    const { rows } = await app.db.one<{ rows: number }>(
      sql`select count(*)::int as rows from backups where vm_id = ${vmId} and price_cents > 0`,
    )
    expect(rows).toBe(0)
    await app.settle({ subjectId: vmId })
    await price(0n)
  })

  test.each(['snapshot', 'backup'] as const)('a %s whose money is spent while it is made fails and leaves nothing', async (kind) => {
    const poor = await app.given.customer({ credit: '7.00' })
    const { id: vmId } = await app.given.vm(poor, TEN)
    await price(10n)
    expect((await poor.post(`/vms/${vmId}/${kind}s`, { name: 'x' })).status).toBe(202)
    const debit = { accountId: poor.accountId, amount: -100n, reason: 'spent', currency: 'USD' }
    await app.db.tx((tx) => adjustByOperator(tx, app.deps, debit))
    await app.settle({ subjectId: vmId })
    const [copy] = (await poor.get(`/vms/${vmId}/${kind}s`)).body.data
    expect(copy).toMatchObject({ status: 'FAILED' })
    const [action] = (await poor.get(`/vms/${vmId}/actions`)).body.data
    expect([action.status, action.error]).toEqual([
      'FAILED',
      'The wallet no longer held 1.00 USD when the copy was made, its price for the rest of the period',
    ])
    expect(await volumesOf(app, vmId)).toEqual(['disk 1', 'seed 1'])
    expect((await poor.get('/wallet')).body.data.balance).toBe('0.50')
    expect(await violations()).toEqual([])
    await price(0n)
  })

  test('a backup that is deleted after it was charged gets its unused days refunded', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(10n)
    const [before, monthly] = [await balance(), await priceMonthly(vmId)]
    const { backup: made, actionId } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data
    const checkpoint = (where: string) => {
      if (where === 'charge saved') throw new AttemptLostError('crash')
    }
    await expect(resumeRun({ ...testRunner(app.deps), checkpoint }, actionId)).rejects.toThrow('crash')
    expect([await balance(), await priceMonthly(vmId)]).toEqual([before - 1, monthly])
    await customer.delete(`/vms/${vmId}/backups/${made.id}`)
    app.clock.advance('1m')
    await app.settle({ subjectId: vmId })
    await removeBackups.runOnce(app.deps)
    expect(await balance()).toBeGreaterThan(before - 0.1)
    expect(await balance()).toBeLessThan(before)
    expect((await customer.get(`/vms/${vmId}/backups`)).body.data).toEqual([])
    expect(await violations()).toEqual([])
    await price(0n)
  })

  test('a copy that is made after a renewal is paid for until the next one', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(10n)
    const { nextRenewalAt } = (await customer.get(`/vms/${vmId}`)).body.data.billing
    app.clock.set(new Date(Date.parse(nextRenewalAt) - 3_600_000))
    await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })
    app.clock.advance('2h')
    await renewals.runOnce(app.deps)
    const before = await balance()
    await app.settle({ subjectId: vmId })
    expect(before - (await balance())).toBeCloseTo(1, 1)
    expect(await violations()).toEqual([])
    await price(0n)
  })

  test('a wallet that does not cover the copy refuses it', async () => {
    const { id: vmId } = await app.given.vm(customer, TEN)
    await price(1_000_000n)
    const [status, code] = refusal(await snapshot(vmId))
    expect([status, code]).toEqual([402, 'insufficient_funds'])
    await price(0n)
    expect((await snapshot(vmId)).status).toBe(202)
  })
})
