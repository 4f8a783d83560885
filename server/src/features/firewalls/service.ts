// Firewalls. Lock order: the firewall, then the ports of its VMs, then the quota.
import type { Filter } from '../../hypervisor/driver.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { releaseQuota, quotaUsed, reserveQuota } from '../accounts/service.ts'
import { bind, countBindings, findBinding, listBindings, unbind } from './bindings.ts'
import { evaluatePacket, compileFilter } from './packet-filter.ts'
import type { BindingState, ChangeFirewall, CheckPacket, CreateFirewall, Firewall, FirewallBinding, Verdict } from './schema.ts'
import * as sql from './sql.ts'
import { toBindingState, toFirewall, toRule } from './view.ts'

export { bind, firewallsAsJson, firewallsOf, unbindAll } from './bindings.ts'

const QUOTA = 'firewalls'

export async function listFirewalls(db: Queries, accountId: string, page: PageRequest): Promise<Paged<Firewall>> {
  const total = Number(await quotaUsed(db, accountId, QUOTA))
  return pageOf(page, total, async (range) => (await sql.listFirewalls(db, accountId, range)).map(toFirewall))
}

export async function createFirewall(tx: Tx, now: Date, accountId: string, input: CreateFirewall): Promise<Firewall> {
  const { name, description = '' } = input
  const row = { id: newId(), account_id: accountId, name, description, created_at: now, updated_at: now }
  await sql.insertFirewall(tx, row)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  return toFirewall({ ...row, rule_count: 0, binding_count: 0, applied: true })
}

export const findFirewall = sql.findFirewall

export const getFirewall = async (db: Queries, accountId: string, id: string): Promise<Firewall> =>
  toFirewall(found(await sql.findFirewall(db, accountId, id)))

export const changeFirewall = async (tx: Tx, now: Date, accountId: string, id: string, change: ChangeFirewall): Promise<Firewall> =>
  toFirewall(found(await sql.updateFirewall(tx, accountId, id, change.name ?? null, change.description ?? null, now)))

export async function deleteFirewall(tx: Tx, accountId: string, id: string): Promise<{ id: string }> {
  const { name } = found(await sql.lockFirewall(tx, accountId, id))
  const bound = await countBindings(tx, id)
  if (bound > 0) throw apiError('in_use', `The firewall ${name} is bound to ${bound === 1 ? '1 VM' : `${bound} VMs`}: unbind it first`)
  await sql.deleteFirewall(tx, id)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  return { id }
}

/** The account's firewalls in the given order without duplicates, locked so that none changes or is deleted while it is bound. */
export async function requireFirewalls(tx: Tx, accountId: string, ids: string[]): Promise<sql.FirewallRow[]> {
  if (ids.length === 0) return []
  const rows = new Map((await sql.holdFirewalls(tx, accountId, ids)).map((row) => [row.id, row]))
  return [...new Set(ids)].map((id) => found(rows.get(id)))
}

/** The caller has checked that the VM belongs to the account. `isNew` is false when the firewall was already bound. */
export async function bindFirewall(
  tx: Tx,
  now: Date,
  accountId: string,
  firewallId: string,
  vmId: string,
): Promise<{ binding: FirewallBinding; isNew: boolean }> {
  const [firewall] = await requireFirewalls(tx, accountId, [firewallId])
  return { isNew: await bind(tx, now, firewall!, vmId), binding: { firewallId, vmId } }
}

/** The caller has checked that the VM belongs to the account. */
export async function unbindFirewall(tx: Tx, accountId: string, firewallId: string, vmId: string): Promise<FirewallBinding> {
  const [firewall] = await requireFirewalls(tx, accountId, [firewallId])
  await unbind(tx, firewall!, vmId)
  return { firewallId, vmId }
}

export async function listBindingStates(db: Queries, accountId: string, firewallId: string): Promise<BindingState[]> {
  found(await sql.findFirewall(db, accountId, firewallId))
  return (await listBindings(db, firewallId)).map(toBindingState)
}

export async function getBindingState(db: Queries, accountId: string, firewallId: string, vmId: string): Promise<BindingState> {
  found(await sql.findFirewall(db, accountId, firewallId))
  const binding = await findBinding(db, firewallId, vmId)
  if (!binding) throw notFound('Binding')
  return toBindingState(binding)
}

/** The VM's only packet filter, compiled from all its firewalls. */
export const filterOf = async (db: Queries, vmId: string): Promise<Filter> => compileFilter(await rulesOf(db, vmId))

/** Null when the VM has no firewall. */
async function rulesOf(db: Queries, vmId: string): Promise<sql.RuleRow[] | null> {
  const rows = await sql.listRulesOfVm(db, vmId)
  return rows.length === 0 ? null : rows.filter((row) => row.id !== null)
}

/** Which rule of the VM's firewalls decides about a packet. `vm` belongs to the account; its address is null while unassigned. */
export async function checkPacket(
  db: Queries,
  accountId: string,
  firewallId: string,
  vm: { id: string; address: string | null },
  { direction, protocol, port = null, address }: Omit<CheckPacket, 'vmId'>,
): Promise<Verdict> {
  if ((protocol === 'ICMP') !== (port === null))
    throw invalid(protocol === 'ICMP' ? 'port must be left out for ICMP' : `port is required for ${protocol}`, 'port')
  found(await sql.findFirewall(db, accountId, firewallId))
  const binding = await findBinding(db, firewallId, vm.id)
  if (!binding) throw apiError('invalid_state', 'The firewall is not bound to this VM: bind it first')
  const [source, destination] = direction === 'IN' ? [address, vm.address] : [vm.address, address]
  const rules = (await rulesOf(db, vm.id)) ?? []
  const { action, ruleIndex } = evaluatePacket(compileFilter(rules), { direction, protocol, port, source, destination })
  const rule = ruleIndex === null ? null : toRule(rules[ruleIndex]!)
  return { action, decidedBy: rule ? 'RULE' : 'DEFAULT', firewallId: rule?.firewallId ?? null, rule, applied: binding.applied }
}

function found<Row>(row: Row | undefined): Row {
  if (!row) throw notFound('Firewall')
  return row
}
