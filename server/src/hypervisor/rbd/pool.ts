// A pool of Ceph RBD: templates, disks, volumes, snapshots and backups in it, what it has of whom, and whose it is. All of it is idempotent and
// safe to interrupt anywhere.
import { DriverError, isDriverError } from '../errors.ts'
import type { Volume } from '../inventory.ts'
import type { PoolSpace, StoragePool } from '../storage-pool.ts'
import { openAccess, type RbdBackend } from './access.ts'
import { poolBackups, type PoolBackups } from './backups.ts'
import { poolClients } from './clients.ts'
import { retryWhile, undefinedIfNotFound } from './command.ts'
import { poolDisks, type PoolDisks } from './disks.ts'
import { poolImages } from './images.ts'
import { draftOf, imageOfDraft, ownerMark, ownerOf, readBackupSnapshot, readImageName, snapshotIdOf } from './names.ts'
import { poolSnapshots, type PoolSnapshots } from './snapshots.ts'
import { poolTemplates, type PoolTemplates } from './templates.ts'

export interface RbdPool extends StoragePool, PoolTemplates, PoolDisks, PoolSnapshots, PoolBackups {
  readonly backend: RbdBackend
  /** Disks, snapshots and backups of these VMs. */
  listVolumes(vmIds: ReadonlySet<string>, signal: AbortSignal): Promise<Volume[]>
  /** Ends a claim. */
  release(signal: AbortSignal): Promise<void>
  /** `space`, and whether the user may list and make images. */
  probe(signal: AbortSignal): Promise<PoolSpace>
}

const MIB = 2 ** 20
/** A pool that was made a moment ago has no statistics yet. */
const LISTED_TIMEOUT_MS = 20_000

/** `folder` is private to this installation; the user's key is written to a file in it. */
export function openRbdPool(backend: RbdBackend, folder: string): RbdPool {
  const access = openAccess(backend, folder)
  const images = poolImages(access)
  const snapshots = poolSnapshots(access, images)

  const pool: RbdPool = {
    backend,
    ...poolTemplates(access, images),
    ...poolDisks(access, images, snapshots),
    ...snapshots,
    ...poolBackups(access, images),
    ...poolClients(access, images),

    async ensureNoDrafts(signal) {
      const names = await images.listNames(signal)
      const drafted = new Set(names.map(imageOfDraft))
      for (const image of names) if (drafted.has(image)) await images.removeDraftsOf(image, signal)
    },

    /** Clones before their parents. */
    async ensurePurged(ownerId, signal) {
      const own = await images.imagesOf(ownerId, signal)
      for (const { name, isDraft } of own.toSorted((a, b) => b.generation - a.generation))
        await (isDraft ? images.removeDraft(name, signal) : images.remove(name, signal))
      await images.emptyTrash(ownerId, signal)
    },

    async listOwnerIds(signal) {
      const names = [...(await images.listNames(signal)), ...(await images.listTrash(signal)).map(({ name }) => name)]
      return [...new Set(names.map(readImageName).flatMap((name) => (name && name.kind !== 'template' ? name.id : [])))]
    },

    async isOpen(ownerId, signal) {
      for (const { name } of await images.imagesOf(ownerId, signal)) if (await images.hasWatchers(name, signal)) return true
      return false
    },

    async listVolumes(vmIds, signal) {
      const all = await access.json<{ image: string; snapshot?: string; size: number }[]>('list images', ['ls', '--long'], signal)
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
      const { pools } = await access.ceph<Usage>('read the space of the pool', ['df'], signal)
      const stats = pools.find(({ name }) => name === backend.pool)?.stats
      if (!stats) throw new DriverError('not_found', `There is no pool ${backend.pool}`)
      return { capacityBytes: stats.stored + stats.max_avail, availableBytes: stats.max_avail }
    },

    /** Of two who claim it at the same time neither gets it. */
    async claim(signal) {
      const owners = async (): Promise<string[]> => (await images.listNames(signal)).flatMap((name) => ownerOf(name) ?? [])
      const before = await owners()
      if (before.length === 0)
        await images.create(ownerMark(backend.id), MIB, signal).catch((error: unknown) => {
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
      await undefinedIfNotFound(access.rbd(`release pool ${backend.pool}`, ['rm', '--no-progress', ownerMark(backend.id)], signal))
    },

    async probe(signal) {
      await images.listNames(signal)
      const image = draftOf('vm-probe-0')
      await images.create(image, MIB, signal)
      await images.removeDraft(image, signal)
      return retryWhile(
        (error) => isDriverError(error, 'not_found'),
        LISTED_TIMEOUT_MS,
        signal,
        () => pool.space(signal),
      )
    },
  }
  return pool
}

interface Usage {
  pools: { name: string; stats: { stored: number; max_avail: number } }[]
}
