// The endpoint for Stripe's events. Outside of the API prefix: the signature covers the raw bytes, so the body is not parsed. Requests
// with an invalid signature count against the rate limit of their IP address; signed events are never rejected.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { page } from '../../http/server/html-page.ts'
import type { RateLimit } from '../../http/api/rate-limit.ts'
import { apiError } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { applyProviderEvent } from './provider-events.ts'
import { openStripe } from './create-provider.ts'
import type { ProviderEvent, PaymentProvider } from './provider.ts'

export const STRIPE_PATH = '/webhooks/stripe'

export function servePayments(app: FastifyInstance, deps: Deps, rateLimit: RateLimit): void {
  const stripe = openStripe(deps.config)
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
    scope.post(STRIPE_PATH, async (request, reply) => {
      const notice = await readNotice(stripe, rateLimit, request, reply)
      if (notice) await deps.db.tx((tx) => applyProviderEvent(tx, deps, 'stripe', notice))
      return { received: true }
    })
  })
  const counted = { onRequest: rateLimit.limitIp }
  const ways = { done: 'Thank you. The money is in your wallet as soon as it arrives.', cancelled: 'Nothing was charged.' }
  for (const [way, sentence] of Object.entries(ways)) {
    app.get(`/payments/${way}`, counted, async (_, reply) => page(reply, 'Deposit', `<p>${sentence} You can close this page.</p>`))
  }
}

async function readNotice(
  stripe: PaymentProvider | null,
  rateLimit: RateLimit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ProviderEvent | null> {
  try {
    if (!stripe?.readNotice) throw apiError('not_found', 'Stripe is not set up here: see docs/operate/payments.md')
    const signature = request.headers['stripe-signature']
    if (typeof signature !== 'string' || !Buffer.isBuffer(request.body))
      throw apiError('malformed_request', 'A message of Stripe has a signature and a body')
    return await stripe.readNotice(request.body, signature)
  } catch (error) {
    await rateLimit.limitIp(request, reply)
    throw error
  }
}
