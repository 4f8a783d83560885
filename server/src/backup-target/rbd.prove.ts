// A disk in Ceph RBD, backed up to a real S3 server and restored into another pool. What QEMU would write is written by qemu-io.
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingCommands, run } from '../../../libvirt/test/command.ts'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { eventually } from '../../../libvirt/test/eventually.ts'
import { startCeph, type CephCluster } from '../../test/ceph.ts'
import { missingForRadosgw, openRadosgw, type Radosgw } from '../../test/radosgw.ts'
import { scratchFolder, type ScratchFolder } from '../../test/scratch-folder.ts'
import { expectKind } from '../hypervisor/conformance/fixture.ts'
import { writeQcow2Image } from '../hypervisor/qcow2/write-image.ts'
import { openRbdPool, type RbdPool } from '../hypervisor/rbd/pool.ts'
import { systemClock } from '../kernel/clock.ts'
import { vaultFrom } from '../kernel/crypto.ts'
import { newId } from '../kernel/ids.ts'
import { createBandwidthLimit } from './bandwidth.ts'
import { ensureDataKey } from './data-key.ts'
import { BackupRepository } from './repository.ts'
import { openS3Store, type S3Store } from './s3-store.ts'

const MIB = 2 ** 20
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

describeIf(missingForRadosgw() ?? missingCommands('qemu-img', 'qemu-io'))('a disk in Ceph RBD', { timeout: 300_000 }, () => {
  let cluster: CephCluster
  let server: Radosgw
  let folder: ScratchFolder
  let store: S3Store
  let pool: RbdPool
  let elsewhere: RbdPool

  beforeAll(async () => {
    ;[cluster, server, folder] = await Promise.all([startCeph(), openRadosgw(), scratchFolder()])
    pool = openRbdPool(await cluster.addPool(), join(folder.path, 'one'))
    elsewhere = openRbdPool(await cluster.addPool(), join(folder.path, 'other'))
    const { accessKeyId, secretAccessKey, url: endpoint } = server
    const shared = { endpoint, region: 'us-east-1' }
    const admin = new S3Client({
      ...shared,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
      requestChecksumCalculation: 'WHEN_REQUIRED',
    })
    await admin.send(new CreateBucketCommand({ Bucket: 'vms' }))
    admin.destroy()
    store = openS3Store({ ...shared, bucket: 'vms', prefix: '', accessKeyId, secretAccessKey })
  }, 240_000)
  afterAll(async () => {
    store?.close()
    await Promise.all([cluster?.close(), server?.close()])
    await folder?.remove()
  })

  const repositoryOf = async (vmId: string): Promise<BackupRepository> => {
    const own = { id: `repository${vmId}`, vmId }
    const dataKey = await ensureDataKey(store, vaultFrom(Buffer.alloc(32, 1)), own, soon())
    return new BackupRepository({ store, clock: systemClock, bandwidth: createBandwidthLimit(null) }, dataKey, own.id)
  }
  const path = (name: string): string => join(folder.path, name)
  const sha256Of = async (file: string): Promise<string> => {
    const hash = createHash('sha256')
    await pipeline(createReadStream(file), hash)
    return hash.digest('hex')
  }
  const hashOf = async ({ backend }: RbdPool, spec: string): Promise<string> => {
    const file = path(newId())
    await cluster.rbd('export', '--no-progress', `${backend.pool}/${spec}`, file)
    return sha256Of(file)
  }
  const io = ({ backend }: RbdPool, image: string, ...commands: string[]): Promise<string> => {
    const conf = path(`one/${backend.id}.conf`)
    const options = { driver: 'rbd', pool: backend.pool, image, user: backend.user, conf }
    const target = ['driver=raw,discard=unmap', ...Object.entries(options).map(([key, value]) => `file.${key}=${value}`)].join(',')
    return run('qemu-io', '--image-opts', target, ...commands.flatMap((command) => ['-c', command]))
  }
  const snapshots = async (image: string): Promise<string[]> =>
    (JSON.parse(await cluster.rbd('snap', 'ls', `${pool.backend.pool}/${image}`, '--format=json')) as { name: string }[]).map(
      ({ name }) => name,
    )
  const namesOf = async ({ backend }: RbdPool, vmId: string): Promise<string[]> => {
    const images = JSON.parse(await cluster.rbd('ls', backend.pool, '--format=json')) as string[]
    const trash = JSON.parse(await cluster.rbd('trash', 'ls', backend.pool, '--format=json')) as { name: string }[]
    return [...images, ...trash.map(({ name }) => name)].filter((name) => name.includes(vmId))
  }

  /** A clone of a template with random content. */
  const created = async (bytes: number): Promise<{ vmId: string; image: string; disk: { vmId: string; generation: number } }> => {
    const disk = { vmId: newId(), generation: 1 }
    const parent = await pool.ensureTemplate('tiny', () => templateImage(), soon())
    await pool.ensureDisk(disk, parent, bytes, soon())
    return { vmId: disk.vmId, image: `vm-${disk.vmId}-1`, disk }
  }
  const templateImage = async () => {
    await writeFile(path('raw'), Buffer.concat([randomBytes(9 * MIB), Buffer.alloc(7 * MIB)]))
    await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', path('raw'), path('template'))
    const checksum = `sha256:${await sha256Of(path('template'))}`
    return { path: path('template'), format: 'qcow2', arch: 'x86_64', virtualBytes: 16 * MIB, fileBytes: 0, checksum } as const
  }
  const backUp = async (vmId: string, backupId: string, parentId: string | null) => {
    await pool.ensureBackup({ vmId, generation: 1 }, { backupId, parentId, parentIsRemote: true }, soon())
    return (await pool.findBackup(vmId, backupId, soon()))!
  }

  test('is equal, by its hash, to each of a full and three incremental backups that are restored elsewhere', async () => {
    const { vmId, image, disk } = await created(64 * MIB)
    const repository = await repositoryOf(vmId)
    const changes: (() => Promise<unknown>)[] = [
      () => io(pool, image, 'write -P 17 1M 5M', 'write -P 18 40M 3k', 'write -P 19 50M 8M'),
      () => io(pool, image, 'write -P 33 2M 64k', 'discard 4M 4M', 'write -z 41M 1M', 'write -P 34 63M 1M'),
      async () => {
        await pool.growDisk(disk, 96 * MIB, soon())
        await io(pool, image, 'write -P 49 90M 6M', 'discard 48M 12M', 'write -P 50 51M 512')
      },
      () => io(pool, image, 'discard 0 16M', 'write -P 65 7M 100k', 'write -P 66 48M 4M'),
    ]
    const made: { id: string; hash: string; added: number; whole: number }[] = []
    for (const change of changes) {
      await change()
      const [backupId, parentId] = [newId(), made.at(-1)?.id ?? null]
      const backup = await backUp(vmId, backupId, parentId)
      expect(backup).toMatchObject({ parentId })
      const { sizeBytes, extents } = pool.readLayer(backup, soon())
      const { addedBytes } = await repository.upload({ backupId, parentId, sizeBytes, extents, lockDays: null }, soon())
      const { allocated } = await pool.listChanges(backup, soon())
      const whole = allocated.reduce((sum, { length }) => sum + length, 0)
      made.push({ id: backupId, hash: await hashOf(pool, backup.spec), added: addedBytes, whole })
      for (let repeat = 0; repeat < 2; repeat++) await pool.ensureBackupOffloaded(vmId, backupId, true, soon())
      expect(await snapshots(image)).toEqual([`base-${backupId}`])
    }
    console.log(
      `added to the bucket: ${made.map(({ added }) => added).join(', ')}; whole objects: ${made.map(({ whole }) => whole).join(', ')}`,
    )
    expect(new Set(made.map(({ hash }) => hash)).size).toBe(4)
    for (const { id, hash } of made) {
      const restored = { vmId: newId(), generation: 1 }
      const content = await repository.read(id, soon())
      await elsewhere.ensureBackupImage(restored.vmId, id, () => Promise.resolve(content), soon())
      for (let repeat = 0; repeat < 2; repeat++) await elsewhere.ensureDiskFromImage(restored, id, content.sizeBytes, soon())
      expect(await hashOf(elsewhere, `vm-${restored.vmId}-1`)).toBe(hash)
      await elsewhere.ensureBackupOffloaded(restored.vmId, id, false, soon())
      expect(await namesOf(elsewhere, restored.vmId)).toEqual([`vm-${restored.vmId}-1`])
    }
    await pool.ensureNoDisk(disk, soon())
    expect(await namesOf(pool, vmId)).toEqual([])
  })

  test('has a chain of files too, whose last layer is the disk', async () => {
    const { vmId, image, disk } = await created(64 * MIB)
    const ids = [newId(), newId(), newId()]
    const changes = [['write -P 17 1M 5M'], ['write -P 33 2M 64k', 'discard 4M 4M'], ['write -P 65 60M 4M', 'discard 0 4M']]
    for (const [position, commands] of changes.entries()) {
      if (position === 2) await pool.growDisk(disk, 80 * MIB, soon())
      await io(pool, image, ...commands)
      const backup = await backUp(vmId, ids[position]!, ids[position - 1] ?? null)
      const { allocated, zeroed } = await pool.listChanges(backup, soon())
      const { sizeBytes, extents } = pool.readLayer(backup, soon(), { inWholeObjects: true })
      const layer = position === 0 ? {} : { backing: `file-${ids[position - 1]}`, zeroed }
      const bytes = writeQcow2Image({ sizeBytes, allocated, extents, ...layer })
      await pipeline(Readable.from(bytes), createWriteStream(path(`file-${ids[position]}`)))
      await run('qemu-img', 'convert', '-f', 'qcow2', '-O', 'raw', path(`file-${ids[position]}`), path('flat'))
      expect(await sha256Of(path('flat'))).toBe(await hashOf(pool, backup.spec))
    }
    await expectKind(pool.ensureNoBackup(vmId, ids[1]!, soon()), 'in_use')
    for (const id of ids.toReversed()) await pool.ensureNoBackup(vmId, id, soon())
    expect(await snapshots(image)).toEqual([])
  })

  test('gets a full backup when its base is lost, or is that of another generation', async () => {
    const { vmId, image, disk } = await created(32 * MIB)
    const [first, second, third] = [newId(), newId(), newId()]
    await backUp(vmId, first, null)
    await pool.ensureBackupOffloaded(vmId, first, true, soon())
    await cluster.rbd('snap', 'rm', '--no-progress', `${pool.backend.pool}/${image}@base-${first}`)
    expect(await backUp(vmId, second, first)).toMatchObject({ parentId: null })
    await pool.ensureDisk({ vmId, generation: 2 }, (await pool.findBackup(vmId, second, soon()))!, 32 * MIB, soon())
    await pool.ensureNoDisk(disk, soon()) // what is still to be read stays
    expect(await pool.findBackup(vmId, second, soon())).toMatchObject({ spec: `kept-${vmId}-1@backup-${second}` })
    await pool.ensureBackupOffloaded(vmId, second, true, soon())
    const request = { backupId: third, parentId: second, parentIsRemote: true }
    await pool.ensureBackup({ vmId, generation: 2 }, request, soon())
    expect(await pool.findBackup(vmId, third, soon())).toMatchObject({ parentId: null })
    await pool.ensurePurged(vmId, soon())
    expect(await namesOf(pool, vmId)).toEqual([])
  })

  test('loses bases of no use to a backup that is being read, and only those', async () => {
    const [idle, busy] = [await created(32 * MIB), await created(32 * MIB)]
    const [first, second] = [newId(), newId()]
    for (const { vmId } of [idle, busy]) {
      await backUp(vmId, first, null)
      await pool.ensureBackupOffloaded(vmId, first, true, soon())
    }
    const request = { backupId: second, parentId: first, parentIsRemote: true }
    await pool.ensureBackup(busy.disk, request, soon())
    for (const expected of [1, 0]) expect(await pool.removeBases(20, soon())).toBe(expected)
    expect([await snapshots(idle.image), await snapshots(busy.image)]).toEqual([[], [`base-${first}`, `backup-${second}-${first}`]])
    await pool.ensureBackup(idle.disk, request, soon())
    expect(await pool.findBackup(idle.vmId, second, soon())).toMatchObject({ parentId: null })
    for (const { vmId } of [idle, busy]) await pool.ensurePurged(vmId, soon())
  })

  test('is restored however often the restore is killed, and nothing else is left', async () => {
    const { vmId, image } = await created(64 * MIB)
    await io(pool, image, 'write -P 17 0 60M')
    const backupId = newId()
    const backup = await backUp(vmId, backupId, null)
    const hash = await hashOf(pool, backup.spec)
    const content = async () => {
      const layer = pool.readLayer(backup, soon())
      return { ...layer, allocated: await layer.findAllocated() }
    }
    const restored = { vmId: newId(), generation: 1 }
    let aborts = 0
    for (let patienceMs = 50; ; patienceMs *= 1.7) {
      const signal = AbortSignal.timeout(Math.round(patienceMs))
      try {
        await elsewhere.ensureBackupImage(restored.vmId, backupId, content, signal)
        await elsewhere.ensureDiskFromImage(restored, backupId, 64 * MIB, signal)
        break
      } catch (error) {
        if (!signal.aborted) throw error
        aborts++
      }
    }
    console.log(`killed ${aborts} times`)
    expect(aborts).toBeGreaterThan(2)
    expect(await hashOf(elsewhere, `vm-${restored.vmId}-1`)).toBe(hash)
    // Drafts of killed programs have watchers for half a minute.
    const tidied = async (): Promise<boolean> => {
      await elsewhere.ensureBackupOffloaded(restored.vmId, backupId, false, soon())
      return (await namesOf(elsewhere, restored.vmId)).length === 1
    }
    await eventually('the drafts to go', tidied, 60_000)
    await pool.ensurePurged(vmId, soon())
  })

  test('whose reader ends early leaves no process, and a damaged stream is an error', async () => {
    const { vmId, image } = await created(64 * MIB)
    await io(pool, image, 'write -P 17 0 60M')
    const backup = await backUp(vmId, newId(), null)
    for await (const _ of pool.readLayer(backup, soon()).extents) break
    const gone = pool.readLayer({ ...backup, spec: `${image}@nothing` }, soon()).extents
    await expectKind(Array.fromAsync(gone), 'not_found')
    const broken = { sizeBytes: 64 * MIB, allocated: [], extents: failing() }
    const stored = elsewhere.ensureBackupImage(vmId, 'broken', () => Promise.resolve(broken), soon())
    await expect(stored).rejects.toThrow('the source failed')
    expect(await elsewhere.findBackup(vmId, 'broken', soon())).toBeUndefined()
    await eventually(
      'the draft to go',
      async () => (await elsewhere.ensureNoBackup(vmId, 'broken', soon()), (await namesOf(elsewhere, vmId)).length === 0),
      60_000,
    )
    await pool.ensurePurged(vmId, soon())
  })
})

async function* failing(): AsyncGenerator<{ offset: number; bytes: Buffer }> {
  yield { offset: 0, bytes: randomBytes(MIB) }
  throw new Error('the source failed')
}
