// Crash and failure injection for attaching, detaching and growing a volume: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { withStubbornGuests } from '../../../test/stubborn-guests.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { provisionVm } from '../vms/actions/create.ts'
import { attachWorkflow, detachWorkflow, takeVolume } from './attach.workflow.ts'
import { growWorkflow } from './grow.workflow.ts'
import { purgeVolumes } from './purge.reconciler.ts'
import { lockVolumeById } from './sql.ts'

const TIMEOUT_MS = 300_000

export function describeDurability({ thorough }: { thorough: boolean }): void {
  describe('a volume survives a crash and a failure at any step', async () => {
    const app = await testApp()
    await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
    const customer = await app.given.customer({ credit: '10000.00' })
    const { id: vmId } = await app.given.vm(customer)
    const { regionId } = await app.given.vmInput()
    const { drift } = controlOf(app, app.host.id)
    let id: string

    /** What a customer sees, what the machine has, what is there, what is booked. */
    const state = async () => {
      const { status, sizeGiB, vmId: owner } = (await customer.get(`/volumes/${id}`)).body.data
      const found = await drift.readVolume(vmId, id)
      const data = await app.db.many<{ gib: number }>(
        sql`select (capacity_bytes >> 30)::int as gib from simulated.volumes where kind = 'volume' and id = ${id}`,
      )
      return { status, sizeGiB, owner, text: found?.text ?? null, data: data.map(({ gib }) => gib) }
    }
    const detached = { status: 'AVAILABLE', owner: null, text: null }
    const attached = { status: 'ATTACHED', owner: vmId, text: 'kept' }
    const act = async (verb: string, body?: object): Promise<string> => {
      const answer = await customer.post(`/volumes/${id}/${verb}`, body)
      return answer.body.data?.actionId ?? expect.fail(answer.body.error)
    }
    /** Of each trial the volume of the one before is deleted, data and all. */
    const fresh = async (isAttached: boolean): Promise<void> => {
      if (id !== undefined) {
        const { vmId: owner } = (await customer.get(`/volumes/${id}`)).body.data
        if (owner !== null) await act('detach')
        await app.settle()
        await customer.delete(`/volumes/${id}`)
        await purgeVolumes.runOnce(app.deps)
        expect(await app.db.many(sql`select from simulated.volumes where kind = 'volume'`)).toEqual([])
      }
      id = (await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId })).body.data.id
      if (!isAttached) return
      await act('attach', { vmId })
      await app.settle()
      await drift.writeVolume(vmId, id, 'kept')
      expect(await state()).toEqual({ ...attached, sizeGiB: 10, data: [10] })
    }
    const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps) }
    const wallet = async (): Promise<string> => (await customer.get('/wallet')).body.data.balance
    let charged: string

    test(
      'attached for the first time',
      async () => {
        await testCrashSafety(
          {
            ...setup,
            workflow: attachWorkflow,
            start: async () => {
              await fresh(false)
              return act('attach', { vmId })
            },
            completed: async () => {
              expect(await state()).toEqual({ ...attached, text: '', sizeGiB: 10, data: [10] })
              await app.checkInvariants()
            },
            failed: async () => {
              expect(await state()).toEqual({ ...detached, sizeGiB: 10, data: [] })
              await app.checkInvariants()
            },
          },
          { thorough },
        )
      },
      TIMEOUT_MS,
    )

    test(
      'detached',
      async () => {
        await testCrashSafety(
          {
            ...setup,
            workflow: detachWorkflow,
            start: async () => {
              await fresh(true)
              return act('detach')
            },
            completed: async () => {
              expect(await state()).toEqual({ ...detached, sizeGiB: 10, data: [10] })
              await app.checkInvariants()
            },
            failed: async () => {
              expect(await state()).toEqual({ ...attached, sizeGiB: 10, data: [10] })
              await app.checkInvariants()
            },
          },
          { thorough },
        )
      },
      TIMEOUT_MS,
    )

    test(
      'taken from a guest that keeps it',
      async () => {
        const machine = async () => (await app.deps.hypervisors.get(app.host.id)).findMachine(vmId, AbortSignal.timeout(5_000))
        await testCrashSafety(
          {
            ...setup,
            runner: testRunner(withStubbornGuests(app.deps)),
            workflow: detachWorkflow,
            start: async () => {
              await fresh(true)
              await app.db.tx(async (tx) => takeVolume(tx, app.deps, { ...(await lockVolumeById(tx, id))!, vm_id: vmId }))
              return (await customer.get(`/volumes/${id}`)).body.data.currentAction.id
            },
            completed: async () => {
              expect(await state()).toEqual({ ...detached, sizeGiB: 10, data: [10] })
              expect(await machine()).toMatchObject({ power: 'running' })
              await app.checkInvariants()
            },
            failed: async () => {
              expect(await state()).toEqual({ ...attached, sizeGiB: 10, data: [10] })
              expect(await machine()).toMatchObject({ power: 'running' })
              await app.checkInvariants()
            },
          },
          { thorough },
        )
      },
      TIMEOUT_MS,
    )

    test(
      'grown',
      async () => {
        await testCrashSafety(
          {
            ...setup,
            workflow: growWorkflow,
            start: async () => {
              await fresh(true)
              const growing = await customer.patch(`/volumes/${id}`, { sizeGiB: 30 })
              charged = await wallet()
              return growing.body.data.currentAction.id
            },
            completed: async () => {
              expect(await state()).toEqual({ ...attached, sizeGiB: 30, data: [30] })
              await app.checkInvariants()
            },
            // A disk never shrinks: what has grown before the failure is sold.
            failed: async () => {
              expect(await state()).toEqual({ ...attached, sizeGiB: 30, data: [30] })
              expect(await wallet()).toBe(charged)
              await app.checkInvariants()
            },
          },
          { thorough },
        )
      },
      TIMEOUT_MS,
    )

    test(
      'made and attached with a VM',
      async () => {
        let [made, free] = ['', '']
        const statusOf = async (volumeId: string) => (await customer.get(`/volumes/${volumeId}`)).body.data?.status
        await testCrashSafety(
          {
            ...setup,
            workflow: provisionVm,
            start: async () => {
              free = (await customer.post('/volumes', { name: 'free', sizeGiB: 5, regionId })).body.data.id
              charged = await wallet()
              const volumes = [{ name: 'made', sizeGiB: 10 }, { volumeId: free }]
              const { vm, actionId } = (await customer.post('/vms', { ...(await app.given.vmInput()), volumes })).body.data
              made = (await customer.get(`/volumes?vmId=${vm.id}&name=made`)).body.data[0].id
              return actionId
            },
            completed: async () => {
              expect([await statusOf(made), await statusOf(free)]).toEqual(['ATTACHED', 'ATTACHED'])
              await app.checkInvariants()
            },
            failed: async () => {
              expect([await statusOf(made), await statusOf(free)]).toEqual([undefined, 'AVAILABLE'])
              expect(await wallet()).toBe(charged)
              await purgeVolumes.runOnce(app.deps)
              expect(await app.db.many(sql`select from simulated.volumes where kind = 'volume' and id = ${made}`)).toEqual([])
              await app.checkInvariants()
            },
          },
          { thorough },
        )
      },
      TIMEOUT_MS,
    )
  })
}
