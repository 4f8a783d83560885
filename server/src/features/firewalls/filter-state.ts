// State of the one packet filter that each VM has on its host, compiled from all its firewalls. Every change increments `desired_version`
// in its own transaction; the host follows. The create workflow applies the first filter; the reconciler then keeps it current until the
// VM is deleted.
import type { Filter } from '../../hypervisor/driver.ts'
import { sleep, type Clock } from '../../kernel/clock.ts'
import { sql, type Db, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { compileFilter } from './packet-filter.ts'
import { listRulesOfVm, type RuleRow } from './sql.ts'

export const APPLY = 'firewalls.apply'

export interface WantedFilter {
  version: number
  filter: Filter
}

/** Call it in the transaction that assigns the VM's host. */
export const createFilterState = (tx: Tx, vmId: string, hostId: string, accountId: string) =>
  tx.run(sql`
    insert into vm_filters (vm_id, host_id, account_id) values (${vmId}, ${hostId}, ${accountId})
    on conflict (vm_id) do update set host_id = excluded.host_id, desired_version = vm_filters.desired_version + 1, applied_version = null, is_managed = false, error = null,
      claimed_until = null, next_try_at = null`)

/** For the reconciler, which holds the claim. The version is read before the rules, so the rules are at least as new. */
export async function filterOf(db: Queries, vmId: string): Promise<WantedFilter> {
  const row = await db.maybe<{ desired_version: number }>(sql`select desired_version from vm_filters where vm_id = ${vmId}`)
  return { version: row?.desired_version ?? 0, filter: compileFilter(await rulesOf(db, vmId)) }
}

/** Null when the VM has no firewall. */
export async function rulesOf(db: Queries, vmId: string): Promise<RuleRow[] | null> {
  const rows = await listRulesOfVm(db, vmId)
  return rows.length === 0 ? null : rows.filter((row) => row.id !== null)
}

/**
 * For workflows, which hold no claim. The version is null while the reconciler holds the claim, because its filter may reach the host
 * after this one. A reconciler run that starts later applies nothing older.
 */
export async function filterForBoot(db: Queries, now: Date, vmId: string): Promise<{ version: number | null; filter: Filter }> {
  const row = await db.maybe<{ version: number | null }>(sql`
    select case when coalesce(claimed_until, '-infinity') <= ${now} then desired_version end as version from vm_filters where vm_id = ${vmId}`)
  return { version: row?.version ?? null, filter: compileFilter(await rulesOf(db, vmId)) }
}

/**
 * Call it after the host has applied the filter of `filterForBoot`. While the reconciler holds its claim, either filter may be the last
 * one on the host, so the desired version is incremented. The claim stays, so that the next apply waits until it ends.
 */
export async function markFilterApplied(tx: Tx, now: Date, vmId: string, version: number | null): Promise<void> {
  const row = await tx.maybe<{ desired_version: number }>(sql`
    update vm_filters set applied_version = ${version}, applied_at = ${now}, error = null, is_managed = true, next_try_at = null,
      desired_version = desired_version + case when claimed_until > ${now} then 1 else 0 end
    where vm_id = ${vmId} returning desired_version`)
  if (row && row.desired_version !== version) await triggerReconciler(tx, APPLY)
}

/** Stops the reconciler and waits for its open claim. Call it before deleting the machine, or a late apply may recreate the filter. */
export async function quiesceFilter({ db, clock }: { db: Db; clock: Clock }, vmId: string, signal: AbortSignal): Promise<void> {
  await db.run(sql`update vm_filters set is_managed = false where vm_id = ${vmId}`)
  const busy = () => db.maybe(sql`select from vm_filters where vm_id = ${vmId} and claimed_until > ${clock.now()}`)
  while (await busy()) {
    signal.throwIfAborted()
    await sleep(50)
  }
}

/** Excludes the filter of an unmanaged VM from the reconciler. */
export const pauseFilter = (tx: Tx, vmId: string) => tx.run(sql`update vm_filters set is_managed = false where vm_id = ${vmId}`)

/** Increments the desired version, so that changes made meanwhile, here or on the host, are overwritten. */
export async function resumeFilter(tx: Tx, vmId: string): Promise<void> {
  await tx.run(
    sql`update vm_filters set is_managed = true, desired_version = desired_version + 1, next_try_at = null where vm_id = ${vmId}`,
  )
  await triggerReconciler(tx, APPLY)
}

export const forgetFilter = (tx: Tx, vmId: string) => tx.run(sql`delete from vm_filters where vm_id = ${vmId}`)

export const markFilterDirty = (tx: Tx, vmId: string) => wantNew(tx, sql`select ${vmId}::text`)

export const wantNewFilters = (tx: Tx, firewallId: string) =>
  wantNew(tx, sql`select vm_id from firewall_bindings where firewall_id = ${firewallId}`)

/** Locks rows in a fixed order, so that concurrent changes to the same VMs cannot deadlock. */
async function wantNew(tx: Tx, vmIds: Sql): Promise<void> {
  const changed = await tx.many<{ is_managed: boolean }>(sql`
    update vm_filters set desired_version = desired_version + 1, next_try_at = null
    where vm_id in (select vm_id from vm_filters where vm_id in (${vmIds}) order by vm_id for update) returning is_managed`)
  if (changed.some((row) => row.is_managed)) await triggerReconciler(tx, APPLY)
}
