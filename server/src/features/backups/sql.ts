import { json, sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import type { Consistency } from '../../hypervisor/driver.ts'
import { isOpen } from '../../workflow/run-store.ts'
import { selectedBy, type Labels } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { CountedCopy } from '../vms/service.ts'

/** The name of the workflow. */
export const VM_FROM_BACKUP = 'vm.provision_from_backup'
/** The name of the workflow of images, which reads backups too. */
export const CREATE_IMAGE = 'image.create'

export type BackupRow = Row<'backups'> & {
  /** Null when the VM is deleted. */
  vm_host_id: string | null
  vm_disk_gib: number | null
  has_screenshot: boolean
}

const ofVm = (column: Sql): Sql => sql`(select ${column} from vms v where v.id = b.vm_id)`
const row = sql`${allColumns('backups', 'b')}, ${ofVm(sql`v.host_id`)} as vm_host_id, ${ofVm(sql`v.disk_gib`)} as vm_disk_gib,
  exists (select from backup_screenshots s where s.backup_id = b.id) as has_screenshot`

export type NewBackup = Pick<
  BackupRow,
  | 'id'
  | 'vm_id'
  | 'account_id'
  | 'os_template_id'
  | 'name'
  | 'labels'
  | 'type'
  | 'parent_id'
  | 'host_id'
  | 'target_id'
  | 'staging_host_id'
  | 'counted_gib'
  | 'disk_gib'
  | 'run_id'
  | 'created_at'
>

export const insertBackup = (tx: Tx, made: NewBackup) =>
  tx.one<BackupRow>(sql`
    insert into backups as b (id, vm_id, account_id, os_template_id, name, labels, type, parent_id, host_id, target_id, staging_host_id, counted_gib,
      disk_gib, run_id, created_at)
    values (${made.id}, ${made.vm_id}, ${made.account_id}, ${made.os_template_id}, ${made.name}, ${json(made.labels)}, ${made.type}, ${made.parent_id},
      ${made.host_id}, ${made.target_id}, ${made.staging_host_id}, ${made.counted_gib}, ${made.disk_gib}, ${made.run_id}, ${made.created_at})
    returning ${row}`)

export const findBackup = (db: Queries, vmId: string, id: string) =>
  db.maybe<BackupRow>(sql`select ${row} from backups b where id = ${id} and vm_id = ${vmId} and not is_tombstone`)

export const findOwnBackup = (db: Queries, accountId: string, id: string) =>
  db.maybe<BackupRow>(sql`select ${row} from backups b where id = ${id} and account_id = ${accountId} and not is_tombstone`)

/** It does not expire meanwhile. */
export const lockBackup = (tx: Tx, id: string) =>
  tx.maybe<BackupRow>(sql`select ${row} from backups b where id = ${id} and not is_tombstone for share of b`)

const listed = (vmId: string, labelSelector: string | undefined) =>
  sql`b.vm_id = ${vmId} and not b.is_tombstone ${selectedBy(sql`b.labels`, labelSelector)}`

export const listBackups = (db: Queries, vmId: string, labelSelector: string | undefined, range: PageRange) =>
  db.many<BackupRow>(sql`select ${row} from backups b where ${listed(vmId, labelSelector)} ${newestFirst(sql`id`, range)}`)

export const countBackups = async (db: Queries, vmId: string, labelSelector: string | undefined): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from backups b where ${listed(vmId, labelSelector)}`)).count)

/** What is null stays. */
export const describeBackup = (tx: Tx, vmId: string, id: string, name: string | null, labels: Labels | null) =>
  tx.maybe<BackupRow>(sql`
    update backups b set name = coalesce(${name}, name), labels = coalesce(${labels && json(labels)}::jsonb, labels)
    where id = ${id} and vm_id = ${vmId} and not is_tombstone returning ${row}`)

export const countManual = async (tx: Tx, vmId: string): Promise<number> =>
  Number(
    (await tx.one<{ count: bigint }>(sql`select count(*) from backups where vm_id = ${vmId} and type = 'MANUAL' and status <> 'DELETING'`))
      .count,
  )

/** Failed on-demand backups since then. */
export const countFailures = async (tx: Tx, vmId: string, since: Date): Promise<number> =>
  Number(
    (
      await tx.one<{ count: bigint }>(
        sql`select count(*) from backups where vm_id = ${vmId} and type = 'MANUAL' and status = 'FAILED' and created_at > ${since}`,
      )
    ).count,
  )

/** The newest restorable daily backup of a VM: its host has the complete chain. */
export const latestDaily = (tx: Tx, vmId: string) =>
  tx.maybe<BackupRow>(sql`
    with recursive broken as (
      select id from backups where vm_id = ${vmId} and (status = 'FAILED' or missing_since is not null)
      union select c.id from backups c join broken p on p.id = c.parent_id)
    select ${row} from backups b
    where vm_id = ${vmId} and type = 'DAILY' and status = 'AVAILABLE' and id not in (select id from broken)
    order by completed_at desc, id desc limit 1`)

/** By VM of a destroyed host: the newest that does not depend on that host. `holder`: the host that stores it, if it is unreachable. */
export const newestOutside = (db: Queries, hostId: string, vmId: string | null = null) =>
  db.many<BackupRow & { unreachable_holder: string | null }>(sql`
    with recursive broken as (
      select b.id from backups b join vms v on v.id = b.vm_id
      where v.host_id = ${hostId} and (b.status = 'FAILED' or b.missing_since is not null or b.host_id = ${hostId})
      union select c.id from backups c join broken p on p.id = c.parent_id)
    select distinct on (b.vm_id) ${row},
      (select h.name from hosts h where h.id = b.host_id and h.unreachable_since is not null) as unreachable_holder
    from backups b
    where b.vm_id in (select id from vms where host_id = ${hostId} and (${vmId}::text is null or id = ${vmId}))
      and b.status in ('AVAILABLE', 'RESTORING') and not b.is_tombstone and b.id not in (select id from broken)
    order by b.vm_id, coalesce(b.started_at, b.created_at) desc, b.id desc`)

/** On a destroyed host, dependents first; none that a run works on. */
export const idleOn = (db: Queries, hostId: string) =>
  db.many<BackupRow>(sql`select ${row} from backups b where b.host_id = ${hostId} and not ${isUnderWay} order by b.depth desc, b.id`)

/** The backup and all its ancestors, oldest first. */
export const chainOf = (db: Queries, id: string) =>
  db.many<BackupRow>(sql`
    with recursive chain as (
      select id, parent_id from backups where id = ${id}
      union all select p.id, p.parent_id from backups p join chain c on p.id = c.parent_id)
    select ${row} from backups b join chain using (id) order by b.depth`)

export const markRunning = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update backups set status = 'RUNNING', started_at = ${now} where id = ${id} and status = 'PENDING'`)

export const setPrice = (tx: Tx, id: string, cents: bigint) => tx.run(sql`update backups set price_cents = ${cents} where id = ${id}`)

interface Made {
  sizeBytes: number
  parentId: string | null
  /** Undefined in the journal of a run that an older release began. */
  consistency?: Consistency
  checksum: string | null
}

export const markAvailable = (tx: Tx, now: Date, id: string, made: Made) =>
  tx.one<BackupRow>(sql`
    update backups b set status = 'AVAILABLE', size_bytes = ${made.sizeBytes}, parent_id = ${made.parentId}, completed_at = ${now},
      checksum = ${made.checksum}, consistency = ${made.consistency ?? null},
      depth = coalesce((select p.depth + 1 from backups p where p.id = ${made.parentId}), 0)
    where id = ${id} returning ${row}`)

/**
 * A failed backup has no data and needs no parent. After a failed cleanup it keeps its parent, because data on the host may depend on
 * that.
 */
export const markFailed = (tx: Tx, id: string, error: string, cleanupFailed: boolean) =>
  tx.one<BackupRow>(sql`
    update backups b set status = 'FAILED', error = ${error}, parent_id = case when ${cleanupFailed} then parent_id end
    where id = ${id} returning ${row}`)

export const markRestoring = (tx: Tx, id: string, runId: string) =>
  tx.run(sql`update backups set status = 'RESTORING', run_id = ${runId} where id = ${id}`)

/** A backup that was deleted during its restore stays DELETING. */
export const endRestoring = (tx: Tx, id: string) =>
  tx.one<BackupRow>(sql`
    update backups b set status = case when status = 'RESTORING' then 'AVAILABLE' else status end where id = ${id} returning ${row}`)

export const markDeleting = (tx: Queries, id: string, reason: string) =>
  tx.run(sql`update backups set status = 'DELETING', delete_reason = ${reason} where id = ${id}`)

export const findById = (tx: Tx, id: string) => tx.maybe<BackupRow>(sql`select ${row} from backups b where id = ${id}`)

export const isVmBeingDeleted = async (tx: Tx, vmId: string): Promise<boolean> =>
  (await tx.maybe(sql`select from workflow_runs r where r.subject_id = ${vmId} and r.name = 'vm.delete' and ${isOpen} limit 1`)) !==
  undefined

export const hasDaily = async (tx: Tx, vmId: string): Promise<boolean> =>
  (await tx.maybe(sql`select from backups where vm_id = ${vmId} and type = 'DAILY' and status in ('AVAILABLE', 'RESTORING') limit 1`)) !==
  undefined

/** Newest first. */
export const listDaily = (tx: Tx, vmId: string) =>
  tx.many<Pick<BackupRow, 'id'> & { completed_at: NotNull<Date> }>(sql`
    select id, completed_at from backups where vm_id = ${vmId} and type = 'DAILY' and status = 'AVAILABLE' order by completed_at desc, id desc`)

export const expire = (tx: Tx, ids: string[]) =>
  tx.run(sql`update backups set status = 'DELETING', delete_reason = 'Expired' where id = any(${ids}::text[])`)

export interface Kept {
  id: string
  expiresAt: Date
  isExtra: boolean
}

export const setKept = (tx: Tx, kept: Kept[]) =>
  tx.run(sql`
    update backups b set expires_at = k.expires_at, is_extra = k.is_extra
    from unnest(${kept.map(({ id }) => id)}::text[], ${kept.map(({ expiresAt }) => expiresAt)}::timestamptz[],
      ${kept.map(({ isExtra }) => isExtra)}::boolean[]) as k(id, expires_at, is_extra)
    where b.id = k.id and (b.expires_at, b.is_extra) is distinct from (k.expires_at, k.is_extra)`)

/** A new attempt replaces the failed ones. */
export const retireFailed = (tx: Tx, vmId: string) =>
  tx.run(sql`update backups set status = 'DELETING' where vm_id = ${vmId} and type = 'DAILY' and status = 'FAILED'`)

/** Expires daily backups of VMs that have them switched off. */
export const expireUnwanted = (db: Queries, now: Date) =>
  db.run(sql`
    update backups b set status = 'DELETING', delete_reason = 'Expired' from vms v
    where v.id = b.vm_id and not v.daily_backup and b.type = 'DAILY' and b.status = 'AVAILABLE' and b.expires_at <= ${now}`)

/** The run that makes or restores it, or one that makes a VM or an image from it. */
const isUnderWay = sql`(exists (select from workflow_runs r where r.id = b.run_id and ${isOpen})
  or exists (select from workflow_runs r where r.name in (${VM_FROM_BACKUP}, ${CREATE_IMAGE}) and r.input ->> 'backupId' = b.id and ${isOpen}))`
const isBuiltOn = sql`exists (select from backups c where c.parent_id = b.id)`

/** Deleted, or a tombstone whose data is missing: its dependents have failed, and its owner has already deleted it. As the index `backups_unwanted` says. */
const isUnwanted = sql`(b.status = 'DELETING' or b.status = 'FAILED' and b.is_tombstone)`

const removable = (now: Date): Sql => sql`
  ${isUnwanted} and (b.next_try_at is null or b.next_try_at <= ${now}) and not ${isBuiltOn} and not ${isUnderWay}`

export const hostsWithRemovals = (db: Queries, now: Date) =>
  db.many<{ host_id: string }>(sql`
    select distinct h.id as host_id from backups b join hosts h on h.id = b.host_id
    where h.removed_at is null and ${isUnwanted} and (${removable(now)} or (b.status = 'DELETING' and not b.is_tombstone and ${isBuiltOn}))`)

export const nextRemovable = (db: Queries, hostId: string, now: Date) =>
  db.maybe<BackupRow>(sql`
    select ${row} from backups b where b.host_id = ${hostId} and ${removable(now)} order by b.depth desc, b.id limit 1`)

/** In targets no backup is a layer on another. */
export const repositoriesWithRemovals = (db: Queries, now: Date) =>
  db.many<{ id: string }>(sql`
    select r.id from backup_repositories r where (r.claimed_until is null or r.claimed_until <= ${now}) and r.id in (
      select id from backup_repositories where sweep_at <= ${now}
      union all select o.id from backups b join backup_repositories o on o.target_id = b.target_id and o.vm_id = b.vm_id where ${removable(now)})`)

export const removableIn = (db: Queries, targetId: string, vmId: string, now: Date) =>
  db.many<BackupRow>(sql`
    select ${row} from backups b where b.target_id = ${targetId} and b.vm_id = ${vmId} and ${removable(now)} order by b.id`)

/** Failed where nothing could be removed any more: what they left is of no use, and holds up the removal of everything else. */
export const failedIn = async (db: Queries, targetId: string, vmId: string): Promise<string[]> =>
  (
    await db.many<{ id: string }>(sql`
      select id from backups b where b.target_id = ${targetId} and b.vm_id = ${vmId} and b.status = 'FAILED' and not ${isUnderWay}`)
  ).map(({ id }) => id)

export const hasBackupsIn = async (db: Queries, targetId: string, vmId: string): Promise<boolean> =>
  (await db.maybe(sql`select from backups where target_id = ${targetId} and vm_id = ${vmId} limit 1`)) !== undefined

export const postpone = (db: Queries, id: string, until: Date) => db.run(sql`update backups set next_try_at = ${until} where id = ${id}`)

export const deletedWithChildren = (db: Queries, hostId: string) =>
  db.many<BackupRow>(sql`
    select ${row} from backups b
    where b.host_id = ${hostId} and b.status = 'DELETING' and not b.is_tombstone and ${isBuiltOn} and not ${isUnderWay}`)

/** Returns nothing when a concurrent process has hidden or deleted the backup first. */
export const hide = (tx: Tx, id: string) =>
  tx.maybe<BackupRow>(
    sql`update backups b set is_tombstone = true where id = ${id} and status = 'DELETING' and not is_tombstone returning ${row}`,
  )

export const deleteBackup = (tx: Tx, id: string) => tx.maybe<BackupRow>(sql`delete from backups b where id = ${id} returning ${row}`)

/** The backups count no longer; returns what they took. */
const uncount = (tx: Tx, which: Sql) =>
  tx.many<CountedCopy>(sql`
    with held as (select ${allColumns('backups')} from backups where ${which} and (counted_gib > 0 or price_cents > 0) order by id for no key update)
    update backups b set counted_gib = 0, price_cents = 0, staging_host_id = null from held where b.id = held.id
    returning held.vm_id, held.account_id, held.counted_gib, case when held.is_tombstone then 0 else held.counted_gib end as quota_gib,
      held.price_cents,
      array_remove(array[held.host_id, held.staging_host_id], null) as host_ids, null::text as storage_id`)

export const uncountBackups = (tx: Tx, ids: string[]) => uncount(tx, sql`id = any(${ids}::text[])`)
export const uncountBeside = (tx: Tx, vmId: string, hostId: string | null) => uncount(tx, sql`vm_id = ${vmId} and host_id = ${hostId}`)

/**
 * A finished backup needs no room on the host it was made on. A daily one counts as its size from now on. Returns what it took more.
 */
export async function recount(
  tx: Tx,
  id: string,
): Promise<{ quotaGib: number; rooms: Map<string, number> } & Pick<BackupRow, 'account_id'>> {
  const made = await tx.one<
    Pick<BackupRow, 'account_id' | 'host_id'> & { staging_host_id: string | null; before: number; after: number }
  >(sql`
    with held as (select id, account_id, host_id, staging_host_id, counted_gib from backups where id = ${id} for no key update)
    update backups b set staging_host_id = null, counted_gib = case when b.type = 'DAILY'
        then least(b.counted_gib, greatest(ceil(b.size_bytes / 1073741824.0)::int, 1)) else b.counted_gib end
    from held where b.id = held.id
    returning held.account_id, held.host_id, held.staging_host_id, held.counted_gib as before, b.counted_gib as after`)
  const rooms = new Map<string, number>()
  if (made.host_id !== null) rooms.set(made.host_id, made.before - made.after)
  if (made.staging_host_id !== null) rooms.set(made.staging_host_id, made.before)
  return { account_id: made.account_id, quotaGib: made.before - made.after, rooms }
}

/** Daily backups in a target count as what they hold there, which is more once others are gone that had it first. Returns how much more. */
export async function recountHeld(
  tx: Tx,
  vmId: string,
  gibById: Map<string, number>,
): Promise<{ account_id: string; gib: number } | undefined> {
  return tx.maybe<{ account_id: string; gib: number }>(sql`
    with held as (
        select b.id, b.account_id, b.counted_gib, h.gib
        from backups b join unnest(${[...gibById.keys()]}::text[], ${[...gibById.values()]}::int[]) as h(id, gib) on h.id = b.id
        where b.vm_id = ${vmId} and b.type = 'DAILY' and b.status in ('AVAILABLE', 'RESTORING') and b.counted_gib <> h.gib
        order by b.id for no key update of b),
      changed as (update backups b set counted_gib = held.gib from held where b.id = held.id)
    select account_id, sum(gib - counted_gib)::int as gib from held group by account_id`)
}

/** What the backups of the VM on hosts count in its account's quota. Those in targets count until they are gone: object lock may keep them. */
export const countedOfVm = async (tx: Tx, vmId: string): Promise<number> =>
  (
    await tx.one<{ gib: number }>(
      sql`select coalesce(sum(counted_gib), 0)::int as gib from backups where vm_id = ${vmId} and target_id is null and not is_tombstone`,
    )
  ).gib

/** Backups on the host of a deleted VM were removed with it; others are marked for purging. Those in targets count until they are gone. */
export async function detachFromVm(tx: Tx, vmId: string, hostId: string | null): Promise<void> {
  await tx.run(sql`delete from backups where vm_id = ${vmId} and host_id = ${hostId}`)
  await tx.run(sql`
    update backups set status = 'DELETING', delete_reason = 'Its VM was deleted', is_tombstone = target_id is null, next_try_at = null,
      price_cents = 0 where vm_id = ${vmId}`)
}
