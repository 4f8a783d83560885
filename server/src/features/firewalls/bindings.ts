// Ordered bindings of firewalls to VMs. Callers have checked that the VM belongs to the account.
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { markPortsDirty } from '../ports/service.ts'
import { requireFewLinesOfVms } from './lines.ts'
import type { FirewallRow } from './sql.ts'

const MAX_PER_VM = 10

/** The caller holds the firewall's lock from `requireFirewalls`. Returns false when it was already bound. */
export async function bind(tx: Tx, now: Date, firewall: FirewallRow, vmId: string): Promise<boolean> {
  if (await tx.maybe(sql`select from firewall_bindings where firewall_id = ${firewall.id} and vm_id = ${vmId}`)) return false
  await markPortsDirty(tx, [vmId]) // also locks the row of its ports, which serializes bindings of this VM
  const { count, last } = await tx.one<{ count: number; last: number }>(sql`
    select count(*)::int as count, coalesce(max(position), 0) as last from firewall_bindings where vm_id = ${vmId}`)
  if (count >= MAX_PER_VM)
    throw apiError('quota_exceeded', `A VM can have at most ${MAX_PER_VM} firewalls: unbind one, or merge their rules`)
  const isNew =
    (await tx.run(sql`
      insert into firewall_bindings (firewall_id, vm_id, account_id, position, created_at)
      values (${firewall.id}, ${vmId}, ${firewall.account_id}, ${last + 1}, ${now}) on conflict (firewall_id, vm_id) do nothing`)) > 0
  if (isNew) await requireFewLinesOfVms(tx, [vmId])
  return isNew
}

export async function unbind(tx: Tx, firewall: FirewallRow, vmId: string, vmName: string): Promise<void> {
  const deleted = await tx.run(sql`delete from firewall_bindings where firewall_id = ${firewall.id} and vm_id = ${vmId}`)
  if (!deleted) throw apiError('not_found', `The firewall ${firewall.name} is not bound to ${vmName}`)
  await markPortsDirty(tx, [vmId])
}

/** For a VM that is deleted together with its ports. */
export const unbindAll = (tx: Tx, vmId: string) => tx.run(sql`delete from firewall_bindings where vm_id = ${vmId}`)

export interface BoundFirewall {
  vm_id: string
  id: string
  name: string
  covers_private: boolean
}

/** Firewalls of one or several VMs in evaluation order. */
export const firewallsOf = (db: Queries, vmIds: string | string[]) =>
  db.many<BoundFirewall>(sql`
    select b.vm_id, f.id, f.name, f.covers_private from firewall_bindings b join firewalls f on f.id = b.firewall_id
    where b.vm_id = any(${[vmIds].flat()}::text[]) order by b.vm_id, b.position`)

/** The same for one VM, as a JSON subquery of another statement. */
export const firewallsAsJson = (vmId: Sql) => sql`
  (select coalesce(json_agg(json_build_object('id', f.id, 'name', f.name) order by b.position), '[]')
    from firewall_bindings b join firewalls f on f.id = b.firewall_id where b.vm_id = ${vmId})`

export interface BindingRow {
  firewall_id: string
  vm_id: string
  applied: boolean
  applied_at: Date | null
  error: string | null
  next_try_at: Date | null
}

const state = sql`coalesce(v.applied_version = v.desired_version, false) as applied, v.applied_at, v.error, v.next_try_at`

export const listBindings = (db: Queries, firewallId: string) =>
  db.many<BindingRow>(sql`
    select b.firewall_id, b.vm_id, ${state} from firewall_bindings b left join vm_ports v on v.vm_id = b.vm_id
    where b.firewall_id = ${firewallId} order by b.created_at, b.vm_id`)

export const findBinding = (db: Queries, firewallId: string, vmId: string) =>
  db.maybe<BindingRow>(sql`
    select b.firewall_id, b.vm_id, ${state} from firewall_bindings b left join vm_ports v on v.vm_id = b.vm_id
    where b.firewall_id = ${firewallId} and b.vm_id = ${vmId}`)

export const vmsBoundTo = async (tx: Tx, firewallId: string): Promise<string[]> =>
  (await tx.many<{ vm_id: string }>(sql`select vm_id from firewall_bindings where firewall_id = ${firewallId}`)).map((row) => row.vm_id)

export const countBindings = async (tx: Tx, firewallId: string): Promise<number> =>
  (await tx.one<{ count: number }>(sql`select count(*)::int as count from firewall_bindings where firewall_id = ${firewallId}`)).count
