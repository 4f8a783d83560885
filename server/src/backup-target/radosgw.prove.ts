// The engine of backups against a real S3 server, with faults between the two.
import { createHash, randomBytes } from 'node:crypto'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { restored, testDisk, type TestDisk } from '../../test/backup-disk.ts'
import { faultProxy, type Call, type FaultProxy } from '../../test/fault-proxy.ts'
import { missingForRadosgw, openRadosgw, type Radosgw } from '../../test/radosgw.ts'
import type { Extent } from '../hypervisor/extent.ts'
import { systemClock } from '../kernel/clock.ts'
import { vaultFrom, type Vault } from '../kernel/crypto.ts'
import { createBandwidthLimit } from './bandwidth.ts'
import { ensureDataKey, listRepositoryIds, openDataKey, resealDataKey } from './data-key.ts'
import { requireAccess } from './probe.ts'
import { BackupRepository, type UploadRequest } from './repository.ts'
import { openS3Store, type S3Settings, type S3Store } from './s3-store.ts'

const MIB = 1024 ** 2
const VM = { id: 'repository1', vmId: 'cvmofthecustomer' }
const { signal } = new AbortController()

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const isChunk = ({ method, path }: Call): boolean => method === 'PUT' && path.includes('/chunks/')

describeIf(missingForRadosgw())('backups on radosgw', { timeout: 300_000 }, () => {
  let server: Radosgw
  let proxy: FaultProxy
  let admin: S3Client
  let buckets = 0
  const stores: S3Store[] = []
  const vault = vaultFrom(randomBytes(32))

  beforeAll(async () => {
    server = await openRadosgw()
    proxy = await faultProxy(server.url)
    const credentials = { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey }
    admin = new S3Client({
      endpoint: server.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    })
  }, 180_000)

  afterEach(() => {
    proxy.fault = () => undefined
    proxy.forwarded.length = 0
    for (const store of stores.splice(0)) store.close()
  })

  afterAll(async () => {
    admin?.destroy()
    await proxy?.close()
    await server?.close()
  })

  async function newBucket(kind: 'plain' | 'versions' | 'lock' = 'plain'): Promise<string> {
    const Bucket = `berth${++buckets}`
    await admin.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: kind === 'lock' }))
    if (kind === 'versions') await admin.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
    return Bucket
  }

  function storeOf(bucket: string, settings: Partial<S3Settings> = {}): S3Store {
    const { accessKeyId, secretAccessKey } = server
    const store = openS3Store({
      endpoint: proxy.url,
      region: 'us-east-1',
      bucket,
      prefix: 'site/',
      accessKeyId,
      secretAccessKey,
      ...settings,
    })
    stores.push(store)
    return store
  }

  async function open(store: S3Store, options: { vault?: Vault; blockBytes?: number } = {}): Promise<BackupRepository> {
    const dataKey = await ensureDataKey(store, options.vault ?? vault, VM, signal)
    const { blockBytes } = options
    return new BackupRepository(
      { store, clock: systemClock, bandwidth: createBandwidthLimit(null), ...(blockBytes ? { blockBytes } : {}) },
      dataKey,
      VM.id,
    )
  }

  const order = (backupId: string, parentId: string | null, disk: TestDisk, lockDays: number | null = null): UploadRequest => ({
    backupId,
    parentId,
    sizeBytes: disk.content.length,
    extents: disk.changes(),
    lockDays,
  })

  /** Half of it written, of that half compressible. */
  function someDisk(sizeBytes = 48 * MIB): TestDisk {
    const disk = testDisk(sizeBytes, 64 * 1024)
    disk.write(3 * MIB + 777, randomBytes(Math.floor(sizeBytes / 4)))
    disk.write(Math.floor(sizeBytes / 2) + 1, Buffer.alloc(Math.floor(sizeBytes / 4), 'password of the customer\n'))
    return disk
  }

  async function versionsIn(Bucket: string) {
    const { Versions = [] } = await admin.send(new ListObjectVersionsCommand({ Bucket }))
    return Versions.map(({ Key, VersionId }) => ({ Key: Key!, VersionId: VersionId! }))
  }

  const bodyOf = async (Bucket: string, Key: string): Promise<Buffer> =>
    Buffer.from(await (await admin.send(new GetObjectCommand({ Bucket, Key }))).Body!.transformToByteArray())

  test.each(['plain', 'versions'] as const)('a full and three incremental ones restore equal by hash, in a bucket: %s', async (kind) => {
    const bucket = await newBucket(kind)
    const repository = await open(storeOf(bucket))
    const disk = someDisk()
    const hashes = new Map<string, string>()
    for (const [i, id] of ['full', 'inc1', 'inc2', 'inc3'].entries()) {
      if (i > 0) {
        disk.write(i * 5 * MIB - 100, randomBytes(300_000))
        disk.zero((20 + i) * MIB, 200_000)
      }
      const stored = await repository.upload(order(id, i === 0 ? null : [...hashes.keys()].at(-1)!, disk), signal)
      expect(stored.addedBytes).toBeLessThan(i === 0 ? 48 * MIB : 2 * MIB)
      hashes.set(id, sha256(disk.content))
    }
    // A process that has nothing but the bucket and the master key.
    const elsewhere = await open(storeOf(bucket, { endpoint: server.url }))
    expect((await Array.fromAsync(elsewhere.list(signal))).map(({ backupId }) => backupId).toSorted()).toEqual(
      [...hashes.keys()].toSorted(),
    )
    for (const [id, hash] of hashes) expect(sha256(await restored(await elsewhere.read(id, signal)))).toBe(hash)

    await elsewhere.remove(['full', 'inc2'], signal)
    for (const id of ['inc1', 'inc3']) expect(sha256(await restored(await elsewhere.read(id, signal)))).toBe(hashes.get(id))
    await elsewhere.remove(['inc1', 'inc3'], signal)
    expect((await versionsIn(bucket)).map(({ Key }) => Key)).toEqual([`site/keys/${VM.id}`])
  })

  test('an upload that was cut midway is no backup, and resumes with the rest', async () => {
    const repository = await open(storeOf(await newBucket()))
    const disk = someDisk()
    const content = sha256(disk.content)
    const extents = await Array.fromAsync(disk.changes())
    const request = (): UploadRequest => ({
      ...order('a', null, disk),
      extents: (async function* () {
        yield* extents
      })(),
    })
    let chunks = 0
    proxy.fault = (call) => (isChunk(call) && ++chunks > 4 ? 'cut' : undefined)
    await expect(repository.upload(request(), signal)).rejects.toMatchObject({ kind: 'unavailable', retry: true })
    await expect(repository.read('a', signal)).rejects.toMatchObject({ kind: 'missing' })
    const before = proxy.forwarded.filter(isChunk).length
    expect(before).toBe(4)

    proxy.fault = () => undefined
    proxy.forwarded.length = 0
    await repository.upload(request(), signal)
    const after = proxy.forwarded.filter(isChunk).length
    expect(before + after).toBe(new Set(extents.map(({ offset }) => Math.floor(offset / (4 * MIB)))).size)
    expect(sha256(await restored(await repository.read('a', signal)))).toBe(content)
  })

  test('single faults of the way are invisible', async () => {
    const repository = await open(storeOf(await newBucket()))
    const disk = someDisk()
    const seen = new Set<string>()
    const faults = ['cut', 'unavailable', 'slow'] as const
    proxy.fault = ({ method, path }) => {
      const what = `${method} ${path.split('?')[0]}`
      if (seen.has(what)) return undefined
      seen.add(what)
      return faults[seen.size % faults.length]
    }
    await repository.upload(order('a', null, disk), signal)
    seen.clear()
    expect(sha256(await restored(await repository.read('a', signal)))).toBe(sha256(disk.content))
    expect(seen.size).toBeGreaterThan(5)
  })

  test('an upload that changes on its way is refused by the server', async () => {
    const repository = await open(storeOf(await newBucket()))
    proxy.fault = (call) => (isChunk(call) ? 'flip' : undefined)
    await expect(repository.upload(order('a', null, someDisk(8 * MIB)), signal)).rejects.toMatchObject({ kind: 'unavailable', retry: true })
    await expect(repository.read('a', signal)).rejects.toMatchObject({ kind: 'missing' })
  })

  test('a wrong secret, a bucket that is gone and lasting 503s fail clearly, and are no backup', async () => {
    const bucket = await newBucket()
    const repository = await open(storeOf(bucket))
    await expect(open(storeOf(bucket, { secretAccessKey: 'wrong' }))).rejects.toMatchObject({ kind: 'refused', retry: false })
    await expect(open(storeOf(bucket, { accessKeyId: 'UNKNOWN' }))).rejects.toMatchObject({ kind: 'refused', retry: false })
    await expect(open(storeOf('berth-gone'))).rejects.toMatchObject({ kind: 'no_bucket', retry: false })
    await expect(open(storeOf(bucket, { endpoint: 'http://127.0.0.1:9' }))).rejects.toMatchObject({ kind: 'unavailable', retry: true })
    const disk = someDisk(8 * MIB)
    proxy.fault = ({ method }) => (method === 'PUT' ? 'unavailable' : undefined)
    await expect(repository.upload(order('a', null, disk), signal)).rejects.toMatchObject({ kind: 'unavailable', retry: true })
    proxy.fault = () => undefined
    await expect(repository.read('a', signal)).rejects.toMatchObject({ kind: 'missing' })
    expect(await Array.fromAsync(repository.list(signal))).toEqual([])
  })

  test('an aborted upload ends at once', async () => {
    const repository = await open(storeOf(await newBucket()))
    const controller = new AbortController()
    proxy.fault = (call) => {
      if (isChunk(call)) controller.abort()
      return 'slow'
    }
    await expect(repository.upload(order('a', null, someDisk(8 * MIB)), controller.signal)).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('bit rot in one object is found and named', async () => {
    const bucket = await newBucket()
    const repository = await open(storeOf(bucket))
    await repository.upload(order('a', null, someDisk()), signal)
    expect((await repository.verify('a', signal)).problems).toEqual([])
    const [Key] = (await versionsIn(bucket)).map((each) => each.Key).filter((key) => key.includes('/chunks/'))
    const body = await bodyOf(bucket, Key!)
    body[body.length >> 1]! ^= 0x10
    await admin.send(new PutObjectCommand({ Bucket: bucket, Key: Key!, Body: body }))
    const name = Key!.slice('site/'.length)
    expect((await repository.verify('a', signal)).problems).toEqual([expect.stringContaining(`${name} is damaged`)])
    await expect(repository.read('a', signal).then(restored)).rejects.toMatchObject({
      kind: 'damaged',
      message: expect.stringContaining(name),
    })
  })

  test('locked versions cannot be deleted, by nobody', async () => {
    const bucket = await newBucket('lock')
    const store = storeOf(bucket)
    const repository = await open(store)
    const disk = someDisk(16 * MIB)
    await repository.upload(order('a', null, disk, 1), signal)
    disk.write(0, randomBytes(100_000))
    await repository.upload(order('b', 'a', disk, 1), signal)
    const versions = (await versionsIn(bucket)).filter(({ Key }) => !Key.includes('/uploads/'))
    expect(versions.length).toBeGreaterThan(4)
    for (const each of versions)
      await expect(admin.send(new DeleteObjectCommand({ Bucket: bucket, ...each }))).rejects.toMatchObject({ name: 'AccessDenied' })
    expect(await repository.remove(['a', 'b'], signal)).toMatchObject({ lockedIds: ['a', 'b'], freedBytes: 0 })
    // Whoever has the keys of the bucket can hide and overwrite objects, and the backup is restored all the same.
    for (const { Key } of versions) await admin.send(new DeleteObjectCommand({ Bucket: bucket, Key }))
    for (const { Key } of versions) await admin.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'ransom' }))
    expect(sha256(await restored(await (await open(store)).read('b', signal)))).toBe(sha256(disk.content))
  })

  test('a lock in a bucket without object lock is refused, and is no backup', async () => {
    const repository = await open(storeOf(await newBucket()))
    await expect(repository.upload(order('a', null, someDisk(8 * MIB), 1), signal)).rejects.toMatchObject({
      kind: 'rejected',
      retry: false,
    })
    await expect(repository.read('a', signal)).rejects.toMatchObject({ kind: 'missing' })
  })

  test('a bucket that locks everything by itself is refused', async () => {
    const bucket = await newBucket('lock')
    const store = storeOf(bucket)
    await requireAccess(store, { needsLock: true }, signal)
    const Rule = { DefaultRetention: { Mode: 'COMPLIANCE' as const, Days: 1 } }
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled' as const, Rule }
    await admin.send(new PutObjectLockConfigurationCommand({ Bucket: bucket, ObjectLockConfiguration }))
    await expect(requireAccess(store, { needsLock: true }, signal)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('default retention'),
    })
  })

  test('without the master key objects say nothing; with a new one only the data key changes', async () => {
    const bucket = await newBucket()
    const store = storeOf(bucket)
    const disk = someDisk(16 * MIB)
    await (await open(store)).upload(order('a', null, disk), signal)
    const before = new Map<string, Buffer>()
    for (const { Key } of await versionsIn(bucket)) before.set(Key, await bodyOf(bucket, Key))
    const everything = Buffer.concat([...before].flatMap(([key, body]) => [Buffer.from(key), body]))
    for (const text of ['password', 'customer', VM.vmId, 'pieces']) expect(everything.includes(text)).toBe(false)

    const other = vaultFrom(randomBytes(32))
    await expect(openDataKey(store, other, VM.id, signal)).rejects.toMatchObject({ kind: 'wrong_key' })
    for await (const id of listRepositoryIds(store, signal)) await resealDataKey(store, { old: vault, new: other }, id, signal)
    for (const [key, body] of before) expect((await bodyOf(bucket, key)).equals(body)).toBe(key !== `site/keys/${VM.id}`)
    await expect(openDataKey(store, vault, VM.id, signal)).rejects.toMatchObject({ kind: 'wrong_key' })
    expect(sha256(await restored(await (await open(store, { vault: other })).read('a', signal)))).toBe(sha256(disk.content))
  })

  test('uploads and removals at the same time leave every backup whole and nothing besides', async () => {
    const bucket = await newBucket()
    const store = storeOf(bucket)
    const repository = await open(store, { blockBytes: 16 * 1024 })
    const disk = testDisk(256 * 1024, 1_024)
    disk.write(0, randomBytes(200 * 1024))
    const hashes = new Map<string, string>()
    const kept: string[] = []
    let parent: string | null = null
    for (let round = 0; round < 15; round++) {
      disk.write((round * 7_919) % 200_000, randomBytes(3_000))
      const id = `r${round}`
      const oldest = kept.length > 3 ? kept.splice(0, 2) : []
      const [made] = await Promise.allSettled([repository.upload(order(id, parent, disk), signal), repository.remove(oldest, signal)])
      expect(made.status).toBe('fulfilled')
      kept.push((parent = id))
      hashes.set(id, sha256(disk.content))
      for (const each of kept) expect(sha256(await restored(await repository.read(each, signal)))).toBe(hashes.get(each))
    }
    await repository.remove(kept, signal)
    expect((await versionsIn(bucket)).map(({ Key }) => Key)).toEqual([`site/keys/${VM.id}`])
  })

  test('memory stays flat', async () => {
    const repository = await open(storeOf(await newBucket()))
    const size = 1_024 * MIB
    const half = randomBytes(512 * 1024)
    async function* extents(): AsyncGenerator<Extent> {
      for (let offset = 0; offset < size; offset += MIB) {
        const bytes = Buffer.alloc(MIB, `${offset} `)
        half.copy(bytes)
        yield { offset, bytes }
      }
    }
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    let most = 0
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
    await repository.upload({ backupId: 'a', parentId: null, sizeBytes: size, extents: extents(), lockDays: null }, signal)
    let read = 0
    for await (const extent of (await repository.read('a', signal)).extents) if ('bytes' in extent) read += extent.bytes.length
    clearInterval(timer)
    expect(read).toBe(size)
    expect(most - before).toBeLessThan(150 * MIB)
  })
})
