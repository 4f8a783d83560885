// Room that a restore takes for a time, where the disk is: COPY for what is fetched, until the disk is made from it, and DISK for the new disk beside
// the old one, until the run has ended. Whoever deletes the row gives the room back, so that happens once.
import { sql, type Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import { copyGiBOn, releaseDisk, reserveDiskForATime, type CopyNeed } from '../../hosts/capacity.ts'
import { releaseStorage, reserveStorageForATime } from '../../storage/service.ts'

type Room = Row<'restore_rooms'>
type Place = Pick<Room, 'host_id' | 'storage_id'>

/** What the run fetches to the host that it makes the disk on. */
export interface FetchedCopy extends CopyNeed {
  runId: string
}

export interface RestoreNeed {
  copyGiB: number
  diskGiB: number
}

/** Of a VM or a volume that stays where it is. */
export async function reserveRestoreRoom(
  tx: Tx,
  runId: string,
  { host_id, storage_id }: Place,
  { copyGiB, diskGiB }: RestoreNeed,
  what = 'A restore',
): Promise<void> {
  const gib = copyGiB + diskGiB
  if (gib === 0) return
  const isReserved = storage_id === null ? await reserveDiskForATime(tx, host_id!, gib) : await reserveStorageForATime(tx, storage_id, gib)
  if (!isReserved)
    throw apiError(
      'no_capacity',
      `${what} takes ${gib} GiB more for a time, and there is no room for that at the moment: delete snapshots that are no longer needed, or try again later`,
    )
  const place = storage_id === null ? { host_id, storage_id } : { host_id: null, storage_id }
  await insertRoom(tx, { run_id: runId, purpose: 'COPY', ...place, gib: copyGiB })
  await insertRoom(tx, { run_id: runId, purpose: 'DISK', ...place, gib: diskGiB })
}

/** The room was reserved with that of the VM. */
export const recordCopyRoom = (tx: Tx, hostId: string, copy: FetchedCopy) =>
  insertRoom(tx, { run_id: copy.runId, purpose: 'COPY', host_id: hostId, storage_id: null, gib: copyGiBOn(hostId, copy) })

const insertRoom = async (tx: Tx, { run_id, purpose, host_id, storage_id, gib }: Room): Promise<unknown> =>
  gib > 0 &&
  tx.run(sql`
    insert into restore_rooms (run_id, purpose, host_id, storage_id, gib) values (${run_id}, ${purpose}, ${host_id}, ${storage_id}, ${gib})`)

/** Saved with the step that made the disk. */
export const releaseFetchedRoom = (tx: Tx, { runId }: { runId: string }): Promise<void> => releaseRestoreRoom(tx, runId, 'COPY')

/** Of a run that has ended, or that needs its copy no more. */
export async function releaseRestoreRoom(tx: Tx, runId: string, purpose: Room['purpose'] | null = null): Promise<void> {
  const rooms = await tx.many<Omit<Room, 'run_id' | 'purpose'>>(sql`
    delete from restore_rooms where run_id = ${runId} and (${purpose}::text is null or purpose = ${purpose})
    returning host_id, storage_id, gib`)
  for (const { host_id, storage_id, gib } of rooms)
    await (storage_id === null ? releaseDisk(tx, new Map([[host_id!, gib]])) : releaseStorage(tx, storage_id, gib))
}
