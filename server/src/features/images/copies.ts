// Images in backup targets, those of accounts and those of OS templates, each in a repository of its own, encrypted as backups of VMs are. They are
// stored once after they are made, and fetched where a file is missing: on another machine, or after the site was lost.
import { createHash } from 'node:crypto'
import { ensureDataKey } from '../../backup-target/data-key.ts'
import { BackupTargetError, isTargetError } from '../../backup-target/errors.ts'
import { bytesOf, extentsOf } from '../../backup-target/file-content.ts'
import { BackupRepository } from '../../backup-target/repository.ts'
import { DriverError, type TemplateRef } from '../../hypervisor/driver.ts'
import type { Extent } from '../../hypervisor/extent.ts'
import type { Image, IsoSource } from '../../hypervisor/image-source.ts'
import { checksumOf, type ImageFiles, type ImageKind, type OwnImages } from '../../images/own-images.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import { findTarget } from '../backup-targets/service.ts'
import type { Deps } from '../deps.ts'
import { findStored } from './copies.sql.ts'
import { imageById, type ImageRow } from './sql.ts'

export interface CopyInput {
  /** Of an image of an account; of that of a template the digits of its checksum. */
  imageId: string
  targetId: string
}

/** What a copy is of. */
export interface ImageFile {
  id: string
  kind: ImageKind
  /** `sha256:` and 64 hex digits, of the file. */
  checksum: string
  sizeBytes: number
}

export type TargetDeps = Pick<Deps, 'db' | 'vault' | 'clock' | 'backupTargets'>

/** Repositories of VMs have ids of another form. */
export const repositoryIdOf = (imageId: string): string => `image-${imageId}`

export async function openCopy({ db, vault, clock, backupTargets }: TargetDeps, { imageId, targetId }: CopyInput, signal: AbortSignal) {
  const target = await findTarget(db, targetId)
  if (!target) throw new StepError('target_gone', 'The backup target was removed.', { retry: false })
  const { store, bandwidth } = await backupTargets.get(target)
  const id = repositoryIdOf(imageId)
  const dataKey = await ensureDataKey(store, vault, { id, vmId: id }, signal)
  return { repository: new BackupRepository({ store, clock, bandwidth }, dataKey, id), lockDays: target.lock_days }
}

const DAY_MS = parseDurationMs('1d')

export interface Uploaded {
  /** As the target knows it. */
  checksum: string
  renewAt: string | null
}

/** What an attempt has stored is found by the next. `path`: undefined where the file is not on this machine, which then must not disturb one that has it. */
export async function uploadImage(
  deps: TargetDeps,
  targetId: string,
  { id, checksum, sizeBytes, path }: Omit<ImageFile, 'kind'> & { path: string | undefined },
  signal: AbortSignal,
): Promise<Uploaded> {
  const { repository, lockDays } = await openCopy(deps, { imageId: id, targetId }, signal)
  const isThere = await repository.has(id, signal)
  if (!isThere && path === undefined)
    throw new StepError('image_elsewhere', 'The file of the image is not on this machine.', { retry: true })
  const extents = checkedFile(path!, checksum) // read only where it is not in the target already
  const stored = await repository.upload({ backupId: id, parentId: null, sizeBytes, extents, lockDays }, signal)
  if (lockDays === null) return { checksum: stored.checksum, renewAt: null }
  if (isThere) await repository.renewLock(id, lockDays, signal)
  return { checksum: stored.checksum, renewAt: new Date(deps.clock.now().getTime() + (lockDays * DAY_MS) / 2).toISOString() }
}

async function* checkedFile(path: string, checksum: string): AsyncGenerator<Extent> {
  const hash = createHash('sha256')
  for await (const extent of extentsOf(path)) {
    hash.update(extent.bytes)
    yield extent
  }
  if (`sha256:${hash.digest('hex')}` !== checksum)
    throw new StepError('image_damaged', 'The file of the image is not as it was made.', { retry: false })
}

const FETCH_MS = parseDurationMs('2h')

/** `name` and `remedy` are for the operator. */
export type FetchImage = (file: ImageFile, name: string, remedy?: string) => Promise<void>

/** Brings the file of an image from the first backup target that can deliver it; nothing happens where none has it. Of several calls one does it. */
export function imageFetcher(files: ImageFiles, deps: TargetDeps): FetchImage {
  const underWay = new Map<string, Promise<void>>()
  const fetch: FetchImage = async (file, name, remedy = '') => {
    const signal = AbortSignal.timeout(FETCH_MS)
    let failure: unknown
    for (const { target_id } of await findStored(deps.db, file.id)) {
      try {
        return await fetchFrom(files, deps, target_id, file, signal)
      } catch (error) {
        failure ??= error
      }
    }
    if (failure) throw unfetched(name, remedy, failure)
  }
  return async (file, ...words) => {
    const known = underWay.get(file.id)
    if (known) return known
    const fetching = fetch(file, ...words).finally(() => underWay.delete(file.id))
    underWay.set(file.id, fetching)
    return fetching
  }
}

async function fetchFrom(files: ImageFiles, deps: TargetDeps, targetId: string, file: ImageFile, signal: AbortSignal): Promise<void> {
  const { id, kind, checksum, sizeBytes } = file
  const { repository } = await openCopy(deps, { imageId: id, targetId }, signal)
  const make: Parameters<ImageFiles['fetch']>[2] = async (work) => {
    const room = await work.room()
    if (room < sizeBytes)
      throw new Error(`it has ${inMib(sizeBytes)}, and only ${inMib(Math.max(0, room))} are free for it on this machine`)
    const path = await work.save('fetched', bytesOf(await repository.read(id, signal)), sizeBytes)
    if ((await checksumOf(path)) !== checksum)
      throw new BackupTargetError('damaged', `image ${id} in the backup target is not the one that was made`)
    return path
  }
  await files.fetch(id, kind, make, signal)
}

const inMib = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MiB`

/** What no other try changes fails what needs the image; anything else another worker may have, or this one later. */
const unfetched = (name: string, remedy: string, cause: unknown): DriverError =>
  new DriverError(
    isTargetError(cause) && !cause.retry ? 'not_found' : 'transient',
    `${name} is not on this machine, and could not be fetched from a backup target: ${(cause as Error).message}${remedy}`,
    { cause, userMessage: 'The image could not be fetched.' },
  )

/** The file of an image of an account, fetched first where it is not here; undefined for a template that is no such image. */
export function imageFinder(images: OwnImages, deps: TargetDeps): (template: TemplateRef) => Promise<Image | undefined> {
  const fetch = imageFetcher(images, deps)
  return async (template) => {
    const { id } = template
    if (!(await images.has(id))) {
      const image = await imageById(deps.db, id)
      if (!image) return undefined
      await fetch(toFile(image), `Image ${id}`)
    }
    return images.open(template)
  }
}

/** The same of an ISO image. */
export function isoFinder(images: OwnImages, deps: TargetDeps): IsoSource {
  const fetch = imageFetcher(images, deps)
  return {
    async openIso({ imageId }) {
      const image = await imageById(deps.db, imageId)
      if (image?.kind !== 'ISO') throw new Error(`${imageId} is no ISO image`)
      if (!(await images.has(imageId, 'ISO'))) await fetch(toFile(image), `Image ${imageId}`)
      if (!(await images.has(imageId, 'ISO'))) throw new Error('its file is neither in the image folder nor in a backup target')
      return { path: images.pathOf(imageId, 'ISO') }
    },
  }
}

export const toFile = ({ id, kind, checksum, size_bytes }: ImageRow): ImageFile => ({ id, kind, checksum, sizeBytes: Number(size_bytes) })
