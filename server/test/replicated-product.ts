// The product on a real host, with disks in a real Ceph cluster.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll } from 'vitest'
import { sql } from '../src/kernel/database/db.ts'
import { missingForCeph, startCeph } from './ceph.ts'
import { GuestShell } from './guest-shell.ts'
import { berthdJson } from './processes.ts'
import { openRadosgw } from './radosgw.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'

export const missingForReplicatedProduct = (): string | undefined => missingForRealHost() ?? missingForCeph()

export type ReplicatedProduct = Awaited<ReturnType<typeof replicatedProduct>>

/** The plan `nano` is replicated. */
export async function replicatedProduct() {
  const product = await realProduct()
  const { host, sandbox, settings, db } = product
  const cluster = await startCeph({ address: sandbox.address.replace(/\d+$/, '1') })
  const folder = await mkdtemp(join(tmpdir(), 'berth-ceph-'))
  const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
  afterAll(async () => {
    await shell.close()
    await cluster.close()
    await rm(folder, { recursive: true })
  })
  const { pool, monitors, user, key } = await cluster.addPool()
  await writeFile(join(folder, 'key'), key)
  const access = ['--monitors', ...monitors, '--pool', pool, '--user', user, '--key-file', join(folder, 'key')]
  await berthdJson(settings, 'storage', 'add', 'ceph', '--region', 'fra1', ...access)
  await db.run(sql`update plans set storage = 'REPLICATED', disk_gib = 1 where slug = 'nano'`)

  const read = async <T>(...args: string[]): Promise<T> => JSON.parse(await cluster.rbd(...args, '--format=json')) as T
  const images = () => read<string[]>('ls', pool)
  return {
    ...product,
    cluster,
    pool,
    shell,
    /** In the pool. */
    images,
    imagesOf: async (vmId: string) => (await images()).filter((name) => name.includes(vmId)),
    snapshotsOf: async (image: string) => (await read<{ name: string }[]>('snap', 'ls', `${pool}/${image}`)).map(({ name }) => name),
    trash: async () => (await read<{ name: string }[]>('trash', 'ls', pool)).map(({ name }) => name),

    /** From here on backups go to a real S3 server. */
    async addBucket(): Promise<void> {
      const server = await openRadosgw()
      afterAll(() => server.close())
      const { url, accessKeyId, secretAccessKey } = server
      const s3 = new S3Client({ endpoint: url, credentials: { accessKeyId, secretAccessKey }, region: 'us-east-1', forcePathStyle: true })
      await s3.send(new CreateBucketCommand({ Bucket: 'vms' })).finally(() => s3.destroy())
      await writeFile(join(folder, 'secret'), secretAccessKey)
      const place = ['--endpoint', url, '--bucket', 'vms', '--access-key', accessKeyId, '--secret-file', join(folder, 'secret')]
      await berthdJson(settings, 'backup-target', 'add', 's3', ...place)
    },
  }
}
