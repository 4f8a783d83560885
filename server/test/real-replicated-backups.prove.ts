// Nightly backups of a VM of a replicated plan, by the product on a real host: its disk is in a real Ceph cluster, its backups go to a real S3
// server, and the worker is killed at each step.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { triggerReconciler } from '../src/workflow/reconciler-loop.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRadosgw } from './radosgw.ts'
import { guestFiles, nightOf } from './real-copies.ts'
import { TIMEOUT_MS } from './real-product.ts'
import { missingForReplicatedProduct, replicatedProduct } from './replicated-product.ts'

const STEPS = ['begin', 'copy', 'transfer', 'charge', 'delete source copy']

const missing = missingForReplicatedProduct() ?? missingForRadosgw()
describeIf(missing)('backups of a VM on Ceph', { timeout: 8 * TIMEOUT_MS }, async () => {
  const { customer, db, settings, broken, start, processes, shell, imagesOf, snapshotsOf, trash, addBucket } = await replicatedProduct()
  await db.run(sql`update plans set disk_gib = 1 where slug = 'small'`)
  await addBucket()

  const parentOf = async (backupId: string) =>
    (
      await db.one<{ id: string | null }>(sql`
        select s.result ->> 'parentId' as id from workflow_steps s join backups b on b.run_id = s.run_id where b.id = ${backupId} and s.name = 'copy'`)
    ).id

  /** A night in which the worker is killed when it has begun the step. */
  const nightWithKill = async (vmId: string, step: string) => {
    const newest = () =>
      db.maybe<{ id: string; status: string; run_id: string }>(
        sql`select id, status, run_id from backups where vm_id = ${vmId} order by created_at desc limit 1`,
      )
    const before = (await newest())?.id
    await db.run(sql`update backup_schedules set next_at = now() - interval '1 minute' where vm_id = ${vmId}`)
    const begun = await eventually(async () => {
      await triggerReconciler(db, 'backups.daily')
      const found = await newest()
      const isBegun = found && (await db.maybe(sql`select from workflow_steps where run_id = ${found.run_id} and name = ${step}`))
      return found && found.id !== before && isBegun !== undefined && found
    }, TIMEOUT_MS)
    await processes.worker.kill('SIGKILL')
    processes.worker = await start('worker')
    await eventually(async () => (await newest())?.status === 'AVAILABLE', 2 * TIMEOUT_MS)
    return begun.id
  }

  test('hold each night what changed, restore it, and become VMs on local storage', async () => {
    const order = { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname: 'safe', dailyBackupEnabled: true }
    const vmId = await customer.order('POST', '/vms', order)
    const files = guestFiles(shell, vmId)
    const nights: { id: string; files: string[] }[] = []
    for (const night of ['first', 'second', 'third', 'fourth']) {
      await files.write(`${night} night`)
      const { id, status, size_bytes, error } = await nightOf(db, vmId)
      expect([status, error]).toEqual(['AVAILABLE', null])
      expect(await parentOf(id)).toBe(nights.at(-1)?.id ?? null)
      await eventually(async () => (await snapshotsOf(`vm-${vmId}-1`)).join() === `base-${id}`, TIMEOUT_MS)
      nights.push({ id, files: (await files.list()).toSorted() })
      console.log(`${night} night: ${size_bytes} bytes added to the bucket`)
    }
    expect(await berthdJson(settings, 'backup-target', 'verify')).toMatchObject({ ok: true })
    const { id, files: kept } = nights[2]!
    await db.run(sql`update vms set daily_backup = false where id = ${vmId}`)
    await customer.order('POST', `/vms/${vmId}/backups/${id}/restore`)
    expect((await files.list()).toSorted()).toEqual(kept)
    expect(await imagesOf(vmId)).toEqual([`vm-${vmId}-2`])
    await customer.order('POST', `/vms/${vmId}/stop`)

    const copyId = await customer.order('POST', '/vms', {
      ...order,
      osTemplateId: undefined,
      hostname: 'other',
      fromBackupId: id,
      dailyBackupEnabled: false,
    })
    expect((await guestFiles(shell, copyId).list()).toSorted()).toEqual(kept)
    expect(await imagesOf(copyId)).toEqual([`vm-${copyId}-1`])
    const local = { regionId: order.regionId, planId: await customer.plan('small'), hostname: 'local', fromBackupId: id }
    const localId = await customer.order('POST', '/vms', local)
    expect((await guestFiles(shell, localId).list()).toSorted()).toEqual(kept)
    expect(await imagesOf(localId)).toEqual([])
    expect(await broken()).toBe('')
    for (const each of [copyId, localId]) await customer.order('DELETE', `/vms/${each}`)
    await customer.order('DELETE', `/vms/${vmId}`)
    expect([await imagesOf(vmId), await trash()]).toEqual([[], []])
  })

  test('survive a worker that is killed at each step', async () => {
    const order = { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname: 'killed', dailyBackupEnabled: true }
    const vmId = await customer.order('POST', '/vms', order)
    await nightOf(db, vmId)
    const files = guestFiles(shell, vmId)
    for (const step of STEPS) {
      await files.write(step)
      const id = await nightWithKill(vmId, step)
      await eventually(async () => (await snapshotsOf(`vm-${vmId}-1`)).join() === `base-${id}`, TIMEOUT_MS)
      expect(await imagesOf(vmId)).toEqual([`vm-${vmId}-1`])
    }
    expect(await berthdJson(settings, 'backup-target', 'verify')).toMatchObject({ ok: true })
    const [latest] = await db.many<{ id: string }>(sql`select id from backups where vm_id = ${vmId} order by created_at desc`)
    const kept = (await files.list()).toSorted()
    expect(kept).toHaveLength(STEPS.length)
    await db.run(sql`update vms set daily_backup = false where id = ${vmId}`)
    await customer.order('POST', `/vms/${vmId}/backups/${latest!.id}/restore`)
    expect((await files.list()).toSorted()).toEqual(kept)
    expect(await broken()).toBe('')
    await customer.order('DELETE', `/vms/${vmId}`)
    expect([await imagesOf(vmId), await trash()]).toEqual([[], []])
  })
})
