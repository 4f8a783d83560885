// The guests that prove backups, when each VM is due, and what was found out.
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'
import { releaseCapacity } from '../hosts/service.ts'

export type ProofRow = Row<'backup_proofs'>
export type ScreenshotRow = Row<'backup_screenshots'>

/** Every VM with backups at least once a month. */
const INTERVAL = '28d'
/** After an attempt that says nothing about the backup: its host was lost, or the room was needed. */
const RETRY = '6h'
/** Until another backup of a VM is tried, whose newest one failed. */
const NEXT_BACKUP = '1d'
/** So long nobody has to wait for a proof on a host. */
const PATIENCE = '1d'
/** A VM counts as overdue so long after its time. */
const OVERDUE = '7d'

/** When its first backup is made. */
export const scheduleFirst = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`
    insert into backup_proof_times (vm_id, next_at) select id, ${now} from vms where id = ${vmId} for key share on conflict do nothing`)

/** Those that have waited longest, and as many others by chance: where no host has room for the former, these are due until one has. */
export const dueVms = (db: Queries, now: Date, limit: number) =>
  db.many<{ vm_id: string; next_at: Date }>(sql`
    with due as (
      select vm_id, next_at from backup_proof_times t where next_at <= ${now} and not exists (select from backup_proofs p where p.vm_id = t.vm_id))
    select vm_id, next_at from (
      (select vm_id, next_at from due order by next_at, vm_id limit ${limit}) union (select vm_id, next_at from due order by random() limit ${limit})
    ) looked_at order by next_at, vm_id`)

/** The newest that has not failed before; null where it has none that can be restored. */
export const chooseBackup = (tx: Tx, vmId: string) =>
  tx.maybe<Pick<Row<'backups'>, 'id' | 'host_id' | 'os_template_id' | 'disk_gib' | 'verification'>>(sql`
    select id, host_id, os_template_id, disk_gib, verification from backups
    where vm_id = ${vmId} and status = 'AVAILABLE' and missing_since is null and not is_tombstone
    order by verification is not distinct from 'FAILED', completed_at desc, id desc limit 1`)

export const postpone = (tx: Tx, vmId: string, until: Date) =>
  tx.run(sql`update backup_proof_times set next_at = ${until} where vm_id = ${vmId}`)

export const nextDay = (now: Date): Date => addDuration(now, NEXT_BACKUP)
export const isPatient = (now: Date, nextAt: Date): boolean => now < addDuration(nextAt, PATIENCE)
export const retryAt = (now: Date): Date => addDuration(now, RETRY)

/** Hosts that have such a guest already, or do work that a customer waits for: on some there is always somebody's. */
export const occupiedHosts = async (tx: Tx, isPatient: boolean): Promise<Set<string>> =>
  new Set(
    (
      await tx.many<{ host_id: string }>(sql`
        select host_id from backup_proofs
        union select v.host_id from workflow_runs r join vms v on v.id = r.subject_id where ${isPatient} and ${isOpen} and v.host_id is not null`)
    ).map((row) => row.host_id),
  )

export const insertProof = (tx: Tx, row: ProofRow) =>
  tx.run(sql`
    insert into backup_proofs (id, backup_id, vm_id, host_id, run_id, vcpu, ram_mib, disk_gib, started_at)
    values (${row.id}, ${row.backup_id}, ${row.vm_id}, ${row.host_id}, ${row.run_id}, ${row.vcpu}, ${row.ram_mib}, ${row.disk_gib}, ${row.started_at})`)

/** Nothing of the guest is left: its room is free again. */
export async function endProof(tx: Tx, id: string): Promise<void> {
  const row = await tx.maybe<ProofRow>(sql`delete from backup_proofs where id = ${id} returning ${allColumns('backup_proofs')}`)
  if (row) await releaseCapacity(tx, row.host_id, { vcpu: row.vcpu, ramMiB: row.ram_mib, diskGiB: row.disk_gib })
}

/** Not as `exists`: joined, it would read all runs for the few proofs that there are, and usually none. */
const hasRun = sql`coalesce((select ${isOpen} from workflow_runs r where r.id = p.run_id), false)`

/** The backup was deleted meanwhile, or the room was given to a VM. */
export const unwantedProofs = (db: Queries) =>
  db.many<ProofRow>(sql`
    select ${allColumns('backup_proofs', 'p')} from backup_proofs p left join backups b on b.id = p.backup_id
    where ${hasRun} and (p.vcpu = 0 or b.id is null or b.is_tombstone or b.status not in ('AVAILABLE', 'RESTORING'))`)

/** Its run has ended and could not remove it. */
export const leftovers = (db: Queries) =>
  db.many<ProofRow & { is_host_removed: boolean }>(sql`
    select ${allColumns('backup_proofs', 'p')}, h.removed_at is not null as is_host_removed
    from backup_proofs p join hosts h on h.id = p.host_id where not ${hasRun}`)

export interface Verdict {
  verification: 'BOOTED' | 'RUNNING' | 'FAILED'
  reason: string | null
  restoreSeconds: number | null
  bootSeconds: number | null
}

/** Returns whether it had failed before, or nothing for a backup that was deleted meanwhile. */
export const recordVerdict = (tx: Tx, now: Date, backupId: string, verdict: Verdict) =>
  tx.maybe<{ had_failed: boolean }>(sql`
    with held as (select id, verification from backups where id = ${backupId} and status in ('AVAILABLE', 'RESTORING') and not is_tombstone for no key update)
    update backups b set verification = ${verdict.verification}, verification_error = ${verdict.reason},
      verified_at = case when ${verdict.verification} <> 'FAILED' then ${now}::timestamptz end,
      restore_seconds = ${verdict.restoreSeconds}::real, boot_seconds = ${verdict.bootSeconds}::real
    from held where b.id = held.id returning coalesce(held.verification = 'FAILED', false) as had_failed`)

export const whenNext = (now: Date, { verification }: Verdict, hadFailed: boolean): Date =>
  addDuration(now, verification === 'FAILED' && !hadFailed ? NEXT_BACKUP : INTERVAL)

/** For a backup that is still there. */
export const storeScreenshot = (db: Queries, now: Date, backupId: string, png: Buffer) =>
  db.run(sql`
    insert into backup_screenshots (backup_id, taken_at, png) select id, ${now}, ${png} from backups where id = ${backupId} for key share
    on conflict (backup_id) do update set taken_at = excluded.taken_at, png = excluded.png`)

export const findScreenshot = (db: Queries, backupId: string) =>
  db.maybe<ScreenshotRow>(sql`select ${allColumns('backup_screenshots')} from backup_screenshots where backup_id = ${backupId}`)

/** Backups that failed, and VMs whose backups nobody could try for a week. */
export const countTrouble = (db: Queries, now: Date) =>
  db.one<{ failed: number; overdue: number }>(sql`
    select (select count(*)::int from backups where verification = 'FAILED' and status in ('AVAILABLE', 'RESTORING')) as failed,
      (select count(*)::int from backup_proof_times where next_at <= ${subtractDuration(now, OVERDUE)}) as overdue`)
