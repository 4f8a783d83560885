import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const redeliver = verb({
  name: 'redeliver',
  about: 'send it again, with all attempts anew',
  args: '<webhook> <delivery-id>',
  example: 'webhook redeliver https://example.com/hook cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async (call, _, webhook: string, id: string) =>
    said(await call.berth.webhooks.redeliver(await call.id('webhook', webhook), id), id, `Delivery ${id} is sent again`),
})
