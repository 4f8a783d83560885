// How much longer than plain tools does a backup to S3 take? A full one of a disk with 1 GiB of content and an incremental one of 100 MiB
// that changed, cut, compressed, encrypted and sent to radosgw by our engine, beside `qemu-img convert`, `zstd` and an upload in parts of
// 8 MiB of the same disk, and its share of that. In turns, medians. Then how much memory a disk of any size takes. It takes root and Ceph.
//   npm run bench:backup-s3 -- [--rounds 5] [--memory-gib 50]
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../libvirt/test/command.ts'
import { createBandwidthLimit } from '../server/src/backup-target/bandwidth.ts'
import { ensureDataKey } from '../server/src/backup-target/data-key.ts'
import { forEachConcurrently } from '../server/src/backup-target/concurrency.ts'
import { BackupRepository } from '../server/src/backup-target/repository.ts'
import { openS3Store } from '../server/src/backup-target/s3-store.ts'
import type { Extent } from '../server/src/hypervisor/extent.ts'
import { openQcow2Layer } from '../server/src/hypervisor/qcow2/read-layer.ts'
import { systemClock } from '../server/src/kernel/clock.ts'
import { vaultFrom } from '../server/src/kernel/crypto.ts'
import { newId } from '../server/src/kernel/ids.ts'
import { missingForRadosgw, openRadosgw } from '../server/test/radosgw.ts'
import { scratchFolder } from '../server/test/scratch-folder.ts'
import { missed, printHead, printLimit, printRatio } from './vms-table.ts'

const GOAL = { most: 1.3 }
const MOST_MEMORY_MB = 150
const MIB = 2 ** 20
const PART_BYTES = 8 * MIB
const [DISK_MIB, CHANGED_MIB] = [1024, 100]
const INCREMENTAL_PER_ROUND = 4
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, 'memory-gib': { type: 'string', default: '50' } } })

const missing = missingForRadosgw()
if (missing) throw new Error(`This ${missing}`)
await using stack = new AsyncDisposableStack()
const folder = await scratchFolder()
stack.defer(() => folder.remove())
const server = await openRadosgw()
stack.defer(() => server.close())
const path = (name: string): string => join(folder.path, name)
const { signal } = new AbortController()

const store = openS3Store({ ...server, endpoint: server.url, region: 'us-east-1', bucket: 'bench', prefix: '' })
stack.defer(() => store.close())
await createBucket()
const dataKey = await ensureDataKey(store, vaultFrom(randomBytes(32)), { id: 'bench', vmId: newId() }, signal)
const repository = new BackupRepository({ store, clock: systemClock, bandwidth: createBandwidthLimit(null) }, dataKey, 'bench')

/** Half of each MiB is random, as of images and archives; half compresses, as text does. */
async function makeContent(file: string, mebibytes: number): Promise<void> {
  const handle = await open(path(file), 'w')
  for (let i = 0; i < mebibytes; i++) {
    await handle.write(randomBytes(MIB / 2))
    await handle.write(Buffer.alloc(MIB / 2, createHash('sha256').update(`${file} ${i}`).digest('hex')))
  }
  await handle.close()
}

await makeContent('content', DISK_MIB)
await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', path('content'), path('disk'))
await makeContent('changed', CHANGED_MIB)
await run('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', 'disk', '-F', 'qcow2', path('layer'))
await run('qemu-io', '-f', 'qcow2', '-c', `write -s ${path('changed')} 300M ${CHANGED_MIB}M`, path('layer'))

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

async function upload(file: string, backupId: string, parentId: string | null): Promise<void> {
  await using handle = await open(path(file))
  const layer = await openQcow2Layer(async (offset, length) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  })
  await repository.upload({ backupId, parentId, sizeBytes: layer.sizeBytes, extents: layer.extents(), lockDays: null }, signal)
}

async function sendPlain(): Promise<void> {
  await run('qemu-img', 'convert', '-O', 'raw', path('disk'), path('raw'))
  const child = spawn('zstd', ['-3', '-c', path('raw')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const name = newId()
  let count = 0
  const send = (part: Buffer) => store.put(`plain/${name}/${count++}`, part, {}, signal)
  await forEachConcurrently(partsOf(child.stdout), 4, send)
}

async function* partsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  for await (const chunk of bytes) {
    held.push(chunk)
    if (held.reduce((sum, { length }) => sum + length, 0) < PART_BYTES) continue
    yield Buffer.concat(held)
    held = []
  }
  if (held.length > 0) yield Buffer.concat(held)
}

interface Round {
  plain: number
  full: number
  /** Several: each is short. */
  incremental: number[]
}

async function takeTurn(): Promise<Round> {
  const parentId = newId()
  const plain = await timed(sendPlain)
  const full = await timed(() => upload('disk', parentId, null))
  const incremental: number[] = []
  const backupIds = [parentId]
  for (let i = 0; i < INCREMENTAL_PER_ROUND; i++) {
    const backupId = newId()
    backupIds.push(backupId)
    incremental.push(await timed(() => upload('layer', backupId, parentId)))
  }
  await repository.remove(backupIds, signal)
  for await (const { key, version } of store.list('plain/', signal)) await store.remove(key, version, signal)
  return { plain, full, incremental }
}

/** How much the process grows while it sends a disk that no memory holds. */
async function measureMemory(gibibytes: number): Promise<number> {
  const blocks = gibibytes * 256
  async function* extents(): AsyncGenerator<Extent> {
    for (let i = 0; i < blocks; i++) yield { offset: i * 4 * MIB, bytes: Buffer.alloc(4 * MIB, `block ${i} `) }
  }
  const idle = process.memoryUsage().rss
  let most = idle
  const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 100)
  const backupId = newId()
  await repository.upload({ backupId, parentId: null, sizeBytes: blocks * 4 * MIB, extents: extents(), lockDays: null }, signal)
  clearInterval(sampling)
  await repository.remove([backupId], signal)
  return (most - idle) / 1e6
}

async function createBucket(): Promise<void> {
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3')
  const client = new S3Client({ endpoint: server.url, region: 'us-east-1', forcePathStyle: true, credentials: server })
  await client.send(new CreateBucketCommand({ Bucket: 'bench' }))
  client.destroy()
}

const rounds: Round[] = []
for (let round = 0; round <= Number(values.rounds); round++) rounds.push(await takeTurn())
rounds.shift() // the first finds cold caches
printHead()
const floor = rounds.map(({ plain }) => plain)
printRatio('full, 1 GiB, beside convert, zstd and put', { ours: rounds.map(({ full }) => full), floor, unit: 'ms' }, GOAL)
const changes = rounds.flatMap(({ plain, incremental }) => incremental.map((ms) => ({ ms, share: (plain * CHANGED_MIB) / DISK_MIB })))
const shares = { ours: changes.map(({ ms }) => ms), floor: changes.map(({ share }) => share), unit: 'ms' }
printRatio('100 MiB changed, beside their share of it', shares, GOAL)
const gibibytes = Number(values['memory-gib'])
printLimit(`memory above idle for a disk of ${gibibytes} GiB`, await measureMemory(gibibytes), MOST_MEMORY_MB, 'MB')
if (missed() > 0) process.exitCode = 1
