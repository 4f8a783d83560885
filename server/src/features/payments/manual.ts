import type { PaymentProvider } from './provider.ts'

/** Money that reaches the operator outside of Berth and is confirmed with `berthd payment confirm`. */
export const manualProvider = (instructions: string): PaymentProvider => ({
  name: 'manual',
  createCheckout: async ({ id }) => ({
    sessionId: null,
    checkoutUrl: null,
    instructions: `${instructions || 'Ask support where to send the money'} · Reference: ${id}`,
  }),
})
