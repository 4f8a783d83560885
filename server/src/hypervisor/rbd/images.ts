// Images of a pool. One is made as a draft and renamed; it is renamed to a draft, and then removed: what has its name is complete.
//
// Clones are of format 2: their parent may lose its snapshot, and is then kept by Ceph until its last clone is gone. An image that still has
// clones cannot be deleted; it is moved to the pool's trash, and deleted when the clones are.
import { isDriverError } from '../errors.ts'
import type { PoolAccess } from './access.ts'
import { hasExit, retryWhile, undefinedIfNotFound } from './command.ts'
import { BASE, draftOf, imageOfDraft, keptImage, readBackupSnapshot, readImageName, type ImageName } from './names.ts'

export interface Snapshot {
  name: string
  size: number
}

export interface PoolImages {
  listNames(signal: AbortSignal): Promise<string[]>
  listTrash(signal: AbortSignal): Promise<{ id: string; name: string }[]>
  findSize(image: string, signal: AbortSignal): Promise<number | undefined>
  snapshotsOf(image: string, signal: AbortSignal): Promise<Snapshot[]>
  /** Of a VM or a volume. */
  imagesOf(ownerId: string, signal: AbortSignal): Promise<(ImageName & { name: string })[]>
  hasWatchers(image: string, signal: AbortSignal): Promise<boolean>
  create(image: string, bytes: number, signal: AbortSignal): Promise<unknown>
  move(from: string, to: string, signal: AbortSignal): Promise<unknown>
  resize(image: string, bytes: number, signal: AbortSignal): Promise<unknown>
  /** Makes the image as a draft. Another process that was first wins; drafts beside the image are of no use to anybody. */
  publish(image: string, signal: AbortSignal, make: (draft: string) => Promise<unknown>): Promise<void>
  remove(image: string, signal: AbortSignal): Promise<void>
  removeDraft(draft: string, signal: AbortSignal): Promise<void>
  removeDraftsOf(image: string, signal: AbortSignal): Promise<void>
  /** Its snapshots are kept, except the bases of incremental backups. */
  removeGeneration(image: string, of: { id: string; generation: number }, signal: AbortSignal): Promise<void>
  /** Images that are kept for snapshots, and have none any more. */
  removeKept(ownerId: string, signal: AbortSignal): Promise<void>
  emptyTrash(ownerId: string, signal: AbortSignal): Promise<void>
}

const MIB = 2 ** 20
const CLEANUP_TIMEOUT_MS = 10_000
/** A QEMU or a tool that was killed counts as a watcher for half a minute more. */
const WATCHER_TIMEOUT_MS = 40_000
const isWatched = (error: unknown): boolean => hasExit(error, 'EBUSY', 'ESTALE')

export function poolImages({ rbd, json }: PoolAccess): PoolImages {
  const listNames = (signal: AbortSignal): Promise<string[]> => json('list images', ['ls'], signal)
  const listTrash = (signal: AbortSignal): Promise<{ id: string; name: string }[]> => json('list the trash', ['trash', 'ls'], signal)
  const findSize = async (image: string, signal: AbortSignal): Promise<number | undefined> =>
    (await undefinedIfNotFound(json<{ size: number }>(`read ${image}`, ['info', image], signal)))?.size
  const snapshotsOf = async (image: string, signal: AbortSignal): Promise<Snapshot[]> =>
    (await undefinedIfNotFound(json<Snapshot[]>(`list snapshots of ${image}`, ['snap', 'ls', image], signal))) ?? []
  const imagesOf = async (ownerId: string, signal: AbortSignal) =>
    (await listNames(signal)).flatMap((name) => {
      const read = readImageName(name)
      return read && read.kind !== 'template' && read.id === ownerId ? [{ name, ...read }] : []
    })
  const move = (from: string, to: string, signal: AbortSignal): Promise<string> => rbd(`rename ${from}`, ['mv', from, to], signal)

  /** One that is being written has a watcher, and stays: its process removes it when it cannot rename it. */
  const removeDraftsOf = async (image: string, signal: AbortSignal): Promise<void> => {
    for (const name of (await listNames(signal)).filter((each) => imageOfDraft(each) === image))
      await removeDraft(name, signal, 0).catch((error: unknown) => {
        if (!isDriverError(error, 'in_use')) throw error
      })
  }
  const removeDraft = async (draft: string, signal: AbortSignal, patienceMs = WATCHER_TIMEOUT_MS): Promise<void> => {
    await rbd(`unprotect ${draft}`, ['snap', 'unprotect', `${draft}@${BASE}`], signal).catch(() => undefined)
    await undefinedIfNotFound(rbd(`remove snapshots of ${draft}`, ['snap', 'purge', '--no-progress', draft], signal))
    const removed = retryWhile(isWatched, patienceMs, signal, () => rbd(`remove ${draft}`, ['rm', '--no-progress', draft], signal))
    await undefinedIfNotFound(
      removed.catch(async (error: unknown) => {
        // A snapshot that is there again is of the process that makes the draft.
        if (!hasExit(error, 'ENOTEMPTY') || (await snapshotsOf(draft, signal)).length > 0) throw error
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
    const own = (await listTrash(signal)).filter(({ name }) => readImageName(name)?.id === ownerId)
    for (const { id, name } of own.toSorted((a, b) => readImageName(b.name)!.generation - readImageName(a.name)!.generation))
      await rbd(`remove ${name} from the trash`, ['trash', 'rm', '--no-progress', id], signal).catch((error: unknown) => {
        if (!isDriverError(error, 'in_use', 'not_found')) throw error
      })
  }

  return {
    listNames,
    listTrash,
    findSize,
    snapshotsOf,
    imagesOf,
    move,
    remove,
    removeDraft,
    removeDraftsOf,
    emptyTrash,

    async hasWatchers(image, signal) {
      const status = await undefinedIfNotFound(json<{ watchers: unknown[] }>(`read the watchers of ${image}`, ['status', image], signal))
      return status !== undefined && status.watchers.length > 0
    },

    create: (image, bytes, signal) => rbd(`create ${image}`, ['create', `--size=${Math.ceil(bytes / MIB)}`, image], signal),

    resize: (image, bytes, signal) => rbd(`grow ${image}`, ['resize', '--no-progress', `--size=${Math.ceil(bytes / MIB)}`, image], signal),

    async publish(image, signal, make) {
      const draft = draftOf(image)
      try {
        await make(draft)
        await move(draft, image, signal)
      } catch (error) {
        // Others that look at it too keep it busy for a moment. What is left is removed by the next call or the purge.
        await removeDraft(draft, AbortSignal.timeout(CLEANUP_TIMEOUT_MS), CLEANUP_TIMEOUT_MS / 2).catch(() => undefined)
        if (!isDriverError(error, 'conflict', 'not_found') || (await findSize(image, signal)) === undefined) throw error
      }
      await removeDraftsOf(image, signal)
    },

    async removeGeneration(image, of, signal) {
      const snapshots = await snapshotsOf(image, signal)
      const bases = snapshots.filter(({ name }) => readBackupSnapshot(name)?.isBase)
      for (const { name } of bases)
        await undefinedIfNotFound(rbd(`remove ${name}`, ['snap', 'rm', '--no-progress', `${image}@${name}`], signal))
      const isKept = snapshots.length > bases.length
      // What was written since the last snapshot would be kept with it, and count nowhere.
      if (isKept) await undefinedIfNotFound(rbd(`empty ${image}`, ['resize', '--no-progress', '--allow-shrink', '--size=0', image], signal))
      await (isKept ? undefinedIfNotFound(move(image, keptImage(of), signal)) : remove(image, signal))
      await removeDraftsOf(image, signal)
      await emptyTrash(of.id, signal)
    },

    async removeKept(ownerId, signal) {
      for (const { name, kind } of await imagesOf(ownerId, signal))
        if (kind === 'kept' && (await snapshotsOf(name, signal)).length === 0) await remove(name, signal)
      await emptyTrash(ownerId, signal)
    },
  }
}
