// Maps a Stripe event to a payment event. https://docs.stripe.com/api/events/types
import type { Stripe } from 'stripe'
import type { ProviderEvent, NoticeKind } from './provider.ts'

/** The metadata key that holds our payment id. */
export const PAYMENT_KEY = 'berth_payment'

export function toNotice(event: Stripe.Event): ProviderEvent | null {
  // A delayed payment method, such as a bank debit, completes the session before it is paid.
  if (event.type === 'checkout.session.completed')
    return ofSession(event, event.data.object, event.data.object.payment_status === 'unpaid' ? 'processing' : 'paid')
  if (event.type === 'checkout.session.async_payment_succeeded') return ofSession(event, event.data.object, 'paid')
  if (event.type === 'checkout.session.async_payment_failed') return ofSession(event, event.data.object, 'failed')
  if (event.type === 'checkout.session.expired') return ofSession(event, event.data.object, 'expired')
  if (event.type === 'charge.refunded') return ofCharge(event, event.data.object)
  if (event.type === 'charge.dispute.funds_withdrawn') return ofDispute(event, event.data.object, 'withdrawn')
  if (event.type === 'charge.dispute.funds_reinstated') return ofDispute(event, event.data.object, 'reinstated')
  return null
}

/** Ignores sessions that another application opened in the same Stripe account. */
function ofSession(event: Stripe.Event, session: Stripe.Checkout.Session, kind: NoticeKind): ProviderEvent | null {
  const paymentId = session.metadata?.[PAYMENT_KEY]
  if (!paymentId) return null
  const money = { amount: BigInt(session.amount_total ?? 0), currency: upper(session.currency) }
  return { id: event.id, type: event.type, objectId: session.id, kind, paymentId, intentId: idOf(session.payment_intent), ...money }
}

const ofCharge = (event: Stripe.Event, charge: Stripe.Charge): ProviderEvent => ({
  id: event.id,
  type: event.type,
  objectId: charge.id,
  kind: 'refunded',
  paymentId: charge.metadata[PAYMENT_KEY] ?? null,
  intentId: idOf(charge.payment_intent),
  amount: BigInt(charge.amount_refunded),
  currency: upper(charge.currency),
})

const ofDispute = (event: Stripe.Event, dispute: Stripe.Dispute, kind: NoticeKind): ProviderEvent => ({
  id: event.id,
  type: event.type,
  objectId: dispute.id,
  kind,
  paymentId: null,
  intentId: idOf(dispute.payment_intent),
  amount: BigInt(dispute.amount),
  currency: upper(dispute.currency),
})

const idOf = (object: string | { id: string } | null): string | null => (typeof object === 'string' ? object : (object?.id ?? null))

const upper = (currency: string | null): string => (currency ?? '').toUpperCase()
