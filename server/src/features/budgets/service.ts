// Budgets limit what is spent through something: for now through API tokens, each with those that it was made with. The ledger's entry and
// what the budget has used of it are one transaction, under the lock of the account's wallet, so that parallel charges take turns. Renewals
// belong to the account: they count, and no budget stops them.
import { principalOf } from '../../http/api/principal.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, unauthorized, type ApiError } from '../../kernel/errors.ts'
import { formatCents, parseCents, type Cents } from '../../kernel/money.ts'
import { parseSelector } from '../labels/service.ts'
import type { BudgetInput, BudgetLimits, BudgetView } from './schema.ts'
import * as sql from './sql.ts'

export type Budget = sql.Limits

const monthOf = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`

/** What has just been written into the ledger. */
export interface Booked {
  account_id: string
  number: number
  /** Negative for a charge. */
  amount_cents: bigint
  reference_type: string
  reference_id: string
  created_at: Date
}

/** The tokens through which a request acts, for a run that charges later. */
export function spentThrough(tx: Tx): { tokenIds?: string[] } {
  const tokenIds = principalOf(tx)?.tokenIds ?? []
  return tokenIds.length > 0 ? { tokenIds: [...tokenIds] } : {}
}

/** Throws 402 early. It locks nothing: only `spend` decides. */
export async function requireBudget(db: Queries, now: Date, tokenIds: readonly string[], cents: Cents, currency: string): Promise<void> {
  if (tokenIds.length === 0) return
  for (const state of await sql.findStates(db, monthOf(now), tokenIds)) requireRoom(state, cents, currency)
}

/** Throws 402 early for what is charged later, in a run. */
export async function requireSelected(tx: Tx, now: Date, referenceId: string): Promise<void> {
  const { tokenIds = [] } = spentThrough(tx)
  if (tokenIds.length === 0) return
  for (const state of await sql.findStates(tx, monthOf(now), tokenIds)) await requireLabels(tx, state, referenceId)
}

async function requireLabels(tx: Tx, { name, label_selector }: sql.StateRow, referenceId: string): Promise<void> {
  if (label_selector === null || (await sql.isSelected(tx, referenceId, label_selector))) return
  throw exceeded(`the budget of token ${name} is for what has labels ${label_selector} alone, and this has not`)
}

/** With the wallet locked, and the charge in the ledger. `isLater`: in a run, which the token that asked for it need not outlive. */
export async function spend(tx: Tx, tokenIds: readonly string[], booked: Booked, currency: string, isLater = false): Promise<void> {
  if (tokenIds.length === 0) return
  const cents = -booked.amount_cents
  const { account_id: accountId, number, reference_id: referenceId, created_at: now } = booked
  const type = booked.reference_type
  const [states, first] = await Promise.all([
    sql.findStates(tx, monthOf(now), tokenIds),
    isMade(type) ? sql.isFirst(tx, accountId, referenceId, number) : false,
  ])
  if (!isLater && (states.length < tokenIds.length || states.some((state) => !state.is_active)))
    throw unauthorized('API token has been revoked')
  for (const state of states) {
    if (first && type === 'VM' && state.max_vms !== null && state.vms >= state.max_vms) throw tooManyVms(state, state.max_vms)
    if (first || cents > 0n) await requireLabels(tx, state, referenceId)
    requireRoom(state, cents, currency)
  }
  const ids = states.map(({ id }) => id)
  const made = first && isMade(type) ? sql.insertResource(tx, states, type, referenceId) : null
  await Promise.all([sql.insertEntries(tx, monthOf(now), ids, { accountId, number, referenceId, kind: 'CHARGE', cents, now }), made])
}

const MADE: string[] = ['VM', 'VOLUME', 'ADDRESS', 'IMAGE'] satisfies sql.ResourceType[]
const isMade = (type: string): type is sql.ResourceType => MADE.includes(type)

function requireRoom({ name, monthly_cents, used_cents }: sql.StateRow, cents: Cents, currency: string): void {
  if (cents === 0n || monthly_cents === null || used_cents + cents <= monthly_cents) return
  const [amount, used, left, cost] = [monthly_cents, used_cents, leftOf(monthly_cents, used_cents), cents].map(formatCents)
  throw exceeded(`token ${name} may spend ${amount} ${currency} a month. ${used} are used, ${left} are left, and this costs ${cost}`)
}

const tooManyVms = ({ name, vms }: sql.StateRow, most: number): ApiError =>
  exceeded(`token ${name} may have ${most} VMs at a time. ${vms} are in use, ${Math.max(0, most - vms)} are left`)

const exceeded = (sentence: string): ApiError => apiError('budget_exceeded', `Budget exceeded: ${sentence}`)

const leftOf = (limit: Cents, used: Cents): Cents => (used > limit ? 0n : limit - used)

/** Of a charge that nobody asked for now: it counts for whoever made what it is for. */
export const countRenewal = (tx: Tx, { account_id, number, reference_id, amount_cents, created_at: now }: Booked): Promise<number> =>
  sql.insertRenewal(tx, monthOf(now), {
    accountId: account_id,
    number,
    referenceId: reference_id,
    kind: 'RENEWAL',
    cents: -amount_cents,
    now,
  })

/** What is refunded is the last that was charged for it; each part is given back to the month in which it was charged. */
export async function giveBack(tx: Tx, { account_id, number, reference_id, created_at: now }: Booked): Promise<void> {
  const entries = await sql.entriesOf(tx, account_id, reference_id)
  if (entries.length === 0) return
  const parts = lastParts(await sql.ledgerOf(tx, account_id, reference_id), number)
  const back = new Map<string, { month: string; id: string; cents: bigint }>()
  for (const { subject_id: id, month, number: charged } of entries) {
    const key = `${id} ${month}`
    const cents = (back.get(key)?.cents ?? 0n) + (parts.get(charged) ?? 0n)
    back.set(key, { id, month, cents })
  }
  for (const { id, month, cents } of back.values())
    if (cents > 0n)
      await sql.insertEntries(tx, month, [id], {
        accountId: account_id,
        number,
        referenceId: reference_id,
        kind: 'REFUND',
        cents: -cents,
        now,
      })
}

/** How much of each charge the refund with this number gives back: the newest charges first. */
export function lastParts(ledger: { number: number; amount_cents: bigint }[], refundNumber: number): Map<number, bigint> {
  const charges: { number: number; left: bigint }[] = []
  let parts = new Map<number, bigint>()
  for (const { number, amount_cents } of ledger) {
    if (amount_cents <= 0n) charges.push({ number, left: -amount_cents })
    parts = new Map()
    for (let left = amount_cents; left > 0n && charges.length > 0;) {
      const charge = charges.at(-1)!
      const part = charge.left < left ? charge.left : left
      parts.set(charge.number, part)
      left -= part
      charge.left -= part
      if (charge.left === 0n) charges.pop()
    }
    if (number === refundNumber) break
  }
  return parts
}

/** What is given, in place of what there was; null where nothing is limited. */
export function withChanges(before: Budget | null, change: BudgetInput | null | undefined): Budget | null {
  if (change === undefined) return before
  if (change === null) return null
  const { monthlyAmount, maxVms, labelSelector } = change
  if (typeof labelSelector === 'string') parseSelector(labelSelector)
  const after = {
    monthly_cents:
      monthlyAmount === undefined ? (before?.monthly_cents ?? null) : monthlyAmount === null ? null : parseCents(monthlyAmount),
    max_vms: maxVms === undefined ? (before?.max_vms ?? null) : maxVms,
    label_selector: labelSelector === undefined ? (before?.label_selector ?? null) : labelSelector,
  }
  return Object.values(after).every((limit) => limit === null) ? null : after
}

/** Null has no limit. A selector is within another that it begins with. */
export function isWithinBudget(inner: Budget | null, outer: Budget | null): boolean {
  if (!outer) return true
  if (!inner) return false
  const { monthly_cents: cents, max_vms: vms, label_selector: selector } = outer
  return (
    (cents === null || (inner.monthly_cents !== null && inner.monthly_cents <= cents)) &&
    (vms === null || (inner.max_vms !== null && inner.max_vms <= vms)) &&
    (selector === null || inner.label_selector === selector || inner.label_selector?.startsWith(`${selector},`) === true)
  )
}

export async function findBudgets(db: Queries, tokenIds: string[]): Promise<Map<string, Budget>> {
  const rows = tokenIds.length === 0 ? [] : await sql.findBudgets(db, tokenIds)
  return new Map(rows.map(({ id, ...limits }) => [id, limits]))
}

export const setBudget = (tx: Tx, accountId: string, tokenId: string, budget: Budget | null): Promise<number> =>
  budget ? sql.setBudget(tx, accountId, tokenId, budget) : sql.deleteBudgets(tx, [tokenId])

/** Returns the tokens that had more. */
export const narrowBudgets = async (tx: Tx, accountId: string, tokenIds: string[], budget: Budget): Promise<string[]> =>
  tokenIds.length === 0 ? [] : (await sql.narrowBudgets(tx, accountId, tokenIds, budget)).map(({ id }) => id)

/** With what was counted. Those that it was made with have counted for themselves. */
export async function deleteBudgets(tx: Tx, tokenIds: string[]): Promise<void> {
  await sql.deleteBudgets(tx, tokenIds)
  await sql.deleteUses(tx, tokenIds)
}

export const toLimits = ({ monthly_cents, max_vms, label_selector }: Budget): BudgetLimits => ({
  monthlyAmount: monthly_cents === null ? null : formatCents(monthly_cents),
  maxVms: max_vms,
  labelSelector: label_selector,
})

interface Left {
  /** Null: without limit. */
  cents: Cents | null
  vms: number | null
}

const leastOf = <T extends number | bigint>(numbers: T[]): T | null =>
  numbers.reduce<T | null>((least, each) => (least === null || each < least ? each : least), null)

const left = (states: sql.StateRow[]): Left => ({
  cents: leastOf(states.flatMap(({ monthly_cents, used_cents }) => (monthly_cents === null ? [] : [leftOf(monthly_cents, used_cents)]))),
  vms: leastOf(states.flatMap(({ max_vms, vms }) => (max_vms === null ? [] : [Math.max(0, max_vms - vms)]))),
})

/** The least that is left to any of these. */
export const findLeft = async (db: Queries, now: Date, tokenIds: readonly string[]): Promise<Left> =>
  left(await sql.findStates(db, monthOf(now), tokenIds))

/** By token, for those that have a budget. */
export async function findViews(
  db: Queries,
  now: Date,
  tokens: { id: string; ancestor_ids: string[] }[],
): Promise<Map<string, BudgetView>> {
  const ids = [...new Set(tokens.flatMap(({ id, ancestor_ids }) => [...ancestor_ids, id]))]
  const states = new Map((ids.length === 0 ? [] : await sql.findStates(db, monthOf(now), ids)).map((state) => [state.id, state]))
  return new Map(
    tokens.flatMap(({ id, ancestor_ids }) => {
      const state = states.get(id)
      if (!state?.has_budget) return []
      const { cents } = left([...ancestor_ids, id].flatMap((each) => states.get(each) ?? []))
      const remaining = cents === null ? null : formatCents(cents)
      return [[id, { ...toLimits(state), used: formatCents(state.used_cents), remaining, vms: state.vms }]]
    }),
  )
}
