// Firewalls. Lock order: the firewall, then the ports of its VMs, then the quota.
import type { Filter } from '../../hypervisor/driver.ts'
import { evaluatePacket, type Packet } from '../../hypervisor/reachability.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import { numberKey, sortedPageOf, textKey, type Keys } from '../../http/api/sorted-list.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import { parseIp } from '../../kernel/ip-range.ts'
import { markPortsDirty } from '../ports/service.ts'
import { bind, countBindings, findBinding, firewallsOf, listBindings, unbind, vmsBoundTo } from './bindings.ts'
import { compileFilter } from './compile-filter.ts'
import type { RuleFields } from './rule-input.ts'
import { checkedRules } from './rules.ts'
import type {
  BindingState,
  ChangeFirewall,
  CheckPacket,
  CreateFirewall,
  Firewall,
  FirewallBinding,
  FirewallQuery,
  Verdict,
} from './schema.ts'
import * as sql from './sql.ts'
import { toBindingState, toFirewall, toRule } from './view.ts'

export { bind, firewallsAsJson, firewallsOf, unbindAll, type BoundFirewall } from './bindings.ts'
export { filterSizes, type FilterSize } from './sql.ts'
export { toRule } from './view.ts'

const QUOTA = 'firewalls'

const SORT_KEYS: Keys<Firewall, sql.FirewallField> = {
  name: textKey(({ name }) => name),
  ruleCount: numberKey(({ ruleCount }) => ruleCount),
  bindingCount: numberKey(({ bindingCount }) => bindingCount),
}

export const listFirewalls = (
  db: Queries,
  accountId: string,
  { sort, ...filter }: FirewallQuery,
  page: PageRequest,
): Promise<Paged<Firewall>> =>
  sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => sql.countFirewalls(db, accountId, filter),
    async (range) => (await sql.listFirewalls(db, accountId, filter, range)).map(toFirewall),
  )

export async function createFirewall(tx: Tx, now: Date, accountId: string, input: CreateFirewall): Promise<Firewall> {
  const { name, labels = {}, description = '', coversPrivate = false } = input
  const row = {
    id: newId(),
    account_id: accountId,
    name,
    labels,
    description,
    covers_private: coversPrivate,
    created_at: now,
    updated_at: now,
  }
  await sql.insertFirewall(tx, row)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  return toFirewall((await sql.findFirewall(tx, accountId, row.id))!)
}

export const findFirewall = sql.findFirewall

export const getFirewall = async (db: Queries, accountId: string, id: string): Promise<Firewall> =>
  toFirewall(found(await sql.findFirewall(db, accountId, id)))

export async function changeFirewall(tx: Tx, now: Date, accountId: string, id: string, change: ChangeFirewall): Promise<Firewall> {
  const before = found(await sql.lockFirewall(tx, accountId, id))
  const { name = before.name, labels = before.labels, description = before.description, coversPrivate = before.covers_private } = change
  if (coversPrivate !== before.covers_private) await markPortsDirty(tx, await vmsBoundTo(tx, id))
  return toFirewall(await sql.updateFirewall(tx, { ...before, name, labels, description, covers_private: coversPrivate, updated_at: now }))
}

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
export async function unbindFirewall(
  tx: Tx,
  accountId: string,
  firewallId: string,
  { id: vmId, name }: { id: string; name: string },
): Promise<FirewallBinding> {
  const [firewall] = await requireFirewalls(tx, accountId, [firewallId])
  await unbind(tx, firewall!, vmId, name)
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

export interface VmFilters {
  ofPublic: Filter
  /** Null: everything passes that is not spoofed. */
  ofPrivate: Filter | null
}

/** Of the VM's public interface, compiled from all its firewalls, and of its private ones, from those that cover them. */
export const filtersOf = async (db: Queries, vmId: string): Promise<VmFilters> => (await filtersOfVms(db, [vmId]))(vmId)

export async function filtersOfVms(db: Queries, vmIds: readonly string[]): Promise<(vmId: string) => VmFilters> {
  const rules = await rulesOfVms(db, vmIds)
  return (vmId) => compileFilters(rules(vmId))
}

export const compileFilters = ({ ofPublic, ofPrivate }: VmRules): VmFilters => ({
  ofPublic: compileFilter(ofPublic),
  ofPrivate: ofPrivate && compileFilter(ofPrivate),
})

export interface VmRules {
  ofPublic: sql.RuleRow[] | null
  ofPrivate: sql.RuleRow[] | null
}

/** In evaluation order; null without a firewall for the interface. */
export const rulesOf = async (db: Queries, vmId: string): Promise<VmRules> => (await rulesOfVms(db, [vmId]))(vmId)

async function rulesOfVms(db: Queries, vmIds: readonly string[]): Promise<(vmId: string) => VmRules> {
  const byVm = Map.groupBy(await sql.listRulesOfVms(db, vmIds), (row) => row.vm_id)
  return (vmId) => {
    const all = byVm.get(vmId) ?? []
    const rules = (rows: typeof all) => (rows.length === 0 ? null : rows.filter((row) => row.id !== null))
    return { ofPublic: rules(all), ofPrivate: rules(all.filter((row) => row.covers_private)) }
  }
}

/** As if one of its firewalls had other rules. */
async function rulesWithDraft(db: Queries, vmId: string, firewallId: string, draft: RuleFields[]): Promise<VmRules> {
  const kept = Map.groupBy(await sql.listRulesOfVms(db, [vmId]), (row) => (row.id === null ? null : row.firewall_id))
  const at = new Date(0)
  const drafted = draft.map((fields, index) => ({
    id: '',
    firewall_id: firewallId,
    position: index + 1,
    ...fields,
    created_at: at,
    updated_at: at,
  }))
  const firewalls = await firewallsOf(db, vmId)
  const rulesOfAll = (bound: typeof firewalls): sql.RuleRow[] | null =>
    bound.length === 0
      ? null
      : bound.flatMap(({ id }) => (id === firewallId ? drafted : (kept.get(id) ?? []).filter((row) => row.id !== null)))
  return { ofPublic: rulesOfAll(firewalls), ofPrivate: rulesOfAll(firewalls.filter((each) => each.covers_private)) }
}

/** `addresses` of the interface, which is in that network; null for the public one. */
export interface CheckedInterface {
  vmId: string
  networkId: string | null
  addresses: string[]
}

/** Which rule of the VM's firewalls decides about a packet. The VM belongs to the account. */
export async function checkPacket(
  db: Queries,
  accountId: string,
  firewallId: string,
  { vmId, networkId, addresses }: CheckedInterface,
  { direction, protocol, port = null, address, rules: draft }: Omit<CheckPacket, 'vmId' | 'networkId'>,
): Promise<Verdict> {
  requirePort({ protocol, port })
  const family = requireFamily(protocol, address, 'address')
  found(await sql.findFirewall(db, accountId, firewallId))
  const binding = await findBinding(db, firewallId, vmId)
  if (!binding) throw apiError('invalid_state', 'The firewall is not bound to this VM: bind it first')
  const own = addresses.find((each) => parseIp(each)?.family === family) ?? null
  const [source, destination] = direction === 'IN' ? [address, own] : [own, address]
  const all = draft ? await rulesWithDraft(db, vmId, firewallId, checkedRules(draft)) : await rulesOf(db, vmId)
  const rules = all[networkId === null ? 'ofPublic' : 'ofPrivate']
  const { action, ruleIndex } = evaluatePacket(compileFilter(rules), { direction, protocol, port, source, destination })
  const rule = ruleIndex === null ? null : toRule(rules![ruleIndex]!)
  const decidedBy = rule ? 'RULE' : rules ? 'DEFAULT' : 'NO_FIREWALL'
  return { action, decidedBy, firewallId: rule?.firewallId ?? null, rule, applied: binding.applied }
}

export function requirePort({ protocol, port }: Pick<Packet, 'protocol' | 'port'>): void {
  const hasPort = protocol === 'TCP' || protocol === 'UDP'
  if (hasPort !== (port !== null))
    throw invalid(hasPort ? `port is required for ${protocol}` : `port must be left out for ${protocol}`, 'port')
}

/** Of the other end, which must have the protocol. */
export function requireFamily(protocol: Packet['protocol'], address: string, field: string): 4 | 6 {
  const family = parseIp(address)?.family
  if (!family) throw invalid(`${field} must be an address such as 10.0.0.7 or 2001:db8::7`, field)
  if (protocol === (family === 4 ? 'ICMPV6' : 'ICMP'))
    throw invalid(`${field} ${address} has no ${protocol}: IPv4 has ICMP, IPv6 has ICMPV6`, field)
  return family
}

function found<Row>(row: Row | undefined): Row {
  if (!row) throw notFound('Firewall')
  return row
}
