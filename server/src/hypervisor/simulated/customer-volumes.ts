// Volumes of customers. Those in a storage backend are kept under its id instead of a host's, and so are their snapshots.
import { sql, type Db, type Tx } from '../../kernel/database/db.ts'
import { DriverError, GIB, type VolumeData, type VolumeRef, type Volumes, type VolumeSpec } from '../driver.ts'
import { addVolume, lockRow, requireMachine } from './definition.ts'
import type { Pause, SimulatedHost } from './host.ts'
import type { Pace } from './latency.ts'
import {
  beginVolume,
  claimSpace,
  completeVolume,
  findVolume,
  removeVolumes,
  requireComplete,
  snapshotName,
  usedOf,
  volumeName,
} from './volumes.ts'

export function volumeMethods({ hostId, db, call, pace }: SimulatedHost): Volumes {
  const placeOf = ({ storageId }: VolumeRef): string => storageId ?? hostId
  const dataOf = (volume: VolumeRef, pause: Pause): VolumeData => volumeData(db, placeOf(volume), pause, pace.delays)
  return {
    ensureVolume: (volume, source, signal) =>
      call('ensureVolume', signal, (pause) => dataOf(volume, pause).ensureVolume(volume, source, signal)),

    ensureNoVolume: (volume, signal) => call('ensureNoVolume', signal, (pause) => dataOf(volume, pause).ensureNoVolume(volume, signal)),

    ensureVolumeSnapshot: (volume, request, signal) =>
      call('ensureVolumeSnapshot', signal, (pause) => dataOf(volume, pause).ensureVolumeSnapshot(volume, request, signal)),

    ensureNoVolumeSnapshot: (volume, request, signal) =>
      call('ensureNoVolumeSnapshot', signal, (pause) => dataOf(volume, pause).ensureNoVolumeSnapshot(volume, request, signal)),

    ensureVolumeAttached: (vmId, volume, signal) =>
      call('ensureVolumeAttached', signal, async (pause) => {
        await pause(pace.delays.attachMs)
        await db.tx(async (tx) => {
          requireMachine(await lockRow(tx, hostId, vmId), hostId, vmId)
          await addVolume(tx, hostId, vmId, volume)
        })
      }),

    ensureVolumeDetached: (vmId, { volumeId }, signal) =>
      call('ensureVolumeDetached', signal, async (pause) => {
        await pause(pace.delays.detachMs)
        await db.run(sql`delete from simulated.machine_volumes where host_id = ${hostId} and machine = ${vmId} and volume_id = ${volumeId}`)
      }),

    ensureVolumeSize: (vmId, volume, signal) =>
      call('ensureVolumeSize', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        return db.tx(async (tx) => {
          requireMachine(await lockRow(tx, hostId, vmId), hostId, vmId)
          return { sizeGiB: await grow(tx, placeOf(volume), volume) }
        })
      }),
  }
}

/** `place`: a host or a storage backend. */
export const volumeData = (
  db: Db,
  place: string,
  pause: Pause,
  delays: Pick<Pace['delays'], 'overlayMs' | 'copyMsPerGiB'>,
): VolumeData => ({
  async ensureVolume(volume, source) {
    const { volumeId, generation, storageId } = volume
    const name = volumeName(volume)
    if (!(await findVolume(db, place, name))?.is_complete) {
      const copied = source && (await requireComplete(db, place, snapshotName(source.volumeId, source.snapshotId)))
      const capacityBytes = Math.max(volume.sizeGiB * GIB, Number(copied?.capacity_bytes ?? 0))
      const size = { capacityBytes, sizeBytes: usedOf(capacityBytes) }
      const made = { name, kind: 'volume', id: volumeId, generation, storageId, content: copied?.content ?? {}, ...size } as const
      await db.tx((tx) => beginVolume(tx, place, made))
      await pause(copied ? (delays.copyMsPerGiB * size.sizeBytes) / GIB : delays.overlayMs)
      await completeVolume(db, place, name)
    }
    await db.tx((tx) => grow(tx, place, volume))
  },

  async ensureNoVolume(volume) {
    await pause(delays.overlayMs)
    await db.tx(async (tx) => {
      if (await isDefined(tx, volume.volumeId)) throw new DriverError('in_use', `A machine has volume ${volume.volumeId}`)
      await removeVolumes(tx, place, sql`name = ${volumeName(volume)}`)
    })
  },

  async ensureVolumeSnapshot(volume, { snapshotId }) {
    const name = snapshotName(volume.volumeId, snapshotId)
    const made = await findVolume(db, place, name)
    if (made?.is_complete) return { sizeBytes: Number(made.size_bytes) }
    const sizeBytes = await db.tx(async (tx) => {
      const { content, capacity_bytes, size_bytes } = await requireComplete(tx, place, volumeName(volume))
      const size = { capacityBytes: Number(capacity_bytes), sizeBytes: Number(size_bytes) }
      const { volumeId: vmId, storageId } = volume
      await beginVolume(tx, place, { name, kind: 'snapshot', id: snapshotId, vmId, content, storageId, ...size })
      return size.sizeBytes
    })
    await pause((delays.copyMsPerGiB * sizeBytes) / GIB)
    await completeVolume(db, place, name)
    return { sizeBytes }
  },

  async ensureNoVolumeSnapshot({ volumeId }, { snapshotId }) {
    await pause(delays.overlayMs)
    await db.tx((tx) => removeVolumes(tx, place, sql`name = ${snapshotName(volumeId, snapshotId)}`))
  },
})

const isDefined = async (tx: Tx, volumeId: string): Promise<boolean> =>
  (await tx.maybe(sql`select from simulated.machine_volumes where volume_id = ${volumeId} limit 1`)) !== undefined

async function grow(tx: Tx, place: string, volume: VolumeSpec): Promise<number> {
  const { sizeGiB, storageId } = volume
  const name = volumeName(volume)
  const { capacity_bytes } = await requireComplete(tx, place, name)
  const added = sizeGiB * GIB - Number(capacity_bytes)
  if (added <= 0) return Number(capacity_bytes) / GIB
  await tx.run(sql`update simulated.volumes set capacity_bytes = capacity_bytes + ${added}::int8, size_bytes = size_bytes + ${usedOf(added)}::int8
    where host_id = ${place} and name = ${name}`)
  if (storageId === null) await claimSpace(tx, place, usedOf(added))
  return sizeGiB
}
