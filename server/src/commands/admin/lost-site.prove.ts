// A site is lost: a real bucket and the master key bring its control plane back on a machine that has nothing.
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { testDatabase } from '../../../test/harness.ts'
import { berthd, berthdJson, eventually, service, type Settings } from '../../../test/processes.ts'
import { missingForRadosgw, openRadosgw } from '../../../test/radosgw.ts'

describeIf(missingForRadosgw())('a lost site', { timeout: 600_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-site-'))
  afterAll(() => rm(folder, { recursive: true }))
  const common = { BERTH_PORT: '0', BERTH_METRICS_PORT: '0' }
  const before: Settings = { ...common, BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: join(folder, 'before') }
  const after: Settings = { ...common, BERTH_DATA_DIR: join(folder, 'after') }

  test('is restored from its bucket and the master key', async () => {
    const server = await openRadosgw()
    try {
      const credentials = { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey }
      const s3 = new S3Client({ endpoint: server.url, credentials, region: 'us-east-1', forcePathStyle: true })
      await s3.send(new CreateBucketCommand({ Bucket: 'site' })).finally(() => s3.destroy())
      await mkdir(before['BERTH_DATA_DIR']!)
      const secretFile = join(folder, 'secret')
      await writeFile(secretFile, server.secretAccessKey)
      const keys = ['--access-key', server.accessKeyId, '--secret-file', secretFile]
      const place = ['--endpoint', server.url, '--bucket', 'site', '--prefix', 'berth/']
      await berthdJson(before, 'account', 'create', '--email', 'ada@example.com')
      expect(await berthdJson(before, 'backup-target', 'add', 's3', ...place, ...keys, '--control-plane-days', '7')).toMatchObject({
        controlPlaneDays: 7,
      })
      const worker = await service(before, 'worker')
      const listed = () => berthdJson<{ controlPlaneAt: string | null }[]>(before, 'backup-target', 'list')
      await eventually(async () => (await listed())[0]!.controlPlaneAt !== null, 60_000)
      await worker.kill('SIGTERM')
      expect(await berthd(before, 'doctor', 'control-plane')).toMatchObject({ code: 0, stdout: expect.stringContaining('0 h ago') })
      await berthdJson(before, 'account', 'credit', '--account', 'ada@example.com', '--amount', '12.00')
      expect(await berthdJson(before, 'backup', '--target')).toMatchObject({ bucket: 'site', missing: { ownImages: 0 } })
      expect(await berthd(before, 'backup')).toMatchObject({ code: 2, stderr: expect.stringContaining('either a file or --target') })
      expect(await berthdJson(before, 'backup-target', 'verify')).toMatchObject({ ok: true })

      const from = ['--from', `${server.url}/site/berth/`, ...keys]
      expect(await berthd(after, 'restore', ...from)).toMatchObject({ code: 1, stderr: expect.stringContaining('master.key is missing') })
      await mkdir(after['BERTH_DATA_DIR']!, { recursive: true })
      await copyFile(join(folder, 'before/master.key'), join(folder, 'after/master.key'))
      const stored = await berthdJson<{ at: string }[]>(after, 'restore', ...from, '--list')
      expect(stored).toHaveLength(2)
      expect(await berthd(after, 'restore', ...from, '--at', '2020-01-01T00:00:00.000Z')).toMatchObject({ code: 2 })
      expect(await berthd(after, 'restore', '--from', server.url)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('must be a URL'),
      })
      expect(await berthdJson(after, 'restore', ...from)).toMatchObject({ at: stored[0]!.at, rows: expect.any(Number) })
      const up = await service(after, 'up')
      expect(await berthdJson(after, 'account', 'list')).toMatchObject([{ email: 'ada@example.com', balance: '12.00' }])
      expect(await berthdJson<object[]>(after, 'backup-target', 'list')).toMatchObject([{ bucket: 'site', controlPlaneDays: 7 }])
      expect(await up.kill('SIGTERM')).toBe(0)
    } finally {
      await server.close()
    }
  })
})
