// The one packet filter each VM has on its host, made of all its firewalls. Every change counts `wanted` up in its own transaction; the
// host follows. Whoever builds a VM puts its first filter there; from then on the reconciler keeps it right, until the VM is to go.
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

/** In the transaction that gives the VM its host. */
export const createFilterState = (tx: Tx, vmId: string, hostId: string, accountId: string) =>
  tx.run(sql`
    insert into vm_filters (vm_id, host_id, account_id) values (${vmId}, ${hostId}, ${accountId})
    on conflict (vm_id) do update set host_id = excluded.host_id, desired_version = vm_filters.desired_version + 1, applied_version = null, is_managed = false, error = null,
      claimed_until = null, next_try_at = null`)

/** For the reconciler, which holds the claim. The version is read first, so the rules are at least as new. */
export async function filterOf(db: Queries, vmId: string): Promise<WantedFilter> {
  const row = await db.maybe<{ desired_version: number }>(sql`select desired_version from vm_filters where vm_id = ${vmId}`)
  return { version: row?.desired_version ?? 0, filter: compileFilter(await rulesOf(db, vmId)) }
}

/** Null when the VM has no firewall. */
export async function rulesOf(db: Queries, vmId: string): Promise<RuleRow[] | null> {
  const rows = await listRulesOfVm(db, vmId)
  return rows.length === 0 ? null : rows.filter((row) => row.id !== null)
}

/** For everybody else. No version while the reconciler is at it: its filter may come to the host after this one. One that begins later
 *  puts nothing older there. */
export async function filterForBoot(db: Queries, now: Date, vmId: string): Promise<{ version: number | null; filter: Filter }> {
  const row = await db.maybe<{ version: number | null }>(sql`
    select case when coalesce(claimed_until, '-infinity') <= ${now} then desired_version end as version from vm_filters where vm_id = ${vmId}`)
  return { version: row?.version ?? null, filter: compileFilter(await rulesOf(db, vmId)) }
}

/** Once the host has the filter of `filterToPut`. While the reconciler is at it nobody knows whose filter stays, so another one is wanted:
 *  its claim is left alone, since nothing may be put there before it has ended. */
export async function markFilterApplied(tx: Tx, now: Date, vmId: string, version: number | null): Promise<void> {
  const row = await tx.maybe<{ desired_version: number }>(sql`
    update vm_filters set applied_version = ${version}, applied_at = ${now}, error = null, is_managed = true, next_try_at = null,
      desired_version = desired_version + case when claimed_until > ${now} then 1 else 0 end
    where vm_id = ${vmId} returning desired_version`)
  if (row && row.desired_version !== version) await triggerReconciler(tx, APPLY)
}

/** From here on nobody touches the VM's filter on its host: call it before the VM is taken off, or the filter may come back. */
export async function quiesceFilter({ db, clock }: { db: Db; clock: Clock }, vmId: string, signal: AbortSignal): Promise<void> {
  await db.run(sql`update vm_filters set is_managed = false where vm_id = ${vmId}`)
  const busy = () => db.maybe(sql`select from vm_filters where vm_id = ${vmId} and claimed_until > ${clock.now()}`)
  while (await busy()) {
    signal.throwIfAborted()
    await sleep(50)
  }
}

/** Nobody touches the filter of a VM that is not managed. */
export const pauseFilter = (tx: Tx, vmId: string) => tx.run(sql`update vm_filters set is_managed = false where vm_id = ${vmId}`)

/** What has changed meanwhile, here or on the host, is put right. */
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

/** In one order, so that two changes to the same VMs do not wait for each other. */
async function wantNew(tx: Tx, vmIds: Sql): Promise<void> {
  const changed = await tx.many<{ is_managed: boolean }>(sql`
    update vm_filters set desired_version = desired_version + 1, next_try_at = null
    where vm_id in (select vm_id from vm_filters where vm_id in (${vmIds}) order by vm_id for update) returning is_managed`)
  if (changed.some((row) => row.is_managed)) await triggerReconciler(tx, APPLY)
}
