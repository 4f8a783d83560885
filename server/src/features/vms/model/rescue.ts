// Rescues: a VM that cannot start from its own disk runs a rescue system beside it, from a disk of another generation. The row exists from the request
// on and holds the room of that disk; since `started_at` the VM is in rescue, and whatever starts its machine starts the rescue system.
import type { CloudInitData, MachineSpec, RescueSystem } from '../../../hypervisor/driver.ts'
import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { allColumns } from '../../../schema/columns.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import { releaseDisk, reserveDiskForATime } from '../../hosts/capacity.ts'
import { releaseStorage, reserveStorageForATime } from '../../storage/service.ts'

export type RescueRow = Row<'vm_rescues'>

/** As the full form of a VM shows it. */
export interface RescueShown {
  /** Timestamps as PostgreSQL writes them. */
  since: string
  ends_at: string
  user: string
}

/** How long one lasts. */
export const RESCUE_LASTS = '24h'

/** Of the VM with this id. */
export const isInRescue = (vmId: Sql): Sql => sql`exists (select from vm_rescues e where e.vm_id = ${vmId} and e.started_at is not null)`

export const rescueAsJson = (vmId: Sql): Sql => sql`
  (select json_build_object('since', e.started_at, 'ends_at', e.ends_at, 'user', o.default_user)
    from vm_rescues e join os_templates o on o.id = e.template_id where e.vm_id = ${vmId} and e.started_at is not null)`

export const findRescue = (db: Queries, vmId: string) =>
  db.maybe<RescueRow>(sql`select ${allColumns('vm_rescues')} from vm_rescues where vm_id = ${vmId}`)

type NewRescue = Pick<RescueRow, 'vm_id' | 'generation' | 'template_id' | 'gib' | 'host_id' | 'storage_id'>

/** Books the room of its disk where the disk of the VM is, from what is not for sale too: it is needed now, and for a day at most. */
export async function reserveRescue(tx: Tx, { host_id, storage_id, gib, ...row }: NewRescue): Promise<void> {
  const isReserved = storage_id === null ? await reserveDiskForATime(tx, host_id!, gib) : await reserveStorageForATime(tx, storage_id, gib)
  if (!isReserved)
    throw apiError('no_capacity', `The rescue system takes ${gib} GiB, and there is no room for that at the moment: try again later`)
  await tx.run(sql`
    insert into vm_rescues (vm_id, generation, template_id, gib, host_id, storage_id)
    values (${row.vm_id}, ${row.generation}, ${row.template_id}, ${gib}, ${storage_id === null ? host_id : null}, ${storage_id})`)
}

export const markInRescue = (tx: Tx, vmId: string, since: Date, endsAt: Date) =>
  tx.run(sql`update vm_rescues set started_at = ${since}, ends_at = ${endsAt} where vm_id = ${vmId}`)

/** Of one that failed, or has ended; its disk is removed, or stale. False where there is none. Whoever deletes the row gives its room back, so that happens once. */
export async function releaseRescue(tx: Tx, vmId: string): Promise<boolean> {
  const room = await tx.maybe<Pick<RescueRow, 'gib' | 'host_id' | 'storage_id'>>(
    sql`delete from vm_rescues where vm_id = ${vmId} returning gib, host_id, storage_id`,
  )
  if (!room) return false
  const { gib, host_id, storage_id } = room
  await (storage_id === null ? releaseDisk(tx, new Map([[host_id!, gib]])) : releaseStorage(tx, storage_id, gib))
  return true
}

/** Those of idle VMs whose time is over, and whose end is not tried again only later. */
export const overdueRescues = (db: Queries, now: Date) =>
  db.many<{ vm_id: NotNull<string> }>(sql`
    select e.vm_id from vm_rescues e join vms v on v.id = e.vm_id
    where e.ends_at <= ${now} and coalesce(e.next_attempt_at, e.ends_at) <= ${now}
      and v.status in ('RUNNING', 'STOPPED', 'SUSPENDED', 'ERROR') and v.host_id is not null
    order by e.ends_at, e.vm_id limit 500`)

export const postponeRescueEnd = (tx: Tx, vmId: string, until: Date) =>
  tx.run(sql`update vm_rescues set next_attempt_at = ${until} where vm_id = ${vmId}`)

/** Of the disk that the rescue system starts from, as a disk of its own for the driver. */
export const rescueDisk = (
  spec: MachineSpec,
  { generation, template }: RescueSystem,
  diskGiB: number,
  seed: CloudInitData,
): MachineSpec => ({
  ...spec,
  generation,
  template,
  diskGiB,
  seed,
  volumes: [],
  rescue: undefined,
})
