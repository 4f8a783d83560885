// The payment provider interface. A provider opens a checkout and later reports the outcome in events.
import type { Cents } from '../../kernel/money.ts'

export interface PaymentOrder {
  id: string
  email: string
  amount: Cents
  currency: string
}

/** How the customer continues: on the provider's page, or by the instructions. */
export interface Checkout {
  sessionId: string | null
  checkoutUrl: string | null
  instructions: string | null
}

/** `refunded` carries the sum of all refunds so far; `withdrawn` and `reinstated` the amount of one dispute. */
export type NoticeKind = 'paid' | 'processing' | 'failed' | 'expired' | 'refunded' | 'withdrawn' | 'reinstated'

export interface ProviderEvent {
  /** The provider's event id; an event may arrive more than once. */
  id: string
  type: string
  /** The provider's id of the object the event is about. */
  objectId: string
  kind: NoticeKind
  /** Our payment id, if the provider's metadata has it. */
  paymentId: string | null
  /** The provider's id of the payment. */
  intentId: string | null
  amount: Cents
  currency: string
}

export interface PaymentProvider {
  readonly name: 'manual' | 'stripe'
  /** Call it outside of a transaction: it makes a network request. */
  createCheckout(order: PaymentOrder): Promise<Checkout>
  /** Verifies and parses an event; throws when the signature is wrong. Null: authentic, but not relevant for Berth. */
  readNotice?(body: Buffer, signature: string): Promise<ProviderEvent | null>
}
