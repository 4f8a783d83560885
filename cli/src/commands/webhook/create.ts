import { WEBHOOK_EVENTS, type Body } from '@berth/sdk'
import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given, words } from '../../options.ts'
import { WEBHOOK_FIELDS } from '../views.ts'

type Events = Body<'createWebhook'>['events']

export const create = verb<{ event?: string[]; description?: string }>({
  name: 'create',
  about: 'have events sent to a URL; the secret is shown this once',
  args: '<url>',
  options: [
    ['--event <name...>', 'all ten unless given'],
    ['--description <text>', 'what it is for'],
  ],
  example: 'webhook create https://example.com/hook --event vm.created,vm.terminated',
  run: async ({ berth }, { event, description }, url: string) =>
    record(
      await berth.webhooks.create({ url, events: (words(event) ?? WEBHOOK_EVENTS) as Events, ...given({ description }) }),
      { ...WEBHOOK_FIELDS, Secret: ({ secret }) => secret },
      ({ id }: { id?: string }) => id ?? '',
    ),
})
