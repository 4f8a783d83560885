// Stripe Checkout: the customer pays on Stripe's page, and Stripe reports the outcome in signed events. Card data never reaches Berth.
// The library is loaded lazily, because most processes never need it.
import type { Stripe } from 'stripe'
import { apiError } from '../../kernel/errors.ts'
import type { Checkout, PaymentOrder, PaymentProvider } from './provider.ts'
import { PAYMENT_KEY, toNotice } from './stripe-event.ts'

export interface StripeSettings {
  secretKey: string
  webhookSecret: string
  apiUrl: string
  /** Base URL of the return pages. */
  publicUrl: string
}

/** Maximum age of a signature in seconds, against replay. */
const TOLERANCE = 300
const TIMEOUT_MS = 15_000

export function stripeProvider(settings: StripeSettings): PaymentProvider {
  let loading: Promise<Stripe> | undefined
  const stripe = (): Promise<Stripe> => (loading ??= load(settings))
  return {
    name: 'stripe',
    createCheckout: async (order) => begin(await stripe(), settings, order),
    async readNotice(body, signature) {
      const { webhooks } = await stripe()
      return toNotice(verified(() => webhooks.constructEvent(body, signature, settings.webhookSecret, TOLERANCE)))
    },
  }
}

async function load({ secretKey, apiUrl }: StripeSettings): Promise<Stripe> {
  const { default: Library } = await import('stripe')
  const { hostname, port, protocol } = new URL(apiUrl)
  return new Library(secretKey, {
    host: hostname,
    port: port || (protocol === 'http:' ? 80 : 443),
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
  })
}

async function begin(stripe: Stripe, { publicUrl }: StripeSettings, order: PaymentOrder): Promise<Checkout> {
  const metadata = { [PAYMENT_KEY]: order.id }
  const price = { currency: order.currency.toLowerCase(), unit_amount: Number(order.amount), product_data: { name: 'Wallet deposit' } }
  const session = await stripe.checkout.sessions
    .create(
      {
        mode: 'payment',
        client_reference_id: order.id,
        customer_email: order.email,
        metadata,
        payment_intent_data: { metadata }, // the charge inherits it, and so do refund events
        line_items: [{ quantity: 1, price_data: price }],
        success_url: `${publicUrl}/payments/done`,
        cancel_url: `${publicUrl}/payments/cancelled`,
      },
      { idempotencyKey: order.id },
    )
    .catch((error: Error) => {
      throw Object.assign(apiError('service_unavailable', UNREACHABLE), { cause: error })
    })
  return { sessionId: session.id, checkoutUrl: session.url, instructions: null }
}

const UNREACHABLE = 'The payment provider did not accept the payment at the moment, and nothing was charged: try again in a few minutes'

function verified<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw Object.assign(apiError('malformed_request', 'This is not a message of Stripe: its signature is missing, wrong or too old'), {
      cause: error,
    })
  }
}

/** Stripe counts these currencies with zero or three decimals; Berth counts cents. */
const OTHER_DECIMALS = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF BHD JOD KWD OMR TND'.split(' '))

export const canStripeTake = (currency: string): boolean => !OTHER_DECIMALS.has(currency.toUpperCase())
