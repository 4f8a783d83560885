import { WEBHOOK_EVENTS, type Body, type Query, type Webhook, type WebhookDelivery } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { given, onOff, requireSome, words } from '../options.ts'
import { listenToEvents } from './webhook-listen.ts'

const WEBHOOK_FIELDS: Columns<Webhook> = {
  Id: (webhook) => webhook.id,
  URL: (webhook) => webhook.url,
  Events: (webhook) => webhook.events,
  Active: (webhook) => webhook.isActive,
  'Why not': (webhook) => webhook.disabledReason,
  Failures: (webhook) => webhook.failCount,
  'Last success': (webhook) => time(webhook.lastSuccessAt),
  Description: (webhook) => webhook.description,
}

const list = verb({
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

const get = verb({
  name: 'get',
  about: 'show a webhook, named by its id or URL',
  args: '<webhook>',
  example: 'webhook get https://example.com/hook',
  run: async (call, _, webhook: string) => record(await call.berth.webhooks.get(await call.id('webhook', webhook)), WEBHOOK_FIELDS),
})

type Events = Body<'createWebhook'>['events']

const create = verb<{ event?: string[]; description?: string }>({
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

type Changes = Body<'updateWebhook'>

const update = verb<{ url?: string; event?: string[]; description?: string; active?: string }>({
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

const remove = verb({
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

const rotateSecret = verb({
  name: 'rotate-secret',
  about: 'make a new secret; for a while both sign',
  args: '<webhook>',
  example: 'webhook rotate-secret https://example.com/hook',
  async run(call, _, webhook: string) {
    const changed = await call.berth.webhooks.rotateSecret(await call.id('webhook', webhook))
    return said(changed, changed.secret, `${changed.secret} is the new secret, shown this once`)
  },
})

const send = verb({
  name: 'test',
  about: 'send a test event now, and say what came of it',
  args: '<webhook>',
  example: 'webhook test https://example.com/hook',
  async run(call, _, webhook: string) {
    const answer = await call.berth.webhooks.test(await call.id('webhook', webhook))
    return said(answer, webhook, answer.message)
  },
})

const deliveries = verb<{ status?: Query<'listWebhookDeliveries'>['status'] }>({
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

const delivery = verb({
  name: 'delivery',
  about: 'one delivery, with what was sent and answered',
  args: '<webhook> <delivery-id>',
  example: 'webhook delivery https://example.com/hook cmh5x0a2b1c3d4e5f6g7h8i9j -o json',
  run: async (call, _, webhook: string, id: string) =>
    record(await call.berth.webhooks.delivery(await call.id('webhook', webhook), id), {
      Id: (each) => each.id,
      Event: (each) => each.type,
      Status: (each) => each.status,
      Attempts: (each) => each.log.map((attempt) => `${time(attempt.attemptedAt)} ${attempt.responseStatus ?? attempt.error}`),
      'Next attempt': (each) => time(each.nextAttemptAt),
      Body: (each) => each.requestBody,
    }),
})

const redeliver = verb({
  name: 'redeliver',
  about: 'send it again, with all attempts anew',
  args: '<webhook> <delivery-id>',
  example: 'webhook redeliver https://example.com/hook cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async (call, _, webhook: string, id: string) =>
    said(await call.berth.webhooks.redeliver(await call.id('webhook', webhook), id), id, `Delivery ${id} is sent again`),
})

const changes = [create, update, remove, rotateSecret]
const sending = [send, deliveries, delivery, redeliver]

export const webhook = group('webhook', 'programs of yours that are told of events', [listenToEvents, list, get, ...changes, ...sending])
