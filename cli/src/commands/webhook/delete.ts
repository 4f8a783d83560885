import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a webhook',
  args: '<webhook>',
  example: 'webhook delete https://example.com/hook',
  run: async (call, _, webhook: string) =>
    said(await call.berth.webhooks.delete(await call.id('webhook', webhook)), webhook, `Webhook ${webhook} is gone`),
})
