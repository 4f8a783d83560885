// A site is lost: a real bucket and the master key bring its control plane back on a machine that has nothing, and the images of its customers.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { testDatabase } from '../../../test/harness.ts'
import { clientOf } from '../../../test/fleet.ts'
import { berthd, berthdJson, eventually, service, type Service, type Settings } from '../../../test/processes.ts'
import { missingForRadosgw, openRadosgw } from '../../../test/radosgw.ts'
import { openDb, sql } from '../../kernel/database/db.ts'

describeIf(missingForRadosgw())('a lost site', { timeout: 600_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-site-'))
  afterAll(() => rm(folder, { recursive: true }))
  const common = { BERTH_PORT: '0', BERTH_METRICS_PORT: '0' }
  const before: Settings = { ...common, BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: join(folder, 'before') }
  const after: Settings = { ...common, BERTH_DATA_DIR: join(folder, 'after') }

  /** What a VM takes, but its name and source. */
  const catalog = async () => {
    const db = openDb({ url: before['BERTH_DATABASE_URL']!, maxConnections: 1, onError: () => {} })
    return db
      .one<{ regionId: string; debian: string }>(
        sql`select (select region_id from hosts limit 1) as "regionId", (select id from os_templates where slug = 'debian-12') as debian`,
      )
      .finally(() => db.close())
  }
  const imageFile = (site: Settings, id: string): Promise<Buffer> =>
    readFile(join(site['BERTH_DATA_DIR']!, 'images/accounts', `${id}.qcow2`))
  const customerOf = (token: string, site: Service) => {
    const { send } = clientOf(token, () => site)
    const becomes = (path: string, status: string) =>
      eventually(async () => ((await send('GET', path)).data as unknown as { status: string }).status === status, 120_000)
    const makeVm = async (hostname: string, osTemplateId: string): Promise<string> => {
      const { regionId } = await catalog()
      const { data } = await send('POST', '/vms', { regionId, osTemplateId, hostname })
      await becomes(`/vms/${data.vm.id}`, 'RUNNING')
      return data.vm.id
    }
    return { send, becomes, makeVm }
  }

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
      await berthdJson(before, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
      const { token } = await berthdJson(before, 'token', 'create', '--account', 'ada@example.com', '--name', 'site', '--scopes', '*')
      const site = await service(before, 'up')
      const ada = customerOf(token!, site)
      const vmId = await ada.makeVm('golden', (await catalog()).debian)
      const { data } = await ada.send('POST', '/images', { name: 'golden', vmId })
      const imageId = (data as unknown as { image: { id: string } }).image.id
      await ada.becomes(`/images/${imageId}`, 'AVAILABLE')
      expect(await berthd(before, 'doctor', 'images')).toMatchObject({ stdout: expect.stringContaining('in the image folder only') })
      expect(await site.kill('SIGTERM')).toBe(0)
      expect(await berthdJson(before, 'backup-target', 'add', 's3', ...place, ...keys, '--control-plane-days', '7')).toMatchObject({
        controlPlaneDays: 7,
      })
      const worker = await service(before, 'worker')
      const listed = () => berthdJson<{ controlPlaneAt: string | null }[]>(before, 'backup-target', 'list')
      await eventually(async () => (await listed())[0]!.controlPlaneAt !== null, 60_000)
      const stored = async () => (await berthd(before, 'doctor', 'images')).stdout.includes('are in backup targets: 1')
      await eventually(stored, 120_000)
      await worker.kill('SIGTERM')
      expect(await berthd(before, 'doctor', 'control-plane')).toMatchObject({ code: 0, stdout: expect.stringContaining('0 h ago') })
      await berthdJson(before, 'account', 'credit', '--account', 'ada@example.com', '--amount', '12.00')
      expect(await berthdJson(before, 'backup', '--target')).toMatchObject({ bucket: 'site', missing: { ownImages: 0 } })
      const image = await imageFile(before, imageId)
      const { balance } = (await berthdJson<{ balance: string }[]>(before, 'account', 'list'))[0]!
      expect(await berthd(before, 'backup')).toMatchObject({ code: 2, stderr: expect.stringContaining('either a file or --target') })
      expect(await berthdJson(before, 'backup-target', 'verify')).toMatchObject({ ok: true })

      const from = ['--from', `${server.url}/site/berth/`, ...keys]
      expect(await berthd(after, 'restore', ...from)).toMatchObject({ code: 1, stderr: expect.stringContaining('master.key is missing') })
      await mkdir(after['BERTH_DATA_DIR']!, { recursive: true })
      await copyFile(join(folder, 'before/master.key'), join(folder, 'after/master.key'))
      const archives = await berthdJson<{ at: string }[]>(after, 'restore', ...from, '--list')
      expect(archives).toHaveLength(2)
      expect(await berthd(after, 'restore', ...from, '--at', '2020-01-01T00:00:00.000Z')).toMatchObject({ code: 2 })
      expect(await berthd(after, 'restore', '--from', server.url)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('must be a URL'),
      })
      expect(await berthdJson(after, 'restore', ...from)).toMatchObject({ at: archives[0]!.at, rows: expect.any(Number) })
      const up = await service(after, 'up')
      expect(await berthdJson(after, 'account', 'list')).toMatchObject([{ email: 'ada@example.com', balance }])
      expect(await berthdJson<object[]>(after, 'backup-target', 'list')).toMatchObject([{ bucket: 'site', controlPlaneDays: 7 }])
      await expect(imageFile(after, imageId)).rejects.toThrow('ENOENT')
      await customerOf(token!, up).makeVm('again', imageId)
      expect((await imageFile(after, imageId)).equals(image)).toBe(true)
      expect(await up.kill('SIGTERM')).toBe(0)
    } finally {
      await server.close()
    }
  })
})
