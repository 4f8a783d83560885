// VMs on replicated storage that no other host could start after theirs was lost. It is tried again, after longer and longer pauses, until the VM is
// there or somebody has started it.
import { sql, type Queries, type Tx } from '../../../kernel/database/db.ts'
import type { Row } from '../../../schema/rows.gen.ts'

export type FailedRecovery = Row<'failed_recoveries'>

/** The pauses are 1, 2, 4, … minutes, at most an hour. Returns how often it has failed. */
export const recordFailedRecovery = async (tx: Tx, now: Date, vmId: string, sourceId: string): Promise<number> =>
  (
    await tx.one<{ failures: number }>(sql`
      insert into failed_recoveries (vm_id, source_id, failures, next_attempt_at) values (${vmId}, ${sourceId}, 1, ${now}::timestamptz + interval '1 minute')
      on conflict (vm_id) do update set failures = failed_recoveries.failures + 1,
        next_attempt_at = ${now}::timestamptz + least(interval '1 minute' * 2 ^ least(failed_recoveries.failures, 6), interval '1 hour')
      returning failures`)
  ).failures

export const clearFailedRecovery = (tx: Tx, vmId: string) => tx.run(sql`delete from failed_recoveries where vm_id = ${vmId}`)

export const listFailedRecoveries = (db: Queries) =>
  db.many<FailedRecovery>(sql`select vm_id, source_id, failures, next_attempt_at from failed_recoveries order by next_attempt_at, vm_id`)

/** Of a locked VM. */
export const findFailedRecovery = (tx: Tx, vmId: string) =>
  tx.maybe<FailedRecovery>(sql`select vm_id, source_id, failures, next_attempt_at from failed_recoveries where vm_id = ${vmId}`)

/** Of one that cannot be tried now. */
export const postponeFailedRecovery = (db: Queries, vmId: string, until: Date) =>
  db.run(sql`update failed_recoveries set next_attempt_at = ${until} where vm_id = ${vmId}`)
