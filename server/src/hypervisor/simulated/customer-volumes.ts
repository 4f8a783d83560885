// Volumes of customers. Those in a storage backend are kept under its id instead of a host's.
import { sql, type Tx } from '../../kernel/database/db.ts'
import { DriverError, GIB, type VolumeRef, type Volumes, type VolumeSpec } from '../driver.ts'
import { addVolume, lockRow, requireMachine } from './definition.ts'
import type { SimulatedHost } from './host.ts'
import { beginVolume, claimSpace, completeVolume, findVolume, removeVolumes, requireComplete, usedOf, volumeName } from './volumes.ts'

export function volumeMethods({ hostId, db, call, pace }: SimulatedHost): Volumes {
  const placeOf = ({ storageId }: VolumeRef): string => storageId ?? hostId
  return {
    ensureVolume: (volume, signal) =>
      call('ensureVolume', signal, async (pause) => {
        const [place, name, capacityBytes] = [placeOf(volume), volumeName(volume.volumeId), volume.sizeGiB * GIB]
        if ((await findVolume(db, place, name))?.is_complete) return void (await db.tx((tx) => grow(tx, place, volume)))
        const made = { name, kind: 'volume', id: volume.volumeId, capacityBytes, sizeBytes: usedOf(capacityBytes) } as const
        await db.tx((tx) => beginVolume(tx, place, { ...made, storageId: volume.storageId }))
        await pause(pace.delays.overlayMs)
        await completeVolume(db, place, name)
      }),

    ensureNoVolume: (volume, signal) =>
      call('ensureNoVolume', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await db.tx(async (tx) => {
          if (await isDefined(tx, volume.volumeId)) throw new DriverError('in_use', `A machine has volume ${volume.volumeId}`)
          await removeVolumes(tx, placeOf(volume), sql`name = ${volumeName(volume.volumeId)}`)
        })
      }),

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

const isDefined = async (tx: Tx, volumeId: string): Promise<boolean> =>
  (await tx.maybe(sql`select from simulated.machine_volumes where volume_id = ${volumeId} limit 1`)) !== undefined

async function grow(tx: Tx, place: string, { volumeId, sizeGiB, storageId }: VolumeSpec): Promise<number> {
  const name = volumeName(volumeId)
  const { capacity_bytes } = await requireComplete(tx, place, name)
  const added = sizeGiB * GIB - Number(capacity_bytes)
  if (added <= 0) return Number(capacity_bytes) / GIB
  await tx.run(sql`update simulated.volumes set capacity_bytes = capacity_bytes + ${added}::int8, size_bytes = size_bytes + ${usedOf(added)}::int8
    where host_id = ${place} and name = ${name}`)
  if (storageId === null) await claimSpace(tx, place, usedOf(added))
  return sizeGiB
}
