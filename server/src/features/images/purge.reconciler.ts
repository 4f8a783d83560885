// Removes the files of deleted images: here at once, and from hosts and storage backends when they can be reached. A host that is away keeps the image
// DELETING, which costs its owner nothing; one that object lock keeps in a backup target counts in the owner's quota meanwhile. Those that no VM of a host was made from, or has in its drive, are removed there, too.
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { releaseQuota } from '../accounts/service.ts'
import type { Driver } from '../../hypervisor/driver.ts'
import { lockTemplateUse } from '../catalog/service.ts'
import { reconciler, type Deps } from '../deps.ts'
import { EVICT, hostsOfImage, releaseImageRoom } from '../hosts/capacity.ts'
import { callHost, retryDelay } from '../hosts/service.ts'
import {
  backendsOfImage,
  bookUncountedImages,
  getStorageBackend,
  releaseImageInStorage,
  type StorageBackendRow,
} from '../storage/service.ts'
import { isLocked, unneededTemplateImages } from './copies.sql.ts'
import { STORAGE_QUOTA } from './create.workflow.ts'
import { recordImageEvent } from './events.ts'
import { PURGE } from './reconciler-names.ts'
import * as sql from './sql.ts'

const REMOVE_MS = 120_000
const BRING_MS = 3_600_000
/** It is purged as soon as its last copy is gone. */
const LOOK_AGAIN = '1d'
/** A storage backend that did not remove it. */
const ASK_AGAIN = '60s'

export const purgeImages = reconciler(PURGE, '1m', async (deps: Deps) => {
  for (const { id, kind } of await sql.deletedImages(deps.db, deps.clock.now()))
    await purge(deps, id, kind).catch((error: unknown) => deps.log.error({ err: error, imageId: id }, 'purging image failed; will retry'))
})

const removeFile = (driver: Driver, kind: sql.ImageRow['kind'], id: string, signal: AbortSignal): Promise<void> =>
  kind === 'ISO' ? driver.ensureNoIso(id, signal) : driver.ensureNoTemplate(id, signal)

async function purge(deps: Deps, id: string, kind: sql.ImageRow['kind']): Promise<void> {
  await deps.images.remove(id)
  for (const { host_id, is_removed } of await hostsOfImage(deps.db, id)) {
    const stopping = new AbortController().signal
    const error = is_removed
      ? null
      : await callHost(deps, host_id, stopping, (driver, signal) => removeFile(driver, kind, id, signal), REMOVE_MS)
    if (error) return void (await sql.postpone(deps.db, id, addDuration(deps.clock.now(), retryDelay(error))))
    await deps.db.tx((tx) => releaseImageRoom(tx, id, host_id))
  }
  for (const backend of await backendsOfImage(deps.db, id)) {
    if (!(await removeFrom(deps, backend, id))) return void (await sql.postpone(deps.db, id, addDuration(deps.clock.now(), ASK_AGAIN)))
    await deps.db.tx((tx) => releaseImageInStorage(tx, id, backend.id))
  }
  await deps.db.tx(async (tx) => {
    const row = await sql.lockImageById(tx, id)
    if (!row) return
    if (row.counted_gib > 0) {
      if (await isLocked(tx, id)) return void (await sql.postpone(tx, id, addDuration(deps.clock.now(), LOOK_AGAIN)))
      await releaseQuota(tx, row.account_id, STORAGE_QUOTA, BigInt(row.counted_gib))
    }
    await recordImageEvent(tx, deps, id, 'image.deleted', { reason: row.reason })
    await sql.deleteImage(tx, id)
  })
}

/** False when the storage backend did not do it. */
async function removeFrom({ storage, log }: Deps, backend: StorageBackendRow, imageId: string): Promise<boolean> {
  try {
    await storage.open(backend).ensureNoTemplate(imageId, AbortSignal.timeout(REMOVE_MS))
    return true
  } catch (error) {
    log.info({ err: error, storage: backend.name, imageId }, 'removing an image from a storage backend failed; will retry')
    return false
  }
}

/** Its owner pays for one file of it, and it would take the room of every host and storage backend that ever had a VM from it. It is brought again with the next. */
export const evictImages = reconciler(EVICT, '1h', async (deps: Deps) => {
  await deps.db.tx(bookUncountedImages)
  for (const room of await sql.unusedRooms(deps.db)) await evict(deps, room)
  for (const { image_id, storage_id } of await sql.unusedStorageRooms(deps.db)) {
    if (!(await removeFrom(deps, await getStorageBackend(deps.db, storage_id), image_id))) continue
    await deps.db.tx(async (tx) => {
      await lockTemplateUse(tx, image_id)
      if (await sql.isStorageRoomUnused(tx, image_id, storage_id)) await releaseImageInStorage(tx, image_id, storage_id)
    })
  }
})

/** What began to need it while it was removed has brought it before that, or not yet: a file that is missing then is brought again. */
async function evict(deps: Deps, { image_id, host_id, kind }: sql.ImageRoom): Promise<void> {
  const isUnused = async (tx: Tx): Promise<boolean> => {
    await sql.lockImageById(tx, image_id)
    await lockTemplateUse(tx, image_id)
    return sql.isRoomUnused(tx, image_id, host_id)
  }
  const call = (act: (driver: Driver, signal: AbortSignal) => Promise<void>, timeoutMs: number) =>
    callHost(deps, host_id, new AbortController().signal, act, timeoutMs)
  if (!(await deps.db.tx(isUnused))) return
  if (await call((driver, signal) => removeFile(driver, kind, image_id, signal), REMOVE_MS)) return
  const isReleased = await deps.db.tx(async (tx) => {
    if (!(await isUnused(tx))) return false
    await releaseImageRoom(tx, image_id, host_id)
    return true
  })
  const image = isReleased || kind !== 'ISO' ? undefined : await sql.imageById(deps.db, image_id)
  if (!image) return
  const iso = { imageId: image_id, checksum: image.checksum, sizeBytes: Number(image.size_bytes) }
  const error = await call((driver, signal) => driver.ensureIso(iso, signal), BRING_MS)
  if (error)
    deps.log.warn({ err: error, hostId: host_id, imageId: image_id }, 'bringing ISO image again failed; the next start of its VM brings it')
}

/** A file without a row: of a process that died, or of an image that is newer than the database that was restored. Or fetched, of a template that was removed. */
const QUARANTINE = '24h'

export const sweepImageFiles = reconciler('images.sweep_files', '1h', async (deps: Deps) => {
  const { db, log, images, templates } = deps
  const before = subtractDuration(deps.clock.now(), QUARANTINE)
  for (const id of await sql.unknownAmong(db, await images.list(before))) {
    await images.remove(id)
    log.warn({ imageId: id }, 'orphan image file removed')
  }
  for (const id of await unneededTemplateImages(db, await templates.fetched.list(before))) {
    await templates.fetched.remove(id)
    log.info({ imageId: id }, 'fetched image of a removed template removed')
  }
})
