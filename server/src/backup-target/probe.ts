import { randomBytes } from 'node:crypto'
import { newId } from '../kernel/ids.ts'
import { BackupTargetError } from './errors.ts'
import { removeVersions, type ObjectStore } from './object-store.ts'

/** Does with an object of its own what backups need: rejects where the keys, the bucket or its lock do not allow it. */
export async function requireAccess(store: ObjectStore, { needsLock }: { needsLock: boolean }, signal: AbortSignal): Promise<void> {
  const key = `probe/${newId()}`
  const body = randomBytes(32)
  const { version } = await store.put(key, body, {}, signal)
  const found = await store.get(key, version, body.length, signal)
  if (!found.equals(body)) throw new BackupTargetError('damaged', `The object ${key} was not stored as it was sent`)
  const versions = await Array.fromAsync(store.list(key, signal))
  if (versions.length === 0) throw new BackupTargetError('rejected', `The object ${key} was stored and is not listed`)
  if (!(await removeVersions(store, key, signal)))
    throw new BackupTargetError(
      'rejected',
      'The bucket locks every object by a default retention, so what is deleted stays uncounted: take that off, and say with --lock-days how long backups are locked',
    )
  if (needsLock && !(await store.hasObjectLock(signal)))
    throw new BackupTargetError(
      'rejected',
      'The bucket was made without object lock, which cannot be added later: make another one with it',
    )
}
