// What a repository needs of a bucket. Calls reject with a BackupTargetError only, and reads see every earlier write (S3 is strongly
// consistent): the order of calls in repository.ts relies on it.
import { isTargetError } from './errors.ts'

export interface StoredObject {
  key: string
  sizeBytes: number
  /** The text `null` in a bucket without versions. */
  version: string
  isLatest: boolean
  /** Hides older versions: the key counts as deleted while it is the latest. */
  isDeleteMarker: boolean
}

export interface PutOptions {
  /** Nobody can delete this version before, not even the owner of the bucket. */
  lockedUntil?: Date | null
  /** Leaves an existing object as it is. */
  onlyIfMissing?: boolean
}

export interface ObjectStore {
  /** The version it wrote; null in a bucket without versions. */
  put(key: string, body: Buffer, options: PutOptions, signal: AbortSignal): Promise<{ version: string | null }>
  /** `missing` when there is none, `damaged` when it is larger than `maxBytes`. */
  get(key: string, version: string | null, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Every version of every key with the prefix, ordered by key, the newest version first. */
  list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject>
  /** Without a version, a bucket with versions only gets a delete marker. `locked` before the date of its lock. */
  remove(key: string, version: string | null, signal: AbortSignal): Promise<void>
  /** The lock of a version ends at this date, which is later than before. */
  extendLock(key: string, version: string | null, until: Date, signal: AbortSignal): Promise<void>
  /** Whether objects can be locked; buckets are made with it or without. */
  hasObjectLock(signal: AbortSignal): Promise<boolean>
}

/** Every version of the key. False when object lock kept one. */
export async function removeVersions(store: ObjectStore, key: string, signal: AbortSignal): Promise<boolean> {
  let areRemoved = true
  for (const found of await Array.fromAsync(store.list(key, signal)))
    if (found.key === key && !(await removeUnlessLocked(store, key, found.version, signal))) areRemoved = false
  return areRemoved
}

export async function removeUnlessLocked(store: ObjectStore, key: string, version: string, signal: AbortSignal): Promise<boolean> {
  try {
    await store.remove(key, version, signal)
    return true
  } catch (error) {
    if (isTargetError(error, 'locked')) return false
    throw error
  }
}
