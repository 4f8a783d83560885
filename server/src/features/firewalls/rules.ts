// Ordered rules of a firewall. Every change locks the firewall, keeps positions contiguous, and marks the ports of bound VMs for
// reapplication.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { listQuotas } from '../accounts/service.ts'
import { markPortsDirty } from '../ports/service.ts'
import { vmsBoundTo } from './bindings.ts'
import { linesOfAll, requireFewLines, requireFewLinesOfVms } from './lines.ts'
import { checkedRule, type RuleFields } from './rule-input.ts'
import type { AddRule, ChangeRule, FirewallRule, ReplaceRules, RuleInput } from './schema.ts'
import * as sql from './sql.ts'
import { toRule } from './view.ts'

const QUOTA = 'rules_per_firewall'

export async function listRules(db: Queries, accountId: string, firewallId: string): Promise<FirewallRule[]> {
  if (!(await sql.findFirewall(db, accountId, firewallId))) throw notFound('Firewall')
  return (await sql.listRules(db, firewallId)).map(toRule)
}

export async function getRule(db: Queries, accountId: string, firewallId: string, ruleId: string): Promise<FirewallRule> {
  if (!(await sql.findFirewall(db, accountId, firewallId))) throw notFound('Firewall')
  return toRule(requireRule(await sql.listRules(db, firewallId), ruleId))
}

export async function addRule(tx: Tx, now: Date, accountId: string, firewallId: string, input: AddRule): Promise<FirewallRule> {
  const { position, ...rest } = input
  const fields = checkedRule(rest)
  const rules = await holdRules(tx, accountId, firewallId)
  const place = placeAmong(rules.length + 1, position ?? rules.length + 1)
  await requireRoom(tx, accountId, [...rules, fields])
  const row = { id: newId(), firewall_id: firewallId, position: rules.length + 1, ...fields, created_at: now, updated_at: now }
  await sql.insertRules(tx, [row])
  await sql.renumberRules(tx, idsOf(rules).toSpliced(place - 1, 0, row.id))
  await noteChangedLines(tx, now, firewallId, rules, [...rules, fields])
  return toRule({ ...row, position: place })
}

export async function replaceRules(tx: Tx, now: Date, accountId: string, firewallId: string, input: ReplaceRules): Promise<FirewallRule[]> {
  const fields = input.rules.map((rule, index) => checkedRule(rule, `rules.${index}.`))
  const before = await holdRules(tx, accountId, firewallId)
  await requireRoom(tx, accountId, fields)
  await sql.deleteRules(tx, idsOf(before))
  const rows = fields.map((each, index) => ({
    id: newId(),
    firewall_id: firewallId,
    position: index + 1,
    ...each,
    created_at: now,
    updated_at: now,
  }))
  await sql.insertRules(tx, rows)
  await noteChangedLines(tx, now, firewallId, before, fields)
  return rows.map(toRule)
}

export async function changeRule(
  tx: Tx,
  now: Date,
  accountId: string,
  firewallId: string,
  ruleId: string,
  { position, ...change }: ChangeRule,
): Promise<FirewallRule> {
  const rules = await holdRules(tx, accountId, firewallId)
  const rule = requireRule(rules, ruleId)
  const changed = { ...rule, ...checkedRule({ ...inputOf(rule), ...change }), updated_at: now }
  const place = placeAmong(rules.length, position ?? rule.position)
  const others = rules.filter((each) => each !== rule)
  await requireRoom(tx, accountId, [...others, changed])
  await sql.updateRule(tx, changed)
  await sql.renumberRules(tx, idsOf(others).toSpliced(place - 1, 0, ruleId))
  await noteChangedLines(tx, now, firewallId, rules, [...others, changed])
  return toRule({ ...changed, position: place })
}

const inputOf = ({ direction, action, protocol, port, source_ips, dest_ips, description }: RuleFields): RuleInput => ({
  direction,
  action,
  protocol,
  port,
  sourceIps: source_ips,
  destIps: dest_ips,
  description,
})

export async function deleteRule(tx: Tx, now: Date, accountId: string, firewallId: string, ruleId: string): Promise<{ id: string }> {
  const rules = await holdRules(tx, accountId, firewallId)
  const rule = requireRule(rules, ruleId)
  await sql.deleteRules(tx, [ruleId])
  await sql.renumberRules(tx, idsOf(rules.filter((each) => each !== rule)))
  await noteChange(tx, now, firewallId)
  return { id: ruleId }
}

async function holdRules(tx: Tx, accountId: string, firewallId: string): Promise<sql.RuleRow[]> {
  if (!(await sql.lockFirewall(tx, accountId, firewallId))) throw notFound('Firewall')
  return sql.listRules(tx, firewallId)
}

function requireRule(rules: sql.RuleRow[], id: string): sql.RuleRow {
  const rule = rules.find((each) => each.id === id)
  if (!rule) throw notFound('Firewall rule')
  return rule
}

const idsOf = (rules: sql.RuleRow[]): string[] => rules.map((rule) => rule.id)

function placeAmong(count: number, position: number): number {
  if (position > count) throw apiError('incompatible', `Position ${position} does not exist: it must be between 1 and ${count}`)
  return position
}

async function requireRoom(tx: Tx, accountId: string, rules: RuleFields[]): Promise<void> {
  const limit = (await listQuotas(tx, accountId)).find((quota) => quota.name === QUOTA)?.limit
  if (limit === undefined) throw new Error(`BUG: the catalog has no quota.${QUOTA}`)
  if (rules.length > limit)
    throw apiError(
      'quota_exceeded',
      `A firewall can have at most ${limit} rules, not ${rules.length}: merge some, or use a second firewall`,
    )
  requireFewLines(rules)
}

async function noteChange(tx: Tx, now: Date, firewallId: string): Promise<string[]> {
  await sql.touchFirewall(tx, firewallId, now)
  const vmIds = await vmsBoundTo(tx, firewallId)
  await markPortsDirty(tx, vmIds)
  return vmIds
}

/** Fewer lines are always possible: VMs may have more than they can get now. */
async function noteChangedLines(tx: Tx, now: Date, firewallId: string, before: RuleFields[], after: RuleFields[]): Promise<void> {
  const vmIds = await noteChange(tx, now, firewallId)
  if (linesOfAll(after) > linesOfAll(before)) await requireFewLinesOfVms(tx, vmIds)
}
