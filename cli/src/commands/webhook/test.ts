import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const send = verb({
  name: 'test',
  about: 'send a test event now, and say what came of it',
  args: '<webhook>',
  example: 'webhook test https://example.com/hook',
  async run(call, _, webhook: string) {
    const answer = await call.berth.webhooks.test(await call.id('webhook', webhook))
    return said(answer, webhook, answer.message)
  },
})
