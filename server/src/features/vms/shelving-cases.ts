// Crash and failure injection for shelving: whatever dies, the disk is in one place, its content is the same, and the money fits.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { findRun } from '../../workflow/run-store.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { removeInTargets } from '../backups/purge-targets.reconciler.ts'
import { shelveInPool, shelveVm } from './actions/shelve.ts'
import { unshelveInPool, unshelveVm } from './actions/unshelve.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'

const MINUTES = 600_000

export function describeShelvingDurability({ thorough, storage = 'LOCAL' }: { thorough: boolean; storage?: 'LOCAL' | 'REPLICATED' }): void {
  describe(`shelving survives a crash and a failure at any step, on ${storage} storage`, async () => {
    const app = await testApp(storesInMemory())
    if (storage === 'REPLICATED') await sellReplicated(app)
    const store = await givenBackupTarget(app)
    await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
    await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
    const customer = await app.given.customer({ credit: '1000000.00' })
    const isLocal = storage === 'LOCAL'

    const clean = async () => {
      await reconcileStaleMachines.runOnce(app.deps)
      await removeInTargets.runOnce(app.deps)
    }
    const act = async (vmId: string, verb: string): Promise<string> => {
      const { status, body } = await customer.post(`/vms/${vmId}/${verb}`)
      expect(status, body.error).toBe(202)
      return body.data.actionId as string
    }
    const look = async (vmId: string) => {
      const repository = await app.db.maybe<{ id: string }>(sql`select id from backup_repositories where vm_id = ${vmId}`)
      const driver = await app.deps.hypervisors.get(app.host.id)
      const { data: seen } = (await customer.get(`/vms/${vmId}`)).body
      return {
        balance: (await customer.get('/wallet')).body.data.balance as string,
        used: await app.db.one(sql`
          select vcpu_used, ram_used_mib, disk_used_gib, disk_restoring_gib, array(select used_gib from storage_backends) as pools from hosts where id = ${app.host.id}`),
        vm: await app.db.one(sql`
          select status, host_id, generation, billing_status, period_price_cents, bandwidth_withheld_bytes, shelved_at, shelved_credit_cents,
            shelved_price_cents, mac::text, host(ip_address) as address from vms where id = ${vmId}`),
        shown: { shelvedAt: seen.shelvedAt as string | null, status: seen.status as string },
        power: (await driver.findMachine(vmId, AbortSignal.timeout(5_000)))?.power ?? null,
        volumes: await volumesOf(app, vmId),
        ports: await app.db.many(sql`select mac::text from simulated.ports where vm_id = ${vmId}`),
        stored: repository ? store.keys(`data/${repository.id}/manifests/`).length : 0,
        leftovers: await app.db.many(sql`select from stale_machines where vm_id = ${vmId}`),
      }
    }

    const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps) }
    let vmId = ''
    let before: Awaited<ReturnType<typeof look>>
    const running = async () => {
      vmId = (await app.given.vm(customer)).id
      await diskOf(app, vmId).write(vmId)
    }
    const failed = async (run: { id: string }): Promise<void> => {
      expect((await findRun(app.db, run.id))!.cleanup_failed).toBe(false)
      await clean()
      expect(await look(vmId)).toEqual(before)
    }

    test('vm.shelve', { timeout: MINUTES }, async () => {
      const start = async (): Promise<string> => {
        await running()
        before = await look(vmId)
        return act(vmId, 'shelve')
      }
      const completed = async (): Promise<void> => {
        await clean()
        expect(await look(vmId)).toMatchObject({
          vm: { status: 'STOPPED', host_id: null, shelved_credit_cents: expect.any(BigInt) },
          power: null,
          volumes: [],
          ports: [],
          stored: isLocal ? 1 : 0,
          leftovers: [],
        })
        await act(vmId, 'unshelve')
        await app.settle({ subjectId: vmId })
        expect(await diskOf(app, vmId).read()).toBe(vmId)
      }
      const stillThere = async (run: { id: string }): Promise<void> => {
        await failed(run)
        expect(await diskOf(app, vmId).read()).toBe(vmId)
      }
      await testCrashSafety({ ...setup, workflow: isLocal ? shelveVm : shelveInPool, start, completed, failed: stillThere }, { thorough })
      await app.rest()
      await app.checkInvariants()
    })

    test('vm.unshelve', { timeout: MINUTES }, async () => {
      const start = async (): Promise<string> => {
        await running()
        await act(vmId, 'shelve')
        await app.settle({ subjectId: vmId })
        await clean()
        before = await look(vmId)
        return act(vmId, 'unshelve')
      }
      const completed = async (): Promise<void> => {
        await clean()
        const after = await look(vmId)
        expect(after).toMatchObject({
          vm: { status: 'RUNNING', host_id: app.host.id, shelved_at: null, shelved_credit_cents: null },
          shown: { shelvedAt: null },
          power: 'running',
          volumes: isLocal ? ['disk 2', 'seed 2'] : ['disk 1', 'seed 1'],
          ports: [{}],
          stored: 0,
          leftovers: [],
        })
        expect(await diskOf(app, vmId).read()).toBe(vmId)
      }
      await testCrashSafety({ ...setup, workflow: isLocal ? unshelveVm : unshelveInPool, start, completed, failed }, { thorough })
      await app.rest()
      await app.checkInvariants()
    })
  })
}
