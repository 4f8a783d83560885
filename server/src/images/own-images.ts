// The images of accounts, in a folder of their own beside those of OS templates. A file has the id of its image, which is never reused, and appears
// complete: it is written in a work folder, synced and renamed. What a killed process left is replaced by the next attempt, or removed with the image.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, chown, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ImageSource } from '../hypervisor/image-source.ts'
import { withFileLock } from '../kernel/file-lock.ts'
import { NOBODY } from './external-tools.ts'
import { virtualBytesOf } from './validate-image.ts'

export type ImageKind = 'DISK' | 'ISO'

export interface StoredImage {
  sizeBytes: number
  /** `sha256:` and 64 hex digits, of the file. */
  checksum: string
}

/** Files of images in a folder that this process may write. */
export interface ImageFiles {
  has(id: string, kind?: ImageKind): Promise<boolean>
  pathOf(id: string, kind: ImageKind): string
  /** Replaces the file of the image by the one that `make` returns, made in an empty folder. */
  write(id: string, kind: ImageKind, make: (work: WorkFolder) => Promise<string>): Promise<StoredImage>
  /** As `write`, unless the file is there by now. Of an image one at a time on this machine, in whichever process; a large one of one account keeps
   *  those of others waiting for nothing. */
  fetch(id: string, kind: ImageKind, make: (work: WorkFolder) => Promise<string>, signal: AbortSignal): Promise<void>
  /** Also what is left of an attempt to write it. */
  remove(id: string): Promise<void>
  /** The ids of files, complete or not, that were last changed before then. */
  list(before: Date): Promise<string[]>
}

export interface OwnImages extends ImageFiles, ImageSource {}

export interface WorkFolder {
  path: string
  /** Writes at most so many bytes, and none once the disk has less than its reserve left. */
  save(name: string, bytes: Readable, maxBytes: number): Promise<string>
  /** Bytes until the disk has only its reserve left. */
  room(): Promise<number>
}

/** Beside the images of OS templates, which this process may be allowed to read alone. */
export const ownImagesFolder = (imagesDir: string): string => join(imagesDir, 'accounts')

/** Its message is for the customer; the same attempt would fail again. */
export class ImageRefusedError extends Error {}

const EXTENSIONS: Record<ImageKind, string> = { DISK: 'qcow2', ISO: 'iso' }
const WORK = 'work-'
/** Longer than any fetch. */
const LOCK_WAIT_SECONDS = 4 * 3600

export function openOwnImages(folder: string): OwnImages {
  const files = openImageFiles(folder)
  return {
    ...files,
    async open({ id, checksum, arch }) {
      const path = files.pathOf(id, 'DISK')
      const { size } = await stat(path).catch(() => {
        throw new Error(
          `its file is neither in ${folder} nor in a backup target: with several workers that folder has to be shared by all of them, or the region to have a backup target`,
        )
      })
      return { path, format: 'qcow2', arch, virtualBytes: await virtualBytesOf(path), fileBytes: size, checksum }
    },
  }
}

export function openImageFiles(folder: string): ImageFiles {
  const pathOf = (id: string, kind: ImageKind): string => join(folder, `${id}.${EXTENSIONS[kind]}`)
  const workOf = (id: string): string => join(folder, WORK + id)
  const lockOf = (id: string): string => join(folder, `${id}.lock`)
  return {
    pathOf,
    has: (id, kind = 'DISK') =>
      stat(pathOf(id, kind)).then(
        () => true,
        () => false,
      ),
    async write(id, kind, make) {
      const work = workOf(id)
      await mkdir(folder, { recursive: true, mode: 0o711 })
      await rm(work, { recursive: true, force: true })
      await mkdir(work, { mode: 0o700 })
      if (process.getuid?.() === 0) await chown(work, NOBODY, NOBODY) // whose programs read what is in it
      const file = await make({
        path: work,
        save: (name, bytes, maxBytes) => save(join(work, name), bytes, maxBytes, folder),
        room: () => roomIn(folder),
      })
      const checksum = await checksumOf(file)
      await chmod(file, 0o600)
      if (process.getuid?.() === 0) await chown(file, 0, 0)
      await syncToDisk(file)
      await rename(file, pathOf(id, kind))
      await syncToDisk(folder)
      await rm(work, { recursive: true, force: true })
      return { sizeBytes: (await stat(pathOf(id, kind))).size, checksum }
    },
    async fetch(id, kind, make, signal) {
      await mkdir(folder, { recursive: true, mode: 0o711 })
      const missing = async () => void ((await this.has(id, kind)) || (await this.write(id, kind, make)))
      await withFileLock(lockOf(id), missing, { timeoutSeconds: LOCK_WAIT_SECONDS, signal })
    },
    async remove(id) {
      for (const path of [pathOf(id, 'DISK'), pathOf(id, 'ISO'), workOf(id), lockOf(id)]) await rm(path, { recursive: true, force: true })
    },
    async list(before) {
      const ids = new Set<string>()
      for (const name of await readdir(folder).catch(() => [])) {
        const file = await stat(join(folder, name)).catch(() => undefined)
        if (file && file.mtime < before) ids.add(name.replace(/^work-/, '').replace(/\.(qcow2|iso|lock)$/, ''))
      }
      return [...ids]
    },
  }
}

/** The disk is often that of the VMs: a full one would pause them. */
const RESERVE = 0.05
const CHECK_EVERY_BYTES = 64 * 1024 ** 2

async function save(path: string, bytes: Readable, maxBytes: number, folder: string): Promise<string> {
  const guard = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let [written, checkAt] = [0, 0]
    for await (const chunk of source) {
      written += chunk.length
      if (written > maxBytes)
        throw new ImageRefusedError(`It has more than ${(maxBytes / 1024 ** 3).toFixed(1)} GiB, as much as it may have`)
      if (written >= checkAt) await requireReserve(folder)
      if (written >= checkAt) checkAt = written + CHECK_EVERY_BYTES
      yield chunk
    }
  }
  await pipeline(bytes, guard, createWriteStream(path, { mode: 0o600 }))
  if (process.getuid?.() === 0) await chown(path, NOBODY, NOBODY)
  return path
}

async function roomIn(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return Math.floor((bavail - blocks * RESERVE) * bsize)
}

async function requireReserve(folder: string): Promise<void> {
  if ((await roomIn(folder)) < 0) throw new Error(`the disk of ${folder} has less than its reserve of ${RESERVE * 100} % left`)
}

export async function checksumOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return `sha256:${hash.digest('hex')}`
}

async function syncToDisk(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
