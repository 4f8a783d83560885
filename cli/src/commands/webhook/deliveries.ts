import type { Query, WebhookDelivery } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'
import { given } from '../../options.ts'

export const deliveries = verb<{ status?: Query<'listWebhookDeliveries'>['status'] }>({
  name: 'deliveries',
  about: 'what was sent, the newest first',
  args: '<webhook>',
  options: [['--status <status>', 'PENDING, SUCCEEDED, EXHAUSTED or CANCELLED']],
  example: 'webhook deliveries https://example.com/hook --status EXHAUSTED',
  run: async (call, { status }, webhook: string) =>
    rows(
      await call.berth.webhooks.deliveries(await call.id('webhook', webhook), given({ status })).all(),
      {
        ID: (each: WebhookDelivery) => each.id,
        EVENT: (each) => each.type,
        STATUS: (each) => each.status,
        ATTEMPTS: (each) => each.attempts,
        ANSWER: (each) => each.responseStatus,
        CREATED: (each) => time(each.createdAt),
        ERROR: (each) => each.error,
      },
      'Nothing was sent yet',
    ),
})
