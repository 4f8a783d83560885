// State of the ports of each VM: one per interface, with its host, addresses, limit and packet filter. Every change of these increments
// `desired_version` in its own transaction; the network controller of the region follows. The workflow that creates a VM applies its first
// ports; the reconciler `applyPorts` then keeps them current until the VM is deleted. What the ports are is read from the database when
// they are applied (vms/model/port-specs.ts).
import { sleep, type Clock } from '../../kernel/clock.ts'
import { sql, type Db, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { payerOf } from '../accounts/service.ts'

export const APPLY_PORTS = 'vms.ports'
/** Also removes what no interface needs. */
export const COMPARE_PORTS = 'vms.port_drift'

/** Call it in the transaction that assigns the VM's host. */
export const createPortState = (tx: Tx, vmId: string, hostId: string, accountId: string) =>
  tx.run(sql`
    insert into vm_ports (vm_id, host_id, account_id) values (${vmId}, ${hostId}, ${accountId})
    on conflict (vm_id) do update set host_id = excluded.host_id, desired_version = vm_ports.desired_version + 1, applied_version = null, is_managed = false, error = null,
      claimed_until = null, next_try_at = null`)

/** For the reconciler, which holds the claim. Read it before the ports, so that they are at least as new; 0 for a VM without ports. */
export const desiredVersion = async (db: Queries, vmId: string): Promise<number> => (await desiredVersions(db, [vmId])).get(vmId) ?? 0

export async function desiredVersions(db: Queries, vmIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.many<Versioned>(sql`select vm_id, desired_version from vm_ports where vm_id = any(${vmIds}::text[])`)
  return new Map(rows.map((row) => [row.vm_id, row.desired_version]))
}

type Versioned = Pick<Row<'vm_ports'>, 'vm_id' | 'desired_version'>

/**
 * The same for workflows, which hold no claim. Null while the reconciler holds the claim, because its ports may be applied after those of
 * the workflow. A reconciler run that starts later applies nothing older.
 */
export async function versionForBoot(db: Queries, now: Date, vmId: string): Promise<number | null> {
  const row = await db.maybe<{ version: number | null }>(sql`
    select case when coalesce(claimed_until, '-infinity') <= ${now} then desired_version end as version from vm_ports where vm_id = ${vmId}`)
  return row?.version ?? null
}

/**
 * Call it after the ports of `versionForBoot` were applied. While the reconciler holds its claim, either ports may be the last ones, so the
 * desired version is incremented. The claim stays, so that the next apply waits until it ends.
 */
export async function markPortsApplied(tx: Tx, now: Date, vmId: string, version: number | null): Promise<void> {
  const row = await tx.maybe<{ desired_version: number }>(sql`
    update vm_ports set applied_version = ${version}, applied_at = ${now}, error = null, is_managed = true, next_try_at = null,
      desired_version = desired_version + case when claimed_until > ${now} then 1 else 0 end
    where vm_id = ${vmId} returning desired_version`)
  if (row && row.desired_version !== version) await triggerReconciler(tx, APPLY_PORTS)
}

/** Stops the reconciler and waits for its open claim. Call it before removing ports, or a late apply may create them again. */
export async function quiescePorts({ db, clock }: { db: Db; clock: Clock }, vmId: string, signal: AbortSignal): Promise<void> {
  await db.run(sql`update vm_ports set is_managed = false where vm_id = ${vmId}`)
  const busy = () => db.maybe(sql`select from vm_ports where vm_id = ${vmId} and claimed_until > ${clock.now()}`)
  while (await busy()) {
    signal.throwIfAborted()
    await sleep(50)
  }
}

/** Excludes the ports of an unmanaged VM from the reconciler. */
export const pausePorts = (tx: Tx, vmId: string) => tx.run(sql`update vm_ports set is_managed = false where vm_id = ${vmId}`)

/** Increments the desired version, so that changes made meanwhile, here or by hand, are overwritten. */
export async function resumePorts(tx: Tx, vmId: string): Promise<void> {
  await tx.run(sql`update vm_ports set is_managed = true, desired_version = desired_version + 1, next_try_at = null where vm_id = ${vmId}`)
  await triggerReconciler(tx, APPLY_PORTS)
}

/** Whether the controller has the latest state of all of them. */
export const arePortsApplied = async (db: Queries, vmIds: string[]): Promise<boolean> =>
  !(await db.maybe(
    sql`select from vm_ports where vm_id = any(${vmIds}::text[]) and applied_version is distinct from desired_version limit 1`,
  ))

/** Undefined for a VM without ports. */
export const findPortState = (db: Queries, vmId: string) =>
  db.maybe<{ isManaged: boolean; isApplied: boolean; error: string | null }>(sql`
    select is_managed as "isManaged", applied_version is not distinct from desired_version as "isApplied", error from vm_ports where vm_id = ${vmId}`)

export const forgetPorts = (tx: Tx, vmId: string) => tx.run(sql`delete from vm_ports where vm_id = ${vmId}`)

/** Of a host that is deleted: those of VMs that failed to provision on it. */
export const forgetPortsOfHost = (tx: Tx, hostId: string) => tx.run(sql`delete from vm_ports where host_id = ${hostId}`)

export const markPortsDirty = (tx: Tx, vmIds: string[]) =>
  vmIds.length > 0 ? markDirty(tx, sql`vm_id = any(${vmIds}::text[])`) : Promise.resolve()

/** The ports name their host by its hostname. */
export const markPortsOfHostDirty = (tx: Tx, hostId: string) => markDirty(tx, sql`host_id = ${hostId}`)

/** Locks rows in a fixed order, so that concurrent changes to the same VMs cannot deadlock. */
async function markDirty(tx: Tx, which: Sql): Promise<void> {
  const changed = await tx.many<{ is_managed: boolean }>(sql`
    update vm_ports set desired_version = desired_version + 1, next_try_at = null
    where vm_id in (select vm_id from vm_ports where ${which} order by vm_id for update) returning is_managed`)
  if (changed.some((row) => row.is_managed)) await triggerReconciler(tx, APPLY_PORTS)
}

const pending = (now: Date) => sql`
  is_managed and applied_version is distinct from desired_version and coalesce(claimed_until, '-infinity') <= ${now} and coalesce(next_try_at, '-infinity') <= ${now}`

export const hostsWithPendingPorts = (db: Queries, now: Date) =>
  db.many<{ host_id: string }>(sql`select distinct host_id from vm_ports where ${pending(now)}`)

export type PendingPorts = Pick<Row<'vm_ports'>, 'vm_id'> & { payer_id: string }

export const pendingPortsOn = (db: Queries, hostId: string, now: Date) =>
  db.many<PendingPorts>(sql`
    select vm_id, y.payer_id from vm_ports cross join lateral (select ${payerOf(sql`account_id`)} as payer_id) y
    where host_id = ${hostId} and ${pending(now)}
    order by row_number() over (partition by y.payer_id order by next_try_at nulls first, vm_id), next_try_at nulls first, vm_id limit 200`)

/** Those that no other process has claimed, and that were not applied meanwhile. What is being changed is left for the next look. */
export const claimPorts = (db: Queries, vmIds: readonly string[], now: Date, until: Date) =>
  db.many<Versioned>(sql`
    update vm_ports set claimed_until = ${until}
    where vm_id in (select vm_id from vm_ports where vm_id = any(${vmIds}::text[]) and ${pending(now)} order by vm_id for update skip locked)
    returning vm_id, desired_version`)

// Both write only while this process holds the claim (fencing): a later claimer's result is newer.
export const recordApplied = (db: Queries, vmId: string, claim: Date, version: number, now: Date) =>
  db.run(sql`
    update vm_ports set applied_version = ${version}, applied_at = ${now}, error = null, claimed_until = null, next_try_at = null
    where vm_id = ${vmId} and claimed_until = ${claim}`)

export const recordFailed = (db: Queries, vmId: string, claim: Date, error: string | null, nextTryAt: Date) =>
  db.run(sql`
    update vm_ports set error = ${error}, claimed_until = null, next_try_at = ${nextTryAt} where vm_id = ${vmId} and claimed_until = ${claim}`)

/** After a lost claim older ports may have been applied after newer ones, so they are applied again. */
export const bumpDesiredVersion = (db: Queries, vmId: string) =>
  db.run(sql`update vm_ports set desired_version = desired_version + 1 where vm_id = ${vmId}`)
