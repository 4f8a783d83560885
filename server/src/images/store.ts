// The image folder of the control plane. Files are named by the sha256 of their content and created atomically; work in progress is in a
// separate folder, which is always removed. What a worker fetched from a backup target is in a folder of its own: the image folder may be root's.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Image, ImageSource } from '../hypervisor/image-source.ts'
import type { Clock } from '../kernel/clock.ts'
import { subtractDuration } from '../kernel/clock.ts'
import type { Arch } from '../kernel/arch.ts'
import { openImageFiles, type ImageFiles } from './own-images.ts'
import { virtualBytesOf } from './validate-image.ts'

export interface ImageStore extends ImageSource {
  /** Moves a file from the work folder into the store. */
  add(file: string, arch: Arch): Promise<Image>
  has(checksum: string): Promise<boolean>
  /** Its path, where it is on this machine. */
  find(checksum: string): Promise<string | undefined>
  /** Those that were fetched, by the digits of their checksums. */
  fetched: ImageFiles
  /** Does nothing when it does not exist. */
  remove(checksum: string): Promise<void>
  /** Calls `work` with an empty folder on the same file system. */
  inWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T>
}

/** `sha256:` and digits are how the database has it; files and backup targets have the digits alone. */
export const digitsOf = (checksum: string): string => checksum.replace(/^sha256:/, '')

export const fetchedFolder = (imagesDir: string): string => join(imagesDir, 'fetched')

const WORK = 'work-'
/** Age of work folders left behind by a killed process; no build takes longer. */
const STALE_AFTER = '24h'

export function openImageStore(folder: string, clock: Clock): ImageStore {
  const pathOf = (checksum: string): string => join(folder, `${digitsOf(checksum)}.qcow2`)
  const fetched = openImageFiles(fetchedFolder(folder))
  const find = async (checksum: string): Promise<string | undefined> => {
    for (const path of [pathOf(checksum), fetched.pathOf(digitsOf(checksum), 'DISK')]) if (await exists(path)) return path
    return undefined
  }
  return {
    fetched,
    find,
    async open({ slug, checksum, arch }) {
      if (checksum === '') throw new Error(`it has no image yet. Create it with: npx berthd template build ${slug} (or import)`)
      const path = await find(checksum)
      if (!path)
        throw new Error(
          `its image is neither in ${folder} of this machine nor in a backup target. Build or import it again: npx berthd template build ${slug} (or import). Without a backup target all machines of the control plane have to share that folder`,
        )
      return { path, format: 'qcow2', arch, virtualBytes: await virtualBytesOf(path), fileBytes: (await stat(path)).size, checksum }
    },
    async add(file, arch) {
      const checksum = `sha256:${await hashOf(file)}`
      await chmod(file, 0o644)
      await syncToDisk(file)
      await rename(file, pathOf(checksum))
      await syncToDisk(folder)
      return this.open({ id: '', slug: '', checksum, arch, hasAgent: false })
    },
    has: async (checksum) => (await find(checksum)) !== undefined,
    async remove(checksum) {
      await rm(pathOf(checksum), { force: true })
      await fetched.remove(digitsOf(checksum))
    },
    async inWorkFolder(work) {
      await mkdir(folder, { recursive: true })
      await requireReserve(folder)
      await removeStaleFolders(folder, clock)
      const own = await mkdtemp(join(folder, WORK))
      try {
        return await work(own)
      } finally {
        await rm(own, { recursive: true, force: true })
      }
    },
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Images are often on the disk of the VMs: a full one would pause them. */
const RESERVE = 0.05

async function requireReserve(folder: string): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder)
  if (bavail >= blocks * RESERVE) return
  const [free, reserve] = [bavail, blocks * RESERVE].map((each) => `${((each * bsize) / 1024 ** 3).toFixed(1)} GiB`)
  throw new Error(`Only ${free} are free for images in ${folder}, less than the reserve of ${reserve}: free some space on that disk first`)
}

async function removeStaleFolders(folder: string, clock: Clock): Promise<void> {
  const old = subtractDuration(clock.now(), STALE_AFTER)
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
