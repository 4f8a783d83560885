import type { Config } from '../../config.ts'
import { manualProvider } from './manual.ts'
import type { PaymentProvider } from './provider.ts'
import { canStripeTake, stripeProvider } from './stripe.ts'

/** What the settings ask for; null when customers cannot deposit by themselves. */
export function openPayments(config: Config): PaymentProvider | null {
  const { payments, stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeApiUrl: apiUrl, currency } = config
  if (payments === 'off') return null
  if (payments === 'manual') return manualProvider(config.paymentInstructions)
  if (!secretKey && !webhookSecret) return null
  if (!secretKey || !webhookSecret)
    throw new Error('Stripe needs both BERTH_STRIPE_SECRET_KEY and BERTH_STRIPE_WEBHOOK_SECRET: set the other one too, or unset both')
  if (!canStripeTake(currency))
    throw new Error(`Stripe does not count ${currency} in hundredths: choose another BERTH_CURRENCY, or BERTH_PAYMENTS=manual`)
  return stripeProvider({ secretKey, webhookSecret, apiUrl, publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}` })
}
