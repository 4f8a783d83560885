// Wallet and ledger. One conditional statement makes each change together with its ledger entry, so concurrent changes cannot take a
// wallet below zero. What is charged for a project is charged to whoever pays for it. In a transaction with other locks, call these last: all changes of an account and its projects queue for
// its wallet's row lock.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { ApiError, invalid, apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { formatCents, type Cents } from '../../kernel/money.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent, reserveLog } from '../events/service.ts'
import { countRenewal, giveBack, requireBudget, spend, spenderOf, type Spender } from '../budgets/service.ts'
import { isDryRunOf, isInProject, principalOf, type Principal } from '../../http/api/principal.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import { pageOf, rangeOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { readPeriod } from './date-range.ts'
import { notifyCredited, requireEntry, toRow, type Entry } from './ledger-entry.ts'
import type { Costs, Transaction, TransactionDetail, TransactionFilter, TransactionType, Wallet } from './schema.ts'
import * as sql from './sql.ts'
import { toCosts, toDetail, toTransaction, toWallet } from './view.ts'

export type { Quote, Transaction } from './schema.ts'
export { isPayment, type TransactionRow } from './sql.ts'
export { notifyCredited, type Entry, type PricePart } from './ledger-entry.ts'
export { toQuote, toShownBalance, toTransaction } from './view.ts'

/** Credits a deposit or a gift of the operator. Lock order: event log before wallet. */
export async function credit(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  amount: Cents,
  entry: Entry & { currency: string },
): Promise<sql.TransactionRow> {
  if (amount <= 0n) throw invalid('amount must be more than 0.00', 'amount')
  await reserveLog(tx, accountId)
  const row = requireEntry(await sql.addMoney(tx, toRow(deps.clock.now(), accountId, amount, entry)))
  if (entry.type === 'DEPOSIT' || entry.type === 'CREDIT') {
    const wallet = { balance: formatCents(row.balance_after_cents), currency: entry.currency }
    const data = {
      source: entry.type === 'DEPOSIT' ? ('payment' as const) : ('operator' as const),
      transaction: toTransaction(row),
      wallet,
    }
    await recordEvent(tx, deps, { accountId, type: 'billing.payment_received', subjectId: row.id, data })
  }
  await notifyCredited(tx, deps)
  return row
}

/**
 * Debits the wallet, or throws 402, also where a budget of whoever asks for it does not cover it. Something free is recorded as
 * 0.00. `currency` is for the error message.
 */
export async function charge(
  tx: Tx,
  now: Date,
  accountId: string,
  amount: Cents,
  entry: Entry & { currency: string },
): Promise<sql.TransactionRow> {
  requireNotNegative(amount)
  const row = await sql.takeMoney(tx, toRow(now, accountId, -amount, entry))
  if (row) {
    await spend(tx, spenderOf(tx, accountId), row, entry.currency)
    return row
  }
  await requireFunds(tx, now, accountId, amount, entry.currency)
  await sql.ensureWallet(tx, accountId) // a concurrent credit arrived, or the charge is free and no wallet exists yet
  if (!isHidden(tx) || (await balanceOf(tx, accountId)) >= amount) return charge(tx, now, accountId, amount, entry)
  await sql.addMoney(tx, toRow(now, accountId, amount, { ...entry, referenceId: newId(), parts: undefined })) // is rolled back with the charge
  const priced = await charge(tx, now, accountId, amount, entry)
  if (!isDryRunOf(tx)) throw notEnough(tx, 0n, amount, entry.currency)
  return priced
}

/**
 * Debits the wallet if it holds enough; otherwise changes nothing and returns undefined. `by`: who asked for a
 * run; one that their budgets do not cover ends.
 */
export async function tryCharge(
  tx: Tx,
  now: Date,
  accountId: string,
  amount: Cents,
  entry: Entry,
  by?: { spender: Spender; currency: string },
): Promise<sql.TransactionRow | undefined> {
  requireNotNegative(amount)
  const [, row] = await Promise.all([sql.ensureWallet(tx, accountId), sql.takeMoney(tx, toRow(now, accountId, -amount, entry))])
  if (row && by) await spend(tx, by.spender, row, by.currency, true).catch(endRun)
  else if (row) await countRenewal(tx, row)
  return row
}

function endRun(error: unknown): never {
  throw error instanceof ApiError ? new StepError(error.code, error.message, { retry: false, cause: error }) : error
}

/** Refunds a charge of the same reference; throws when more would be refunded than was charged. */
export async function refund(tx: Tx, now: Date, accountId: string, amount: Cents, entry: Entry): Promise<sql.TransactionRow> {
  requireNotNegative(amount)
  await sql.lockWallet(tx, accountId)
  const { cents } = await sql.netPaidFor(tx, accountId, entry.referenceId)
  if (amount > cents)
    throw new Error(`BUG: refund of ${formatCents(amount)} for ${entry.referenceId}, of which ${formatCents(cents)} is paid`)
  const row = requireEntry(await sql.addMoney(tx, toRow(now, accountId, amount, entry)))
  await giveBack(tx, row)
  return row
}

/** The charged and not yet refunded sum of a reference. Keeps the wallet locked, so the sum stays valid. */
export async function refundable(tx: Tx, accountId: string, referenceId: string): Promise<Cents> {
  await sql.lockWallet(tx, accountId)
  return (await sql.netPaidFor(tx, accountId, referenceId)).cents
}

/** What a reference has cost since then, without traffic packs. */
export const paidSince = async (tx: Tx, accountId: string, referenceId: string, since: Date): Promise<Cents> =>
  (await sql.netPaidSince(tx, accountId, referenceId, since)).cents

/** Balances of all wallets. */
export const listBalances = async (db: Queries): Promise<Map<string, Cents>> =>
  new Map((await sql.listWallets(db)).map(({ account_id, balance_cents }) => [account_id, balance_cents]))

export const balanceOf = async (db: Queries, accountId: string): Promise<Cents> =>
  (await sql.findWallet(db, accountId))?.balance_cents ?? 0n

/** Throws 402 early, before the work of a request that cannot be paid. It locks nothing: only `charge` decides. */
export async function requireFunds(db: Queries, now: Date, accountId: string, amount: Cents, currency: string): Promise<void> {
  requireEnough(db, await balanceOf(db, accountId), amount, currency)
  await requireBudget(db, now, accountId, amount, currency)
}

/** Throws 402, but not in a project. */
export function requireEnough(db: Queries, available: Cents, amount: Cents, currency: string): void {
  if (available < amount && !isHidden(db)) throw notEnough(db, available, amount, currency)
}

function notEnough(db: Queries, available: Cents, amount: Cents, currency: string): ApiError {
  const [required, held] = [amount, available].map((cents) => `${formatCents(cents)} ${currency}`)
  const principal = principalOf(db)
  if (principal && isInProject(principal))
    return apiError('insufficient_funds', `Insufficient wallet balance of the account that pays for this project: ${required} required`)
  return apiError('insufficient_funds', `Insufficient wallet balance: ${required} required, ${held} available`)
}

/**
 * In a project, whose members are not to learn what the wallet holds: by a request that a budget or a lack of room refuses in any case, they could try out
 * prices for nothing. So the balance is looked at last, when nothing else refuses, and by dry runs not at all.
 */
function isHidden(db: Queries): boolean {
  const principal = principalOf(db)
  return principal !== undefined && isInProject(principal)
}

function requireNotNegative(amount: Cents): void {
  if (amount < 0n) throw new Error(`BUG: a negative amount, ${formatCents(amount)}`)
}

/** Upcoming charges, injected by the billing feature: the wallet does not depend on it. */
export type Renewals = (db: Queries, now: Date, accountId: string) => Promise<{ dueNext7Days: Cents; monthly: Cents }>

export async function getWallet(db: Queries, now: Date, accountId: string, currency: string, renewals: Renewals): Promise<Wallet> {
  const [balance, due] = await Promise.all([balanceOf(db, accountId), renewals(db, now, accountId)])
  return toWallet(balance, currency, due)
}

/** Whose transactions: of a payer all, of a project those for it. */
export type Payer = Pick<Principal, 'accountId' | 'payerId'>

export async function listTransactions(
  db: Queries,
  who: Payer,
  { type, kind, referenceId, projectId, labelSelector, ...dates }: TransactionFilter,
  page: PageRequest,
): Promise<Paged<Transaction>> {
  const project = projectId === 'none' ? null : projectId
  const filter = { type: type ?? null, ...readPeriod(dates), kind, referenceId, projectId: project, labelSelector }
  const isAll =
    who.accountId === who.payerId && Object.values(filter).every((each) => each === undefined || each === null) && project !== null
  return isAll ? listAll(db, who.payerId, page) : listFiltered(db, who, filter, page)
}

async function listFiltered(db: Queries, { accountId, payerId }: Payer, of: sql.Filter, page: PageRequest): Promise<Paged<Transaction>> {
  const filter = accountId === payerId ? of : { ...of, projectId: accountId }
  return pageOf(
    page,
    () => sql.countMatching(db, payerId, filter),
    async (range) => (await sql.listMatching(db, payerId, filter, range)).map((row) => toTransaction(row, accountId)),
  )
}

/** Transactions of one type for one reference. */
export const listTransactionsOf = (
  db: Queries,
  who: Payer,
  { type, referenceId }: { type: TransactionType; referenceId: string },
  page: PageRequest,
): Promise<Paged<Transaction>> => listFiltered(db, who, { type, referenceId, from: null, before: null }, page)

/** In a project only its own are found. */
export async function getTransaction(db: Queries, { accountId, payerId }: Payer, id: string): Promise<TransactionDetail> {
  const row = await sql.findEntry(db, payerId, id, accountId === payerId ? null : accountId)
  if (!row) throw notFound('Transaction')
  const [resource, run] = await Promise.all([sql.findResource(db, payerId, row.reference_id), sql.findCausingRun(db, row)])
  return toDetail(row, { resource, run }, accountId)
}

/** An account can have any number of resources, an answer has not. */
const MOST_GROUPS = 1_000

export interface CostDeps {
  db: Queries
  now: Date
  currency: string
}

export async function getCosts(
  { db, now, currency }: CostDeps,
  { accountId, payerId }: Payer,
  { month = now.toISOString().slice(0, 7), by = 'resource' }: { month?: string; by?: string },
): Promise<Costs> {
  const from = new Date(`${month}-01T00:00:00Z`)
  const before = new Date(from)
  before.setUTCMonth(before.getUTCMonth() + 1)
  const projectId = accountId === payerId ? undefined : accountId
  const filter = { type: null, from, before, kind: 'COST' as const, projectId }
  const rows = await groupCosts(db, payerId, filter, by)
  return toCosts({ month, currency }, rows, MOST_GROUPS)
}

function groupCosts(db: Queries, payerId: string, filter: sql.Filter, by: string): Promise<sql.CostRow[]> {
  if (by === 'type') return sql.costsByType(db, payerId, filter)
  if (by === 'project') return sql.costsByProject(db, payerId, filter)
  if (by === 'resource') return sql.costsByResource(db, payerId, filter)
  return sql.costsByLabel(db, payerId, filter, by.slice('label:'.length))
}

export const balancesOf = sql.balancesOf

const INT4_MAX = 2 ** 31 - 1

async function listAll(db: Queries, accountId: string, page: PageRequest): Promise<Paged<Transaction>> {
  const { offset, ...range } = rangeOf(page)
  const rows = await sql.listNewest(db, accountId, { ...range, offset: Math.min(offset, INT4_MAX) })
  return { total: rows[0]?.transaction_count ?? 0, items: rows.filter((row) => row.id !== null).map((row) => toTransaction(row)) }
}
