// A local Stripe: a server that creates Checkout sessions, and events in Stripe's documented format, signed with the library's own signer.
// No network.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Stripe } from 'stripe'
import { afterAll } from 'vitest'
import { STRIPE_PATH } from '../src/features/payments/stripe-webhook-endpoint.ts'
import { testApp } from './harness.ts'

const SECRET_KEY = 'sk_test_berth'
const WEBHOOK_SECRET = 'whsec_berth'

export interface Asked {
  path: string
  key: string | undefined
  authorization: string | undefined
  form: URLSearchParams
}

export async function stripeFixture() {
  const asked: Asked[] = []
  const trouble = { status: 200 }
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { authorization, 'idempotency-key': key } = request.headers
      asked.push({ path: request.url!, key: key?.toString(), authorization, form: new URLSearchParams(body) })
      const id = `cs_test_${asked.length}`
      const session = { id, object: 'checkout.session', url: `https://checkout.stripe.com/c/pay/${id}` }
      const error = { error: { type: 'api_error', message: 'An unknown error occurred' } }
      response.writeHead(trouble.status, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
      response.end(JSON.stringify(trouble.status === 200 ? session : error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => new Promise((resolve) => server.close(resolve)))
  const app = await testApp({
    breaks: ['idempotency.finished'], // a month passes in seconds, but keys expire after a day
    environment: {
      BERTH_STRIPE_SECRET_KEY: SECRET_KEY,
      BERTH_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      BERTH_STRIPE_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      BERTH_PUBLIC_URL: 'https://cloud.example.com',
    },
  })

  const { webhooks } = new Stripe(SECRET_KEY)
  const sign = (payload: string, options: { secret?: string; timestamp?: number } = {}): string =>
    webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET, ...options })

  /** As received: bytes and a header. */
  const deliver = async (payload: string, signature: string | undefined = sign(payload)) => {
    const { statusCode, body, headers } = await app.app.inject({
      method: 'POST',
      url: STRIPE_PATH,
      payload,
      headers: { 'content-type': 'application/json; charset=utf-8', ...(signature && { 'stripe-signature': signature }) },
    })
    return { status: statusCode, body: JSON.parse(body) as { received?: boolean; error?: string }, headers }
  }

  return { app, asked, trouble, sign, deliver }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return body
}

let events = 0

/** https://docs.stripe.com/api/events/object */
const event = (type: string, object: object, id: string): string =>
  JSON.stringify(
    {
      id,
      object: 'event',
      api_version: '2026-10-28.basil',
      created: 1_794_700_000,
      data: { object },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    },
    null,
    2,
  )

const nextId = (): string => `evt_${++events}`

export interface PaymentOf {
  paymentId: string
  cents: number
  intent?: string
  currency?: string
}

const intentOf = ({ paymentId, intent }: PaymentOf): string => intent ?? `pi_${paymentId}`

/** https://docs.stripe.com/api/checkout/sessions/object */
export const sessionEvent = (type: string, payment: PaymentOf, { paymentStatus = 'paid', id = nextId() } = {}): string =>
  event(
    `checkout.session.${type}`,
    {
      id: `cs_of_${payment.paymentId}`,
      object: 'checkout.session',
      amount_subtotal: payment.cents,
      amount_total: payment.cents,
      client_reference_id: payment.paymentId,
      currency: payment.currency ?? 'usd',
      livemode: false,
      metadata: { berth_payment: payment.paymentId },
      mode: 'payment',
      payment_intent: type === 'expired' ? null : intentOf(payment),
      payment_status: paymentStatus,
      status: type === 'expired' ? 'expired' : 'complete',
    },
    id,
  )

/** https://docs.stripe.com/api/charges/object: `refunded` is the sum of all refunds. */
export const refundEvent = (payment: PaymentOf, refunded: number, { metadata = true, id = nextId() } = {}): string =>
  event(
    'charge.refunded',
    {
      id: `ch_${payment.paymentId}`,
      object: 'charge',
      amount: payment.cents,
      amount_refunded: refunded,
      currency: payment.currency ?? 'usd',
      metadata: metadata ? { berth_payment: payment.paymentId } : {},
      payment_intent: intentOf(payment),
      refunded: refunded === payment.cents,
    },
    id,
  )

/** https://docs.stripe.com/api/disputes/object */
export const disputeEvent = (type: 'funds_withdrawn' | 'funds_reinstated', payment: PaymentOf, id = nextId()): string =>
  event(
    `charge.dispute.${type}`,
    {
      id: `dp_${payment.paymentId}`,
      object: 'dispute',
      amount: payment.cents,
      charge: `ch_${payment.paymentId}`,
      currency: payment.currency ?? 'usd',
      metadata: {},
      payment_intent: intentOf(payment),
      reason: 'fraudulent',
      status: type === 'funds_withdrawn' ? 'needs_response' : 'won',
    },
    id,
  )
