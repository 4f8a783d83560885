import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a webhook',
  args: '<webhook>',
  example: 'webhook delete https://example.com/hook',
  asks: true,
  async run(call, _, webhook: string) {
    const id = await call.id('webhook', webhook)
    await call.confirm(`Webhook ${webhook} and its secret will be gone.`, webhook)
    return said(await call.berth.webhooks.delete(id), webhook, `Webhook ${webhook} is gone`)
  },
})
