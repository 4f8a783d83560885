import { formatCents, type Cents } from '../../kernel/money.ts'
import { isInProject, principalOf } from '../../http/api/principal.ts'
import type { Queries } from '../../kernel/database/db.ts'
import type { Costs, Quote, Transaction, TransactionDetail, Wallet } from './schema.ts'
import type { CausingRun, CostRow, ResourceRow, TransactionRow } from './sql.ts'

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

export function toDetail(
  row: TransactionRow,
  { resource, run }: { resource: ResourceRow | undefined; run: CausingRun | undefined },
  viewerId: string,
): TransactionDetail {
  const transaction = toTransaction(row, viewerId)
  return {
    ...transaction,
    balanceBefore: transaction.balanceAfter === null ? null : formatCents(row.balance_after_cents - row.amount_cents),
    resource: resource ? { id: row.reference_id, name: resource.name, labels: resource.labels, deleted: resource.is_deleted } : null,
    action: run ? { id: run.id, action: run.label, status: run.status, createdAt: run.created_at.toISOString() } : null,
    priceParts: (row.price_parts ?? []).map(({ part, cents }) => ({
      part: part as TransactionDetail['priceParts'][number]['part'],
      amount: formatCents(-BigInt(cents)),
    })),
  }
}

type Sums = Pick<CostRow, 'charged' | 'refunded' | 'entries'>

const sumOf = (rows: Sums[]): Sums =>
  rows.reduce(
    (sum, each) => ({
      charged: sum.charged + each.charged,
      refunded: sum.refunded + each.refunded,
      entries: sum.entries + each.entries,
    }),
    { charged: 0n, refunded: 0n, entries: 0 },
  )

const toSums = ({ charged, refunded, entries }: Sums) => ({
  charged: formatCents(charged),
  refunded: formatCents(refunded),
  amount: formatCents(charged - refunded),
  entries,
})

export function toCosts({ month, currency }: { month: string; currency: string }, rows: CostRow[], most: number): Costs {
  const sorted = rows.toSorted((a, b) => {
    const [less, more] = [a.charged - a.refunded, b.charged - b.refunded]
    return less === more ? (a.key ?? '').localeCompare(b.key ?? '') : less < more ? 1 : -1
  })
  const further = sorted.slice(most)
  return {
    month,
    currency,
    ...toSums(sumOf(rows)),
    groups: sorted.slice(0, most).map((row) => ({
      key: row.key,
      name: row.name,
      resourceType: row.resource_type,
      deleted: row.is_deleted,
      ...toSums(row),
    })),
    furtherGroups: further.length > 0 ? { count: further.length, ...toSums(sumOf(further)) } : null,
  }
}

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
