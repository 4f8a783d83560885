// Crash and failure injection for what becomes of a lost host whose VMs have their disks in a storage backend.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { heartbeat } from '../hosts/heartbeat.reconciler.ts'
import { getHost, type HostRow } from '../hosts/service.ts'
import { watchSilence } from '../hosts/silence.reconciler.ts'
import { listFailedRecoveries } from '../vms/service.ts'
import { vmWorkflows } from '../vms/workflows.ts'
import { fenceHost } from './fence.workflow.ts'
import { followLostHosts } from './lost-hosts.reconciler.ts'
import { retryRecoveries } from './retries.reconciler.ts'
import { findFence, requestFence, requestRecovery, startRecoveries } from './service.ts'

const MINUTES = 600_000

export function describeLostHostDurability({ thorough }: { thorough: boolean }): void {
  describe('what becomes of a lost host survives a crash and a failure at any step', async () => {
    const app = await testApp()
    await allowManyVms(app)
    await sellReplicated(app)
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '100000.00' })
    let [hosts, vmId] = [0, '']
    let host: HostRow
    const place = () =>
      app.db.one<{ host_id: string; address: string; mac: string }>(
        sql`select host_id, host(ip_address) as address, mac::text from vms where id = ${vmId}`,
      )
    let before: Awaited<ReturnType<typeof place>>
    const statusOf = async () => (await customer.get(`/vms/${vmId}`)).body.data.status
    const look = async () => {
      await heartbeat.runOnce(app.deps)
      await watchSilence.runOnce(app.deps)
    }
    const machines = () =>
      app.db.many<{ host_id: string; power: string }>(
        sql`select host_id, power from simulated.machines where vm_id = ${vmId} order by host_id = ${host.id}`,
      )
    const lose = async () => {
      host = await givenHost(app, `rack${++hosts}`)
      ;({ id: vmId } = await placeOn(app, host.id, () => app.given.vm(customer)))
      await controlOf(app, host.id).drift.writeFile(vmId, 'moment', 'last')
      await look()
      before = await place()
      await controlOf(app, host.id).faults.loseHost()
      await look()
      const runId = await requestFence(app.deps, await getHost(app.db, host.id))
      if (runId === undefined) throw new Error('The fence has not started')
      return runId
    }
    /** The host returns, and is cleaned; exactly one machine is left. */
    const putRight = async () => {
      await controlOf(app, host.id).faults.returnHost()
      await heartbeat.runOnce(app.deps)
      app.clock.advance('31s')
      await followLostHosts.runOnce(app.deps)
      await app.settle()
      expect(await machines()).toEqual([{ host_id: (await place()).host_id, power: 'running' }])
      expect(await getHost(app.db, host.id)).toMatchObject({ fenced_at: null })
      await customer.delete(`/vms/${vmId}`)
      await app.settle()
    }
    const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps) }

    test(
      'host.fence',
      async () => {
        const fenced = async () => {
          expect(await getHost(app.db, host.id)).toMatchObject({ fenced_at: expect.any(Date), maintenance: true })
          expect([await place(), await machines()]).toEqual([before, [{ host_id: host.id, power: 'running' }]])
          await requestRecovery(app.deps, host)
          await followLostHosts.runOnce(app.deps)
          await app.settle()
          expect([await place(), await statusOf()]).toEqual([{ ...before, host_id: app.host.id }, 'RUNNING'])
          await putRight()
        }
        const trials = await testCrashSafety(
          {
            ...setup,
            workflow: fenceHost,
            start: lose,
            completed: fenced,
            failed: async () => {
              expect(await getHost(app.db, host.id)).toMatchObject({ fenced_at: null })
              expect(await findFence(app.db, host.id)).toMatchObject({ error: expect.any(String) })
              expect([await place(), await machines()]).toEqual([before, [{ host_id: host.id, power: 'running' }]])
              app.clock.advance('31s')
              await followLostHosts.runOnce(app.deps)
              await app.settle()
              await fenced()
            },
          },
          { thorough },
        )
        expect(trials.length).toBeGreaterThan(fenceHost.steps.length)
      },
      MINUTES,
    )

    test(
      'vm.recover',
      async () => {
        const workflow = vmWorkflows.find(({ name }) => name === 'vm.recover')!
        const trials = await testCrashSafety(
          {
            ...setup,
            workflow,
            start: async () => {
              await lose()
              await app.settle()
              const [started] = await startRecoveries(app.deps, host.id, undefined)
              if (started?.outcome !== 'STARTED') throw new Error('The recovery has not started')
              return started.runId
            },
            completed: async () => {
              expect([await place(), await statusOf()]).toEqual([{ ...before, host_id: app.host.id }, 'RUNNING'])
              expect(await machines()).toEqual([
                { host_id: app.host.id, power: 'running' },
                { host_id: host.id, power: 'running' }, // cut off, and blocked
              ])
              expect(await app.simulated.drift.readFile(vmId, 'moment')).toBe('last')
              await putRight()
            },
            failed: async () => {
              expect([await place(), await statusOf()]).toEqual([{ ...before, host_id: app.host.id }, 'ERROR'])
              expect((await machines()).filter(({ host_id, power }) => host_id === app.host.id && power === 'running')).toEqual([])
              expect(await listFailedRecoveries(app.db)).toMatchObject([{ vm_id: vmId, source_id: host.id, failures: 1 }])
              app.clock.advance('61s')
              for (let pass = 0; pass < 2; pass++) await retryRecoveries.runOnce(app.deps)
              await app.settle()
              expect([await place(), await statusOf()]).toEqual([{ ...before, host_id: app.host.id }, 'RUNNING'])
              expect(await listFailedRecoveries(app.db)).toEqual([])
              expect(await app.simulated.drift.readFile(vmId, 'moment')).toBe('last')
              await putRight()
            },
          },
          { thorough },
        )
        expect(trials.length).toBeGreaterThan(workflow.steps.length)
      },
      MINUTES,
    )
  })
}
