// Crash and failure injection for the move of an address: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { applyPorts } from '../vms/reconcilers/apply-ports.reconciler.ts'
import { configureGuests } from './guests.reconciler.ts'
import { moveAddress, type MoveInput } from './move.workflow.ts'
import { finishReleases } from './releases.reconciler.ts'

const TIMEOUT_MS = 300_000

export function describeDurability({ thorough }: { thorough: boolean }): void {
  describe('a move survives a crash and a failure at any step', async () => {
    const app = await testApp()
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '1000.00' })
    const [one, other] = [(await app.given.vm(customer)).id, (await app.given.vm(customer)).id]
    const { id, address } = (await customer.post('/addresses', { regionId: (await app.given.vmInput()).regionId })).body.data
    const holders = async () => ({
      owner: (await customer.get(`/addresses/${id}`)).body.data.vmId as string | null,
      ports: await app.db.many(sql`select vm_id from simulated.ports where ${address}::text = any(addresses)`),
      guests: await app.db.many(sql`select machine from simulated.nics where ${address}::text = any(floating)`),
    })
    const on = (vmId: string | null) => ({
      owner: vmId,
      ports: vmId === null ? [] : [{ vm_id: vmId }],
      guests: vmId === null ? [] : [{ machine: vmId }],
    })
    const follow = async (): Promise<void> => {
      for (const each of [applyPorts, finishReleases, applyPorts, configureGuests]) await each.runOnce(app.deps)
    }
    const moveTo = async (vmId: string | null): Promise<string> => {
      const path = `/addresses/${id}/assignment`
      const answer = await (vmId === null ? customer.delete(path) : customer.post(path, { vmId }))
      return answer.body.data.actionId
    }

    test.each([
      ['to a VM', null, one],
      ['from one VM to another', one, other],
      ['away', one, null],
    ] as const)(
      '%s',
      async (_, from, to) => {
        await testCrashSafety(
          {
            db: app.db,
            clock: app.clock,
            runner: testRunner(app.deps),
            workflow: moveAddress,
            start: async () => {
              const { owner } = await holders()
              if (owner !== from) await moveTo(from)
              await app.settle()
              await follow()
              expect(await holders()).toEqual(on(from))
              return moveTo(to)
            },
            // A guest whose step has failed is told by the reconciler; one that lost the address may keep it, and its port drops what it sends.
            completed: async (run) => {
              app.clock.advance('11s')
              await follow()
              const { owner, ports, guests } = await holders()
              expect([(run.input as MoveInput).vmId, owner, ports]).toEqual([to, to, on(to).ports])
              expect(guests).toEqual(expect.arrayContaining(on(to).guests))
            },
            failed: async () => {
              app.clock.advance('11s')
              await follow()
              const { owner, ports, guests } = await holders()
              expect([owner, ports]).toEqual([from, on(from).ports])
              expect(guests).toEqual(expect.arrayContaining(on(from).guests))
            },
          },
          { thorough },
        )
      },
      TIMEOUT_MS,
    )
  })
}
