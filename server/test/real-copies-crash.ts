// Kills a process in every step of a snapshot, a backup and a restore on a real host: the action ends, the guest has the disk of its
// outcome, and the volumes of the host match the database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { GuestShell } from './guest-shell.ts'
import { eventually } from './processes.ts'
import { guestFiles, nightOf } from './real-copies.ts'
import { missingForRealHost, TIMEOUT_MS, realProduct, type RealProduct } from './real-product.ts'

const MAKING = { snapshots: ['copy'], backups: ['begin', 'copy', 'transfer', 'delete source copy'] } as const
const RESTORING = ['stop', 'networks', 'filter', 'disk', 'boot', 'ready', 'clean up']

export function describeDeathOf(victim: string, kill: (product: RealProduct) => Promise<unknown>): void {
  describeIf(missingForRealHost())(`when ${victim} is killed`, { timeout: 3 * TIMEOUT_MS }, async () => {
    const product = await realProduct()
    const { customer, db, host, sandbox, broken, ended } = product
    const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
    afterAll(() => shell.close())
    const size = { planId: await customer.plan('nano') }
    const vmId = await customer.order('POST', '/vms', { ...(await customer.tiny()), ...size, hostname: 'victim' })
    const files = guestFiles(shell, vmId)
    const kept = await files.write('what was there from the start')

    /** Runs it and kills the victim in that step; returns the outcome. */
    const dieIn = async (step: string, path: string, body?: object): Promise<string> => {
      const { status, error, data } = await customer.send('POST', path, body)
      expect([status, error]).toEqual([202, undefined])
      await eventually(
        () => db.maybe(sql`select from workflow_steps where run_id = ${data.actionId} and name = ${step} and status <> 'PENDING'`),
        TIMEOUT_MS,
      )
      await kill(product)
      await ended(TIMEOUT_MS)
      expect(await broken()).toBe('')
      expect(await copiesOnHost()).toEqual(await copiesInRows())
      return (await db.one<{ status: string }>(sql`select status from workflow_runs where id = ${data.actionId}`)).status
    }
    const copiesOnHost = async (): Promise<string[]> =>
      (await sandbox.inside('ls', '/var/lib/libvirt/images/berth'))
        .split('\n')
        .filter((name) => /^(snapshot|backup|vm|seed)-.*(2|o)$/.test(name))
    const copiesInRows = async (): Promise<string[]> =>
      (
        await db.many<{ name: string }>(sql`
          select format('snapshot-%s-%s.qcow2', vm_id, id) as name from snapshots where status = 'AVAILABLE'
          union all select format('backup-%s-%s.qcow2', vm_id, id) from backups where status = 'AVAILABLE'
          union all select format('vm-%s-%s.qcow2', id, generation) from vms union all select format('seed-%s-%s.iso', id, generation) from vms`)
      )
        .map(({ name }) => name)
        .toSorted()

    describe.each(Object.entries(MAKING))('while creating one of the %s', (kind, steps) => {
      test.each(steps)('in the step "%s"', async (step) => {
        expect(await dieIn(step, `/vms/${vmId}/${kind}`, { name: step })).toBe('COMPLETED')
        expect(await files.list()).toEqual([kept])
        const { id } = await db.one<{ id: string }>(
          kind === 'snapshots'
            ? sql`select id from snapshots order by id desc limit 1`
            : sql`select id from backups order by id desc limit 1`,
        )
        await customer.send('DELETE', `/vms/${vmId}/${kind}/${id}`)
        await eventually(async () => !(await copiesOnHost()).some((name) => name.includes(id)), TIMEOUT_MS)
        await ended(TIMEOUT_MS)
      })
    })

    /** A copy of the disk, and what the guest had on it. */
    const copied = async (path: string) => ({ path: `/vms/${vmId}/${path}`, held: (await files.list()).toSorted() })
    const takeSnapshot = async () => {
      await customer.order('POST', `/vms/${vmId}/snapshots`, { name: 'kept' })
      const { id } = await db.one<{ id: string }>(sql`select id from snapshots where status = 'AVAILABLE'`)
      return copied(`snapshots/${id}`)
    }
    const makeFull = async () => {
      await customer.make(`/vms/${vmId}`, { dailyBackupEnabled: true }, 'PATCH')
      const made = await nightOf(db, vmId)
      expect(made).toMatchObject({ status: 'AVAILABLE', parent_id: null }) // a restored disk starts a new chain
      return copied(`backups/${made.id}`)
    }
    const makeOneOnTop = async () => {
      const { path } = await makeFull()
      await files.write('between two nights')
      const made = await nightOf(db, vmId)
      expect(made).toMatchObject({ status: 'AVAILABLE', parent_id: path.split('/').at(-1) })
      return copied(`backups/${made.id}`)
    }

    describe.each([
      ['a snapshot', RESTORING, takeSnapshot],
      ['a full backup', ['fetch', ...RESTORING], makeFull],
      ['a backup that builds on another', ['fetch', ...RESTORING], makeOneOnTop],
    ] as const)('while %s is restored', (kind, steps, make) => {
      let copy: Awaited<ReturnType<typeof make>>
      beforeAll(async () => {
        copy = await make()
      }, 3 * TIMEOUT_MS)

      test.each(steps)('in the step "%s"', async (step) => {
        const later = await files.write(`later than ${kind}, before ${step}`)
        const before = (await files.list()).toSorted()
        expect(before).toContain(later)
        const outcome = await dieIn(step, `${copy.path}/restore`)
        const { status } = await customer.get(`/vms/${vmId}`)
        expect([outcome, status]).toEqual([expect.stringMatching(/^(COMPLETED|FAILED)$/), 'RUNNING'])
        expect((await files.list()).toSorted()).toEqual(outcome === 'COMPLETED' ? copy.held : before)
        console.log(`${victim} killed in "${step}" of a restore of ${kind}: ${outcome}`)
      })
    })
  })
}
