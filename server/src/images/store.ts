// The folder of images on the control plane. Each file is named by the sha256 of its content and appears whole or not at all; what is
// being made lives in a folder beside it, which is removed however the work ends.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Image, ImageSource } from '../hypervisor/image-source.ts'
import type { Clock } from '../kernel/clock.ts'
import { subtractDuration } from '../kernel/clock.ts'
import type { Arch } from './arch.ts'
import { virtualBytesOf } from './validate-image.ts'

export interface ImageStore extends ImageSource {
  /** Takes over a file of the work folder under the name of its content. */
  keep(file: string, arch: Arch): Promise<Image>
  has(checksum: string): Promise<boolean>
  /** Nothing happens when it is not there. */
  remove(checksum: string): Promise<void>
  /** Gives `work` an empty folder on the same disk. */
  inWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T>
}

const WORK = 'work-'
/** What a process that was killed has left; no work takes longer. */
const LEFT_BEHIND = '24h'

export function openImageStore(folder: string, clock: Clock): ImageStore {
  const pathOf = (checksum: string): string => join(folder, `${checksum.replace(/^sha256:/, '')}.qcow2`)
  return {
    async open({ slug, checksum, arch }) {
      if (checksum === '') throw new Error(`it has no image yet. Make it with: npx berthd template build ${slug} (or import)`)
      const file = await stat(pathOf(checksum)).catch(() => undefined)
      if (!file)
        throw new Error(`its image is not in ${folder} any more. Bring it back with: npx berthd template build ${slug} (or import)`)
      const path = pathOf(checksum)
      return { path, format: 'qcow2', arch, virtualBytes: await virtualBytesOf(path), fileBytes: file.size, checksum }
    },
    async keep(file, arch) {
      const checksum = `sha256:${await hashOf(file)}`
      await chmod(file, 0o644)
      await syncToDisk(file)
      await rename(file, pathOf(checksum))
      await syncToDisk(folder)
      return this.open({ id: '', slug: '', checksum, arch, hasAgent: false })
    },
    has: (checksum) =>
      stat(pathOf(checksum)).then(
        () => true,
        () => false,
      ),
    remove: (checksum) => rm(pathOf(checksum), { force: true }),
    async inWorkFolder(work) {
      await mkdir(folder, { recursive: true })
      await removeLeftBehind(folder, clock)
      const own = await mkdtemp(join(folder, WORK))
      try {
        return await work(own)
      } finally {
        await rm(own, { recursive: true, force: true })
      }
    },
  }
}

async function removeLeftBehind(folder: string, clock: Clock): Promise<void> {
  const old = subtractDuration(clock.now(), LEFT_BEHIND)
  for (const name of await readdir(folder)) {
    if (name.startsWith(WORK) && (await stat(join(folder, name))).mtime < old)
      await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

async function syncToDisk(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
