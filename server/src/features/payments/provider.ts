// What takes money from customers. A provider begins a payment and later says, in notices, what became of it.
import type { Cents } from '../../kernel/money.ts'

export interface PaymentOrder {
  id: string
  email: string
  amount: Cents
  currency: string
}

/** Where the customer goes on: to a page of the provider's, or by what the instructions say. */
export interface Checkout {
  sessionId: string | null
  checkoutUrl: string | null
  instructions: string | null
}

/** `refunded` tells the sum of all refunds so far; `withdrawn` and `reinstated` what one dispute took and gave back. */
export type NoticeKind = 'paid' | 'processing' | 'failed' | 'expired' | 'refunded' | 'withdrawn' | 'reinstated'

export interface ProviderEvent {
  /** The provider's: the same one may come more than once. */
  id: string
  type: string
  /** What it is about, by the provider's name. */
  objectId: string
  kind: NoticeKind
  /** Ours, where the provider has kept it. */
  paymentId: string | null
  /** The provider's name of the payment. */
  intentId: string | null
  amount: Cents
  currency: string
}

export interface PaymentProvider {
  readonly name: 'manual' | 'stripe'
  /** Outside of any transaction: it may ask another server. */
  createCheckout(order: PaymentOrder): Promise<Checkout>
  /** Reads a message sent to us, or throws when it is not the provider's. Null: genuine, and about nothing of ours. */
  readNotice?(body: Buffer, signature: string): Promise<ProviderEvent | null>
}
