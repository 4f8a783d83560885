// Every alert is fired once: something goes wrong in the product, /metrics shows it, and Prometheus' own evaluation of the rule raises it.
import { expect, test } from 'vitest'
import { missingCommands } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { setControlPlaneDays } from '../src/features/control-plane-backups/service.ts'
import { dailyControlPlaneBackups } from '../src/features/control-plane-backups/daily.reconciler.ts'
import { listTargets } from '../src/features/backup-targets/service.ts'
import { proveBackups } from '../src/features/backups/prove.reconciler.ts'
import { heartbeat } from '../src/features/hosts/heartbeat.reconciler.ts'
import { sendMails } from '../src/features/notifications/send.reconciler.ts'
import { measureBusiness } from '../src/features/operator/measure.reconciler.ts'
import { followLostHosts } from '../src/features/recovery/lost-hosts.reconciler.ts'
import { retryRecoveries } from '../src/features/recovery/retries.reconciler.ts'
import { addSimulatedStorage, addStorageBackend, removeStorageBackend } from '../src/features/storage/service.ts'
import { watchStorage } from '../src/features/storage/watch.reconciler.ts'
import { replyAsStaff } from '../src/features/support/staff.ts'
import { deliverAllDue } from '../src/features/webhooks/deliver.reconciler.ts'
import { createInvariantMonitor } from '../src/invariants/monitor.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { Metrics } from '../src/kernel/metrics.ts'
import { startEngine } from '../src/workflow/engine.ts'
import { resumeRun } from '../src/workflow/executor.ts'
import { startReconcilers } from '../src/workflow/reconciler-loop.ts'
import { StepError } from '../src/workflow/workflow-builder.ts'
import { alertNames, differences, emptyPanels, scraping, type Scrape } from './alert-rules.ts'
import { givenBackupTarget, storesInMemory } from './backup-target-fixture.ts'
import { testApp } from './harness.ts'
import { controlOf } from './hosts.ts'
import { givenLostHosts, look, lose } from './lost-hosts.ts'
import { eventually } from './processes.ts'
import { answer, receiver } from './receiver.ts'
import { openSampleEngine, settle } from './sample-workflow.ts'
import { smtpServer } from './smtp-server.ts'
import { recordEvent } from '../src/features/events/service.ts'
import { sampleEvent } from './sample-event.ts'

const fired = new Set<string>()
/** All that was seen of anything that went wrong. */
const seen: Scrape = new Map()

async function fires(
  metrics: Metrics,
  alert: string,
  labels: Record<string, string>,
  happens: () => Promise<unknown>,
  { again = false } = {},
): Promise<string> {
  const scraped = await scraping(metrics)
  const before = await scraped.read()
  await happens()
  const after = await scraped.read()
  await scraped.end()
  fired.add(alert)
  for (const [series, value] of after) seen.set(series, value)
  return differences(alert, labels, { before, after, again })
}

/** Nothing differs. */
const RAISED = ''
const AGAIN = { again: true }

describeIf(missingCommands('promtool'))('alerts', { timeout: 120_000 }, async () => {
  const server = await smtpServer()
  const app = await testApp({
    environment: {
      BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
      BERTH_MAIL_FROM: 'noreply@cloud.example',
      BERTH_REDIS_URL: 'redis://127.0.0.1:9',
      BERTH_SMTP_URL: server.url(),
    },
  })
  const { metrics } = app.deps
  const customer = await app.given.customer({ credit: '10000.00' })
  const { faults } = app.simulated
  const beat = () => heartbeat.runOnce(app.deps)
  await beat()

  test('BerthDown', async () => {
    const scraped = await scraping(metrics)
    const before = await scraped.read()
    await scraped.end()
    fired.add('BerthDown')
    expect(await differences('BerthDown', { job: 'berth' }, { before, after: await scraped.read(), again: false })).toBe(RAISED)
  })

  test('BerthErrors', async () => {
    const failing = async () => {
      await app.db.raw('alter table ssh_keys rename to ssh_keys_away')
      expect((await customer.get('/ssh-keys')).status).toBe(500)
      await app.db.raw('alter table ssh_keys_away rename to ssh_keys')
    }
    expect(await fires(metrics, 'BerthErrors', {}, failing, AGAIN)).toBe(RAISED)
  })

  test('BerthSlow', async () => {
    const slow = () =>
      app.db.tx(async (tx) => {
        await tx.raw('lock table ssh_keys')
        const asked = customer.get('/ssh-keys')
        await tx.raw('select pg_sleep(1.2)')
        tx.afterCommit(() => void asked)
        return { asked }
      })
    expect(await fires(metrics, 'BerthSlow', {}, async () => (await slow()).asked, AGAIN)).toBe(RAISED)
  })

  test('BerthActionsFail', async () => {
    const fail = async (times: number) => {
      await faults.plant({ verb: 'ensureDisk', kind: 'permanent', times })
      for (let i = 0; i < times; i++) await app.given.vm(customer)
      await faults.clear()
    }
    await fail(1)
    expect(await fires(metrics, 'BerthActionsFail', { workflow: 'vm.provision' }, () => fail(7))).toBe(RAISED)
  })

  test('BerthCleanupFailed', async () => {
    const sample = await openSampleEngine()
    const counting = await startEngine(sample.deps, { workflows: [settle], supervise: false })
    await counting.work(sample.fixture, 1) // as every worker does
    await counting.drain(AbortSignal.abort())
    await counting.stop()
    const abandoned = async () => {
      const id = await sample.start()
      sample.fixture.fault = (verb) => {
        if (verb !== 'buy') throw new StepError('host', 'The host is gone', { retry: false })
      }
      await resumeRun(sample.runner, id)
      sample.clock.advance('21m')
      await resumeRun(sample.runner, id)
    }
    expect(await fires(sample.deps.metrics, 'BerthCleanupFailed', { workflow: 'house.settle' }, abandoned)).toBe(RAISED)
  })

  test('BerthInvariant', async () => {
    const check = createInvariantMonitor()
    await check(app.deps)
    const broken = async () => {
      await app.db.run(sql`update hosts set vcpu_used = vcpu_used + 1`)
      await check(app.deps)
      app.clock.advance('1h')
      await check(app.deps)
      await app.db.run(sql`update hosts set vcpu_used = vcpu_used - 1`)
    }
    expect(await fires(metrics, 'BerthInvariant', {}, broken)).toBe(RAISED)
  })

  test('BerthDeadlocks', async () => {
    const deadlock = async (pair: number) => {
      const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const lockBoth = (mine: 0 | 1) =>
        app.db.tx(async (tx) => {
          await tx.raw(`select pg_advisory_xact_lock(${pair}, ${mine})`)
          both[mine]!.resolve()
          await both[1 - mine]!.promise
          await tx.raw(`select pg_advisory_xact_lock(${pair}, ${1 - mine})`)
        })
      await Promise.all([lockBoth(0), lockBoth(1)])
    }
    const many = () => Promise.all([1, 2, 3, 4, 5, 6, 7].map(deadlock))
    expect(await fires(metrics, 'BerthDeadlocks', {}, many)).toBe(RAISED)
    metrics.deadlocks.reset() // those of the product itself fail a test
  })

  test('BerthHostDown', async () => {
    const unreachable = async () => {
      await faults.loseHost()
      await beat()
    }
    expect(await fires(metrics, 'BerthHostDown', { host: 'local' }, unreachable)).toBe(RAISED)
    await faults.returnHost()
    await beat()
  })

  test('BerthHostProblems', async () => {
    const full = async () => {
      await faults.fillDisk()
      await beat()
    }
    expect(await fires(metrics, 'BerthHostProblems', { host: 'local' }, full)).toBe(RAISED)
    await faults.freeDisk()
    await beat()
  })

  test('BerthHostOversold', async () => {
    await app.given.vm(customer)
    const { ram } = await app.db.one<{ ram: number }>(sql`select ram_total_mib as ram from hosts`)
    const shrunk = async () => {
      await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib / 2`)
      await beat()
    }
    expect(await fires(metrics, 'BerthHostOversold', { host: 'local', resource: 'ram' }, shrunk)).toBe(RAISED)
    await app.db.run(sql`update hosts set ram_total_mib = ${ram}`)
    await beat()
  })

  test.each([
    ['BerthHostDiskLow', 8],
    ['BerthHostDiskReserve', 3],
  ])('%s', async (alert, freeGiB) => {
    const { total } = await app.db.one<{ total: number }>(sql`select disk_total_gib as total from hosts`)
    const filled = async () => {
      await app.db.run(sql`update hosts set disk_total_gib = 100, disk_free_gib = ${freeGiB}`)
      await beat()
    }
    expect(await fires(metrics, alert, { host: 'local' }, filled)).toBe(RAISED)
    await app.db.run(sql`update hosts set disk_total_gib = ${total}, disk_free_gib = null`)
    await beat()
  })

  test('BerthStorageDown', async () => {
    const pool = { name: 'ceph1', region: 'fra1', monitors: ['10.0.0.1'], pool: 'berth', user: 'berth', key: `${'A'.repeat(38)}==` }
    const added = async () => {
      await addStorageBackend(app.db, app.deps.vault, app.clock.now(), { ...pool, reservePercent: 10 }, async () => {})
      await app.db.run(sql`update storage_backends set sealed_key = '\\x00'`) // its key cannot be opened
      await watchStorage.runOnce(app.deps)
    }
    expect(await fires(metrics, 'BerthStorageDown', { storage: 'ceph1' }, added)).toBe(RAISED)
    await app.db.tx((tx) => removeStorageBackend(tx, 'ceph1'))
    await watchStorage.runOnce(app.deps)
  })

  test.each([
    ['BerthStorageLow', 45],
    ['BerthStorageReserve', 50],
  ])('%s', async (alert, reservePercent) => {
    const given = { name: 'sim1', region: 'fra1', sizeGiB: 100, reservePercent }
    const { id } = await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), given))
    await watchStorage.runOnce(app.deps)
    const filled = async () => {
      await app.db.run(sql`
        insert into simulated.volumes (host_id, name, kind, id, generation, is_complete, capacity_bytes, size_bytes, storage_id)
        values (${app.host.id}, 'large', 'volume', 'large', 1, true, 1, ${52n * 1024n ** 3n}, ${id})`)
      await watchStorage.runOnce(app.deps)
    }
    expect(await fires(metrics, alert, { storage: 'sim1' }, filled)).toBe(RAISED)
    await app.db.run(sql`delete from simulated.volumes where name = 'large'`)
    await app.db.tx((tx) => removeStorageBackend(tx, 'sim1'))
    await watchStorage.runOnce(app.deps)
  })

  test('BerthControlPlaneBackupOverdue, BerthBackupNotRestorable and BerthBackupProofsOverdue', async () => {
    const app = await testApp({ ...storesInMemory(), environment: { BERTH_BACKUP_PROOF_SHARE: '50' } })
    const { metrics } = app.deps
    const customer = await app.given.customer({ credit: '10000.00' })
    const store = await givenBackupTarget(app)
    const [target] = await listTargets(app.db)
    await setControlPlaneDays(app.db, app.clock.now(), target!.id, 3)
    const daily = () => dailyControlPlaneBackups.runOnce(app.deps)
    await daily()
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/backups`, { name: 'x' })
    await app.settle()
    const damaged = async () => {
      for (const chunk of store.keys('').filter((key) => key.includes('/chunks/'))) store.bodyOf(chunk)[20]! ^= 1
      await proveBackups.runOnce(app.deps)
      await app.settle()
      await proveBackups.runOnce(app.deps)
    }
    expect(await fires(metrics, 'BerthBackupNotRestorable', {}, damaged)).toBe(RAISED)
    const late = async () => {
      app.clock.advance('37d')
      await app.db.run(sql`update hosts set maintenance = true`) // so that no trial is started
      await proveBackups.runOnce(app.deps)
    }
    expect(await fires(metrics, 'BerthBackupProofsOverdue', {}, late)).toBe(RAISED)
    await app.db.run(sql`update hosts set maintenance = false`)
    await daily()
    const unreachable = async () => {
      app.clock.advance('37h')
      await app.db.run(sql`update backup_targets set bucket = 'gone'`)
      await daily().catch(() => undefined)
      await app.db.run(sql`update backup_targets set bucket = id`)
    }
    expect(await fires(metrics, 'BerthControlPlaneBackupOverdue', { region: 'fra1' }, unreachable)).toBe(RAISED)
    await daily()
  })

  test('BerthReconcilerFails and BerthReconcilerStuck', async () => {
    const failed = async () =>
      (await metrics.reconcilers.get()).values.find(
        ({ metricName, labels }) =>
          metricName?.endsWith('_count') && labels['reconciler'] === heartbeat.name && labels['outcome'] === 'failed',
      )?.value ?? 0
    const fail = async (times: number) => {
      const until = (await failed()) + times
      await app.db.raw('alter table hosts rename to hosts_away')
      const loops = startReconcilers(app.deps, [{ ...heartbeat, everyMs: 5 }])
      await eventually(async () => (await failed()) >= until)
      await loops.stop()
      await app.db.raw('alter table hosts_away rename to hosts')
    }
    await fail(1)
    expect(await fires(metrics, 'BerthReconcilerStuck', { reconciler: heartbeat.name }, () => fail(1))).toBe(RAISED)
    expect(await fires(metrics, 'BerthReconcilerFails', { reconciler: heartbeat.name }, () => fail(12))).toBe(RAISED)
  })

  test('BerthWebhooksFail', async () => {
    const { url } = await receiver(answer(500))
    await customer.post('/webhooks', { url, events: ['vm.started'] })
    const refused = async () => {
      await app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(customer.accountId, 'vm.started')))
      await deliverAllDue(app.deps)
    }
    expect(await fires(metrics, 'BerthWebhooksFail', {}, refused, AGAIN)).toBe(RAISED)
  })

  test('BerthEmailsFail', async () => {
    const { id } = (await customer.post('/tickets', { subject: 'Help', body: 'Please' })).body.data
    const refused = async () => {
      await app.db.tx((tx) => replyAsStaff(tx, app.deps, id, 'Here you are'))
      server.answer({ RCPT: '550 No such user' })
      await sendMails.runOnce(app.deps)
      server.answer({})
    }
    expect(await fires(metrics, 'BerthEmailsFail', {}, refused)).toBe(RAISED)
  })

  test('BerthRateLimitFallback', async () => {
    const scraped = async () => expect((await customer.get('/regions')).status).toBe(200)
    expect(await fires(metrics, 'BerthRateLimitFallback', {}, scraped, AGAIN)).toBe(RAISED)
  })

  test('BerthHostLost, BerthFenceFailed and BerthRecoveryFailed', async () => {
    const lost = await givenLostHosts()
    const { deps } = lost.app
    const [first, second] = [await lost.hostToLose(), await lost.hostToLose()]
    await lost.vmOn(first)
    await lost.vmOn(second)
    const silent = async () => {
      await lose(lost.app, first)
      await look(lost.app)
    }
    expect(await fires(deps.metrics, 'BerthHostLost', { host: first.name }, silent)).toBe(RAISED)
    const storage = controlOf(lost.app, lost.storageId)
    const unfenced = async () => {
      await storage.faults.loseHost()
      for (let pass = 0; pass < 3; pass++) {
        await lost.app.settle()
        lost.app.clock.advance('31s')
        await followLostHosts.runOnce(deps)
      }
    }
    expect(await fires(deps.metrics, 'BerthFenceFailed', { host: first.name }, unfenced)).toBe(RAISED)
    await storage.faults.returnHost()
    const unstarted = async () => {
      await controlOf(lost.app, lost.app.host.id).faults.plant({ verb: 'ensureRunning', kind: 'permanent', times: 9 })
      for (let pass = 0; pass < 4; pass++) {
        lost.app.clock.advance('31s')
        await look(lost.app)
        await lost.app.settle()
      }
      await retryRecoveries.runOnce(deps)
    }
    expect(await fires(deps.metrics, 'BerthRecoveryFailed', {}, unstarted)).toBe(RAISED)
    await lost.app.db.run(sql`update hosts set maintenance = false`)
    await lost.app.rest()
  })

  test('every panel of the dashboard shows something of all this', async () => {
    await app.db.run(sql`update vms set billing_status = 'PAST_DUE' where id = (select min(id) from vms)`)
    await measureBusiness.runOnce(app.deps)
    await app.db.run(sql`update vms set billing_status = 'ACTIVE'`)
    const scraped = await scraping(metrics)
    for (const [series, value] of await scraped.read()) seen.set(series, value)
    await scraped.end()
    expect(await emptyPanels(seen)).toEqual([])
  })

  test('no other is left', () => {
    expect([...fired].toSorted()).toEqual(alertNames.toSorted())
  })
})
