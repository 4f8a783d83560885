// What happens to VMs of a fleet, by the piece: renewals of the first hour of a month, the webhooks they cause, and the pruning of old actions.
import type { Deps } from '../server/src/features/deps.ts'
import { renewals } from '../server/src/features/billing/renew.reconciler.ts'
import { deliverAllDue } from '../server/src/features/webhooks/deliver.reconciler.ts'
import { sql } from '../server/src/kernel/database/db.ts'
import { deleteRunsEndedBefore } from '../server/src/workflow/run-store.ts'
import type { CpuMeter } from './fleet-cpu.ts'

/** Of the VMs: all of them renew on the same day, these in its first hour. */
const SHARE = 24

/** Processor time of each, in milliseconds. */
export async function measureBusy(deps: Deps, vms: number, cpu: CpuMeter): Promise<Map<string, number>> {
  const { db, clock } = deps
  const costs = new Map<string, number>()
  const each = async (what: string, count: number, work: () => Promise<unknown>): Promise<void> => {
    const before = cpu.spent()
    await work()
    costs.set(what, (cpu.spent() - before) / count)
  }
  const due = await db.run(sql`
    update vms set next_renewal_at = ${clock.now()}::timestamptz - '1 minute'::interval
    where id like 'cvm%' and next_renewal_at > ${clock.now()} and substr(id, 20)::int % ${SHARE}::int = 0`)
  await each('renewal of a VM, with its event', due, () => renewals.runOnce(deps))
  const { sent } = await db.one<{ sent: number }>(sql`select count(*)::int as sent from webhook_deliveries where status = 'PENDING'`)
  await each('delivery of a webhook', Math.max(1, sent), () => deliverAllDue(deps))
  const old = sql`${clock.now()}::timestamptz - '91 days'::interval`
  const runs = await db.run(sql`
    insert into workflow_runs (id, name, label, owner_id, subject_id, input, status, attempt, progress, next_attempt_at, deadline_at, created_at, started_at, completed_at)
    select 'cold' || n, 'vm.restart', 'RESTART', 'cold', 'cold' || n, '{}', 'COMPLETED', 1, 100, ${old}, ${old}, ${old}, ${old}, ${old}
    from generate_series(1, ${Math.ceil(vms / 10)}::int) n`)
  await each('pruning of an old action', runs, async () => {
    while ((await deleteRunsEndedBefore(db, new Date(clock.now().getTime() - 90 * 86_400_000))) > 0);
  })
  return costs
}

/** Bytes of a row with its part of the indexes. */
export const rowSizes = (db: Deps['db']) =>
  db.many<{ name: string; rows: number; bytes: number }>(sql`
    select name, sum(rows)::float8 as rows, (sum(bytes) / greatest(sum(rows), 1))::float8 as bytes from (
      select regexp_replace(relname, '_\\d{6,}.*$', '') as name, greatest(reltuples, 0)::float8 as rows, pg_total_relation_size(c.oid)::float8 as bytes
      from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace) t
    where name in ('vms', 'vm_ports', 'bandwidth_baselines', 'events', 'workflow_runs', 'workflow_steps', 'wallet_transactions', 'renewals',
      'webhook_deliveries', 'webhook_attempts', 'metrics_minutes', 'metrics_15m', 'metrics_slots', 'metrics_samples')
    group by name order by name`)
