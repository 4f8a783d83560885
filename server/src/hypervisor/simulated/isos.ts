// ISO images on the host, and in the drives of its machines.
import { sql } from '../../kernel/database/db.ts'
import { DriverError, type IsoRef, type Isos } from '../driver.ts'
import type { Pause, SimulatedHost } from './host.ts'
import { beginVolume, completeVolume, findVolume, isoName, removeVolumes, requireComplete } from './volumes.ts'

export function isoMethods(host: SimulatedHost): Isos {
  const { hostId, db, call, pace } = host
  return {
    ensureIso: (iso, signal) => call('ensureIso', signal, (pause) => ensureIso(host, iso, pause)),

    ensureNoIso: (imageId, signal) =>
      call('ensureNoIso', signal, async (pause) => {
        await db.tx(async (tx) => {
          await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${isoName(imageId)} for update`)
          if (await tx.maybe(sql`select from simulated.machines where host_id = ${hostId} and iso_id = ${imageId} limit 1`))
            throw new DriverError('in_use', `A machine of simulated host ${hostId} has ISO image ${imageId}`)
          await removeVolumes(tx, hostId, sql`name = ${isoName(imageId)}`)
        })
        await pause(pace.delays.overlayMs)
      }),

    ensureInDrive: (vmId, iso, signal) =>
      call('ensureInDrive', signal, async (pause) => {
        if (iso) await ensureIso(host, iso, pause)
        await pause(pace.delays.attachMs)
        return db.tx(async (tx) => {
          const row = await tx.maybe<{ has_drive: boolean }>(
            sql`select has_drive from simulated.machines where host_id = ${hostId} and name = ${vmId} for update`,
          )
          if (!row?.has_drive) return { isoId: null }
          const isoId = iso?.imageId ?? null
          if (isoId !== null) await requireComplete(tx, hostId, isoName(isoId))
          await tx.run(sql`update simulated.machines set iso_id = ${isoId} where host_id = ${hostId} and name = ${vmId}`)
          return { isoId }
        })
      }),
  }
}

export async function ensureIso({ hostId, db, pace }: SimulatedHost, { imageId, sizeBytes }: IsoRef, pause: Pause): Promise<void> {
  const name = isoName(imageId)
  if ((await findVolume(db, hostId, name))?.is_complete) return
  await db.tx((tx) => beginVolume(tx, hostId, { name, kind: 'iso', id: imageId, capacityBytes: sizeBytes, sizeBytes }))
  await pause(pace.delays.copyMsPerGiB)
  await completeVolume(db, hostId, name)
}
