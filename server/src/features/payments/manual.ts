import type { PaymentProvider } from './provider.ts'

/** Money that reaches the operator by another way, who confirms it: `berthd payment confirm`. */
export const manualProvider = (instructions: string): PaymentProvider => ({
  name: 'manual',
  createCheckout: async ({ id }) => ({
    sessionId: null,
    checkoutUrl: null,
    instructions: `${instructions || 'Ask support where to send the money'} · Reference: ${id}`,
  }),
})
