import { formatCents, type Cents } from '../../kernel/money.ts'
import { isInProject, principalOf } from '../../http/api/principal.ts'
import type { Queries } from '../../kernel/database/db.ts'
import type { Quote, Transaction, Wallet } from './schema.ts'
import type { TransactionRow } from './sql.ts'

/** `viewerId`: the project in which it is looked at; whoever pays sees all of it. */
export const toTransaction = (row: TransactionRow, viewerId?: string): Transaction => ({
  id: row.id,
  type: row.type,
  description: row.description,
  referenceType: row.reference_type,
  referenceId: row.reference_id,
  createdAt: row.created_at.toISOString(),
  amount: formatCents(row.amount_cents),
  balanceAfter: viewerId !== undefined && viewerId === row.project_id ? null : formatCents(row.balance_after_cents),
  project: row.project_id === null ? null : { id: row.project_id, name: row.project_name! },
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

/** What is in the wallet is nothing for those of a project. */
export function toShownBalance(db: Queries, balance: Cents): string | null {
  const principal = principalOf(db)
  return principal && isInProject(principal) ? null : formatCents(balance)
}

export const toQuote = (db: Queries, currency: string, { charge, monthly, balanceAfter }: Price): Quote => ({
  charge: formatCents(charge),
  monthly: formatCents(monthly),
  currency,
  balanceAfter: toShownBalance(db, balanceAfter),
})
