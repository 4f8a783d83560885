import type { Webhook } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const list = verb({
  name: 'list',
  about: 'list your webhooks',
  example: 'webhook list',
  run: async ({ berth }) =>
    rows(
      await berth.webhooks.list().all(),
      {
        ID: (each: Webhook) => each.id,
        URL: (each) => each.url,
        ACTIVE: (each) => each.isActive,
        FAILURES: (each) => each.failCount,
        EVENTS: (each) => each.events,
      },
      'There is no webhook yet: berth webhook create --help',
    ),
})
