// Budgets limit what is spent by their holders: projects, members, in an account each, and API tokens, each with those that it was made with. What a
// token spends, the member who made it spends too. The ledger's entry and what the budgets have used of it are one transaction, under the lock
// of the account's wallet, so that parallel charges take turns. Renewals belong to the account: they count, and no budget stops them.
import { principalOf, type Principal } from '../../http/api/principal.ts'
import { counted } from '../../kernel/counted.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, unauthorized, type ApiError } from '../../kernel/errors.ts'
import { formatCents, parseCents, type Cents } from '../../kernel/money.ts'
import { parseSelector } from '../labels/service.ts'
import type { BudgetInput, BudgetLimits, BudgetView } from './schema.ts'
import * as sql from './sql.ts'

export type Budget = sql.Limits
export type { Holder } from './sql.ts'

const monthOf = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`

/** What has just been written into the ledger. */
export interface Booked {
  /** That pays. */
  account_id: string
  project_id: string | null
  number: number
  /** Negative for a charge. */
  amount_cents: bigint
  reference_type: string
  reference_id: string
  created_at: Date
}

/** Who spends: kept with a run that charges later. */
export interface Spender {
  /** Through which it was asked for. */
  tokenIds?: string[]
  /** Who asked for it, or made the token. Missing in the journal of a run that an older release started. */
  personId?: string
  /** Where the person is a member: the account, or for a project the one that pays. Missing in such a journal too, which is of the account. */
  memberOf?: string
}

const toSpender = ({ tokenIds, person, memberOf }: Principal): Spender => ({
  ...(tokenIds.length > 0 && { tokenIds: [...tokenIds] }),
  ...(person && { personId: person.id, memberOf }),
})

/** Nobody where no request is answered, and for what an operator does to the account of a customer. */
export function spenderOf(db: Queries, accountId: string): Spender {
  const principal = principalOf(db)
  return principal?.accountId === accountId ? toSpender(principal) : {}
}

export const tokenHolder = (id: string): sql.Holder => ({ type: 'TOKEN', id })
export const memberHolder = (accountId: string, userId: string): sql.Holder => ({ type: 'MEMBER', id: `${accountId}/${userId}` })
export const invitationHolder = (id: string): sql.Holder => ({ type: 'INVITATION', id })

export const projectHolder = (accountId: string): sql.Holder => ({ type: 'PROJECT', id: accountId })

/** An account and who pays for it: the same, or another one where the account is a project. */
export type Place = Pick<Principal, 'accountId' | 'payerId'>

/** Whatever is spent in a project counts for it. */
export const projectHolders = ({ accountId, payerId }: Place): sql.Holder[] => (accountId === payerId ? [] : [projectHolder(accountId)])

function holdersOf(place: Place, { tokenIds = [], personId, memberOf = place.accountId }: Spender): sql.Holder[] {
  const members = personId === undefined ? [] : [memberHolder(memberOf, personId)]
  return [...projectHolders(place), ...members, ...tokenIds.map(tokenHolder)]
}

function askedBy(db: Queries, accountId: string): sql.Holder[] {
  const principal = principalOf(db)
  return principal?.accountId === accountId ? holdersOf(principal, toSpender(principal)) : []
}

/** Throws 402 early. It locks nothing: only `spend` decides. */
export async function requireBudget(db: Queries, now: Date, accountId: string, cents: Cents, currency: string): Promise<void> {
  const holders = askedBy(db, accountId)
  if (holders.length === 0) return
  for (const state of await sql.findStates(db, monthOf(now), holders)) requireRoom(state, cents, currency, isByToken(holders))
}

/** Throws 402 early for what is charged later, in a run. */
export async function requireSelected(tx: Tx, now: Date, accountId: string, referenceId: string): Promise<void> {
  const holders = askedBy(tx, accountId)
  if (holders.length === 0) return
  for (const state of await sql.findStates(tx, monthOf(now), holders)) await requireLabels(tx, state, referenceId, isByToken(holders))
}

async function requireLabels(tx: Tx, state: sql.StateRow, referenceId: string, byToken: boolean): Promise<void> {
  const { label_selector: selector } = state
  if (selector === null || (await sql.isSelected(tx, referenceId, selector))) return
  throw exceeded(`${whoOf(state, byToken)} may spend only on what has labels ${selector}, and this has not`)
}

/** With the wallet locked, and the charge in the ledger. `isLater`: in a run, which the token that asked for it need not outlive. */
export async function spend(tx: Tx, spender: Spender, booked: Booked, currency: string, isLater = false): Promise<void> {
  const { account_id: accountId, project_id, number, reference_id: referenceId, created_at: now } = booked
  const holders = holdersOf({ accountId: project_id ?? accountId, payerId: accountId }, spender)
  if (holders.length === 0) return
  const cents = -booked.amount_cents
  const type = booked.reference_type
  const [states, first] = await Promise.all([
    sql.findStates(tx, monthOf(now), holders),
    isMade(type) ? sql.isFirst(tx, accountId, referenceId, number) : false,
  ])
  if (!isLater) requireActive(holders, states)
  const byToken = isByToken(holders)
  for (const state of states) {
    if (first && type === 'VM' && state.max_vms !== null && state.vms >= state.max_vms) throw tooManyVms(state, state.max_vms, byToken)
    if (first || cents > 0n) await requireLabels(tx, state, referenceId, byToken)
    requireRoom(state, cents, currency, byToken)
  }
  const made = first && isMade(type) ? sql.insertResource(tx, states, type, referenceId) : null
  await Promise.all([sql.insertEntries(tx, monthOf(now), states, { accountId, number, referenceId, kind: 'CHARGE', cents, now }), made])
}

/** Who was removed, or whose token was revoked, since the request was let in spends nothing more. */
function requireActive(holders: sql.Holder[], states: sql.StateRow[]): void {
  if (states.some(({ type, is_active }) => type === 'MEMBER' && !is_active))
    throw apiError('missing_scope', 'You are no member of this account any more')
  if (states.length < holders.length || states.some((state) => !state.is_active)) throw unauthorized('API token has been revoked')
}

const MADE: string[] = ['VM', 'VOLUME', 'ADDRESS', 'IMAGE'] satisfies sql.ResourceType[]
const isMade = (type: string): type is sql.ResourceType => MADE.includes(type)

/** Whoever has only a token is told little about its maker. */
const isByToken = (holders: sql.Holder[]): boolean => holders.some(({ type }) => type === 'TOKEN')

function whoOf({ type, name }: sql.StateRow, byToken: boolean): string {
  if (type === 'TOKEN') return `token ${name}`
  if (type === 'PROJECT') return 'this project'
  return byToken ? 'the member who made this token' : 'you'
}

function requireRoom(state: sql.StateRow, cents: Cents, currency: string, byToken: boolean): void {
  const { monthly_cents, used_cents } = state
  if (cents === 0n || monthly_cents === null || used_cents + cents <= monthly_cents) return
  const [amount, used, left, cost] = [monthly_cents, used_cents, leftOf(monthly_cents, used_cents), cents].map(formatCents)
  const what =
    state.type === 'MEMBER' && byToken
      ? `of the budget of the member who made this token ${left} ${currency} are left this month, and this costs ${cost}`
      : `${whoOf(state, byToken)} may spend ${amount} ${currency} a month. ${used} are used, ${left} are left, and this costs ${cost}`
  throw exceeded(`${what}. Choose what costs less, wait for the next month (UTC), or have the budget raised`)
}

const tooManyVms = (state: sql.StateRow, most: number, byToken: boolean): ApiError =>
  exceeded(
    `${whoOf(state, byToken)} may have ${counted(most, 'VM')} at a time, and would have more. Delete one, ask for fewer, or have the budget raised`,
  )

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
  const back = new Map<string, sql.Holder & { month: string; cents: bigint }>()
  for (const { type, id, month, number: charged } of entries) {
    const key = `${type} ${id} ${month}`
    const cents = (back.get(key)?.cents ?? 0n) + (parts.get(charged) ?? 0n)
    back.set(key, { type, id, month, cents })
  }
  for (const { month, cents, ...holder } of back.values())
    if (cents > 0n)
      await sql.insertEntries(tx, month, [holder], {
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

/** By the ids of the holders. */
export async function findBudgets(db: Queries, holders: sql.Holder[]): Promise<Map<string, Budget>> {
  const rows = holders.length === 0 ? [] : await sql.findBudgets(db, holders)
  return new Map(rows.map(({ id, ...limits }) => [id, limits]))
}

export const findBudget = async (db: Queries, holder: sql.Holder): Promise<Budget | null> =>
  (await findBudgets(db, [holder])).get(holder.id) ?? null

export const setBudget = (tx: Tx, accountId: string, holder: sql.Holder, budget: Budget | null): Promise<number> =>
  budget ? sql.setBudget(tx, accountId, holder, budget) : sql.deleteBudgets(tx, [holder])

/** Returns the ids of those that had more. */
export const narrowBudgets = async (tx: Tx, accountId: string, holders: sql.Holder[], budget: Budget): Promise<string[]> =>
  holders.length === 0 ? [] : (await sql.narrowBudgets(tx, accountId, holders, budget)).map(({ id }) => id)

/** With what was counted: of a token, for which those that it was made with, and its maker, have counted for themselves. */
export async function deleteBudgets(tx: Tx, holders: sql.Holder[]): Promise<void> {
  await sql.deleteBudgets(tx, holders)
  await sql.deleteUses(tx, holders)
}

/** For a sentence. */
export function budgetText(budget: Budget): string {
  const { monthlyAmount, maxVms, labelSelector } = toLimits(budget)
  const parts = [
    monthlyAmount && `${monthlyAmount} a month`,
    maxVms !== null && counted(maxVms, 'VM'),
    labelSelector && `for labels ${labelSelector}`,
  ]
  return parts.filter(Boolean).join(', ')
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

/** The least that is left to any of the holders of a request. */
export const findLeft = async (db: Queries, now: Date, principal: Principal): Promise<Left> =>
  left(await sql.findStates(db, monthOf(now), holdersOf(principal, toSpender(principal))))

/** For those that have a budget, by their ids. `within`: what they spend counts for these too. */
export async function findViews(
  db: Queries,
  now: Date,
  shown: { holder: sql.Holder; within?: sql.Holder[] }[],
): Promise<Map<string, BudgetView>> {
  const holders = new Map(shown.flatMap(({ holder, within = [] }) => [...within, holder]).map((each) => [each.id, each]))
  const states = new Map(
    (holders.size === 0 ? [] : await sql.findStates(db, monthOf(now), [...holders.values()])).map((state) => [state.id, state]),
  )
  return new Map(
    shown.flatMap(({ holder: { id }, within = [] }) => {
      const state = states.get(id)
      if (!state?.has_budget) return []
      const { cents } = left([...within.map((each) => each.id), id].flatMap((each) => states.get(each) ?? []))
      const remaining = cents === null ? null : formatCents(cents)
      return [[id, { ...toLimits(state), used: formatCents(state.used_cents), remaining, vms: state.vms }]]
    }),
  )
}

export const findView = async (db: Queries, now: Date, holder: sql.Holder, within: sql.Holder[] = []): Promise<BudgetView | null> =>
  (await findViews(db, now, [{ holder, within }])).get(holder.id) ?? null
