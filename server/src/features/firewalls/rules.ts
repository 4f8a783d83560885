// Ordered rules of a firewall. Every change locks the firewall, keeps positions contiguous, and marks the ports of bound VMs for
// reapplication.
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError, type ErrorCode } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { listQuotas } from '../accounts/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { markPortsDirty } from '../ports/service.ts'
import { vmsBoundTo } from './bindings.ts'
import { linesOfAll, requireFewLines, requireFewLinesOfVms } from './lines.ts'
import { checkedRule, type RuleFields } from './rule-input.ts'
import type {
  AddRule,
  ChangeRule,
  ConfirmRules,
  Firewall,
  FirewallRule,
  FirewallUndo,
  ReplaceRules,
  RuleInput,
  UndoRules,
} from './schema.ts'
import * as sql from './sql.ts'
import { toFirewall, toRule } from './view.ts'

const QUOTA = 'rules_per_firewall'
const UNDO_MINUTES = 10
const UNDO_FOR = `${UNDO_MINUTES}m` as const
const FIRST_PAUSE_S = 5
const LONGEST_PAUSE_S = 300
const NOTHING_TO_UNDO = `There is nothing to undo: the rules were not changed in the last ${UNDO_MINUTES} minutes`

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
  const held = await holdToChange(tx, accountId, firewallId)
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
  const held = await holdToChange(tx, accountId, firewallId, basedOn)
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
  const held = await holdToChange(tx, accountId, firewallId)
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
  const held = await holdToChange(tx, accountId, firewallId)
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
  undo: sql.KeptUndo | undefined
}

async function holdRules(tx: Tx, accountId: string, firewallId: string, basedOn?: string): Promise<HeldRules> {
  const firewall = await sql.lockFirewall(tx, accountId, firewallId)
  if (!firewall) throw notFound('Firewall')
  const [rules, version, undo] = await Promise.all([
    sql.listRules(tx, firewallId),
    sql.rulesVersion(tx, firewallId),
    sql.findUndo(tx, firewallId),
  ])
  if (basedOn !== undefined && basedOn !== version)
    throw apiError('version_conflict', 'The rules were changed since you read them: read them again, and decide about those')
  return { firewall, rules, version, undo }
}

/** One change at a time is unconfirmed, so that what is undone or confirmed is exactly that one. */
async function holdToChange(tx: Tx, accountId: string, firewallId: string, basedOn?: string): Promise<HeldRules & { kept: string }> {
  const held = await holdRules(tx, accountId, firewallId, basedOn)
  if (held.undo?.confirm_by)
    throw apiError('invalid_state', 'A change of the rules waits to be confirmed: confirm or undo it before you change them again')
  return { ...held, kept: await sql.rulesToKeep(tx, firewallId) }
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
async function noteChange(
  tx: Tx,
  deps: EventDeps,
  { firewall, rules, version, kept }: HeldRules & { kept: string },
  after: RuleFields[],
  confirmWithinSeconds?: number,
): Promise<void> {
  const now = deps.clock.now()
  await touchRules(tx, now, firewall.id)
  // Fewer lines are always possible: VMs may have more than they can get now.
  if (linesOfAll(after) > linesOfAll(rules)) await requireFewLinesOfVms(tx, await vmsBoundTo(tx, firewall.id))
  const version_after = await sql.rulesVersion(tx, firewall.id)
  if (version_after === version) return
  const confirm_by = confirmWithinSeconds === undefined ? null : addDuration(now, `${confirmWithinSeconds}s`)
  await sql.keepUndo(tx, firewall.id, kept, { version_after, undo_until: addDuration(now, UNDO_FOR), confirm_by })
  await recordEvent(tx, deps, {
    accountId: firewall.account_id,
    type: 'firewall.rules_changed',
    subjectId: firewall.id,
    data: {
      firewall: eventFirewall(firewall),
      ruleCount: after.length,
      rulesVersion: version_after,
      confirmBy: confirm_by?.toISOString() ?? null,
    },
  })
}

async function touchRules(tx: Tx, now: Date, firewallId: string): Promise<void> {
  await sql.touchFirewall(tx, firewallId, now)
  await markPortsDirty(tx, await vmsBoundTo(tx, firewallId))
}

const eventFirewall = ({ id, name }: sql.FirewallRow) => ({ id, name })

/** The rules that an undo would restore. */
export async function getUndo(db: Queries, now: Date, accountId: string, firewallId: string): Promise<FirewallUndo> {
  if (!(await sql.findFirewall(db, accountId, firewallId))) throw notFound('Firewall')
  const rows = await sql.findUndoWithRules(db, firewallId)
  const [undo] = rows
  if (!undo || !isOpen(undo, now)) throw apiError('not_found', NOTHING_TO_UNDO)
  return {
    rules: rows.filter((row) => row.id !== null).map(toRule),
    rulesVersion: undo.version_after,
    restoresVersion: undo.restores_version,
    undoUntil: undo.undo_until.toISOString(),
    confirmBy: undo.confirm_by?.toISOString() ?? null,
  }
}

const isOpen = ({ confirm_by, undo_until }: Pick<sql.UndoRow, 'confirm_by' | 'undo_until'>, now: Date): boolean =>
  confirm_by !== null || undo_until > now

/** Restores the rules before the latest change. They keep their ids. */
export async function undoRules(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  firewallId: string,
  { basedOn, restoresVersion }: UndoRules,
): Promise<FirewallRule[]> {
  const held = await holdRules(tx, accountId, firewallId, basedOn)
  const { undo, version } = held
  if (!undo || !isOpen(undo, deps.clock.now())) throw apiError('invalid_state', NOTHING_TO_UNDO)
  if (undo.version_after !== version || (restoresVersion !== undefined && restoresVersion !== undo.restores_version))
    throw apiError('version_conflict', 'The rules were changed again since, so that change cannot be undone: change them by hand')
  const restored = await restoreRules(tx, deps, held, 'REQUESTED')
  // What was never confirmed has kept its room.
  if (!undo.confirm_by && linesOfAll(restored) > linesOfAll(held.rules)) await requireFewLinesOfVms(tx, await vmsBoundTo(tx, firewallId))
  return restored.map(toRule)
}

/**
 * Nothing where they were confirmed, undone or deleted meanwhile. Together with what a version of Berth that knows nothing of undo changed
 * since: what its author may be locked out by goes in any case.
 */
export async function undoUnconfirmedRules(tx: Tx, deps: EventDeps, accountId: string, firewallId: string): Promise<void> {
  if (!(await sql.lockFirewall(tx, accountId, firewallId))) return
  const held = await holdRules(tx, accountId, firewallId)
  if (held.undo?.confirm_by && held.undo.confirm_by <= deps.clock.now()) await restoreRules(tx, deps, held, 'UNCONFIRMED')
}

async function restoreRules(
  tx: Tx,
  deps: EventDeps,
  { firewall, rules }: HeldRules,
  reason: 'REQUESTED' | 'UNCONFIRMED',
): Promise<sql.RuleRow[]> {
  const { id, account_id: accountId } = firewall
  await sql.deleteRules(tx, idsOf(rules))
  await sql.restoreRules(tx, id)
  await sql.deleteUndo(tx, id)
  await touchRules(tx, deps.clock.now(), id)
  const [restored, rulesVersion] = await Promise.all([sql.listRules(tx, id), sql.rulesVersion(tx, id)])
  const data = { firewall: eventFirewall(firewall), ruleCount: restored.length, rulesVersion, reason }
  await recordEvent(tx, deps, { accountId, type: 'firewall.rules_undone', subjectId: id, data })
  return restored
}

/** Tried again later and later. Of a series of failures, the first is an event. */
export async function noteFailedUndo(
  tx: Tx,
  deps: EventDeps,
  { failures, ...firewall }: sql.FirewallRow & { failures: number },
  reason: ErrorCode,
): Promise<void> {
  const now = deps.clock.now()
  const nextTryAt = addDuration(now, `${Math.min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** failures)}s`)
  const noted = await sql.postponeUndo(tx, firewall.id, now, nextTryAt)
  if (noted?.failures !== 1) return
  const rulesVersion = await sql.rulesVersion(tx, firewall.id)
  await recordEvent(tx, deps, {
    accountId: firewall.account_id,
    type: 'firewall.undo_failed',
    subjectId: firewall.id,
    data: { firewall: eventFirewall(firewall), rulesVersion, reason, nextTryAt: nextTryAt.toISOString() },
  })
}

/** The change stays; it can still be undone by request. */
export async function confirmRules(tx: Tx, accountId: string, firewallId: string, { basedOn }: ConfirmRules): Promise<Firewall> {
  const { undo } = await holdRules(tx, accountId, firewallId, basedOn)
  if (!undo?.confirm_by) throw apiError('invalid_state', 'No change of the rules waits to be confirmed: it was confirmed or undone already')
  await sql.clearConfirmation(tx, firewallId)
  return toFirewall((await sql.findFirewall(tx, accountId, firewallId))!)
}
