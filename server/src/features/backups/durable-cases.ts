// Crash tests of every backup workflow: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { diskOf, givenSecondHost, proveOnVm, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { createBackupWorkflow } from './create.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'

const TIMEOUT_MS = 300_000

async function given() {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000000 where name like 'quota.%'`)
  return { app, customer: await app.given.customer({ credit: '100000.00' }) }
}

export function describeDurability({ thorough }: { thorough: boolean }): void {
  describe.each(['its own host', 'another host'])(
    'every backup workflow on %s survives a crash and a failure at any step',
    async (where) => {
      const { app, customer } = await given()
      const { id: vmId } = await app.given.vm(customer)
      if (where === 'another host') await givenSecondHost(app)
      const volume = where === 'another host' ? 'backup on second' : 'backup'

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
                expect(after.volumes).toEqual([volume, ...before.volumes])
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
          expect(await app.db.one(sql`select parent_id from backups where id = ${id}`)).toEqual({ parent_id: parent.id })
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
    },
  )

  if (!thorough) return // the following cases take minutes
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
