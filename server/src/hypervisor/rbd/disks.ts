// Disks of VMs and volumes of customers: copy-on-write clones of a template, copies of a snapshot, or empty images. A clone of a snapshot would
// keep all that it was taken of in the pool, when snapshot and money are given back: nobody would pay for it.
import { DriverError } from '../errors.ts'
import type { VolumeData } from '../driver.ts'
import { GIB } from '../spec.ts'
import type { PoolAccess } from './access.ts'
import type { PoolImages } from './images.ts'
import { diskImage, readImageName, volumeImage, type DiskId, type VolumeId } from './names.ts'
import type { Parent, PoolSnapshots } from './snapshots.ts'

export interface PoolDisks extends VolumeData {
  findDisk(disk: DiskId, signal: AbortSignal): Promise<{ bytes: number } | undefined>
  /** At least as large as its parent. One that exists stays as it is. */
  ensureDisk(disk: DiskId, parent: Parent, bytes: number, signal: AbortSignal): Promise<void>
  /** Its snapshots are kept, and what backups are read from. */
  ensureNoDisk(disk: DiskId, signal: AbortSignal): Promise<void>
  /** Of a machine that is off. Never shrinks; returns the resulting size. */
  growDisk(disk: DiskId, bytes: number, signal: AbortSignal): Promise<number>
  findVolume(volume: VolumeId, signal: AbortSignal): Promise<{ bytes: number } | undefined>
}

export function poolDisks({ backend, rbd }: PoolAccess, images: PoolImages, snapshots: PoolSnapshots): PoolDisks {
  const findImage = async (image: string, signal: AbortSignal): Promise<{ bytes: number } | undefined> => {
    const bytes = await images.findSize(image, signal)
    return bytes === undefined ? undefined : { bytes }
  }

  const clone = (parent: Parent, draft: string, signal: AbortSignal): Promise<unknown> =>
    rbd(`clone ${parent.spec}`, ['clone', parent.spec, `${backend.pool}/${draft}`], signal)

  /** Not by `rbd cp`: of a snapshot of a clone that has grown since, that leaves out what is the template's. */
  const copy = async (parent: Parent, draft: string, signal: AbortSignal): Promise<void> => {
    await clone(parent, draft, signal)
    await rbd(`flatten ${draft}`, ['flatten', '--no-progress', draft], signal)
  }

  return {
    findDisk: (disk, signal) => findImage(diskImage(disk), signal),

    async ensureDisk(disk, parent, bytes, signal) {
      const image = diskImage(disk)
      if ((await images.findSize(image, signal)) !== undefined) return
      await images.publish(image, signal, async (draft) => {
        const isTemplate = readImageName(parent.spec.split('@')[0]!)?.kind === 'template'
        await (isTemplate ? clone : copy)(parent, draft, signal)
        if (bytes > parent.bytes) await images.resize(draft, bytes, signal)
      })
    },

    ensureNoDisk: (disk, signal) => images.removeGeneration(diskImage(disk), { id: disk.vmId, generation: disk.generation }, signal),

    async growDisk(disk, bytes, signal) {
      const image = diskImage(disk)
      const before = await images.findSize(image, signal)
      if (before === undefined) throw new DriverError('not_found', `Pool ${backend.pool} has no image ${image}`)
      if (before >= bytes) return before
      await images.resize(image, bytes, signal)
      return bytes
    },

    findVolume: (volume, signal) => findImage(volumeImage(volume), signal),

    async ensureVolume(volume, source, signal) {
      const [image, bytes] = [volumeImage(volume), volume.sizeGiB * GIB]
      const before = await images.findSize(image, signal)
      if (before !== undefined) return before < bytes ? void (await images.resize(image, bytes, signal)) : undefined
      const parent = source && (await snapshots.getSnapshot(source.volumeId, source.snapshotId, signal))
      await images.publish(image, signal, async (draft) => {
        if (!parent) return images.create(draft, bytes, signal)
        await copy(parent, draft, signal)
        if (bytes > parent.bytes) await images.resize(draft, bytes, signal)
      })
    },

    async ensureNoVolume(volume, signal) {
      const image = volumeImage(volume)
      if (await images.hasWatchers(image, signal)) throw new DriverError('in_use', `A machine has ${image} open`)
      await images.removeGeneration(image, { id: volume.volumeId, generation: volume.generation }, signal)
    },

    async ensureVolumeSnapshot(volume, { snapshotId }, signal) {
      if (!(await snapshots.findSnapshot(volume.volumeId, snapshotId, signal))) await snapshots.ensureSnapshot(volume, snapshotId, signal)
      return { sizeBytes: await snapshots.snapshotBytes(await snapshots.getSnapshot(volume.volumeId, snapshotId, signal), signal) }
    },

    ensureNoVolumeSnapshot: ({ volumeId }, { snapshotId }, signal) => snapshots.ensureNoSnapshot(volumeId, snapshotId, signal),
  }
}
