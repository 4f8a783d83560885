import type { Body } from '@berth/sdk'
import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given, onOff, requireSome, words } from '../../options.ts'
import { WEBHOOK_FIELDS } from '../views.ts'

type Changes = Body<'updateWebhook'>

export const update = verb<{ url?: string; event?: string[]; description?: string; active?: string }>({
  name: 'update',
  about: 'change a webhook, or switch it on again',
  args: '<webhook>',
  options: [
    ['--url <url>', 'where to send to'],
    ['--event <name...>', 'what to send'],
    ['--description <text>', 'what it is for'],
    ['--active <on|off>', 'whether anything is sent'],
  ],
  example: 'webhook update https://example.com/hook --active on',
  async run(call, { url, event, description, active }, webhook: string) {
    const fields = given({ url, events: words(event) as Changes['events'], description, isActive: onOff('--active', active) })
    const body = requireSome(fields, '--url, --event, --description, --active')
    return record(await call.berth.webhooks.update(await call.id('webhook', webhook), body), WEBHOOK_FIELDS)
  },
})
