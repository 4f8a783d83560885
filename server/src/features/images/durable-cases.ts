// Crash and failure injection for the making of images: a sample in `npm test`, every combination in `npm run prove`.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { allowManyVms, proveOnVm } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { createImageWorkflow } from './create.workflow.ts'

const TIMEOUT_MS = 300_000

export function describeDurability({ thorough }: { thorough: boolean }): void {
  describe('the making of an image survives a crash and a failure at any step', async () => {
    const app = await testApp()
    await allowManyVms(app)
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id: vmId } = await app.given.vm(customer)
    const { snapshot } = (await customer.post(`/vms/${vmId}/snapshots`, { name: 'x' })).body.data
    await app.settle()
    const files = () => readdirSync(join(app.config.imagesDir, 'accounts')).length
    const state = async () => {
      const { room, quota, cents } = await app.db.one<{ room: number; quota: number; cents: bigint }>(sql`
        select disk_used_gib as room, (select coalesce(sum(used), 0)::int from account_quotas where name = 'image_storage_gib') as quota,
          (select balance_cents from wallets where account_id = ${customer.accountId}) as cents from hosts where id = ${app.host.id}`)
      return { room, quota, cents }
    }
    let before = { room: 0, quota: 0, cents: 0n }
    let filesBefore = 0

    for (const [name, source] of [
      ['a VM', { vmId }],
      ['a snapshot', { snapshotId: snapshot.id as string }],
    ] as const)
      test(
        `image.create of ${name}`,
        async () => {
          let id = ''
          const shown = async () => (await customer.get(`/images/${id}`)).body.data
          const begin = async (): Promise<string> => {
            before = await state()
            filesBefore = id === '' ? 0 : files()
            const { image, actionId } = (await customer.post('/images', { name: 'x', ...source })).body.data
            id = image.id
            return actionId
          }
          await proveOnVm(
            app,
            {
              vmId,
              workflow: createImageWorkflow,
              act: begin,
              completed: async (after, then) => {
                expect(after).toEqual(then)
                expect(await shown()).toMatchObject({ status: 'AVAILABLE' })
                expect(await state()).toEqual({ room: before.room, quota: before.quota + 1, cents: before.cents - 5n })
              },
              failed: async (after, then) => {
                expect(after).toEqual(then)
                expect(await shown()).toMatchObject({ status: 'FAILED', error: 'Failed on purpose' })
                expect(await state()).toEqual(before)
                expect(files()).toBe(filesBefore)
              },
            },
            thorough,
          )
        },
        TIMEOUT_MS,
      )
  })
}
