// Templates are images with a protected snapshot, which disks are clones of.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { DriverError } from '../errors.ts'
import type { Image } from '../image-source.ts'
import type { StoragePool } from '../storage-pool.ts'
import type { PoolAccess } from './access.ts'
import { runTool, undefinedIfNotFound } from './command.ts'
import type { PoolImages } from './images.ts'
import { BASE, templateImage } from './names.ts'
import type { Parent } from './snapshots.ts'

export interface PoolTemplates extends Pick<StoragePool, 'ensureNoTemplate'> {
  /** Imports the image once. `open` is called only when it is missing. */
  ensureTemplate(templateId: string, open: () => Promise<Image>, signal: AbortSignal): Promise<Parent>
}

export function poolTemplates({ backend, conf, rbd, json }: PoolAccess, images: PoolImages): PoolTemplates {
  return {
    async ensureTemplate(templateId, open, signal) {
      const image = templateImage(templateId)
      const spec = `${image}@${BASE}`
      const bytes = await images.findSize(spec, signal)
      if (bytes !== undefined) return { spec, bytes }
      const file = await open()
      await requireChecksum(file, signal)
      await images.publish(image, signal, async (draft) => {
        await images.create(draft, file.virtualBytes, signal)
        await runTool(
          'qemu-img',
          `import ${image}`,
          importArgs(file, { conf, pool: backend.pool, user: backend.user, image: draft }),
          signal,
        )
        await rbd(`freeze ${draft}`, ['snap', 'create', '--no-progress', `${draft}@${BASE}`], signal)
        await rbd(`protect ${draft}`, ['snap', 'protect', `${draft}@${BASE}`], signal)
      })
      const imported = await images.findSize(spec, signal)
      if (imported === undefined) throw new DriverError('transient', `${image} was removed from pool ${backend.pool} meanwhile`)
      return { spec, bytes: imported }
    },

    async ensureNoTemplate(templateId, signal) {
      const image = templateImage(templateId)
      const children = await undefinedIfNotFound(json<unknown[]>(`list clones of ${image}`, ['children', `${image}@${BASE}`], signal))
      if (children && children.length > 0)
        throw new DriverError('in_use', `${children.length} disks in pool ${backend.pool} are clones of ${image}`)
      await images.remove(image, signal)
      await images.removeDraftsOf(image, signal)
    },
  }
}

/** Zeros of the file become holes of the image, which is empty. */
const importArgs = (file: Image, target: { conf: string; pool: string; user: string; image: string }): string[] => {
  const options = Object.entries(target).map(([name, value]) => `file.${name}=${value.replaceAll(',', ',,')}`)
  const into = ['driver=raw', 'file.driver=rbd', ...options].join(',')
  return ['convert', '-n', '--target-is-zero', '-f', file.format, '--target-image-opts', file.path, into]
}

/** Ceph guards what is on its way and at rest; this guards what is imported. */
async function requireChecksum(file: Image, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file.path), hash, { signal }).catch((error: unknown) => {
    throw signal.aborted ? new DriverError('aborted', `The wait to read ${file.path} was ended by its caller`) : error
  })
  const checksum = `sha256:${hash.digest('hex')}`
  if (checksum !== file.checksum) throw new DriverError('transient', `${file.path} has checksum ${checksum} instead of ${file.checksum}`)
}
