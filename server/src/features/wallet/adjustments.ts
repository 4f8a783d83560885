// Balance changes without a purchase: operator adjustments, and reversals by a payment provider. Operator adjustments are stored with
// their reason, and the ledger entry refers to them.
import type { Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Cents } from '../../kernel/money.ts'
import type { EventDeps } from '../deps.ts'
import { notifyCredited, requireEntry, toRow, type Entry } from './ledger-entry.ts'
import { balanceOf, credit, requireEnough } from './service.ts'
import * as sql from './sql.ts'

export interface Order {
  accountId: string
  amount: Cents
  reason: string
  currency: string
}

/** A gift, or money that the operator received. */
export async function creditByOperator(
  tx: Tx,
  deps: EventDeps,
  { accountId, amount, reason, currency }: Order,
): Promise<sql.TransactionRow> {
  if (amount <= 0n) throw invalid('amount must be more than 0.00', 'amount')
  return credit(tx, deps, accountId, amount, {
    ...(await ordered(tx, deps.clock.now(), { accountId, amount, reason })),
    type: 'CREDIT',
    currency,
  })
}

/** Corrects the balance in either direction; never below zero. */
export async function adjustByOperator(
  tx: Tx,
  deps: EventDeps,
  { accountId, amount, reason, currency }: Order,
): Promise<sql.TransactionRow> {
  if (amount === 0n) throw invalid('amount must not be 0.00', 'amount')
  const now = deps.clock.now()
  const row = toRow(now, accountId, amount, { ...(await ordered(tx, now, { accountId, amount, reason })), type: 'ADJUSTMENT' })
  if (amount > 0n) return addAndNotify(tx, deps, row)
  const taken = await sql.takeMoney(tx, row)
  if (!taken) requireEnough(tx, await balanceOf(tx, accountId), -amount, currency)
  return requireEntry(taken)
}

async function ordered(tx: Tx, now: Date, order: Omit<Order, 'currency'>): Promise<Omit<Entry, 'type'>> {
  const reason = order.reason.trim()
  if (reason === '' || reason.length > 500) throw invalid('the reason must be 1-500 characters', 'reason')
  const id = newId()
  await sql.insertOrder(tx, { id, account_id: order.accountId, amount_cents: order.amount, reason, created_at: now })
  return { description: reason, referenceType: 'ADMIN', referenceId: id }
}

/** Debits as much of `amount` as the wallet holds, and returns the debited sum. */
export async function debitUpTo(tx: Tx, now: Date, accountId: string, amount: Cents, entry: Entry): Promise<Cents> {
  const held = (await sql.lockWallet(tx, accountId))?.balance_cents ?? 0n
  const taken = held < amount ? held : amount
  if (taken > 0n) requireEntry(await sql.takeMoney(tx, toRow(now, accountId, -taken, entry)))
  return taken
}

export const creditReversal = (tx: Tx, deps: EventDeps, accountId: string, amount: Cents, entry: Entry): Promise<sql.TransactionRow> =>
  addAndNotify(tx, deps, toRow(deps.clock.now(), accountId, amount, entry))

async function addAndNotify(tx: Tx, deps: EventDeps, row: sql.NewTransaction): Promise<sql.TransactionRow> {
  const added = requireEntry(await sql.addMoney(tx, row))
  await notifyCredited(tx, deps)
  return added
}
