import { formatCents } from '../../kernel/money.ts'
import type { Deposit } from './schema.ts'
import type { PaymentRow } from './sql.ts'

export const toDeposit = (row: PaymentRow): Deposit => ({
  id: row.id,
  status: row.status,
  amount: formatCents(row.received_cents ?? row.amount_cents),
  currency: row.currency,
  provider: row.provider,
  checkoutUrl: row.status === 'PENDING' ? row.checkout_url : null,
  instructions: row.status === 'PENDING' ? row.instructions : null,
  refunded: formatCents(row.refunded_cents + row.disputed_cents),
  transactionId: row.transaction_id,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
