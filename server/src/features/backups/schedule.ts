// When daily backups are due. Every VM has its own moment of the night, so that a host is not asked for all of them at once.
import { crc32 } from 'node:zlib'
import { addDuration, parseDurationMs } from '../../kernel/clock.ts'
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'

const DAY_MS = parseDurationMs('1d')
const NIGHT_BEGINS_MS = parseDurationMs('22h')
const NIGHT_SECONDS = parseDurationMs('8h') / 1000
/** A try that succeeded this shortly before the next one is due counts for that too. */
const APART = '6h'

/** The VM's moment between 22:00 and 06:00 UTC that comes next. */
export function nextBackupTime(vmId: string, from: Date): Date {
  const moment = NIGHT_BEGINS_MS + (crc32(vmId) % NIGHT_SECONDS) * 1000
  const since = (from.getTime() - moment) % DAY_MS
  return new Date(from.getTime() + DAY_MS - ((since + DAY_MS) % DAY_MS))
}

/** VMs that want daily backups and have no time for them yet, or missed theirs by a day. */
export async function scheduleDailyBackups(db: Queries, now: Date): Promise<void> {
  const vms = await db.many<{ id: string }>(sql`
    select v.id from vms v left join backup_schedules s on s.vm_id = v.id
    where v.daily_backup and v.provisioned and (s.vm_id is null or s.next_at <= ${new Date(now.getTime() - DAY_MS)}) limit 5000`)
  const nights = vms.map(({ id }) => nextBackupTime(id, now))
  await db.run(sql`
    insert into backup_schedules (vm_id, next_at)
    select id, at from unnest(${vms.map(({ id }) => id)}::text[], ${nights}::timestamptz[]) as n(id, at) join vms v using (id) order by id
    on conflict (vm_id) do update set next_at = excluded.next_at`)
}

/** Plans nothing for a VM that is gone, and waits for whoever is about to delete it. */
export const scheduleNext = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`
    insert into backup_schedules (vm_id, next_at) select id, ${nextBackupTime(vmId, addDuration(now, APART))} from vms where id = ${vmId} for key share
    on conflict (vm_id) do update set next_at = excluded.next_at, failures = 0`)

/** After half an hour, one hour, two, then every four. */
export const scheduleRetry = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`
    update backup_schedules set failures = least(failures + 1, 4), next_at = ${now}::timestamptz + interval '30 minutes' * 2 ^ least(failures, 3)
    where vm_id = ${vmId}`)

export const planAfterCancel = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`update backup_schedules set next_at = ${addDuration(now, '30m')} where vm_id = ${vmId}`)

/** Tries in a row. */
export const failuresOf = async (tx: Tx, vmId: string): Promise<number> =>
  (await tx.one<{ failures: number }>(sql`select failures from backup_schedules where vm_id = ${vmId}`)).failures

export interface DueVm {
  id: string
  account_id: string
}

/** Idle VMs whose time has come, as many as their hosts should copy at once. With `vmId`: whether that one still is. */
export const dueVms = (db: Queries, now: Date, atOnce: number, vmId: string | null = null) =>
  db.many<DueVm>(sql`
    select id, account_id from (
      select v.id, v.account_id, row_number() over (partition by v.host_id order by s.next_at, v.id) as turn,
        (select count(*) from backups b join vms w on w.id = b.vm_id
          where w.host_id = v.host_id and b.type = 'DAILY' and b.status in ('PENDING', 'RUNNING')) as running
      from backup_schedules s join vms v on v.id = s.vm_id join hosts h on h.id = v.host_id
      where s.next_at <= ${now} and (${vmId}::text is null or v.id = ${vmId}) and v.daily_backup and v.provisioned and v.status in ('RUNNING', 'STOPPED')
        and h.unreachable_since is null
        and not exists (select from stale_machines l where l.host_id = v.host_id and l.vm_id = v.id) -- it is put right first
        and not exists (select from workflow_runs r where r.subject_id = v.id and (r.status in ('PENDING', 'RUNNING') or r.compensating))) due
    where turn + running <= ${atOnce}`)
