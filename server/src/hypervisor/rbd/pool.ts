// A pool of Ceph RBD: templates are images with a protected snapshot, disks are copy-on-write clones of it, snapshots of disks are RBD
// snapshots, and a restored disk is a clone of one. All of it is idempotent and safe to interrupt anywhere.
//
// Clones are of format 2: their parent may lose its snapshot, and is then kept by Ceph until its last clone is gone. An image that still has
// clones cannot be deleted; it is moved to the pool's trash, and deleted when the clones are.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { DriverError, isDriverError } from '../errors.ts'
import type { Image } from '../image-source.ts'
import type { Volume } from '../inventory.ts'
import { GIB } from '../spec.ts'
import type { PoolSpace, StoragePool } from '../storage-pool.ts'
import { poolBackups, type PoolBackups } from './backups.ts'
import { hasExit, readTool, runTool, undefinedIfNotFound } from './command.ts'
import {
  BASE,
  diskImage,
  draftOf,
  isDraftOf,
  keptImage,
  ownerMark,
  ownerOf,
  readBackupSnapshot,
  readImageName,
  snapshotIdOf,
  snapshotName,
  templateImage,
  volumeImage,
  type DiskId,
  type VolumeId,
} from './names.ts'

export interface RbdBackend {
  id: string
  /** `host` or `host:port`. */
  monitors: string[]
  pool: string
  /** Of Ceph, without `client.`; with the profile `rbd`. */
  user: string
  /** As Ceph prints it, in base64. */
  key: string
}

/** What a disk is made of. */
export interface Parent {
  /** `image@snapshot`. */
  spec: string
  bytes: number
}

export interface RbdPool extends StoragePool, PoolBackups {
  readonly backend: RbdBackend
  /** Imports the image once. `open` is called only when it is missing. */
  ensureTemplate(templateId: string, open: () => Promise<Image>, signal: AbortSignal): Promise<Parent>
  /** `in_use` while a disk is a clone of it. */
  ensureNoTemplate(templateId: string, signal: AbortSignal): Promise<void>
  findDisk(disk: DiskId, signal: AbortSignal): Promise<{ bytes: number } | undefined>
  /** At least as large as its parent. One that exists stays as it is. */
  ensureDisk(disk: DiskId, parent: Parent, bytes: number, signal: AbortSignal): Promise<void>
  /** Its snapshots are kept, and what backups are read from. */
  ensureNoDisk(disk: DiskId, signal: AbortSignal): Promise<void>
  /** Of a machine that is off. Never shrinks; returns the resulting size. */
  growDisk(disk: DiskId, bytes: number, signal: AbortSignal): Promise<number>
  findVolume(volume: VolumeId, signal: AbortSignal): Promise<{ bytes: number } | undefined>
  /** Of a VM or a volume. */
  findSnapshot(ownerId: string, snapshotId: string, signal: AbortSignal): Promise<Parent | undefined>
  ensureSnapshot(disk: DiskId | VolumeId, snapshotId: string, signal: AbortSignal): Promise<void>
  /** What a full copy of it would take, whatever other snapshots share with it. */
  snapshotBytes(snapshot: Parent, signal: AbortSignal): Promise<number>
  ensureNoSnapshot(ownerId: string, snapshotId: string, signal: AbortSignal): Promise<void>
  /** Disks, snapshots and backups of these VMs. */
  listVolumes(vmIds: ReadonlySet<string>, signal: AbortSignal): Promise<Volume[]>
  /** Ends a claim. */
  release(signal: AbortSignal): Promise<void>
  /** `space`, and whether the user may list and make images. */
  probe(signal: AbortSignal): Promise<PoolSpace>
}

const MIB = 2 ** 20
const CLEANUP_TIMEOUT_MS = 10_000

/** `folder` is private to this installation; the user's key is written to a file in it. */
export function openRbdPool(backend: RbdBackend, folder: string): RbdPool {
  const conf = join(folder, `${backend.id}.conf`)
  let written: Promise<void> | undefined
  const access = (): Promise<void> =>
    (written ??= writeAccess(backend, folder, conf).catch((error: unknown) => {
      written = undefined
      throw new DriverError('permanent', `Could not write ${conf}: ${(error as Error).message}`, { cause: error })
    }))
  const credentials = [`--conf=${conf}`, `--id=${backend.user}`, `--pool=${backend.pool}`]
  const rbd = async (what: string, args: string[], signal: AbortSignal, input?: AsyncIterable<Buffer>): Promise<string> => {
    await access()
    return runTool('rbd', what, [...credentials, ...args], signal, input)
  }
  const json = async <T>(what: string, args: string[], signal: AbortSignal): Promise<T> =>
    JSON.parse(await rbd(what, [...args, '--format=json'], signal)) as T

  const findSize = async (image: string, signal: AbortSignal): Promise<number | undefined> =>
    (await undefinedIfNotFound(json<{ size: number }>(`read ${image}`, ['info', image], signal)))?.size
  const snapshotsOf = async (image: string, signal: AbortSignal): Promise<{ name: string; size: number }[]> =>
    (await undefinedIfNotFound(json<{ name: string; size: number }[]>(`list snapshots of ${image}`, ['snap', 'ls', image], signal))) ?? []
  /** Of a VM or a volume. */
  const imagesOf = async (ownerId: string, signal: AbortSignal) =>
    (await json<string[]>('list images', ['ls'], signal)).flatMap((name) => {
      const read = readImageName(name)
      return read && read.kind !== 'template' && read.id === ownerId ? [{ name, ...read }] : []
    })
  const move = (from: string, to: string, signal: AbortSignal): Promise<string> => rbd(`rename ${from}`, ['mv', from, to], signal)
  const resize = (image: string, bytes: number, signal: AbortSignal): Promise<string> =>
    rbd(`grow ${image}`, ['resize', '--no-progress', `--size=${Math.ceil(bytes / MIB)}`, image], signal)

  /** Makes the image as a draft. Another process that was first wins; drafts beside the image are of no use to anybody. */
  const publish = async (image: string, signal: AbortSignal, make: (draft: string) => Promise<unknown>): Promise<void> => {
    const draft = draftOf(image)
    try {
      await make(draft)
      await move(draft, image, signal)
    } catch (error) {
      await removeDraft(draft, AbortSignal.timeout(CLEANUP_TIMEOUT_MS), 0).catch(() => undefined) // the next call or the purge removes it
      if (!isDriverError(error, 'conflict', 'not_found') || (await findSize(image, signal)) === undefined) throw error
    }
    await removeDraftsOf(image, signal)
  }
  /** One that is being written has a watcher, and stays: its process removes it when it cannot rename it. */
  const removeDraftsOf = async (image: string, signal: AbortSignal): Promise<void> => {
    const names = await json<string[]>('list images', ['ls'], signal)
    for (const name of names.filter((each) => isDraftOf(each, image)))
      await removeDraft(name, signal, 0).catch((error: unknown) => {
        if (!isDriverError(error, 'in_use')) throw error
      })
  }
  const removeDraft = async (draft: string, signal: AbortSignal, patienceMs = WATCHER_TIMEOUT_MS): Promise<void> => {
    await rbd(`unprotect ${draft}`, ['snap', 'unprotect', `${draft}@${BASE}`], signal).catch(() => undefined)
    await undefinedIfNotFound(rbd(`remove snapshots of ${draft}`, ['snap', 'purge', '--no-progress', draft], signal))
    const removed = whileWatched(patienceMs, signal, () => rbd(`remove ${draft}`, ['rm', '--no-progress', draft], signal))
    await undefinedIfNotFound(
      removed.catch((error: unknown) => {
        if (!hasExit(error, 'ENOTEMPTY')) throw error
        return rbd(`move ${draft} to the trash`, ['trash', 'mv', draft], signal) // it has clones
      }),
    )
  }
  /** A removal that was interrupted has deleted some of the data, so the image loses its name first. */
  const remove = async (image: string, signal: AbortSignal): Promise<void> => {
    const draft = draftOf(image)
    if ((await undefinedIfNotFound(move(image, draft, signal))) !== undefined) await removeDraft(draft, signal)
  }
  const emptyTrash = async (ownerId: string, signal: AbortSignal): Promise<void> => {
    const all = await json<{ id: string; name: string }[]>('list the trash', ['trash', 'ls'], signal)
    const own = all.filter(({ name }) => readImageName(name)?.id === ownerId)
    for (const { id, name } of own.toSorted((a, b) => readImageName(b.name)!.generation - readImageName(a.name)!.generation))
      await rbd(`remove ${name} from the trash`, ['trash', 'rm', '--no-progress', id], signal).catch((error: unknown) => {
        if (!isDriverError(error, 'in_use', 'not_found')) throw error
      })
  }

  const read = async function* (what: string, args: string[], signal: AbortSignal): AsyncGenerator<Buffer> {
    await access()
    yield* readTool('rbd', what, [...credentials, ...args], signal)
  }
  const removeKept = async (ownerId: string, signal: AbortSignal): Promise<void> => {
    for (const { name, kind } of await imagesOf(ownerId, signal))
      if (kind === 'kept' && (await snapshotsOf(name, signal)).length === 0) await remove(name, signal)
    await emptyTrash(ownerId, signal)
  }
  const hasWatchers = async (image: string, signal: AbortSignal): Promise<boolean> => {
    const status = await undefinedIfNotFound(json<{ watchers: unknown[] }>(`read the watchers of ${image}`, ['status', image], signal))
    return status !== undefined && status.watchers.length > 0
  }
  /** Its snapshots are kept, except the bases of incremental backups. */
  const removeGeneration = async (image: string, of: { id: string; generation: number }, signal: AbortSignal): Promise<void> => {
    const snapshots = await snapshotsOf(image, signal)
    const bases = snapshots.filter(({ name }) => readBackupSnapshot(name)?.isBase)
    for (const { name } of bases)
      await undefinedIfNotFound(rbd(`remove ${name}`, ['snap', 'rm', '--no-progress', `${image}@${name}`], signal))
    const isKept = snapshots.length > bases.length
    await (isKept ? undefinedIfNotFound(move(image, keptImage(of), signal)) : remove(image, signal))
    await removeDraftsOf(image, signal)
    await emptyTrash(of.id, signal)
  }
  const getSnapshot = async (ownerId: string, snapshotId: string, signal: AbortSignal): Promise<Parent> => {
    const found = await pool.findSnapshot(ownerId, snapshotId, signal)
    if (!found) throw new DriverError('not_found', `Pool ${backend.pool} has no snapshot ${snapshotId} of ${ownerId}`)
    return found
  }

  const pool: RbdPool = {
    backend,
    ...poolBackups({ rbd, json, read, findSize, snapshotsOf, imagesOf, move, resize, publish, remove, removeDraftsOf, removeKept }),

    async ensureTemplate(templateId, open, signal) {
      const image = templateImage(templateId)
      const spec = `${image}@${BASE}`
      const bytes = await findSize(spec, signal)
      if (bytes !== undefined) return { spec, bytes }
      const file = await open()
      await requireChecksum(file, signal)
      await publish(image, signal, async (draft) => {
        await rbd(`create ${draft}`, ['create', `--size=${Math.ceil(file.virtualBytes / MIB)}`, draft], signal)
        await runTool(
          'qemu-img',
          `import ${image}`,
          importArgs(file, { conf, pool: backend.pool, user: backend.user, image: draft }),
          signal,
        )
        await rbd(`freeze ${draft}`, ['snap', 'create', '--no-progress', `${draft}@${BASE}`], signal)
        await rbd(`protect ${draft}`, ['snap', 'protect', `${draft}@${BASE}`], signal)
      })
      const imported = await findSize(spec, signal)
      if (imported === undefined) throw new DriverError('transient', `${image} was removed from pool ${backend.pool} meanwhile`)
      return { spec, bytes: imported }
    },

    async ensureNoTemplate(templateId, signal) {
      const image = templateImage(templateId)
      const children = await undefinedIfNotFound(json<unknown[]>(`list clones of ${image}`, ['children', `${image}@${BASE}`], signal))
      if (children && children.length > 0)
        throw new DriverError('in_use', `${children.length} disks in pool ${backend.pool} are clones of ${image}`)
      await remove(image, signal)
      await removeDraftsOf(image, signal)
    },

    async findDisk(disk, signal) {
      const bytes = await findSize(diskImage(disk), signal)
      return bytes === undefined ? undefined : { bytes }
    },

    async ensureDisk(disk, parent, bytes, signal) {
      const image = diskImage(disk)
      if ((await findSize(image, signal)) !== undefined) return
      await publish(image, signal, async (draft) => {
        await rbd(`clone ${parent.spec}`, ['clone', parent.spec, `${backend.pool}/${draft}`], signal)
        if (bytes > parent.bytes) await resize(draft, bytes, signal)
      })
    },

    async ensureNoDisk(disk, signal) {
      await removeGeneration(diskImage(disk), { id: disk.vmId, generation: disk.generation }, signal)
    },

    async growDisk(disk, bytes, signal) {
      const image = diskImage(disk)
      const before = await findSize(image, signal)
      if (before === undefined) throw new DriverError('not_found', `Pool ${backend.pool} has no image ${image}`)
      if (before >= bytes) return before
      await resize(image, bytes, signal)
      return bytes
    },

    async ensureVolume(volume, source, signal) {
      const [image, bytes] = [volumeImage(volume), volume.sizeGiB * GIB]
      const before = await findSize(image, signal)
      if (before !== undefined) return before < bytes ? void (await resize(image, bytes, signal)) : undefined
      const parent = source && (await getSnapshot(source.volumeId, source.snapshotId, signal))
      await publish(image, signal, async (draft) => {
        if (!parent) return rbd(`create ${draft}`, ['create', `--size=${Math.ceil(bytes / MIB)}`, draft], signal)
        // Volumes do not depend on each other: what is of another one is copied.
        const args = source?.volumeId === volume.volumeId ? ['clone'] : ['cp', '--no-progress']
        await rbd(`copy ${parent.spec}`, [...args, parent.spec, `${backend.pool}/${draft}`], signal)
        if (bytes > parent.bytes) await resize(draft, bytes, signal)
      })
    },

    async ensureNoVolume(volume, signal) {
      const image = volumeImage(volume)
      if (await hasWatchers(image, signal)) throw new DriverError('in_use', `A machine has ${image} open`)
      await removeGeneration(image, { id: volume.volumeId, generation: volume.generation }, signal)
    },

    async findVolume(volume, signal) {
      const bytes = await findSize(volumeImage(volume), signal)
      return bytes === undefined ? undefined : { bytes }
    },

    async ensureVolumeSnapshot(volume, { snapshotId }, signal) {
      if (!(await pool.findSnapshot(volume.volumeId, snapshotId, signal))) await pool.ensureSnapshot(volume, snapshotId, signal)
      return { sizeBytes: await pool.snapshotBytes(await getSnapshot(volume.volumeId, snapshotId, signal), signal) }
    },

    ensureNoVolumeSnapshot: ({ volumeId }, { snapshotId }, signal) => pool.ensureNoSnapshot(volumeId, snapshotId, signal),

    async findSnapshot(ownerId, snapshotId, signal) {
      const wanted = snapshotName(snapshotId)
      for (const { name, isDraft } of await imagesOf(ownerId, signal)) {
        const found = isDraft ? undefined : (await snapshotsOf(name, signal)).find((each) => each.name === wanted)
        if (found) return { spec: `${name}@${wanted}`, bytes: found.size }
      }
      return undefined
    },

    async ensureSnapshot(disk, snapshotId, signal) {
      const spec = `${'vmId' in disk ? diskImage(disk) : volumeImage(disk)}@${snapshotName(snapshotId)}`
      await rbd(`create ${spec}`, ['snap', 'create', '--no-progress', spec], signal).catch((error: unknown) => {
        if (!isDriverError(error, 'conflict')) throw error
      })
    },

    async snapshotBytes({ spec }, signal) {
      const extents = await json<{ length: number }[]>(`measure ${spec}`, ['diff', '--whole-object', spec], signal)
      return extents.reduce((sum, { length }) => sum + length, 0)
    },

    async ensureNoSnapshot(ownerId, snapshotId, signal) {
      const found = await pool.findSnapshot(ownerId, snapshotId, signal)
      if (found) await undefinedIfNotFound(rbd(`remove ${found.spec}`, ['snap', 'rm', '--no-progress', found.spec], signal))
      await removeKept(ownerId, signal)
    },

    /** Clones before their parents. */
    async ensurePurged(ownerId, signal) {
      const images = await imagesOf(ownerId, signal)
      for (const { name, isDraft } of images.toSorted((a, b) => b.generation - a.generation))
        await (isDraft ? removeDraft(name, signal) : remove(name, signal))
      await emptyTrash(ownerId, signal)
    },

    async listOwnerIds(signal) {
      const images = await json<string[]>('list images', ['ls'], signal)
      const trash = await json<{ name: string }[]>('list the trash', ['trash', 'ls'], signal)
      const read = [...images, ...trash.map(({ name }) => name)].map(readImageName)
      return [...new Set(read.flatMap((name) => (name && name.kind !== 'template' ? name.id : [])))]
    },

    async isOpen(ownerId, signal) {
      for (const { name } of await imagesOf(ownerId, signal)) if (await hasWatchers(name, signal)) return true
      return false
    },

    async listVolumes(vmIds, signal) {
      const all = await json<{ image: string; snapshot?: string; size: number }[]>('list images', ['ls', '--long'], signal)
      return all.flatMap(({ image, snapshot, size }) => {
        const read = readImageName(image)
        if (!read || read.kind === 'template' || read.kind === 'volume' || !vmIds.has(read.id)) return []
        const snapshotId = snapshot === undefined ? undefined : snapshotIdOf(snapshot)
        const backup = snapshot === undefined ? undefined : readBackupSnapshot(snapshot)
        const shared = { vmId: read.id, parentId: null, capacityBytes: size, sizeBytes: size, storageId: backend.id }
        const copy = { ...shared, generation: null, complete: !read.isDraft }
        if (snapshotId !== undefined) return { ...copy, kind: 'snapshot', id: snapshotId }
        if (backup && !backup.isBase) return { ...copy, kind: 'backup', id: backup.backupId, parentId: backup.parentId }
        if (read.backupId !== undefined) return { ...copy, kind: 'backup', id: read.backupId }
        if (snapshot !== undefined || read.kind === 'kept') return []
        return { ...shared, kind: 'disk', id: read.id, generation: read.generation, complete: !read.isDraft }
      })
    },

    async space(signal) {
      await access()
      const args = [`--conf=${conf}`, `--id=${backend.user}`, 'df', '--format=json']
      const { pools } = JSON.parse(await runTool('ceph', 'read the space of the pool', args, signal)) as Usage
      const stats = pools.find(({ name }) => name === backend.pool)?.stats
      if (!stats) throw new DriverError('not_found', `There is no pool ${backend.pool}`)
      return { capacityBytes: stats.stored + stats.max_avail, availableBytes: stats.max_avail }
    },

    /** Of two who claim it at the same time neither gets it. */
    async claim(signal) {
      const owners = async (): Promise<string[]> =>
        (await json<string[]>('list images', ['ls'], signal)).flatMap((name) => ownerOf(name) ?? [])
      const before = await owners()
      if (before.length === 0)
        await rbd(`claim pool ${backend.pool}`, ['create', '--size=1', ownerMark(backend.id)], signal).catch((error: unknown) => {
          if (!isDriverError(error, 'conflict')) throw error
        })
      const other = (await owners()).find((id) => id !== backend.id)
      if (other === undefined) return
      if (before.length === 0) await pool.release(signal)
      throw new DriverError(
        'conflict',
        `Pool ${backend.pool} has the disks of another storage backend, which would be taken for left over: make a pool for each, or run \`rbd rm ${backend.pool}/${ownerMark(other)}\` if that backend is gone`,
      )
    },

    async release(signal) {
      await undefinedIfNotFound(rbd(`release pool ${backend.pool}`, ['rm', '--no-progress', ownerMark(backend.id)], signal))
    },

    async probe(signal) {
      await json('list images', ['ls'], signal)
      const image = draftOf('vm-probe-0')
      await rbd(`create ${image}`, ['create', '--size=1', image], signal)
      await removeDraft(image, signal)
      return untilListed(signal, () => pool.space(signal))
    },
  }
  return pool
}

interface Usage {
  pools: { name: string; stats: { stored: number; max_avail: number } }[]
}

/** Timeouts, because Ceph's own is five minutes for a cluster that does not answer. */
const confOf = ({ monitors, user }: RbdBackend, keyring: string): string => `[global]
mon_host = ${monitors.join(',')}
keyring = ${keyring}
client_mount_timeout = 15
rados_mon_op_timeout = 15
rbd_default_clone_format = 2
log_file = /dev/null
admin_socket =
[client.${user}]
keyring = ${keyring}
`

async function writeAccess(backend: RbdBackend, folder: string, conf: string): Promise<void> {
  const keyring = join(folder, `${backend.id}.keyring`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [path, text] of [
    [keyring, `[client.${backend.user}]\n\tkey = ${backend.key}\n`],
    [conf, confOf(backend, keyring)],
  ] as const) {
    const draft = `${path}.${process.pid}`
    await writeFile(draft, text, { mode: 0o600 })
    await rename(draft, path)
  }
}

/** Zeros of the file become holes of the image, which is empty. */
const importArgs = (file: Image, target: { conf: string; pool: string; user: string; image: string }): string[] => {
  const options = Object.entries(target).map(([name, value]) => `file.${name}=${value.replaceAll(',', ',,')}`)
  const into = ['driver=raw', 'file.driver=rbd', ...options].join(',')
  return ['convert', '-n', '--target-is-zero', '-f', file.format, '--target-image-opts', file.path, into]
}

/** Ceph guards what is on its way and at rest; this guards what is imported. */
async function requireChecksum(file: Image, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file.path), hash, { signal }).catch((error: unknown) => {
    throw signal.aborted ? new DriverError('aborted', `The wait to read ${file.path} was ended by its caller`) : error
  })
  const checksum = `sha256:${hash.digest('hex')}`
  if (checksum !== file.checksum) throw new DriverError('transient', `${file.path} has checksum ${checksum} instead of ${file.checksum}`)
}

const LISTED_TIMEOUT_MS = 20_000

/** A pool that was made a moment ago has no statistics yet. */
async function untilListed<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    try {
      return await work()
    } catch (error) {
      if (!isDriverError(error, 'not_found') || waitedMs >= LISTED_TIMEOUT_MS) throw error
    }
    await delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined) // the next attempt says `aborted`
  }
}

/** A QEMU or a tool that was killed counts as a watcher for half a minute more. */
const WATCHER_TIMEOUT_MS = 40_000
const POLL_INTERVAL_MS = 1_000

async function whileWatched<T>(patienceMs: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    try {
      return await work()
    } catch (error) {
      if (!hasExit(error, 'EBUSY', 'ESTALE') || waitedMs >= patienceMs) throw error
    }
    await delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined) // the next attempt says `aborted`
  }
}
