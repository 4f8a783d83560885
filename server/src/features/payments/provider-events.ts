// Handles provider events, which arrive in any order and more than once. The transaction that applies an event stores it under the
// provider's event id, so a duplicate is detected; everything else happens under the payment's row lock.
import type { Tx } from '../../kernel/database/db.ts'
import { formatCents } from '../../kernel/money.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { creditReversal, debitUpTo } from '../wallet/adjustments.ts'
import { credit } from '../wallet/service.ts'
import type { ProviderEvent } from './provider.ts'
import * as sql from './sql.ts'

type NoticeDeps = Pick<Deps, 'clock' | 'config' | 'log' | 'hooks'>

export async function applyProviderEvent(tx: Tx, deps: NoticeDeps, provider: string, notice: ProviderEvent): Promise<void> {
  const now = deps.clock.now()
  if (notice.intentId !== null) await sql.queueForIntent(tx, notice.intentId)
  if (!(await sql.insertNotice(tx, now, provider, notice))) return
  const payment = await sql.lockPaymentOf(tx, notice)
  if (!payment) return reportUnknown(deps, notice)
  await sql.assignNotice(tx, notice.id, payment.id)
  const changes: sql.Change[] = [{ kind: notice.kind, cents: notice.amount.toString(), currency: notice.currency }]
  if (payment.intent_id === null && notice.intentId !== null) {
    payment.intent_id = notice.intentId
    changes.push(...(await sql.takeWaiting(tx, notice.intentId, payment.id)))
  }
  for (const change of changes) await follow(tx, deps, payment, change)
  await applyReversals(tx, deps, payment)
  await sql.savePayment(tx, now, payment)
}

/** Where Stripe serves more than Berth, refunds and disputes of foreign payments arrive too: only an unknown paid event is reported. */
function reportUnknown({ log }: NoticeDeps, notice: ProviderEvent): void {
  if (notice.kind !== 'paid') return
  const { id, paymentId, currency } = notice
  const amount = formatCents(notice.amount)
  log.error({ providerEvent: id, paymentId, amount, currency }, 'payment event for unknown payment; check provider')
}

async function follow(tx: Tx, deps: NoticeDeps, payment: sql.PaymentRow, { kind, cents, currency }: sql.Change): Promise<void> {
  const amount = BigInt(cents)
  if (currency !== payment.currency || currency !== deps.config.currency) {
    const expected = deps.config.currency
    return deps.log.error({ paymentId: payment.id, kind, cents, currency, expected }, 'payment currency mismatch; event ignored')
  }
  if (kind === 'paid') await receive(tx, deps, payment, amount)
  else if (kind === 'refunded') payment.refunded_cents = amount > payment.refunded_cents ? amount : payment.refunded_cents
  else if (kind === 'withdrawn') payment.disputed_cents += amount
  else if (kind === 'reinstated') payment.disputed_cents -= amount
  else payment.status = statusAfter(payment.status, kind)
}

/** A paid payment stays paid, whatever arrives late; a failed payment does not return to PROCESSING. */
function statusAfter(status: sql.PaymentRow['status'], kind: 'processing' | 'failed' | 'expired'): sql.PaymentRow['status'] {
  if (kind === 'processing') return status === 'PENDING' ? 'PROCESSING' : status
  if (kind === 'failed') return status === 'SUCCEEDED' ? status : 'FAILED'
  return status === 'PENDING' ? 'EXPIRED' : status
}

/** Credits the amount paid, even if it differs from the amount requested. */
export async function receive(tx: Tx, deps: Pick<Deps, 'config'> & EventDeps, payment: sql.PaymentRow, amount: bigint): Promise<void> {
  if (payment.transaction_id !== null || amount === 0n) return
  const entry = {
    type: 'DEPOSIT',
    description: payment.provider === 'stripe' ? 'Deposit by card or bank' : 'Deposit',
    referenceType: 'PAYMENT',
    referenceId: payment.id,
    currency: deps.config.currency,
  } as const
  payment.transaction_id = (await credit(tx, deps, payment.account_id, amount, entry)).id
  payment.received_cents = amount
  payment.status = 'SUCCEEDED'
}

/** Debits from the wallet what the provider reversed, as far as the balance allows, and credits it back when a dispute is won. */
async function applyReversals(tx: Tx, deps: NoticeDeps, payment: sql.PaymentRow): Promise<void> {
  if (payment.received_cents === null) return
  const gone = payment.refunded_cents + payment.disputed_cents
  const wanted = gone > payment.received_cents ? payment.received_cents : gone < 0n ? 0n : gone
  const missing = wanted - payment.reversed_cents
  const entry = { type: 'ADJUSTMENT', referenceType: 'PAYMENT', referenceId: payment.id } as const
  if (missing < 0n) {
    await creditReversal(tx, deps, payment.account_id, -missing, { ...entry, description: 'Dispute of a deposit was settled' })
    payment.reversed_cents = wanted
  }
  if (missing <= 0n) return
  const taken = await debitUpTo(tx, deps.clock.now(), payment.account_id, missing, {
    ...entry,
    description: 'Deposit was refunded or disputed',
  })
  payment.reversed_cents += taken
  if (taken === missing) return
  const lost = formatCents(missing - taken)
  deps.log.warn(
    { paymentId: payment.id, accountId: payment.account_id, lost },
    'deposit reversal exceeds wallet balance; see berthd payment list --unrecovered',
  )
}
