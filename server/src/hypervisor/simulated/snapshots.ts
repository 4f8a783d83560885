import { sql, type Tx } from '../../kernel/database/db.ts'
import { GIB, type SnapshotsAndBackups } from '../driver.ts'
import type { SimulatedHost } from './host.ts'
import { lockRow, requireMachine, type MachineRow } from './definition.ts'
import {
  beginVolume,
  completeVolume,
  diskName,
  findVolume,
  removeVolumes,
  snapshotName,
  requireComplete,
  type VolumeRow,
} from './volumes.ts'

/** Locks the machine, for a consistent copy of its disk. */
export async function diskNow(tx: Tx, hostId: string, vmId: string): Promise<VolumeRow & { machine: MachineRow }> {
  const machine = requireMachine(await lockRow(tx, hostId, vmId), hostId, vmId)
  return { ...(await requireComplete(tx, hostId, diskName(vmId, machine.generation ?? 0))), machine }
}

export function snapshotMethods({
  hostId,
  db,
  call,
  pace,
}: SimulatedHost): Pick<SnapshotsAndBackups, 'ensureSnapshot' | 'ensureNoSnapshot'> {
  return {
    ensureSnapshot: (vmId, snapshotId, signal) =>
      call('ensureSnapshot', signal, async (pause) => {
        const name = snapshotName(vmId, snapshotId)
        const made = await findVolume(db, hostId, name)
        if (made?.is_complete) return { sizeBytes: Number(made.size_bytes) }
        const sizeBytes = await db.tx(async (tx) => {
          const { content, capacity_bytes, size_bytes, storage_id: storageId } = await diskNow(tx, hostId, vmId)
          const size = { capacityBytes: Number(capacity_bytes), sizeBytes: Number(size_bytes) }
          await beginVolume(tx, hostId, { name, kind: 'snapshot', id: snapshotId, vmId, content, storageId, ...size })
          return size.sizeBytes
        })
        await pause((pace.delays.copyMsPerGiB * sizeBytes) / GIB)
        await completeVolume(db, hostId, name)
        return { sizeBytes }
      }),

    ensureNoSnapshot: (vmId, snapshotId, signal) =>
      call('ensureNoSnapshot', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await db.tx((tx) => removeVolumes(tx, hostId, sql`name = ${snapshotName(vmId, snapshotId)}`))
      }),
  }
}
