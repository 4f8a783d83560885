// A backup of a real guest is restored on trial, in a real guest without any interface; whatever dies meanwhile, nothing of it is left.
import { inflateSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { triggerReconciler } from '../src/workflow/reconciler-loop.ts'
import { GuestShell } from './guest-shell.ts'
import { eventually } from './processes.ts'
import { guestFiles } from './real-copies.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'

const FOLDER = '/var/lib/libvirt/images/berth'

interface Backup {
  id: string
  verification: string | null
  verifiedAt: string | null
  verificationError: string | null
  restoreSeconds: number | null
  bootSeconds: number | null
  hasScreenshot: boolean
}

describeIf(missingForRealHost())('proved backups of a real VM', { timeout: 4 * TIMEOUT_MS }, async () => {
  const { customer, host, sandbox, db, broken, settings, processes, start } = await realProduct()
  const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
  afterAll(() => shell.close())
  await processes.worker.kill('SIGKILL')
  settings['BERTH_BACKUP_PROOF_SHARE'] = '90'
  processes.worker = await start('worker')
  const vmId = await customer.order('POST', '/vms', { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname: 'kept' })
  await guestFiles(shell, vmId).write('in the backup')
  await db.run(sql`update hosts set disk_free_gib = disk_total_gib`)

  const due = async (): Promise<void> => {
    await db.run(sql`update backup_proof_times set next_at = now() - interval '1 minute'`)
    await triggerReconciler(db, 'backups.prove')
  }
  const backUp = async (name: string): Promise<string> => {
    await customer.order('POST', `/vms/${vmId}/backups`, { name })
    return (await db.one<{ id: string }>(sql`select id from backups order by id desc limit 1`)).id
  }
  const seen = (id: string) => customer.get<Backup>(`/vms/${vmId}/backups/${id}`)
  const proof = () => db.maybe<{ id: string; run_id: string }>(sql`select id, run_id from backup_proofs`)
  const verdictOf = (id: string) =>
    eventually(async () => {
      await triggerReconciler(db, 'backups.prove')
      const backup = await seen(id)
      return backup.verification !== null && !(await proof()) && backup
    }, 2 * TIMEOUT_MS)
  const onHost = async (id: string): Promise<string> =>
    `${await sandbox.virsh('list', '--all')}\n${await sandbox.inside('ls', FOLDER)}`
      .split('\n')
      .filter((line) => line.includes(id))
      .join('\n')
  const domainOf = async (id: string): Promise<string> =>
    eventually(() => sandbox.virsh('dumpxml', `berth-${id}`).catch(() => undefined), TIMEOUT_MS)

  test('the guest boots without any interface, its agent answers, and its owner sees the times and the screen', async () => {
    const id = await backUp('first')
    await due()
    const { id: proofId } = await eventually(proof, TIMEOUT_MS)
    const xml = await domainOf(proofId)
    expect(xml).not.toContain('<interface')
    expect(xml).not.toContain(vmId)
    const backup = await verdictOf(id)
    console.log(`restored in ${backup.restoreSeconds} s, booted in ${backup.bootSeconds} s`)
    expect(backup).toMatchObject({ verification: 'BOOTED', verificationError: null, hasScreenshot: true })
    expect(backup.bootSeconds).toBeGreaterThan(0)
    expect(await onHost(proofId)).toBe('')
    const { png } = await customer.get<{ png: string }>(`/vms/${vmId}/backups/${id}/screenshot`)
    const picture = Buffer.from(png, 'base64')
    expect(picture.subarray(1, 4).toString()).toBe('PNG')
    expect(picture.readUInt32BE(16)).toBeLessThanOrEqual(480)
    expect(inflateSync(picture.subarray(41, 41 + picture.readUInt32BE(33))).length).toBeGreaterThan(0)
    expect(await broken()).toBe('')
  })

  test('a worker that dies while the guest boots is replaced by one that finishes, and nothing is left', async () => {
    const id = await backUp('second')
    await due()
    const { id: proofId } = await eventually(proof, TIMEOUT_MS)
    await domainOf(proofId)
    await processes.worker.kill('SIGKILL')
    processes.worker = await start('worker')
    expect(await verdictOf(id)).toMatchObject({ verification: 'BOOTED' })
    expect(await onHost(proofId)).toBe('')
    expect(await broken()).toBe('')
  })

  test('a backup that is not what was stored, by its checksum, has failed with the reason', async () => {
    const id = await backUp('third')
    await db.run(sql`update backups set checksum = ${`sha256:${'0'.repeat(64)}`} where id = ${id}`)
    await due()
    expect(await verdictOf(id)).toMatchObject({
      verification: 'FAILED',
      verifiedAt: null,
      verificationError: 'Data of the backup is damaged.',
      hasScreenshot: false,
    })
    expect(await db.maybe(sql`select from events where type = 'backup.verification_failed'`)).toBeDefined()
    expect(await broken()).toBe('')
  })

  test('the deletion of a backup ends its proof, and nothing is left', async () => {
    const id = await backUp('fourth')
    await due()
    const { id: proofId } = await eventually(proof, TIMEOUT_MS)
    await domainOf(proofId)
    await customer.send('DELETE', `/vms/${vmId}/backups/${id}`)
    await eventually(async () => !(await proof()) && (await customer.send('GET', `/vms/${vmId}/backups/${id}`)).status === 404, TIMEOUT_MS)
    expect(await onHost(proofId)).toBe('')
    expect(await broken()).toBe('')
  })
})
