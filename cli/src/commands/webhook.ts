import { WEBHOOK_EVENTS, type Query, type Webhook, type WebhookDelivery } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, parseEventTypes, parseOnOff, requireChanges, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'
import { listenAndForward } from './webhook-listen.ts'

const WEBHOOK_FIELDS: Columns<Webhook> = {
  Id: (webhook) => webhook.id,
  URL: (webhook) => webhook.url,
  Events: (webhook) => webhook.events,
  Active: (webhook) => webhook.isActive,
  'Disabled reason': (webhook) => webhook.disabledReason,
  Failures: (webhook) => webhook.failCount,
  'Last success': (webhook) => time(webhook.lastSuccessAt),
  Description: (webhook) => webhook.description,
  Labels: ({ labels }) => labelText(labels) || undefined,
  'Only events with labels': (webhook) => webhook.labelSelector ?? undefined,
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list webhooks',
  options: [SELECTOR],
  example: 'webhook list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.webhooks.list(selectorOf(options))),
      {
        ID: (each: Webhook) => each.id,
        URL: (each) => each.url,
        ACTIVE: (each) => each.isActive,
        FAILURES: (each) => each.failCount,
        EVENTS: (each) => each.events,
      },
      'No webhooks yet. Create one: berth webhook create --help',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a webhook by id or URL',
  args: '<webhook>',
  example: 'webhook get https://example.com/hook',
  run: async (ctx, _, webhook: string) => details(await ctx.berth.webhooks.get(await ctx.resolveId('webhook', webhook)), WEBHOOK_FIELDS),
})

const EVENT_LABELS: [string, string] = [
  '--event-labels <selector>',
  'only events of VMs, volumes, images and addresses with such labels: env=prod,!old',
]

const create = defineCommand<{ event?: string[]; eventLabels?: string; description?: string; label?: string[] }>({
  name: 'create',
  description: 'create a webhook; the signing secret is shown only once',
  args: '<url>',
  options: [['--event <event...>', 'event types; default: all'], EVENT_LABELS, ['--description <text>', 'description'], LABEL],
  example: 'webhook create https://example.com/hook --event vm.created,vm.terminated',
  run: async ({ berth }, { event, eventLabels, description, ...options }, url: string) =>
    details(
      await berth.webhooks.create({
        url,
        events: parseEventTypes(event) ?? [...WEBHOOK_EVENTS],
        ...omitUndefined({ description, labelSelector: eventLabels }),
        ...labelsOf(options),
      }),
      { ...WEBHOOK_FIELDS, Secret: ({ secret }) => secret },
      ({ id }: { id?: string }) => id ?? '',
    ),
})

const update = defineCommand<{ url?: string; event?: string[]; eventLabels?: string; description?: string; active?: string }>({
  name: 'update',
  description: 'change, enable or disable a webhook',
  args: '<webhook>',
  options: [
    ['--url <url>', 'endpoint URL'],
    ['--event <event...>', 'event types'],
    [EVENT_LABELS[0], `${EVENT_LABELS[1]}; "all" for all`],
    ['--description <text>', 'description'],
    ['--active <on|off>', 'enable or disable deliveries'],
  ],
  example: 'webhook update https://example.com/hook --active on',
  async run(ctx, { url, event, eventLabels, description, active }, webhook: string) {
    const fields = omitUndefined({
      url,
      events: parseEventTypes(event),
      labelSelector: eventLabels === 'all' ? null : eventLabels,
      description,
      isActive: parseOnOff('--active', active),
    })
    const body = requireChanges(fields, '--url, --event, --event-labels, --description, --active')
    return details(await ctx.berth.webhooks.update(await ctx.resolveId('webhook', webhook), body), WEBHOOK_FIELDS)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a webhook',
  args: '<webhook>',
  example: 'webhook delete https://example.com/hook',
  confirms: true,
  async run(ctx, _, webhook: string) {
    const id = await ctx.resolveId('webhook', webhook)
    await ctx.confirm(`Webhook ${webhook} and its secret will be permanently deleted.`, webhook)
    return message(await ctx.berth.webhooks.delete(id), webhook, `Webhook ${webhook} deleted`)
  },
})

const rotateSecret = defineCommand({
  name: 'rotate-secret',
  description: 'roll the signing secret; for a grace period both secrets sign',
  args: '<webhook>',
  example: 'webhook rotate-secret https://example.com/hook',
  async run(ctx, _, webhook: string) {
    const changed = await ctx.berth.webhooks.rotateSecret(await ctx.resolveId('webhook', webhook))
    return message(changed, changed.secret, `New secret, shown only once: ${changed.secret}`)
  },
})

const sendTest = defineCommand({
  name: 'test',
  description: 'send a test event and show the response',
  args: '<webhook>',
  example: 'webhook test https://example.com/hook',
  async run(ctx, _, webhook: string) {
    const response = await ctx.berth.webhooks.test(await ctx.resolveId('webhook', webhook))
    return message(response, webhook, response.message)
  },
})

const deliveries = defineCommand<{ status?: Query<'listWebhookDeliveries'>['status'] }>({
  name: 'deliveries',
  description: 'list deliveries, newest first',
  args: '<webhook>',
  options: [['--status <status>', 'filter by status: PENDING, SUCCEEDED, EXHAUSTED or CANCELLED']],
  example: 'webhook deliveries https://example.com/hook --status EXHAUSTED',
  lists: true,
  run: async (ctx, { status }, webhook: string) =>
    table(
      await ctx.list(ctx.berth.webhooks.deliveries(await ctx.resolveId('webhook', webhook), omitUndefined({ status }))),
      {
        ID: (each: WebhookDelivery) => each.id,
        EVENT: (each) => each.type,
        STATUS: (each) => each.status,
        ATTEMPTS: (each) => each.attempts,
        RESPONSE: (each) => each.responseStatus,
        CREATED: (each) => time(each.createdAt),
        ERROR: (each) => each.error,
      },
      'No deliveries yet',
    ),
})

const delivery = defineCommand({
  name: 'delivery',
  description: 'show a delivery with its request and responses',
  args: '<webhook> <delivery-id>',
  example: 'webhook delivery https://example.com/hook cmh5x0a2b1c3d4e5f6g7h8i9j -o json',
  run: async (ctx, _, webhook: string, id: string) =>
    details(await ctx.berth.webhooks.delivery(await ctx.resolveId('webhook', webhook), id), {
      Id: (each) => each.id,
      Event: (each) => each.type,
      Status: (each) => each.status,
      Attempts: (each) => each.log.map((attempt) => `${time(attempt.attemptedAt)} ${attempt.responseStatus ?? attempt.error}`),
      'Next attempt': (each) => time(each.nextAttemptAt),
      Body: (each) => each.requestBody,
    }),
})

const redeliver = defineCommand({
  name: 'redeliver',
  description: 'resend a delivery, with all attempts',
  args: '<webhook> <delivery-id>',
  example: 'webhook redeliver https://example.com/hook cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async (ctx, _, webhook: string, id: string) =>
    message(await ctx.berth.webhooks.redeliver(await ctx.resolveId('webhook', webhook), id), id, `Delivery ${id} queued for resending`),
})

const changes = [create, update, remove, rotateSecret]
const deliveryCommands = [sendTest, deliveries, delivery, redeliver]

export const webhook = group('webhook', 'HTTP callbacks for events', [listenAndForward, list, get, ...changes, ...deliveryCommands])
