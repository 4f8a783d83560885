import { sql, type NotNull, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { payingTogether, type KeptGib } from '../accounts/service.ts'

export type TargetRow = Row<'backup_targets'>

const row = allColumns('backup_targets', 't')

/** Nothing where the region has one already. */
export const insertTarget = (tx: Tx, target: TargetRow) =>
  tx.run(sql`
    insert into backup_targets (id, region_id, kind, endpoint, bucket, prefix, region_name, access_key, secret_key, bandwidth_mib, lock_days,
      created_at)
    values (${target.id}, ${target.region_id}, ${target.kind}, ${target.endpoint}, ${target.bucket}, ${target.prefix}, ${target.region_name},
      ${target.access_key}, ${target.secret_key}, ${target.bandwidth_mib}, ${target.lock_days}, ${target.created_at})
    on conflict (region_id) do nothing`)

export const updateTarget = (tx: Tx, target: TargetRow) =>
  tx.run(sql`
    update backup_targets set endpoint = ${target.endpoint}, bucket = ${target.bucket}, prefix = ${target.prefix},
      region_name = ${target.region_name}, access_key = ${target.access_key}, secret_key = ${target.secret_key},
      bandwidth_mib = ${target.bandwidth_mib}, lock_days = ${target.lock_days}
    where id = ${target.id}`)

export const deleteTarget = (tx: Tx, id: string) => tx.run(sql`delete from backup_targets where id = ${id}`)

export const listTargets = (db: Queries) =>
  db.many<TargetRow & { region_slug: string }>(sql`
    select ${row}, r.slug as region_slug from backup_targets t join regions r on r.id = t.region_id order by r.position, r.slug`)

export const findTargetOfRegion = (db: Queries, regionId: string) =>
  db.maybe<TargetRow>(sql`select ${row} from backup_targets t where t.region_id = ${regionId}`)

export const findTarget = (db: Queries, id: string) => db.maybe<TargetRow>(sql`select ${row} from backup_targets t where t.id = ${id}`)

export const countBackupsIn = async (tx: Tx, id: string): Promise<number> =>
  Number((await tx.one<{ count: bigint }>(sql`select count(*) from backups where target_id = ${id}`)).count)

/** Backups that customers can restore, their images and those of OS templates, and the disks of shelved VMs. */
export const restorableIn = (db: Queries, id: string) =>
  db.many<{ id: string; vm_id: string; checksum: string | null }>(sql`
    select id, vm_id, checksum from backups where target_id = ${id} and status in ('AVAILABLE', 'RESTORING')
    union all select c.image_id, 'image-' || c.image_id, c.checksum from image_copies c
    where c.target_id = ${id} and c.stored_at is not null and (exists (select from images i where i.id = c.image_id and i.status = 'AVAILABLE')
      or exists (select from os_templates o where o.account_id is null and o.checksum = 'sha256:' || c.image_id))
    union all select id, vm_id, checksum from shelved_disks where target_id = ${id} and checksum is not null and not is_unwanted order by 1`)

export type RepositoryRow = Row<'backup_repositories'>

const repository = allColumns('backup_repositories')

export const ensureRepository = (
  tx: Tx,
  { id, target_id, vm_id, account_id, created_at }: Pick<RepositoryRow, 'id' | 'target_id' | 'vm_id' | 'account_id' | 'created_at'>,
) =>
  tx.run(sql`
    insert into backup_repositories (id, target_id, vm_id, account_id, created_at)
    values (${id}, ${target_id}, ${vm_id}, ${account_id}, ${created_at})
    on conflict (target_id, vm_id) do nothing`)

export const findRepository = (db: Queries, targetId: string, vmId: string) =>
  db.maybe<RepositoryRow>(sql`select ${repository} from backup_repositories where target_id = ${targetId} and vm_id = ${vmId}`)

export const scheduleSweep = (db: Queries, targetId: string, vmId: string, at: Date) =>
  db.run(sql`update backup_repositories set sweep_at = ${at} where target_id = ${targetId} and vm_id = ${vmId}`)

/** Nothing while another process has it. */
export const claimRepository = (db: Queries, id: string, now: Date, until: Date) =>
  db.maybe<RepositoryRow>(sql`
    update backup_repositories set claimed_until = ${until} where id = ${id} and (claimed_until is null or claimed_until <= ${now})
    returning ${repository}`)

/**
 * What nobody needs any more and is kept, by object lock or until an upload ends: all of it, and the GiB that are of no backup, which count in the quota of the account. Returns how
 * many more these are. Chunks are locked for twice the days from when they were needed last.
 */
export const setLocked = (tx: Tx, now: Date, id: string, bytes: number, gib: number) =>
  tx.maybe<{ account_id: string | null; gib: number }>(sql`
    with held as (
      select r.id, r.locked_gib, t.lock_days from backup_repositories r join backup_targets t on t.id = r.target_id
      where r.id = ${id} for no key update of r)
    update backup_repositories r set locked_bytes = ${bytes}, locked_gib = case when r.account_id is null then 0 else ${gib}::int end,
      locked_until = case when ${gib} > held.locked_gib then ${now}::timestamptz + held.lock_days * interval '2 days' else r.locked_until end
    from held where r.id = held.id returning r.account_id, r.locked_gib - held.locked_gib as gib`)

/** What an account and its projects have deleted in backup targets and object lock keeps, and when the first of it is free at the latest. */
export const lockedOf = (db: Queries, accountId: string) =>
  db.one<KeptGib>(sql`
    select coalesce(sum(gib), 0)::int as gib, min(until) as until from (
      select r.locked_gib as gib, r.locked_until as until from backup_repositories r where r.account_id in ${payingTogether(sql`${accountId}`)} and r.locked_gib > 0 and r.locked_until is not null
      union all select b.counted_gib, coalesce(b.completed_at, b.created_at) + t.lock_days * interval '2 days'
      from backups b join backup_targets t on t.id = b.target_id
      where b.account_id in ${payingTogether(sql`${accountId}`)} and b.status = 'DELETING' and t.lock_days is not null) kept`)

/** What was deleted and object lock keeps: backups of VMs that are gone, and everything, images too. */
export const lockedByTarget = (db: Queries) =>
  db.many<{ target_id: string; region_slug: string; backups: number; bytes: bigint }>(sql`
    select t.id as target_id, r.slug as region_slug,
      (select count(*)::int from backups b where b.target_id = t.id and b.status = 'DELETING' and not exists (select from vms v where v.id = b.vm_id)) as backups,
      (coalesce((select sum(locked_bytes) from backup_repositories o where o.target_id = t.id), 0)
        + coalesce((select sum(locked_bytes) from image_copies c where c.target_id = t.id), 0))::int8 as bytes
    from backup_targets t join regions r on r.id = t.region_id order by r.position, r.slug`)

/** A sweep that was requested since it was claimed stays requested. */
export const releaseRepository = (db: Queries, { id, sweep_at }: RepositoryRow, sweepAt: Date | null) =>
  db.run(sql`
    update backup_repositories set claimed_until = null,
      sweep_at = case when sweep_at is distinct from ${sweep_at}::timestamptz then sweep_at else ${sweepAt}::timestamptz end
    where id = ${id}`)

export const scheduleSweepsOfVm = (tx: Tx, vmId: string, at: Date) =>
  tx.run(sql`update backup_repositories set sweep_at = ${at} where vm_id = ${vmId}`)

export const deleteRepository = (db: Queries, id: string) => db.run(sql`delete from backup_repositories where id = ${id}`)

/** Of a target without backups. Returns what counted. */
export const deleteRepositoriesIn = (tx: Tx, targetId: string) =>
  tx.many<{ account_id: NotNull<string>; gib: number }>(sql`
    with deleted as (delete from backup_repositories where target_id = ${targetId} returning account_id, locked_gib)
    select account_id, sum(locked_gib)::int as gib from deleted where locked_gib > 0 group by account_id order by account_id`)
