// Ordered rules of a firewall. Every change locks the firewall, keeps positions contiguous, and marks the ports of bound VMs for
// reapplication.
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { listQuotas } from '../accounts/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { markPortsDirty } from '../ports/service.ts'
import { vmsBoundTo } from './bindings.ts'
import { linesOfAll, requireFewLines, requireFewLinesOfVms } from './lines.ts'
import { checkedRule, type RuleFields } from './rule-input.ts'
import type { AddRule, ChangeRule, Firewall, FirewallRule, ReplaceRules, RuleInput } from './schema.ts'
import * as sql from './sql.ts'
import { toFirewall, toRule } from './view.ts'

const QUOTA = 'rules_per_firewall'
const UNDO_MINUTES = 10
const UNDO_FOR = `${UNDO_MINUTES}m` as const

export async function listRules(db: Queries, accountId: string, firewallId: string): Promise<FirewallRule[]> {
  if (!(await sql.findFirewall(db, accountId, firewallId))) throw notFound('Firewall')
  return (await sql.listRules(db, firewallId)).map(toRule)
}

export async function getRule(db: Queries, accountId: string, firewallId: string, ruleId: string): Promise<FirewallRule> {
  if (!(await sql.findFirewall(db, accountId, firewallId))) throw notFound('Firewall')
  return toRule(requireRule(await sql.listRules(db, firewallId), ruleId))
}

export async function addRule(tx: Tx, deps: EventDeps, accountId: string, firewallId: string, input: AddRule): Promise<FirewallRule> {
  const { position, ...rest } = input
  const fields = checkedRule(rest)
  const held = await holdRules(tx, accountId, firewallId)
  const { rules } = held
  const now = deps.clock.now()
  const place = placeAmong(rules.length + 1, position ?? rules.length + 1)
  await requireRoom(tx, accountId, [...rules, fields])
  const row = { id: newId(), firewall_id: firewallId, position: rules.length + 1, ...fields, created_at: now, updated_at: now }
  await sql.insertRules(tx, [row])
  await sql.renumberRules(tx, idsOf(rules).toSpliced(place - 1, 0, row.id))
  await noteChange(tx, deps, held, [...rules, fields])
  return toRule({ ...row, position: place })
}

export async function replaceRules(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  firewallId: string,
  { rules, basedOn, confirmWithinSeconds }: ReplaceRules,
): Promise<FirewallRule[]> {
  const fields = checkedRules(rules)
  const held = await holdRules(tx, accountId, firewallId)
  if (basedOn !== undefined && basedOn !== held.version)
    throw apiError('version_conflict', 'The rules were changed since you read them: read them again, and apply your changes to those')
  await requireRoom(tx, accountId, fields)
  await sql.deleteRules(tx, idsOf(held.rules))
  const now = deps.clock.now()
  const rows = fields.map((each, index) => ({
    id: newId(),
    firewall_id: firewallId,
    position: index + 1,
    ...each,
    created_at: now,
    updated_at: now,
  }))
  await sql.insertRules(tx, rows)
  await noteChange(tx, deps, held, fields, confirmWithinSeconds)
  return rows.map(toRule)
}

export const checkedRules = (rules: RuleInput[]): RuleFields[] => rules.map((rule, index) => checkedRule(rule, `rules.${index}.`))

export async function changeRule(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  firewallId: string,
  ruleId: string,
  { position, ...change }: ChangeRule,
): Promise<FirewallRule> {
  const held = await holdRules(tx, accountId, firewallId)
  const { rules } = held
  const rule = requireRule(rules, ruleId)
  const changed = { ...rule, ...checkedRule({ ...inputOf(rule), ...change }), updated_at: deps.clock.now() }
  const place = placeAmong(rules.length, position ?? rule.position)
  const others = rules.filter((each) => each !== rule)
  await requireRoom(tx, accountId, [...others, changed])
  await sql.updateRule(tx, changed)
  await sql.renumberRules(tx, idsOf(others).toSpliced(place - 1, 0, ruleId))
  await noteChange(tx, deps, held, [...others, changed])
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

export async function deleteRule(tx: Tx, deps: EventDeps, accountId: string, firewallId: string, ruleId: string): Promise<{ id: string }> {
  const held = await holdRules(tx, accountId, firewallId)
  const { rules } = held
  const rule = requireRule(rules, ruleId)
  const others = rules.filter((each) => each !== rule)
  await sql.deleteRules(tx, [ruleId])
  await sql.renumberRules(tx, idsOf(others))
  await noteChange(tx, deps, held, others)
  return { id: ruleId }
}

/** A locked firewall with its rules before a change. */
interface HeldRules {
  firewall: sql.FirewallRow
  rules: sql.RuleRow[]
  version: string
}

async function holdRules(tx: Tx, accountId: string, firewallId: string): Promise<HeldRules> {
  const firewall = await sql.lockFirewall(tx, accountId, firewallId)
  if (!firewall) throw notFound('Firewall')
  return { firewall, rules: await sql.listRules(tx, firewallId), version: await sql.rulesVersion(tx, firewallId) }
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

/** After the rows were written. What they were can be restored for a while. */
async function noteChange(tx: Tx, deps: EventDeps, held: HeldRules, after: RuleFields[], confirmWithinSeconds?: number): Promise<void> {
  const now = deps.clock.now()
  const { firewall, rules, version } = held
  await touchRules(tx, now, firewall.id, rules, after)
  const version_after = await sql.rulesVersion(tx, firewall.id)
  if (version_after === version) return
  const confirm_by = confirmWithinSeconds === undefined ? null : addDuration(now, `${confirmWithinSeconds}s`)
  await sql.keepUndo(tx, firewall.id, rules, { version_after, undo_until: addDuration(now, UNDO_FOR), confirm_by })
  const pending = await sql.findUndo(tx, firewall.id)
  const confirmBy = pending?.confirm_by?.toISOString() ?? null
  await recordEvent(tx, deps, {
    accountId: firewall.account_id,
    type: 'firewall.rules_changed',
    subjectId: firewall.id,
    data: { firewall: eventFirewall(firewall), ruleCount: after.length, rulesVersion: version_after, confirmBy },
  })
}

/** Fewer lines are always possible: VMs may have more than they can get now. */
async function touchRules(tx: Tx, now: Date, firewallId: string, before: RuleFields[], after: RuleFields[]): Promise<void> {
  await sql.touchFirewall(tx, firewallId, now)
  const vmIds = await vmsBoundTo(tx, firewallId)
  await markPortsDirty(tx, vmIds)
  if (linesOfAll(after) > linesOfAll(before)) await requireFewLinesOfVms(tx, vmIds)
}

const eventFirewall = ({ id, name }: sql.FirewallRow) => ({ id, name })

export const undoRequested = (tx: Tx, deps: EventDeps, accountId: string, firewallId: string): Promise<FirewallRule[]> =>
  undoRules(tx, deps, accountId, firewallId, 'REQUESTED')

/** Restores the rules before the latest change, or before the first that was not confirmed. They keep their ids. */
export async function undoRules(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  firewallId: string,
  reason: 'REQUESTED' | 'UNCONFIRMED',
): Promise<FirewallRule[]> {
  const now = deps.clock.now()
  const { firewall, rules, version } = await holdRules(tx, accountId, firewallId)
  const undo = await sql.findUndo(tx, firewallId)
  if (!undo || (undo.confirm_by === null && undo.undo_until <= now))
    throw apiError('invalid_state', `There is nothing to undo: the rules were not changed in the last ${UNDO_MINUTES} minutes`)
  if (undo.version_after !== version)
    throw apiError('version_conflict', 'The rules were changed again since, so the change before cannot be undone: change them by hand')
  await sql.deleteRules(tx, idsOf(rules))
  await sql.restoreRules(tx, firewallId)
  await sql.deleteUndo(tx, firewallId)
  const restored = await sql.listRules(tx, firewallId)
  await touchRules(tx, now, firewallId, rules, restored)
  const rulesVersion = await sql.rulesVersion(tx, firewallId)
  await recordEvent(tx, deps, {
    accountId,
    type: 'firewall.rules_undone',
    subjectId: firewallId,
    data: { firewall: eventFirewall(firewall), ruleCount: restored.length, rulesVersion, reason },
  })
  return restored.map(toRule)
}

/** The change stays; it can still be undone by request. */
export async function confirmRules(tx: Tx, accountId: string, firewallId: string): Promise<Firewall> {
  await holdRules(tx, accountId, firewallId)
  if (!(await sql.findUndo(tx, firewallId))?.confirm_by)
    throw apiError('invalid_state', 'No change of the rules waits to be confirmed: it was confirmed or undone already')
  await sql.clearConfirmation(tx, firewallId)
  return toFirewall((await sql.findFirewall(tx, accountId, firewallId))!)
}
