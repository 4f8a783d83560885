// A storage backend of simulated hosts: the volumes with its id, whichever host has the machine.
import { sql, type Db, type NotNull, type Queries } from '../../kernel/database/db.ts'
import { DriverError, GIB } from '../driver.ts'
import type { StoragePool } from '../storage-pool.ts'
import { volumeData } from './customer-volumes.ts'
import { instantPace } from './latency.ts'
import { removeVolumes, templateName } from './volumes.ts'

/** Made unreachable by its id, as a host is. */
async function requireReachable(db: Queries, storageId: string): Promise<void> {
  if (await db.maybe(sql`select from simulated.hosts where host_id = ${storageId} and is_gone`))
    throw new DriverError('unreachable', `Simulated storage backend ${storageId} is gone`)
}

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

  ensureNoTemplate: (templateId) =>
    db.tx(async (tx) => {
      await requireReachable(tx, storageId)
      const name = templateName(templateId)
      await tx.maybe(sql`select from simulated.volumes where host_id = ${storageId} and name = ${name} for update`)
      if (await tx.maybe(sql`select from simulated.volumes where storage_id = ${storageId} and parent = ${name} limit 1`))
        throw new DriverError('in_use', `Disks in simulated storage backend ${storageId} are built on ${name}`)
      await removeVolumes(tx, storageId, sql`name = ${name}`)
    }),

  removeBases: (most) =>
    db.run(sql`
      update simulated.volumes v set checkpoints = '{}' from (
        select host_id, name from simulated.volumes where storage_id = ${storageId} and checkpoints <> '{}' order by name limit ${most}) b
      where v.host_id = b.host_id and v.name = b.name`),

  ensureNoDrafts: async () => {},

  /** A host is a client at an address of its own, its id. One that is gone has lost the pool too. */
  async listClients(ownerIds) {
    await requireReachable(db, storageId)
    const rows = await db.many<{ owner: NotNull<string>; host_id: string; is_gone: boolean }>(sql`
      select o.id as owner, m.host_id, h.is_gone from unnest(${[...ownerIds]}::text[]) as o(id)
        join simulated.machines m on m.power <> 'stopped' and (m.vm_id = o.id or exists (
          select from simulated.machine_volumes a where a.host_id = m.host_id and a.machine = m.name and a.volume_id = o.id))
        join simulated.hosts h on h.host_id = m.host_id
      where not exists (select from simulated.blocklist b where b.storage_id = ${storageId} and b.client like m.host_id || ':0/%') order by 1, 2`)
    return rows.map((row) => ({ ownerId: row.owner, address: row.host_id, nonce: 1, isWatching: !row.is_gone }))
  },

  listServers: async () => [],

  async ensureBlocked(clients) {
    await requireReachable(db, storageId)
    await db.run(sql`
      insert into simulated.blocklist (storage_id, client) select ${storageId}, c from unnest(${[...clients]}::text[]) c on conflict do nothing`)
  },

  async listBlocked(clients) {
    await requireReachable(db, storageId)
    const rows = await db.many<{ client: string }>(
      sql`select client from simulated.blocklist where storage_id = ${storageId} and client = any(${[...clients]}::text[]) order by client`,
    )
    return rows.map(({ client }) => client)
  },

  async ensureUnblocked(clients) {
    await requireReachable(db, storageId)
    await db.run(sql`delete from simulated.blocklist where storage_id = ${storageId} and client = any(${[...clients]}::text[])`)
  },

  ensurePurged: async (ownerId) =>
    void (await db.run(sql`delete from simulated.volumes where storage_id = ${storageId} and coalesce(vm_id, id) = ${ownerId}`)),
})
