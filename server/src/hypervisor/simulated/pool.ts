// A storage backend of simulated hosts: the volumes with its id, whichever host has the machine.
import { sql, type Db, type NotNull } from '../../kernel/database/db.ts'
import { GIB } from '../driver.ts'
import type { StoragePool } from '../storage-pool.ts'
import { volumeData } from './customer-volumes.ts'
import { instantPace } from './latency.ts'

export const openSimulatedPool = (db: Db, storageId: string, sizeGiB: number): StoragePool => ({
  ...volumeData(db, storageId, async () => {}, instantPace.delays),

  async space() {
    const { bytes } = await db.one<{ bytes: bigint }>(
      sql`select coalesce(sum(size_bytes), 0)::int8 as bytes from simulated.volumes where storage_id = ${storageId}`,
    )
    return { capacityBytes: sizeGiB * GIB, availableBytes: Math.max(0, sizeGiB * GIB - Number(bytes)) }
  },

  claim: async () => {},

  listOwnerIds: async () =>
    (
      await db.many<{ owner: NotNull<string> }>(sql`
        select distinct coalesce(vm_id, id) as owner from simulated.volumes where storage_id = ${storageId} and kind <> 'template' order by owner`)
    ).map(({ owner }) => owner),

  isOpen: async (ownerId) =>
    (await db.maybe(sql`select from simulated.machines m where power <> 'stopped' and (vm_id = ${ownerId} or exists (
      select from simulated.machine_volumes a where a.host_id = m.host_id and a.machine = m.name and a.volume_id = ${ownerId})) limit 1`)) !==
    undefined,

  ensureNoDrafts: async () => {},

  ensurePurged: async (ownerId) =>
    void (await db.run(sql`delete from simulated.volumes where storage_id = ${storageId} and coalesce(vm_id, id) = ${ownerId}`)),
})
