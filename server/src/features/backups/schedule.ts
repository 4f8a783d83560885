// Schedules daily backups. Each VM has its own time of night, derived from its id, which spreads the load on its host.
import { crc32 } from 'node:zlib'
import { addDuration, parseDurationMs } from '../../kernel/clock.ts'
import { sql, type Db, type Queries, type Tx } from '../../kernel/database/db.ts'
import { hasOpenRun } from '../../workflow/run-store.ts'
import { backupPolicyOf, isStale } from '../vms/service.ts'

const DAY_MS = parseDurationMs('1d')
const HOUR_MS = parseDurationMs('1h')
const NIGHT_BEGINS_MS = parseDurationMs('22h')
const NIGHT_SECONDS = parseDurationMs('8h') / 1000
/** A backup that succeeded less than this before the next due time also counts for that one. */
const APART = '6h'

/** The VM's next time within the hour, or between 22:00 and 06:00 UTC. */
export function nextBackupTime(vmId: string, from: Date, hour: number | null = null): Date {
  const [begins, seconds] = hour === null ? [NIGHT_BEGINS_MS, NIGHT_SECONDS] : [hour * HOUR_MS, HOUR_MS / 1000]
  const moment = begins + (crc32(vmId) % seconds) * 1000
  const since = (from.getTime() - moment) % DAY_MS
  return new Date(from.getTime() + DAY_MS - ((since + DAY_MS) % DAY_MS))
}

/** Who was due before is not any more, but scheduled anew: it missed its time by a day, or has daily backups since, or another hour (`reschedule_backups`). */
const missedSince = (now: Date): Date => new Date(now.getTime() - DAY_MS)

export const scheduleDailyBackups = (db: Db, now: Date): Promise<void> =>
  db.tx(async (tx) => {
    const held = await tx.many<{ vm_id: string }>(sql`
      select s.vm_id from backup_schedules s join vms v on v.id = s.vm_id where s.next_at <= ${missedSince(now)} and v.provisioned
      order by s.next_at, s.vm_id limit 5000 for no key update of s skip locked`)
    if (held.length === 0) return
    // Read under the lock: who changes the hour waits for it.
    const vms = await tx.many<{ id: string; daily_backup: boolean; hour: number | null; done_at: Date | null }>(sql`
      select v.id, v.daily_backup, p.hour, s.done_at
      from backup_schedules s join vms v on v.id = s.vm_id left join backup_policies p on p.vm_id = s.vm_id
      where s.vm_id = any(${held.map(({ vm_id }) => vm_id)}::text[])`)
    const times = vms.map(({ id, daily_backup, hour, done_at }) => {
      const apart = done_at && addDuration(done_at, APART)
      return daily_backup ? nextBackupTime(id, apart && apart > now ? apart : now, hour) : null
    })
    await tx.run(sql`
      update backup_schedules s set next_at = coalesce(n.at, 'infinity'), hour = n.hour
      from unnest(${vms.map(({ id }) => id)}::text[], ${times}::timestamptz[], ${vms.map(({ hour }) => hour)}::int[]) as n(id, at, hour)
      where s.vm_id = n.id`)
  })

/** Skips a deleted VM; the row lock waits for a concurrent deletion. */
export async function scheduleNext(tx: Tx, now: Date, vmId: string): Promise<void> {
  const { hour } = await backupPolicyOf(tx, vmId)
  const at = nextBackupTime(vmId, addDuration(now, APART), hour)
  await tx.run(sql`
    insert into backup_schedules (vm_id, next_at, hour, done_at) select id, ${at}, ${hour}, ${now} from vms where id = ${vmId} for key share
    on conflict (vm_id) do update set next_at = excluded.next_at, hour = excluded.hour, done_at = excluded.done_at, failures = 0`)
}

/** Backoff: half an hour, one hour, two, then every four. */
export const scheduleRetry = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`
    update backup_schedules set failures = least(failures + 1, 4), next_at = ${now}::timestamptz + interval '30 minutes' * 2 ^ least(failures, 3)
    where vm_id = ${vmId}`)

export const planAfterCancel = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`update backup_schedules set next_at = ${addDuration(now, '30m')} where vm_id = ${vmId}`)

/** Consecutive failed attempts. */
export const failuresOf = async (tx: Tx, vmId: string): Promise<number> =>
  (await tx.one<{ failures: number }>(sql`select failures from backup_schedules where vm_id = ${vmId}`)).failures

export interface DueVm {
  id: string
  account_id: string
}

/** Idle VMs that are due, at most `atOnce` running backups per host. With `vmId`: re-checks only that VM. */
export const dueVms = (db: Queries, now: Date, atOnce: number, vmId: string | null = null) =>
  db.many<DueVm>(sql`
    select id, account_id from (
      select v.id, v.account_id, row_number() over (partition by v.host_id order by s.next_at, v.id) as turn,
        (select count(*) from backups b join vms w on w.id = b.vm_id
          where w.host_id = v.host_id and b.type = 'DAILY' and b.status in ('PENDING', 'RUNNING')) as running
      from backup_schedules s join vms v on v.id = s.vm_id join hosts h on h.id = v.host_id
      where s.next_at <= ${now} and s.next_at > ${missedSince(now)} and (${vmId}::text is null or v.id = ${vmId}) and v.daily_backup and v.provisioned and v.status in ('RUNNING', 'STOPPED')
        and h.unreachable_since is null
        and not ${isStale(sql`v.id`, sql`v.host_id`)} -- it is repaired first
        and not ${hasOpenRun(sql`v.id`)}) due
    where turn + running <= ${atOnce}`)
