// Volumes and their space. A volume is inserted as incomplete, with its space, before the slow part, and completed after it: what a crash leaves
// is visible, counted, and never used as complete.
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { GIB, DriverError, type Initialization, type VolumeRef } from '../driver.ts'

export interface Content {
  instanceId: string
  hostname: string
  user: string
  sshKeys: string[]
  passwordHash: string | null
  /** What came of the user data of its first boot; missing where there was none. */
  initialization?: Initialization
  files: Record<string, string>
}

export interface VolumeRow extends Row<'simulated.volumes'> {
  content: Partial<Content>
}

export const diskName = (vmId: string, generation: number): string => `disk-${vmId}-${generation}`
export const seedName = (vmId: string, generation: number): string => `seed-${vmId}-${generation}`
export const snapshotName = (vmId: string, snapshotId: string): string => `snapshot-${vmId}-${snapshotId}`
export const backupName = (vmId: string, backupId: string): string => `backup-${vmId}-${backupId}`
/** In a storage backend: the host may store one of the same id. */
export const pooledBackupName = (vmId: string, backupId: string): string => `pooled-${backupName(vmId, backupId)}`
export const volumeName = ({ volumeId, generation }: VolumeRef): string => `volume-${volumeId}${generation === 0 ? '' : `-${generation}`}`
export const templateName = (templateId: string): string => `template-${templateId}`
export const isoName = (imageId: string): string => `iso-${imageId}`

/** The parent itself may be on another host by now. */
export const parentBackupId = ({ kind, vm_id, parent }: Pick<VolumeRow, 'kind' | 'vm_id' | 'parent'>): string | null =>
  kind === 'backup' && vm_id && parent ? parent.slice(backupName(vm_id, '').length) : null

/** A new guest uses a tenth of its disk. */
export const usedOf = (capacityBytes: number): number => Math.round(capacityBytes / 10)

export const findVolume = (queries: Queries, hostId: string, name: string): Promise<VolumeRow | undefined> =>
  queries.maybe<VolumeRow>(
    sql`select ${allColumns('simulated.volumes')} from simulated.volumes where host_id = ${hostId} and name = ${name}`,
  )

export async function requireComplete(queries: Queries, hostId: string, name: string): Promise<VolumeRow> {
  const volume = await findVolume(queries, hostId, name)
  if (!volume?.is_complete) throw new DriverError('not_found', `Simulated host ${hostId} has no complete volume ${name}`)
  return volume
}

export const isPooled = async (queries: Queries, hostId: string, vmId: string): Promise<boolean> =>
  (await queries.maybe(
    sql`select from simulated.volumes where host_id = ${hostId} and vm_id = ${vmId} and storage_id is not null limit 1`,
  )) !== undefined

export interface NewVolume extends Pick<VolumeRow, 'name' | 'kind' | 'id'> {
  vmId?: string
  generation?: number
  parent?: string | null
  capacityBytes: number
  sizeBytes: number
  content?: Partial<Content>
  /** In a storage backend, which takes no space of the host. */
  storageId?: string | null
}

/** Inserts it, or restarts an incomplete one. */
export async function beginVolume(tx: Tx, hostId: string, volume: NewVolume): Promise<void> {
  const { name, kind, id, vmId = null, generation = null, parent = null, capacityBytes, sizeBytes, content = {}, storageId = null } = volume
  const row = await tx.maybe<{ is_new: boolean }>(sql`insert into simulated.volumes
      (host_id, name, kind, id, vm_id, generation, parent, capacity_bytes, size_bytes, content, storage_id)
    values (${hostId}, ${name}, ${kind}, ${id}, ${vmId}, ${generation}, ${parent}, ${capacityBytes}, ${sizeBytes}, ${json(content)}, ${storageId})
    on conflict (host_id, name) do update set content = excluded.content, parent = excluded.parent, generation = excluded.generation
      where not simulated.volumes.is_complete
    returning xmax = 0 as is_new`)
  if (row?.is_new && storageId === null) await claimSpace(tx, hostId, sizeBytes)
}

/** `cancelled` when it was removed meanwhile. */
export async function completeVolume(queries: Queries, hostId: string, name: string): Promise<void> {
  const changed = await queries.run(sql`update simulated.volumes set is_complete = true where host_id = ${hostId} and name = ${name}`)
  if (changed === 0) throw new DriverError('cancelled', `Volume ${name} was removed from simulated host ${hostId} while it was being made`)
}

/** Volumes are locked in the order of their names, here and in the creation of a disk with its seed. */
export async function removeVolumes(tx: Tx, hostId: string, which: Sql): Promise<number> {
  const removed = await tx.many<{ size_bytes: bigint; storage_id: string | null }>(sql`with doomed as
      (select name from simulated.volumes where host_id = ${hostId} and ${which} order by name for update)
    delete from simulated.volumes v using doomed where v.host_id = ${hostId} and v.name = doomed.name returning v.size_bytes, v.storage_id`)
  const local = removed.filter((row) => row.storage_id === null)
  if (local.length > 0) await claimSpace(tx, hostId, -local.reduce((sum, row) => sum + Number(row.size_bytes), 0))
  return removed.length
}

/** Last in a transaction: the host's row is shared by all its machines. */
export async function claimSpace(tx: Tx, hostId: string, bytes: number): Promise<void> {
  const claimed = await tx.run(sql`update simulated.hosts set disk_used_bytes = disk_used_bytes + ${bytes}::int8
    where host_id = ${hostId} and (${bytes}::int8 <= 0 or (not is_full and disk_used_bytes + ${bytes}::int8 <= disk_total_bytes))`)
  if (claimed === 0) throw new DriverError('no_space', `Simulated host ${hostId} has no ${Math.ceil(bytes / GIB)} GiB left on its disk`)
}

/** Volumes in a storage backend outlive the machine on this host. */
export const leaveInStorage = (tx: Tx, hostId: string, vmId: string): Promise<number> =>
  tx.run(sql`update simulated.volumes set host_id = storage_id where host_id = ${hostId} and vm_id = ${vmId} and storage_id is not null`)

/** They are listed by the host that has the machine now. `fromAnywhere`: also from a host that has not left them. */
export const takeFromStorage = (tx: Tx, hostId: string, vmId: string, storageId: string, fromAnywhere = false): Promise<number> =>
  tx.run(sql`
    update simulated.volumes set host_id = ${hostId}
    where vm_id = ${vmId} and storage_id = ${storageId} and (host_id = ${storageId} or ${fromAnywhere}) and host_id <> ${hostId}`)
