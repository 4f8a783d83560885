// The commands, and a VM's backup by a real worker, against a real S3 server.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, ListObjectVersionsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { testApp } from '../../../test/harness.ts'
import { berthd, berthdJson } from '../../../test/processes.ts'
import { missingForRadosgw, openRadosgw } from '../../../test/radosgw.ts'
import { diskOf, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { removeInTargets } from '../../features/backups/purge-targets.reconciler.ts'

describeIf(missingForRadosgw())('berthd backup-target with radosgw', { timeout: 300_000 }, async () => {
  test('adds, uses, verifies, rekeys, changes and removes a target', async () => {
    const server = await openRadosgw()
    const credentials = { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey }
    const s3 = new S3Client({
      endpoint: server.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    })
    try {
      const app = await testApp()
      const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
      const secretFile = join(app.config.dataDir, 'secret')
      await writeFile(secretFile, `${server.secretAccessKey}\n`)
      const target = (...args: string[]) => berthd(settings, 'backup-target', ...args)
      const common = ['add', 's3', '--endpoint', server.url, '--access-key', server.accessKeyId, '--bucket', 'vms']

      expect(await target(...common, '--secret-file', secretFile)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the bucket does not exist'),
      })
      await s3.send(new CreateBucketCommand({ Bucket: 'vms' }))
      await writeFile(join(app.config.dataDir, 'wrong'), 'wrong')
      expect(await target(...common, '--secret-file', join(app.config.dataDir, 'wrong'))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('access was refused'),
      })
      expect(await target(...common, '--secret-file', secretFile, '--lock-days', '1')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('without object lock'),
      })
      expect(await target(...common, '--secret-file', secretFile, '--prefix', 'fra1/')).toMatchObject({ code: 0 })
      expect(await target(...common, '--secret-file', secretFile)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('has a backup target already'),
      })
      expect(await berthd(settings, 'doctor', 'backups')).toMatchObject({ code: 0, stdout: expect.stringContaining('(vms)') })

      const customer = await app.given.customer({ credit: '100.00' })
      const { id: vmId } = await app.given.vm(customer)
      await diskOf(app, vmId).write('before')
      const { id } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data.backup
      await app.settle()
      expect((await customer.get(`/vms/${vmId}/backups/${id}`)).body.data).toMatchObject({ status: 'AVAILABLE' })
      expect(await berthdJson(settings, 'backup-target', 'verify')).toMatchObject({
        ok: true,
        backups: [{ vmId, backupId: id, problems: [] }],
      })
      await diskOf(app, vmId).write('after')
      await customer.post(`/vms/${vmId}/backups/${id}/restore`)
      await app.settle()
      expect(await diskOf(app, vmId).read()).toBe('before')
      expect(await volumesOf(app, vmId)).toEqual(['disk 2', 'seed 2'])

      const other = join(app.config.dataDir, 'old.key')
      await writeFile(other, randomBytes(32).toString('hex'))
      expect(await berthdJson(settings, 'backup-target', 'rekey', '--old-key', other)).toEqual({ changed: 0, unchanged: 1 })
      expect(await target('set', '--bandwidth', '10')).toMatchObject({ code: 0 })
      expect(await berthdJson(settings, 'backup-target', 'set', '--bandwidth', 'none')).toMatchObject({ bandwidth: null })
      expect(await target('remove', '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('has a backup of VMs') })

      const { Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: 'vms', Prefix: 'fra1/data/' }))
      const chunk = Versions.find(({ Key }) => Key!.includes('/chunks/'))!.Key!
      await s3.send(new PutObjectCommand({ Bucket: 'vms', Key: chunk, Body: 'rotten' }))
      expect(await target('verify')).toMatchObject({ code: 1, stdout: expect.stringContaining(chunk.slice('fra1/'.length)) })

      await customer.delete(`/vms/${vmId}/backups/${id}`)
      await removeInTargets.runOnce(app.deps)
      expect(await target('remove', '--yes')).toMatchObject({ code: 0 })
      expect(await berthdJson(settings, 'backup-target', 'list')).toEqual([])
    } finally {
      s3.destroy()
      await server.close()
    }
  })
})
