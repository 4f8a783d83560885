// Crash tests of every backup workflow: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { diskOf, fixtureOf, givenSecondHost, proveOnVm, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { listHosts } from '../hosts/service.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { createBackupWorkflow } from './create.workflow.ts'
import { proveBackups } from './prove.reconciler.ts'
import { proveBackup } from './prove.workflow.ts'
import { provisionFromBackup } from './provision.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'

const TIMEOUT_MS = 300_000

async function given() {
  const app = await testApp(storesInMemory())
  await app.db.run(sql`update catalog_values set value = 1000000000 where name like 'quota.%'`)
  return { app, customer: await app.given.customer({ credit: '100000.00' }) }
}

interface Extent {
  /** Whether every kill has a run of its own. */
  thorough: boolean
  /** Only where there is most to do. */
  sample?: boolean
  storage?: 'LOCAL' | 'REPLICATED'
}

export function describeDurability({ thorough, sample = false, storage = 'LOCAL' }: Extent): void {
  describe.each([...(sample ? [] : ['its own host', 'another host']), 'a backup target'])(
    `every backup workflow of a disk on ${storage} storage and on %s survives a crash and a failure at any step`,
    async (where) => {
      const { app, customer } = await given()
      if (storage === 'REPLICATED') await sellReplicated(app)
      const { id: vmId } = await app.given.vm(customer)
      if (where === 'another host') await givenSecondHost(app)
      if (where === 'a backup target') await givenBackupTarget(app)
      const volume = where === 'another host' ? 'backup on second' : 'backup'
      const added = where === 'a backup target' ? [] : [volume]

      test(
        'backup.create',
        async () => {
          await proveOnVm(
            app,
            {
              vmId,
              workflow: createBackupWorkflow,
              act: async () => (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.actionId,
              completed: (after, before) => {
                expect(after.copies).toEqual(['backup AVAILABLE', ...before.copies])
                expect(after.volumes).toEqual([...added, ...before.volumes])
              },
              failed: (after, before) => {
                expect(after).toEqual({ ...before, copies: [...before.copies, 'backup FAILED'] })
              },
            },
            thorough,
            () => app.db.run(sql`delete from backups where status = 'FAILED'`),
          )
        },
        TIMEOUT_MS,
      )

      test(
        'backup.restore from an incremental backup',
        async () => {
          const parent = await startDailyBackup(app, vmId)
          await app.settle()
          await diskOf(app, vmId).write('before')
          const { id } = await startDailyBackup(app, vmId)
          await app.settle()
          const parentId = where === 'a backup target' ? null : parent.id
          expect(await app.db.one(sql`select parent_id from backups where id = ${id}`)).toEqual({ parent_id: parentId })
          await proveOnVm(
            app,
            {
              vmId,
              workflow: restoreFromBackup,
              act: async () => (await customer.post(`/vms/${vmId}/backups/${id}/restore`)).body.data.actionId,
              completed: (after, before) => {
                expect(after).toMatchObject({ moment: 'before', power: 'running', vm: { status: 'RUNNING' }, copies: before.copies })
                const { generation } = after.vm
                expect(after.volumes.filter((each) => each !== volume)).toEqual([`disk ${generation}`, `seed ${generation}`])
              },
              failed: (after, before) => expect(after).toEqual(before),
            },
            thorough,
          )
        },
        TIMEOUT_MS,
      )

      if (!thorough && where !== 'a backup target') return
      test(
        'backup.prove',
        async () => {
          const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'proved' })).body.data.backup
          await app.settle()
          const config = { ...app.config, backupProofShare: 90 }
          const state = async () => ({
            vm: await fixtureOf(app, vmId),
            balance: (await customer.get('/wallet')).body.data.balance,
            hosts: await app.db.many(sql`select id, vcpu_used, ram_used_mib, disk_used_gib from hosts order by id`),
          })
          let [proofId, before] = ['', await state()]
          const gone = async () => {
            expect(await app.db.many(sql`select id from backup_proofs`)).toEqual([])
            expect(await volumesOf(app, proofId)).toEqual([])
            expect(await machinesOf(app, proofId)).toBe(0)
            expect(await state()).toEqual(before)
          }
          const setup = {
            db: app.db,
            clock: app.clock,
            runner: testRunner(app.deps),
            workflow: proveBackup,
            start: async () => {
              before = await state()
              await app.db.run(sql`update backups set verification = null, verified_at = null`)
              await app.db.run(sql`update backup_proof_times set next_at = ${app.clock.now()}`)
              await proveBackups.runOnce({ ...app.deps, config })
              const proof = await app.db.one<{ id: string; run_id: string }>(sql`select id, run_id from backup_proofs`)
              proofId = proof.id
              return proof.run_id
            },
            completed: async () => {
              expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject({ verification: 'BOOTED' })
              await gone()
            },
            failed: gone,
          }
          expect((await testCrashSafety(setup, { thorough })).length).toBeGreaterThan(proveBackup.steps.length)
        },
        TIMEOUT_MS,
      )

      test(
        'vm.provision_from_backup',
        async () => {
          await diskOf(app, vmId).write('copied')
          const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'source' })).body.data.backup
          await app.settle()
          const { osTemplateId: _, ...input } = await app.given.vmInput()
          const before = await volumesOf(app, vmId)
          let madeId = ''
          const forget = async () => {
            await customer.delete(`/vms/${madeId}`)
            await app.settle({ subjectId: madeId })
            expect(await volumesOf(app, madeId)).toEqual([])
            expect(await volumesOf(app, vmId)).toEqual(before)
          }
          const setup = {
            db: app.db,
            clock: app.clock,
            runner: testRunner(app.deps),
            workflow: provisionFromBackup,
            start: async () => {
              const { vm, actionId } = (await customer.post('/vms', { ...input, fromBackupId: id })).body.data
              madeId = vm.id
              return actionId as string
            },
            completed: async () => {
              expect((await customer.get(`/vms/${madeId}`)).body.data.status).toBe('RUNNING')
              expect(await diskOf(app, madeId).read()).toBe('copied')
              expect(await volumesOf(app, madeId)).toEqual(['disk 1', 'seed 1'])
              await forget()
            },
            failed: async () => {
              expect((await customer.get(`/vms/${madeId}`)).body.data.status).toBe('ERROR')
              expect(await volumesOf(app, madeId)).toEqual([])
              await forget()
            },
          }
          const steps = provisionFromBackup.steps.length - 1 // of volumes there are none
          expect((await testCrashSafety(setup, { thorough })).length).toBeGreaterThan(steps)
        },
        TIMEOUT_MS,
      )
    },
  )

  if (!thorough || storage === 'REPLICATED') return // the following cases take minutes
  describe('a restore of a VM in a private network after losing its host', () => {
    test(
      'survives a crash and a failure at any step, and leaves no data on the host once it is reachable again',
      async () => {
        const { app, customer } = await given()
        const second = await givenSecondHost(app)
        const { faults } = controlOf(app, app.host.id)
        const network = { name: 'kept', nodeId: app.host.id, cidr: '10.9.0.0/24' }
        const networkId: string = (await customer.post('/networks', network)).body.data.id
        await app.rest()
        let vmId = ''
        const place = () =>
          app.db.one<{ host_id: string; address: string; networks: string[] }>(sql`
            select host_id, host(ip_address) as address,
              array(select concat_ws(' ', network_id, mac, address) from network_attachments where vm_id = v.id) as networks
            from vms v where id = ${vmId}`)
        let before: Awaited<ReturnType<typeof place>>
        const comeBack = async () => {
          await faults.returnHost()
          await app.db.run(sql`update hosts set unreachable_since = null where id = ${app.host.id}`)
          await reconcileStaleMachines.runOnce(app.deps)
          await app.rest()
          await app.checkInvariants()
        }
        const forget = async () => {
          await customer.delete(`/vms/${vmId}`)
          await app.rest()
          expect(await volumesOf(app, vmId)).toEqual([])
        }
        const setup = {
          db: app.db,
          clock: app.clock,
          runner: testRunner(app.deps),
          workflow: restoreFromBackup,
          start: async () => {
            ;({ vmId } = await givenLost(app, customer, networkId))
            before = await place()
            expect(before).toMatchObject({ host_id: app.host.id, networks: [expect.stringContaining(networkId)] })
            const { id } = await app.db.one<{ id: string }>(sql`select id from backups where vm_id = ${vmId}`)
            await faults.loseHost()
            await app.db.run(
              sql`update hosts set unreachable_since = ${new Date(app.clock.now().getTime() - 600_000)} where id = ${app.host.id}`,
            )
            return (await customer.post(`/vms/${vmId}/backups/${id}/restore`)).body.data.actionId as string
          },
          completed: async () => {
            expect(await place()).toEqual({ host_id: second.id, address: expect.stringMatching(/^10\.66\./), networks: before.networks })
            const seen = (await customer.get(`/vms/${vmId}`)).body.data
            expect(seen).toMatchObject({ status: 'RUNNING', ipAddress: (await place()).address })
            expect(await controlOf(app, second.id).drift.readFile(vmId, 'moment')).toBe('before')
            await comeBack()
            expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 2 on second', 'seed 2 on second'])
            await forget()
          },
          failed: async () => {
            expect(await place()).toEqual(before)
            expect((await customer.get(`/vms/${vmId}`)).body.data.status).toBe('RUNNING')
            await comeBack()
            expect(await volumesOf(app, vmId)).toEqual(['backup on second', 'disk 1', 'seed 1'])
            expect(await diskOf(app, vmId).read()).toBe('after')
            await forget()
          },
        }
        await testCrashSafety(setup, { thorough })
      },
      5 * TIMEOUT_MS,
    )
  })
}

/** On all hosts. */
async function machinesOf(app: TestApp, vmId: string): Promise<number> {
  let count = 0
  for (const { id } of await listHosts(app.db))
    if (await (await app.deps.hypervisors.get(id)).findMachine(vmId, AbortSignal.timeout(5_000))) count++
  return count
}

/** A VM in a private network whose disk read "before" when it was backed up to the other host. */
async function givenLost(
  app: TestApp,
  customer: Awaited<ReturnType<typeof given>>['customer'],
  networkId: string,
): Promise<{ vmId: string }> {
  const { id: vmId } = await app.given.vm(customer, { privateNetworkIds: [networkId] })
  await diskOf(app, vmId).write('before')
  await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
  await app.settle()
  await diskOf(app, vmId).write('after')
  return { vmId }
}
