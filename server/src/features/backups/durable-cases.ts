// What is proved of every workflow of backups: quickly in `npm test`, at every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { diskOf, proveOnVm } from '../../../test/copies.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/db.ts'
import { getVmRow } from '../vms/service.ts'
import { makeBackup } from './create.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'
import { startBackup } from './service.ts'

const PATIENCE_MS = 300_000

export function describeDurability({ thorough }: { thorough: boolean }): void {
  describe('every workflow of backups survives death and failure at any step', async () => {
    const app = await testApp()
    await app.db.run(sql`update catalog_numbers set value = 1000 where name = 'quota.backups_per_vm'`)
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id: vmId } = await app.given.vm(customer)
    const daily = (parent_id: string | null) =>
      app.db.tx(async (tx) => startBackup(tx, app.deps, await getVmRow(tx, vmId), { name: 'x', type: 'DAILY', parent_id }))

    test(
      'backup.create',
      async () => {
        await proveOnVm(
          app,
          {
            vmId,
            workflow: makeBackup,
            act: async () => (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.actionId,
            completed: (after, before) => {
              expect(after.copies).toEqual(['backup AVAILABLE', ...before.copies])
              expect(after.volumes).toEqual(['backup', ...before.volumes])
            },
            failed: (after, before) => expect(after).toEqual({ ...before, copies: [...before.copies, 'backup FAILED'] }),
          },
          thorough,
        )
      },
      PATIENCE_MS,
    )

    test(
      'backup.restore, from a backup that builds on another',
      async () => {
        const parent = await daily(null)
        await app.settle()
        await diskOf(app, vmId).write('before')
        const { id } = await daily(parent.id)
        await app.settle()
        await proveOnVm(
          app,
          {
            vmId,
            workflow: restoreFromBackup,
            act: async () => (await customer.post(`/vms/${vmId}/backups/${id}/restore`)).body.data.actionId,
            completed: (after, before) => {
              expect(after).toMatchObject({ moment: 'before', power: 'running', vm: { status: 'RUNNING' }, copies: before.copies })
              expect(after.volumes.filter((each) => each !== 'backup')).toEqual([
                `disk ${after.vm.generation}`,
                `seed ${after.vm.generation}`,
              ])
            },
            failed: (after, before) => expect(after).toEqual(before),
          },
          thorough,
        )
      },
      PATIENCE_MS,
    )
  })
}
