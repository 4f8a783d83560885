import { formatCents } from '../../kernel/money.ts'
import { toTransaction, type TransactionRow } from '../wallet/service.ts'
import type { Invoice, InvoiceSummary } from './schema.ts'
import type { InvoiceRow } from './sql.ts'

export const toSummary = (row: InvoiceRow): InvoiceSummary => ({
  id: row.id,
  number: `INV-${String(row.number).padStart(6, '0')}`,
  month: row.month,
  currency: row.currency,
  openingBalance: formatCents(row.opening_cents),
  charged: formatCents(row.charged_cents),
  paid: formatCents(row.paid_cents),
  closingBalance: formatCents(row.closing_cents),
  issuedAt: row.issued_at.toISOString(),
})

export const toInvoice = (row: InvoiceRow, lines: TransactionRow[], pageUrl: string): Invoice => ({
  ...toSummary(row),
  seller: row.seller,
  customer: row.customer,
  lines: lines.map((line) => toTransaction(line)),
  furtherLines: furtherLines(row, lines),
  pageUrl,
})

/** Entries are numbered without a gap, and each has the balance after it. */
function furtherLines(row: InvoiceRow, lines: TransactionRow[]): Invoice['furtherLines'] {
  const last = lines.at(-1)!
  if (last.number === row.last_entry) return null
  return { count: row.last_entry - last.number, amount: formatCents(row.closing_cents - last.balance_after_cents) }
}
