// Pairs of transactions on the same rows must acquire locks in the same order. The first is paused after half of its locks, so that they
// are sure to meet. The harness fails on every deadlock; these tests say which pair it was.
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { quotaUsed, releaseQuotas, reserveQuota, reserveQuotas, setQuotaLimit } from '../src/features/accounts/service.ts'
import { releaseCapacity, releaseDisk, reserveDisk } from '../src/features/hosts/capacity.ts'
import { meter } from '../src/features/bandwidth/meter.reconciler.ts'
import { removeBackups } from '../src/features/backups/purge.reconciler.ts'
import { countOutcomes } from '../src/features/webhooks/delivery-queue.sql.ts'
import { sql, type Sql, type Tx } from '../src/kernel/database/db.ts'
import { resumeRun } from '../src/workflow/executor.ts'
import { startDailyBackup } from './snapshot-backup-fixture.ts'
import { givenMember } from './browser.ts'
import { testApp, type Answer } from './harness.ts'
import { testRunner } from './run-workflows.ts'
import { GB, quietVm } from './traffic.ts'

describe('transactions of one VM or account do not deadlock', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '10000.00' })
  const work = (runId: string): Promise<unknown> => resumeRun(testRunner(app.deps), runId)
  const isHeldUp = async (): Promise<boolean> =>
    (await app.db.many(sql`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`)).length > 0
  const deadlocks = async (): Promise<number> => (await app.deps.metrics.deadlocks.get()).values[0]!.value

  /** `moment` is a write of the first transaction, as a trigger names it. */
  async function meet<T>(moment: string, first: () => Promise<unknown>, second: () => Promise<T>): Promise<T> {
    const table = / on (\w+)/.exec(moment)![1]!
    await app.db.raw(`
      create or replace function hold_up() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.6); return case when tg_op = 'DELETE' then old else new end; end $$`)
    await app.db.raw(`create trigger hold_up before ${moment} execute function hold_up()`)
    const begun = first()
    await expect.poll(isHeldUp, { timeout: 10_000, interval: 20 }).toBe(true)
    const [answer] = await Promise.all([second(), begun])
    await app.db.raw(`drop trigger hold_up on ${table}`)
    expect(await deadlocks()).toBe(0)
    await app.settle()
    return answer
  }
  const isMade = `update on backups for each row when (new.status = 'AVAILABLE')`

  test('a running backup and its deletion', async () => {
    const { id } = await app.given.vm(customer)
    const { backup, actionId } = (await customer.post(`/vms/${id}/backups`, { name: 'x' })).body.data
    const deletion = () => customer.delete(`/vms/${id}/backups/${backup.id}`)
    expect((await meet(isMade, () => work(actionId), deletion)).status).toBe(200)
  })

  test('a running daily backup and an action that cancels it', async () => {
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    const { run_id } = await startDailyBackup(app, id)
    expect(
      (
        await meet(
          isMade,
          () => work(run_id),
          () => customer.post(`/vms/${id}/restart`),
        )
      ).status,
    ).toBe(202)
  })

  test('a project being deleted and a token that a member of it makes', async () => {
    const project = await app.given.project(customer) // with a token
    const member = await givenMember(app, project.accountId, 'admin')
    const deletion = () => customer.delete(`/projects/${project.accountId}`)
    const made = await meet('delete on api_tokens for each row', deletion, () =>
      member.post('/v1/tokens', { name: 'late', scopes: ['vms:read'] }),
    )
    expect(made.status).toBe(403)
    expect((await customer.get(`/projects/${project.accountId}`)).status).toBe(404)
  })

  test('a backup being purged and the deletion of its VM', async () => {
    const { id } = await app.given.vm(customer)
    const { backup } = (await customer.post(`/vms/${id}/backups`, { name: 'x' })).body.data
    await app.settle()
    await customer.delete(`/vms/${id}/backups/${backup.id}`)
    const { actionId } = (await customer.delete(`/vms/${id}`)).body.data
    const removal = () => removeBackups.runOnce(app.deps)
    await meet('delete on backups for each row', removal, () => work(actionId))
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
  })

  test.each([
    ['being rolled back', true, 'vm.upgrade_failed'],
    ['that ends', false, 'bandwidth.unthrottled'],
  ])('an upgrade %s and a new VM', async (_what, fails, event) => {
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const plan = (slug: string) => plans.find((each) => each.slug === slug)!.id
    const vm = await quietVm(app, customer, { planId: plan('small') })
    await vm.receive(2_000 * GB)
    await meter.runOnce(app.deps)
    const { actionId } = (await customer.post(`/vms/${vm.id}/upgrade`, { planId: plan('large') })).body.data
    if (fails) await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent', times: 1 })
    const isTold = `insert on events for each row when (new.type = '${event}')`
    const input = await app.given.vmInput()
    const created: Answer = await meet(
      isTold,
      () => work(actionId),
      () => customer.post('/vms', input),
    )
    expect(created.status).toBe(202)
  })

  test('quota updates with different query plans', async () => {
    const { accountId } = await app.given.customer()
    const amounts = { vms: 1n, vcpu: 1n, ram_mib: 1n, disk_gib: 1n }
    const take = () => app.db.tx((tx) => reserveQuotas(tx, accountId, amounts))
    const takeByMerging = () =>
      app.db.tx(async (tx) => {
        for (const setting of ['plan_cache_mode = force_custom_plan', 'enable_hashjoin = off', 'enable_nestloop = off'])
          await tx.raw(`set local ${setting}`)
        await reserveQuotas(tx, accountId, amounts)
      })
    await take()
    await meet('update on account_quotas for each row', take, takeByMerging)
    expect(await quotaUsed(app.db, accountId, 'vms')).toBe(3n)
    await app.db.tx((tx) => releaseQuotas(tx, accountId, { vms: 3n, vcpu: 3n, ram_mib: 3n, disk_gib: 3n }))
  })

  test('the first reservation of an account whose limit of VMs an operator has set, and another', async () => {
    const { accountId } = await app.given.customer()
    await app.db.tx((tx) => setQuotaLimit(tx, accountId, 'vms', 5n))
    const isWaiting = async () =>
      (await app.db.many(sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)).length > 0
    let other: Promise<void> | undefined
    await app.db.tx(async (tx) => {
      await reserveQuota(tx, accountId, 'disk_gib', 1n)
      other ??= app.db.tx((later) => reserveQuotas(later, accountId, { vms: 1n, disk_gib: 1n }))
      await expect.poll(isWaiting, { timeout: 10_000, interval: 20 }).toBe(true)
      await reserveQuota(tx, accountId, 'vms', 1n)
    })
    await other
    expect([await deadlocks(), await quotaUsed(app.db, accountId, 'vms')]).toEqual([0, 2n])
    await app.db.tx((tx) => releaseQuotas(tx, accountId, { vms: 2n, disk_gib: 2n }))
  })

  /** Many of each at once, each keeping its locks for a moment. */
  async function crowd(...works: ((tx: Tx) => Promise<unknown>)[]): Promise<void> {
    const one = (work: (tx: Tx) => Promise<unknown>) =>
      app.db.tx(async (tx) => {
        await work(tx)
        await setTimeout(Math.random() * 10)
      })
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 5 }, () => works.map(one)).flat())
  }
  /** As a row that references it does. */
  const refer = (table: Sql, id: string) => (tx: Tx) => tx.run(sql`select from ${table} where id = ${id} for key share`)

  test('many that book and free room on one host', async () => {
    const { id } = await app.db.one<{ id: string }>(sql`select id from hosts limit 1`)
    const book = (gib: number) => (tx: Tx) => reserveDisk(tx, [id], gib)
    const free = (gib: number) => (tx: Tx) => releaseDisk(tx, new Map([[id, gib]]))
    await app.db.tx(book(5))
    await crowd(refer(sql`hosts`, id), book(1), free(1), (tx) => releaseCapacity(tx, id, { vcpu: 0, ramMiB: 0, diskGiB: 0 }))
    await app.db.tx(free(5))
    expect(await deadlocks()).toBe(0)
  })

  test('many that count deliveries of one webhook', async () => {
    const { id } = (await customer.post('/webhooks', { url: 'https://receiver.example/', events: ['vm.created'] })).body.data
    const count = (tx: Tx) =>
      Promise.all(countOutcomes([{ webhookId: id, failures: 0, succeeded: true }], app.clock.now()).map((each) => tx.run(each)))
    await crowd(refer(sql`webhooks`, id), count, count, (tx) => tx.run(sql`update webhooks set description = 'x' where id = ${id}`))
    expect(await deadlocks()).toBe(0)
  })
})
