// When daily backups of a VM are made, and how many are kept.
import { sql, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import type { Principal } from '../../../http/api/principal.ts'
import { apiError } from '../../../kernel/errors.ts'
import { findTargetOfRegion } from '../../backup-targets/service.ts'
import type { BackupPolicy, UpdateVm } from '../schema.ts'
import type { VmDetails } from './sql.ts'

/** Of a VM without a row. */
export const DEFAULT_BACKUP_POLICY: BackupPolicy = { hour: null, keepDaily: 7, keepWeekly: 0, keepMonthly: 0 }

const columns = sql`p.hour, p.keep_daily as "keepDaily", p.keep_weekly as "keepWeekly", p.keep_monthly as "keepMonthly"`

/** Null for the default. */
export const backupPolicyAsJson = (vmId: Sql): Sql =>
  sql`(select to_json(o) from (select ${columns} from backup_policies p where p.vm_id = ${vmId}) o)`

/** When its next daily backup is due. Null: it has none, or is not scheduled yet. */
export const nextBackupOf = (vmId: Sql): Sql =>
  sql`(select s.next_at from backup_schedules s join vms w on w.id = s.vm_id where s.vm_id = ${vmId} and w.daily_backup and isfinite(s.next_at))`

export const backupPolicyOf = async (db: Queries, vmId: string): Promise<BackupPolicy> =>
  (await db.maybe<BackupPolicy>(sql`select ${columns} from backup_policies p where p.vm_id = ${vmId}`)) ?? DEFAULT_BACKUP_POLICY

const KEPT = ['keepDaily', 'keepWeekly', 'keepMonthly'] as const

/** It holds from the next daily backup on. */
export async function changeBackupPolicy(
  tx: Tx,
  who: Principal,
  vm: VmDetails,
  change: NonNullable<UpdateVm['backupPolicy']>,
): Promise<void> {
  const before = await backupPolicyOf(tx, vm.id)
  const after = { ...before, ...change }
  if (KEPT.some((field) => after[field] < before[field]) && !who.scopes.has('backups:delete'))
    throw apiError('missing_scope', 'This token lacks the required scope to keep fewer backups: backups:delete')
  const { hour, keepDaily, keepWeekly, keepMonthly } = after
  // On hosts a backup is a layer on those before it: a few that are kept for long would hold all of them, and count as little.
  if (keepWeekly + keepMonthly > 0 && !(await findTargetOfRegion(tx, vm.region_id)))
    throw apiError('unavailable', `Region ${vm.region_slug} keeps no weekly and monthly backups: keepWeekly and keepMonthly must be 0`)
  await tx.run(sql`
    insert into backup_policies (vm_id, hour, keep_daily, keep_weekly, keep_monthly)
    values (${vm.id}, ${hour}, ${keepDaily}, ${keepWeekly}, ${keepMonthly})
    on conflict (vm_id) do update set hour = excluded.hour, keep_daily = excluded.keep_daily, keep_weekly = excluded.keep_weekly,
      keep_monthly = excluded.keep_monthly`)
}
