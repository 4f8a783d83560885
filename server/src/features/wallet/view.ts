import { formatCents, type Cents } from '../../kernel/money.ts'
import type { Quote, Transaction, Wallet } from './schema.ts'
import type { TransactionRow } from './sql.ts'

export const toTransaction = (row: TransactionRow): Transaction => ({
  id: row.id,
  type: row.type,
  description: row.description,
  referenceType: row.reference_type,
  referenceId: row.reference_id,
  createdAt: row.created_at.toISOString(),
  amount: formatCents(row.amount_cents),
  balanceAfter: formatCents(row.balance_after_cents),
})

export const toWallet = (balance: Cents, currency: string, due: { dueNext7Days: Cents; monthly: Cents }): Wallet => ({
  balance: formatCents(balance),
  currency,
  dueNext7Days: formatCents(due.dueNext7Days),
  daysLeft: due.monthly > 0n ? Number((balance * 30n) / due.monthly) : null,
})

export interface Price {
  /** Negative: a refund. */
  charge: Cents
  monthly: Cents
  balanceAfter: Cents
}

export const toQuote = (currency: string, { charge, monthly, balanceAfter }: Price): Quote => ({
  charge: formatCents(charge),
  monthly: formatCents(monthly),
  currency,
  balanceAfter: formatCents(balanceAfter),
})
