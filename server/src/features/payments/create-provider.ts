import type { Config } from '../../config.ts'
import { manualProvider } from './manual.ts'
import type { PaymentProvider } from './provider.ts'
import { canStripeTake, stripeProvider } from './stripe.ts'

/** The configured provider; null when self-service deposits are disabled. */
export function openPayments(config: Config): PaymentProvider | null {
  const stripe = openStripe(config)
  if (config.payments === 'off') return null
  return config.payments === 'manual' ? manualProvider(config.paymentInstructions) : stripe
}

/**
 * Accepts Stripe events while its keys are set, even when another provider takes new deposits: old payments may be refunded or disputed.
 */
export function openStripe(config: Config): PaymentProvider | null {
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeApiUrl: apiUrl, currency } = config
  if (!secretKey && !webhookSecret) return null
  if (!secretKey || !webhookSecret)
    throw new Error('Stripe needs both BERTH_STRIPE_SECRET_KEY and BERTH_STRIPE_WEBHOOK_SECRET: set the other one too, or unset both')
  if (!canStripeTake(currency))
    throw new Error(`Stripe does not count ${currency} in hundredths: choose another BERTH_CURRENCY, or unset BERTH_STRIPE_SECRET_KEY`)
  return stripeProvider({ secretKey, webhookSecret, apiUrl, publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}` })
}
