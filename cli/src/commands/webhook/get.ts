import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { WEBHOOK_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a webhook, named by its id or URL',
  args: '<webhook>',
  example: 'webhook get https://example.com/hook',
  run: async (call, _, webhook: string) => record(await call.berth.webhooks.get(await call.id('webhook', webhook)), WEBHOOK_FIELDS),
})
