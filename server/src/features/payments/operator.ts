import type { Tx } from '../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../kernel/errors.ts'
import type { Cents } from '../../kernel/money.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { receive } from './provider-events.ts'
import * as sql from './sql.ts'

export { listAllPayments } from './sql.ts'

/** By an operator who has received the money. Only Stripe confirms Stripe payments; otherwise one could be credited twice. */
export async function confirmPayment(
  tx: Tx,
  deps: Pick<Deps, 'config'> & EventDeps,
  id: string,
  amount: Cents | null,
): Promise<sql.PaymentRow> {
  const payment = await sql.lockPayment(tx, id)
  if (!payment) throw notFound(`Payment ${id}`)
  if (payment.provider !== 'manual') throw apiError('invalid_state', `Payment ${id} is confirmed by ${payment.provider} alone`)
  if (payment.transaction_id !== null) throw apiError('invalid_state', `Payment ${id} is in the wallet already`)
  if (amount !== null && amount <= 0n) throw invalid('amount must be more than 0.00', 'amount')
  await receive(tx, deps, payment, amount ?? payment.amount_cents)
  await sql.savePayment(tx, deps.clock.now(), payment)
  return payment
}
