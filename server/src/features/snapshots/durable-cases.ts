// Crash and failure injection for every snapshot workflow: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { proveOnVm, type Fixture } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { sql } from '../../kernel/database/db.ts'
import { deleteSnapshot } from './delete.workflow.ts'
import { restoreFromSnapshot } from './restore.workflow.ts'
import { takeSnapshot } from './create.workflow.ts'

const TIMEOUT_MS = 300_000

export function describeDurability({ thorough, storage = 'LOCAL' }: { thorough: boolean; storage?: 'LOCAL' | 'REPLICATED' }): void {
  describe(`every snapshot workflow survives a crash and a failure at any step, on ${storage} storage`, async () => {
    const app = await testApp()
    if (storage === 'REPLICATED') await sellReplicated(app)
    await app.db.run(sql`update catalog_values set value = 1000 where name = 'quota.snapshots_per_vm'`)
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id: vmId } = await app.given.vm(customer)
    const take = async () => (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    const taken = async () => {
      const { snapshot } = await take()
      await app.settle()
      return snapshot.id as string
    }
    const without = (fixture: Fixture, copies: Fixture['copies']) => ({ ...fixture, copies })

    test(
      'snapshot.create',
      async () => {
        await proveOnVm(
          app,
          {
            vmId,
            workflow: takeSnapshot,
            act: async () => (await take()).actionId,
            completed: (after, before) => {
              expect(after.copies).toEqual(['snapshot AVAILABLE', ...before.copies])
              expect(after.volumes).toEqual([...before.volumes, 'snapshot'])
            },
            failed: (after, before) => expect(after).toEqual(without(before, [...before.copies, 'snapshot FAILED'])),
          },
          thorough,
        )
      },
      TIMEOUT_MS,
    )

    test(
      'snapshot.restore',
      async () => {
        await app.simulated.drift.writeFile(vmId, 'moment', 'before')
        const id = await taken()
        await proveOnVm(
          app,
          {
            vmId,
            workflow: restoreFromSnapshot,
            act: async () => (await customer.post(`/vms/${vmId}/snapshots/${id}/restore`)).body.data.actionId,
            completed: (after, before) => {
              expect(after).toMatchObject({ moment: 'before', power: 'running', vm: { status: 'RUNNING' }, copies: before.copies })
              expect(after.volumes.filter((each) => !each.startsWith('snapshot'))).toEqual([
                `disk ${after.vm.generation}`,
                `seed ${after.vm.generation}`,
              ])
            },
            failed: (after, before) => expect(after).toEqual(before),
          },
          thorough,
        )
      },
      TIMEOUT_MS,
    )

    test(
      'snapshot.delete',
      async () => {
        let id = ''
        await proveOnVm(
          app,
          {
            vmId,
            workflow: deleteSnapshot,
            act: async () => {
              id = await taken()
              return (await customer.delete(`/vms/${vmId}/snapshots/${id}`)).body.data.actionId
            },
            completed: (after, before) => expect(after).toEqual(before),
            failed: (after, before) => expect(after).toEqual(without(before, [...before.copies, 'snapshot FAILED'])),
          },
          thorough,
        )
      },
      TIMEOUT_MS,
    )
  })
}
