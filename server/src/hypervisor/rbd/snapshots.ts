// Snapshots of disks and volumes are RBD snapshots, and outlive the generation that they were taken of.
import { DriverError, isDriverError } from '../errors.ts'
import type { PoolAccess } from './access.ts'
import { undefinedIfNotFound } from './command.ts'
import type { PoolImages } from './images.ts'
import { diskImage, snapshotName, volumeImage, type DiskId, type VolumeId } from './names.ts'

/** What a disk is made of. */
export interface Parent {
  /** `image@snapshot`. */
  spec: string
  bytes: number
}

export interface PoolSnapshots {
  /** Of a VM or a volume. */
  findSnapshot(ownerId: string, snapshotId: string, signal: AbortSignal): Promise<Parent | undefined>
  getSnapshot(ownerId: string, snapshotId: string, signal: AbortSignal): Promise<Parent>
  ensureSnapshot(disk: DiskId | VolumeId, snapshotId: string, signal: AbortSignal): Promise<void>
  /** What a full copy of it would take, whatever other snapshots share with it. */
  snapshotBytes(snapshot: Parent, signal: AbortSignal): Promise<number>
  ensureNoSnapshot(ownerId: string, snapshotId: string, signal: AbortSignal): Promise<void>
}

export function poolSnapshots({ backend, rbd, json }: PoolAccess, images: PoolImages): PoolSnapshots {
  const findSnapshot = async (ownerId: string, snapshotId: string, signal: AbortSignal): Promise<Parent | undefined> => {
    const wanted = snapshotName(snapshotId)
    for (const { name, isDraft } of await images.imagesOf(ownerId, signal)) {
      const found = isDraft ? undefined : (await images.snapshotsOf(name, signal)).find((each) => each.name === wanted)
      if (found) return { spec: `${name}@${wanted}`, bytes: found.size }
    }
    return undefined
  }

  return {
    findSnapshot,

    async getSnapshot(ownerId, snapshotId, signal) {
      const found = await findSnapshot(ownerId, snapshotId, signal)
      if (!found) throw new DriverError('not_found', `Pool ${backend.pool} has no snapshot ${snapshotId} of ${ownerId}`)
      return found
    },

    async ensureSnapshot(disk, snapshotId, signal) {
      const spec = `${'vmId' in disk ? diskImage(disk) : volumeImage(disk)}@${snapshotName(snapshotId)}`
      await rbd(`create ${spec}`, ['snap', 'create', '--no-progress', spec], signal).catch((error: unknown) => {
        if (!isDriverError(error, 'conflict')) throw error
      })
    },

    async snapshotBytes({ spec }, signal) {
      const extents = await json<{ length: number }[]>(`measure ${spec}`, ['diff', '--whole-object', spec], signal)
      return extents.reduce((sum, { length }) => sum + length, 0)
    },

    async ensureNoSnapshot(ownerId, snapshotId, signal) {
      const found = await findSnapshot(ownerId, snapshotId, signal)
      if (found) await undefinedIfNotFound(rbd(`remove ${found.spec}`, ['snap', 'rm', '--no-progress', found.spec], signal))
      await images.removeKept(ownerId, signal)
    },
  }
}
