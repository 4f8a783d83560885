// Kills a process in every step of what makes a disk in a real Ceph cluster: a VM from a template, a VM from a backup, and a restore. The action
// ends, the guest has every byte, and the pool has nothing else.
import { describe, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { triggerReconciler } from '../src/workflow/reconciler-loop.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRadosgw } from './radosgw.ts'
import { nightOf } from './real-copies.ts'
import { TIMEOUT_MS } from './real-product.ts'
import { missingForReplicatedProduct, replicatedProduct, type ReplicatedProduct } from './replicated-product.ts'
import { tinyImage } from './tiny-image.ts'

const PROVISION = ['networks', 'filter', 'disk', 'boot', 'ready']
const RESTORE = ['fetch', 'stop', 'networks', 'filter', 'disk', 'boot', 'ready', 'clean up']
/** So much that an image is half written for a while. */
const MIB = 24

interface Moment {
  step: string
  /** When the pool has one whose name begins so. */
  image?: string
}

export function describeDeathOnCeph(victim: string, kill: (product: ReplicatedProduct) => Promise<unknown>): void {
  const missing = missingForReplicatedProduct() ?? missingForRadosgw()
  describeIf(missing)(`VMs on Ceph when ${victim} is killed`, { timeout: 5 * TIMEOUT_MS }, async () => {
    const product = await replicatedProduct()
    const { customer, db, settings, shell, images, imagesOf, snapshotsOf, trash, broken, ended } = product
    await product.addBucket()
    const { regionId, osTemplateId } = await customer.tiny()
    const size = { regionId, planId: await customer.plan('nano') }

    const hash = async (vmId: string) => (await shell.run(vmId, 'sha256sum < /root/data')).output.trim()
    const write = async (vmId: string) => {
      await shell.run(vmId, `dd if=/dev/urandom of=/root/data bs=1M count=${MIB} conv=fsync 2> /dev/null`)
      return hash(vmId)
    }
    const sourceId = await customer.order('POST', '/vms', { ...size, osTemplateId, hostname: 'source', dailyBackupEnabled: true })
    const kept = await write(sourceId)
    const backup = await nightOf(db, sourceId)
    await customer.make(`/vms/${sourceId}`, { dailyBackupEnabled: false }, 'PATCH')

    /** What the rows say, and nothing else. */
    const expectPool = async () => {
      const { names } = await db.one<{ names: string[] }>(sql`
        select array(select format('vm-%s-%s', id, generation) from vms where storage_id is not null) as names`)
      const disks = async () => {
        await triggerReconciler(db, 'vms.orphan_images') // the watch of a killed process ends after half a minute
        return (await images()).filter((name) => !/^(owner|template)-/.test(name)).toSorted()
      }
      await expect.poll(disks, { timeout: TIMEOUT_MS, interval: 1_000 }).toEqual(names.toSorted())
      expect(await trash()).toEqual([])
      expect(await broken()).toBe('')
    }
    /** Runs it and kills the victim in that step, or when the pool has such an image; returns the outcome. */
    const dieIn = async ({ step, image }: Moment, path: string, body?: object) => {
      const { status, error, data } = await customer.send('POST', path, body)
      expect([status, error]).toEqual([202, undefined])
      const isBegun = () =>
        db.maybe(sql`select from workflow_steps where run_id = ${data.actionId} and name = ${step} and status <> 'PENDING'`)
      await eventually(isBegun, TIMEOUT_MS)
      if (image) await eventually(async () => (await images()).some((name) => name.startsWith(image)), TIMEOUT_MS)
      await kill(product)
      await ended(3 * TIMEOUT_MS)
      await expectPool()
      const run = await db.one<{ status: string }>(sql`select status from workflow_runs where id = ${data.actionId}`)
      console.log(`${victim} killed in ${step} ${image ?? ''} of ${path}: ${run.status}`)
      return { outcome: run.status, vmId: data.vm?.id }
    }
    const statusOf = async (vmId: string) => (await customer.get(`/vms/${vmId}`)).status
    /** Of a create; the VM is deleted then. */
    const expectVm = async ({ outcome, vmId }: { outcome: string; vmId: string }, content?: string) => {
      const isMade = outcome === 'COMPLETED'
      expect([outcome, await statusOf(vmId)]).toEqual(isMade ? ['COMPLETED', 'RUNNING'] : ['FAILED', 'ERROR'])
      expect(await imagesOf(vmId)).toEqual(isMade ? [`vm-${vmId}-1`] : [])
      if (isMade) {
        const written = content ?? (await write(vmId))
        await shell.run(vmId, 'sync; echo 3 > /proc/sys/vm/drop_caches')
        expect([await hash(vmId), await snapshotsOf(`vm-${vmId}-1`)]).toEqual([written, []])
      }
      await customer.order('DELETE', `/vms/${vmId}`)
      await expectPool()
    }

    describe('while a VM is made from a template', () => {
      test.each(PROVISION)('in the step "%s"', async (step) => {
        await expectVm(await dieIn({ step }, '/vms', { ...size, osTemplateId, hostname: 'made' }))
      })

      test('with its image half imported', async () => {
        await berthdJson(settings, 'template', 'import', 'fresh', '--name', 'Fresh', '--agent', '--file', (await tinyImage()).path)
        const { id } = await db.one<{ id: string }>(sql`select id from os_templates where slug = 'fresh'`)
        const moment = { step: 'disk', image: `draft-template-${id}-` }
        await expectVm(await dieIn(moment, '/vms', { ...size, osTemplateId: id, hostname: 'made' }))
        expect(await snapshotsOf(`template-${id}`)).toEqual(['base'])
      })
    })

    const half = { when: 'with its image half written', step: 'fetch', image: 'draft-backup-' }
    const momentsOf = (steps: string[]) => [...steps.map((step) => ({ when: `in the step "${step}"`, step })), half]

    test.each(momentsOf(['fetch', ...PROVISION]))('while a VM is made from a backup, $when', async (moment) => {
      await expectVm(await dieIn(moment, '/vms', { ...size, fromBackupId: backup.id, hostname: 'copied' }), kept)
    })

    test.each(momentsOf(RESTORE))('while a backup is restored, $when', async (moment) => {
      const held = async () => [await hash(sourceId), await snapshotsOf((await imagesOf(sourceId))[0]!)]
      expect(await write(sourceId)).not.toBe(kept)
      const before = await held()
      const { outcome } = await dieIn(moment, `/vms/${sourceId}/backups/${backup.id}/restore`)
      expect([outcome, await statusOf(sourceId)]).toEqual([expect.stringMatching(/^(COMPLETED|FAILED)$/), 'RUNNING'])
      expect(await held()).toEqual(outcome === 'COMPLETED' ? [kept, []] : before)
    })
  })
}
