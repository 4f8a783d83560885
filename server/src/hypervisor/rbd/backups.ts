// Backups of disks in a pool. One is read from a snapshot, which becomes the base of the next incremental one when the backup is stored; the
// bases before it are removed then. Nothing but the snapshot of the parent on the same image says what changed: without it a backup is full.
// A stored backup comes back as an image of its own, which the disk of the next generation is made of by renaming it.
import type { BackupRequest } from '../driver.ts'
import { DriverError, isDriverError } from '../errors.ts'
import type { DiskContent, DiskLayer, Range } from '../extent.ts'
import type { StoragePool } from '../storage-pool.ts'
import type { PoolAccess } from './access.ts'
import { undefinedIfNotFound } from './command.ts'
import { readDiff, writeDiff } from './diff.ts'
import type { PoolImages } from './images.ts'
import {
  backupImage,
  backupSnapshot,
  baseSnapshot,
  diskImage,
  readBackupSnapshot,
  readImageName,
  type BackupSnapshot,
  type DiskId,
  type ImageName,
} from './names.ts'

/** What can be read: a snapshot, or an image without one. */
export interface Readable {
  /** `image@snapshot`, or `image`. */
  spec: string
  bytes: number
  /** The snapshot of the same image that it holds the changes since. */
  since?: string
}

export interface PoolBackup extends Readable {
  parentId: string | null
  isImage: boolean
}

export interface Changes {
  allocated: Range[]
  zeroed: Range[]
}

export interface PoolBackups extends Pick<StoragePool, 'removeBases'> {
  /** A snapshot to read it from; incremental on `parentId` where the disk has its snapshot. */
  ensureBackup(disk: DiskId, request: BackupRequest, signal: AbortSignal): Promise<void>
  findBackup(vmId: string, backupId: string, signal: AbortSignal): Promise<PoolBackup | undefined>
  /** `in_use` while another one is to be read that holds the changes since. */
  ensureNoBackup(vmId: string, backupId: string, signal: AbortSignal): Promise<void>
  /** It is stored elsewhere. As a base it replaces those before it. */
  ensureBackupOffloaded(vmId: string, backupId: string, isBase: boolean, signal: AbortSignal): Promise<void>
  /** In whole objects of the pool, of 4 MiB. */
  listChanges(what: Readable, signal: AbortSignal): Promise<Changes>
  readLayer(what: Readable, signal: AbortSignal, options?: { inWholeObjects: boolean }): DiskLayer
  /** `open` is called only when it is missing. */
  ensureBackupImage(vmId: string, backupId: string, open: () => Promise<DiskContent>, signal: AbortSignal): Promise<void>
  /** The image becomes the disk. One that exists stays as it is. */
  ensureDiskFromImage(disk: DiskId, backupId: string, bytes: number, signal: AbortSignal): Promise<void>
}

interface Listed extends BackupSnapshot {
  image: string
  imageKind: ImageName['kind']
  bytes: number
}

export function poolBackups({ rbd, json, read: readOutput }: PoolAccess, images: PoolImages): PoolBackups {
  const { findSize, snapshotsOf } = images

  const listSnapshots = async (vmId: string, signal: AbortSignal): Promise<Listed[]> => {
    const found: Listed[] = []
    for (const { name: image, kind: imageKind, isDraft } of await images.imagesOf(vmId, signal))
      for (const { name, size: bytes } of isDraft ? [] : await snapshotsOf(image, signal)) {
        const read = readBackupSnapshot(name)
        if (read) found.push({ ...read, image, imageKind, bytes })
      }
    return found
  }
  const removeSnapshot = async ({ image, name }: Listed, signal: AbortSignal): Promise<void> =>
    void (await undefinedIfNotFound(rbd(`remove ${image}@${name}`, ['snap', 'rm', '--no-progress', `${image}@${name}`], signal)))
  const removeImage = async (image: string, signal: AbortSignal): Promise<void> => {
    await images.remove(image, signal)
    await images.removeDraftsOf(image, signal)
  }
  const diffArgs = ({ spec, since }: Readable): string[] => [...(since === undefined ? [] : [`--from-snap=${since}`]), spec]
  const listRanges = async (what: Readable, signal: AbortSignal, ...options: string[]): Promise<Changes> => {
    const all = await json<(Range & { exists: string })[]>(
      `list the changes of ${what.spec}`,
      ['diff', ...options, ...diffArgs(what)],
      signal,
    )
    const toRanges = (exists: string): Range[] =>
      all.filter((each) => String(each.exists) === exists).map(({ offset, length }) => ({ offset, length }))
    return { allocated: toRanges('true'), zeroed: toRanges('false') }
  }

  return {
    async ensureBackup(disk, { backupId, parentId, parentIsRemote = false }, signal) {
      const image = diskImage(disk)
      const usable = (await snapshotsOf(image, signal)).filter(({ name }) => {
        const read = readBackupSnapshot(name)
        return read?.backupId === parentId && (parentIsRemote || !read?.isBase)
      })
      const spec = `${image}@${backupSnapshot(backupId, usable.length > 0 ? parentId : null)}`
      await rbd(`create ${spec}`, ['snap', 'create', '--no-progress', spec], signal).catch((error: unknown) => {
        if (!isDriverError(error, 'conflict')) throw error
      })
    },

    async findBackup(vmId, backupId, signal) {
      const image = backupImage(vmId, backupId)
      const bytes = await findSize(image, signal)
      if (bytes !== undefined) return { spec: image, bytes, parentId: null, isImage: true }
      const all = await listSnapshots(vmId, signal)
      const found = all.find((each) => each.backupId === backupId && !each.isBase)
      if (!found) return undefined
      const own = { spec: `${found.image}@${found.name}`, bytes: found.bytes, parentId: found.parentId, isImage: false }
      if (found.parentId === null) return own
      const since = all.find((each) => each.image === found.image && each.backupId === found.parentId)
      if (!since) throw new DriverError('not_found', `The snapshot that backup ${backupId} of ${vmId} is incremental on is gone`)
      return { ...own, since: since.name }
    },

    async ensureNoBackup(vmId, backupId, signal) {
      await removeImage(backupImage(vmId, backupId), signal)
      const all = await listSnapshots(vmId, signal)
      const own = all.filter((each) => each.backupId === backupId)
      if (own.length > 0 && all.some(({ parentId }) => parentId === backupId))
        throw new DriverError('in_use', `Another backup of ${vmId} holds the changes since backup ${backupId}`)
      for (const each of own) await removeSnapshot(each, signal)
      await images.removeKept(vmId, signal)
    },

    async ensureBackupOffloaded(vmId, backupId, isBase, signal) {
      await removeImage(backupImage(vmId, backupId), signal)
      const all = await listSnapshots(vmId, signal)
      const own = all.filter((each) => each.backupId === backupId && !each.isBase)
      for (const each of own) {
        if (!isBase || each.imageKind !== 'disk') await removeSnapshot(each, signal)
        else
          await undefinedIfNotFound(
            rbd(
              `keep ${each.image}@${each.name} as a base`,
              ['snap', 'rename', `${each.image}@${each.name}`, `${each.image}@${baseSnapshot(backupId)}`],
              signal,
            ),
          )
      }
      if (isBase && all.some((each) => each.backupId === backupId))
        for (const each of all) if (each.isBase && each.backupId !== backupId) await removeSnapshot(each, signal)
      await images.removeKept(vmId, signal)
    },

    async removeBases(most, signal) {
      const all = (await json<{ image: string; snapshot?: string; size: number }[]>('list snapshots', ['ls', '--long'], signal)).flatMap(
        ({ image, snapshot, size: bytes }): Listed[] => {
          const [name, read] = [readImageName(image), snapshot === undefined ? undefined : readBackupSnapshot(snapshot)]
          return name && read && !name.isDraft ? [{ ...read, image, imageKind: name.kind, bytes }] : []
        },
      )
      const isRead = (base: Listed): boolean => all.some(({ image, parentId }) => image === base.image && parentId === base.backupId)
      const bases = all.filter((each) => each.isBase && !isRead(each)).slice(0, most)
      for (const base of bases) await removeSnapshot(base, signal)
      return bases.length
    },

    listChanges: (what, signal) => listRanges(what, signal, '--whole-object'),

    readLayer(what, signal, { inWholeObjects } = { inWholeObjects: false }) {
      const options = inWholeObjects ? ['--whole-object'] : []
      const args = ['export-diff', '--no-progress', ...options, ...diffArgs(what), '-']
      return {
        sizeBytes: what.bytes,
        extents: readDiff(readOutput(`read ${what.spec}`, args, signal)),
        findAllocated: async () => (await listRanges(what, signal, ...options)).allocated,
      }
    },

    async ensureBackupImage(vmId, backupId, open, signal) {
      const image = backupImage(vmId, backupId)
      if ((await findSize(image, signal)) !== undefined) return
      const content = await open()
      await images.publish(image, signal, async (draft) => {
        await images.create(draft, content.sizeBytes, signal)
        await rbd(`write ${draft}`, ['import-diff', '--no-progress', '-', draft], signal, writeDiff(content))
      })
    },

    async ensureDiskFromImage(disk, backupId, bytes, signal) {
      const [image, target] = [backupImage(disk.vmId, backupId), diskImage(disk)]
      const before = await findSize(image, signal)
      if (before !== undefined && before < bytes) await images.resize(image, bytes, signal)
      await images.move(image, target, signal).catch(async (error: unknown) => {
        if (!isDriverError(error, 'not_found', 'conflict') || (await findSize(target, signal)) === undefined) throw error
      })
    },
  }
}
