// Crash and failure injection for snapshots of a volume: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import type { AnyWorkflow } from '../../workflow/executor.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { createFromSnapshotWorkflow } from '../volumes/from-snapshot.workflow.ts'
import { purgeVolumes } from '../volumes/purge.reconciler.ts'
import { takeVolumeSnapshot } from './create.workflow.ts'
import { deleteVolumeSnapshot } from './delete.workflow.ts'
import { restoreVolume } from './restore.workflow.ts'

const TIMEOUT_MS = 300_000

export function describeDurability({ thorough, storage = 'LOCAL' }: { thorough: boolean; storage?: 'LOCAL' | 'REPLICATED' }): void {
  describe(`a snapshot of a volume on ${storage} storage survives a crash and a failure at any step`, async () => {
    const app = await testApp()
    if (storage === 'REPLICATED') await sellReplicated(app)
    await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
    await app.db.run(sql`update catalog_values set value = 10 where name = 'price.copies_gib'`)
    const customer = await app.given.customer({ credit: '100000.00' })
    const { id: vmId } = await app.given.vm(customer)
    const { regionId } = await app.given.vmInput()
    const { drift } = controlOf(app, app.host.id)
    let id: string
    let before: Awaited<ReturnType<typeof state>>

    /** What is there, what a customer sees, what is booked. */
    const state = async () => ({
      data: (
        await app.db.many<{ what: string }>(sql`
          select kind || case when is_complete then '' else ' half made' end as what from simulated.volumes
          where (kind = 'volume' or vm_id = ${id}) order by what`)
      ).map(({ what }) => what),
      snapshots: ((await customer.get(`/volumes/${id}/snapshots`)).body.data as { status: string }[]).map(({ status }) => status),
      volume: (await customer.get(`/volumes/${id}`)).body.data.currentAction,
      balance: (await customer.get('/wallet')).body.data.balance as string,
      text: await text(),
    })
    /** As the next VM would find it. */
    const text = async () =>
      (
        await app.db.one<{ text: string }>(sql`
          select content -> 'files' ->> '' as text from simulated.volumes s join volumes v on v.id = s.id and coalesce(s.generation, 0) = v.generation
          where s.kind = 'volume' and v.id = ${id}`)
      ).text
    const act = async (path: string, body?: object): Promise<string> => {
      const answer = await customer.post(`/volumes/${path}`, body)
      return answer.body.data?.actionId ?? expect.fail(answer.body.error)
    }
    const settled = async (path: string, body?: object): Promise<void> => {
      await act(path, body)
      await app.settle()
    }
    const listed = async () => (await customer.get(`/volumes/${id}/snapshots`)).body.data as { id: string }[]
    /** One with a snapshot of `before`, which has `after` now. */
    const fresh = async ({ isAttached }: { isAttached: boolean }): Promise<string> => {
      for (const { id: each, vmId: owner } of (await customer.get('/volumes')).body.data as { id: string; vmId: string | null }[]) {
        if (owner !== null) await settled(`${each}/detach`)
        await customer.delete(`/volumes/${each}`)
      }
      await purgeVolumes.runOnce(app.deps)
      expect(await app.db.many(sql`select from simulated.volumes where kind in ('volume', 'snapshot')`)).toEqual([])
      id = (await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId, vmId, storage })).body.data.id
      await app.settle()
      await drift.writeVolume(vmId, id, 'before')
      await settled(`${id}/snapshots`, { name: 'first' })
      await drift.writeVolume(vmId, id, 'after')
      if (!isAttached) await settled(`${id}/detach`)
      before = await state()
      return (await listed())[0]!.id
    }
    const prove = async (workflow: AnyWorkflow, start: () => Promise<string>, expected: { completed: object; failed: object }) => {
      const end = (changes: object) => async () => {
        await app.settle()
        await purgeVolumes.runOnce(app.deps)
        expect(await state()).toEqual({ ...before, ...changes })
        await app.checkInvariants()
      }
      const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps), workflow, start }
      return testCrashSafety({ ...setup, completed: end(expected.completed), failed: end(expected.failed) }, { thorough })
    }

    for (const isAttached of [true, false])
      test(
        `taken while the volume is ${isAttached ? 'attached' : 'detached'}`,
        () =>
          prove(
            takeVolumeSnapshot,
            async () => {
              await fresh({ isAttached })
              return act(`${id}/snapshots`, { name: 'second' })
            },
            {
              completed: {
                data: ['snapshot', 'snapshot', 'volume'],
                snapshots: ['AVAILABLE', 'AVAILABLE'],
                balance: expect.not.stringMatching(/^$/),
              },
              failed: { snapshots: ['FAILED', 'AVAILABLE'] },
            },
          ),
        TIMEOUT_MS,
      )

    test(
      'restored',
      async () => {
        const start = async () => {
          const snapshot = await fresh({ isAttached: false })
          return act(`${id}/snapshots/${snapshot}/restore`)
        }
        const trials = await prove(restoreVolume, start, { completed: { text: 'before' }, failed: {} })
        expect(trials.length).toBeGreaterThan(restoreVolume.steps.length)
      },
      TIMEOUT_MS,
    )

    test(
      'deleted',
      () =>
        prove(
          deleteVolumeSnapshot,
          async () => {
            const snapshot = await fresh({ isAttached: true })
            return (await customer.delete(`/volumes/${id}/snapshots/${snapshot}`)).body.data.actionId
          },
          {
            completed: { data: ['volume'], snapshots: [], balance: expect.any(String) },
            failed: { data: ['volume'], snapshots: ['FAILED'], balance: expect.any(String) },
          },
        ),
      TIMEOUT_MS,
    )

    test(
      'made a volume of its own',
      () =>
        prove(
          createFromSnapshotWorkflow,
          async () => {
            const snapshotId = await fresh({ isAttached: false })
            return (await customer.post('/volumes', { name: 'copy', sizeGiB: 10, regionId, snapshotId })).body.data.currentAction.id
          },
          { completed: { data: ['snapshot', 'volume', 'volume'], balance: expect.any(String) }, failed: {} },
        ),
      TIMEOUT_MS,
    )
  })
}
