import { nullable, object, oneOf, Timestamp, Type, type Static, type TSchema, nameText } from '../../http/api/schema.ts'
import { defineEvent, type EventCatalog, type EventSpec, type EventType, type PayloadsOf } from '../events/schema.ts'
import { Labels, LabelSelector, labelQuery, ShownLabels } from '../labels/schema.ts'

const Url = Type.String({
  format: 'uri',
  maxLength: 2_048,
  rule: 'must be a valid URI of at most 2048 characters',
  description: 'An https URL with a public host',
})
const Description = nameText(0, 200)
const Selector = nullable(
  Type.String({
    ...LabelSelector,
    description:
      'Only events of VMs, volumes, images and addresses whose labels, as the event shows them, meet this, such as `env=prod,!canary`; other events count as without labels. Null: all',
  }),
)

const fields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  isActive: Type.Boolean({ description: 'False after a 410, after 10 failures in a row with no success for 5 days, or when switched off' }),
  description: Type.String(),
  labels: ShownLabels,
  labelSelector: nullable(Type.String({ description: 'Only events of resources with such labels are sent; null: all' })),
  failCount: Type.Integer({ description: 'Attempts that have failed in a row' }),
  disabledReason: nullable(Type.String({ description: 'Why isActive became false by itself' })),
  lastSuccessAt: nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const Webhook = object(fields, { title: 'Webhook' })
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = object(
  { ...fields, secret: Type.String({ description: 'whsec_…, shown this once: signatures are checked with it (Standard Webhooks)' }) },
  { title: 'WebhookWithSecret' },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** Every event of the log can be subscribed to. */
export function webhookInputs(catalog: EventCatalog) {
  const events = Type.Array(Type.Unsafe<EventType>({ enum: Object.keys(catalog) }), {
    minItems: 1,
    description: 'What to be told of; a name given twice counts once',
  })
  return {
    CreateWebhook: object({
      url: Url,
      events,
      description: Type.Optional(Description),
      labels: Type.Optional(Labels),
      labelSelector: Type.Optional(Selector),
    }),
    UpdateWebhook: object({
      url: Type.Optional(Url),
      events: Type.Optional(events),
      description: Type.Optional(Description),
      labels: Type.Optional(Labels),
      labelSelector: Type.Optional(Selector),
      isActive: Type.Optional(
        Type.Boolean({ description: 'true begins anew with a failCount of 0; false cancels what is still to be sent' }),
      ),
    }),
  }
}
export type WebhookInputs = ReturnType<typeof webhookInputs>
export type CreateWebhook = Static<WebhookInputs['CreateWebhook']>
export type UpdateWebhook = Static<WebhookInputs['UpdateWebhook']>

export const WebhookQuery = labelQuery

export const DeletedWebhook = object({ id: Type.String() })

export const TestResult = object({ message: Type.String({ description: 'Whether the receiver took the test event, and if not, why' }) })

const DeliveryStatus = oneOf(['PENDING', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED'])

export const DeliveryFilter = { status: Type.Optional(DeliveryStatus) }

const deliveryFields = {
  id: Type.String({ description: 'The webhook-id header, the same on every attempt' }),
  eventId: nullable(Type.String({ description: 'Null for a test' })),
  type: Type.String(),
  status: DeliveryStatus,
  attempts: Type.Integer({ description: 'Of 8; a redelivery begins anew' }),
  nextAttemptAt: nullable(Timestamp),
  responseStatus: nullable(Type.Integer({ description: 'Of the last attempt, as are error and latencyMs' })),
  error: nullable(Type.String()),
  latencyMs: nullable(Type.Integer()),
  createdAt: Timestamp,
  completedAt: nullable(Timestamp),
}

export const Delivery = object(deliveryFields, { title: 'WebhookDelivery' })
export type Delivery = Static<typeof Delivery>

const Attempt = object(
  {
    attemptedAt: Timestamp,
    latencyMs: Type.Integer(),
    url: Type.String(),
    requestHeaders: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
    responseStatus: nullable(Type.Integer()),
    responseBody: Type.String({ description: 'The first 1024 bytes' }),
    error: nullable(Type.String()),
  },
  { title: 'WebhookAttempt' },
)

export const SHOWN_ATTEMPTS = 50

export const DeliveryLog = object(
  {
    ...deliveryFields,
    requestBody: Type.String({ description: 'What is sent and signed, byte for byte' }),
    log: Type.Array(Attempt, { description: `The newest ${SHOWN_ATTEMPTS} attempts, oldest first` }),
  },
  { title: 'WebhookDeliveryLog' },
)
export type DeliveryLog = Static<typeof DeliveryLog>

export const webhookEvents = {
  'webhook.disabled': defineEvent(
    object({ webhook: Webhook, reason: nullable(Type.String()) }, { title: 'WebhookDisabledEventData' }),
    'The webhook failed for too long, or its receiver answered 410: nothing more is sent to it',
  ),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof webhookEvents> {}
}

export const TEST_EVENT = 'webhook.test'

const TestEventData = object({ webhookId: Type.String() }, { title: 'WebhookTestEventData' })

/** What receivers are sent, for the OpenAPI document. */
export const webhookMessages = (catalog: EventCatalog): { name: string; summary: string; body: TSchema }[] =>
  Object.entries<Pick<EventSpec, 'data' | 'summary'>>({
    ...catalog,
    [TEST_EVENT]: { data: TestEventData, summary: 'A test, sent by testWebhook only' },
  }).map(([name, { data, summary }]) => ({
    name,
    summary,
    body: object({
      id: Type.String({ description: 'The id of the event, the same in `GET /events`; of a test, that of the delivery' }),
      type: Type.Literal(name),
      timestamp: Timestamp,
      data,
    }),
  }))
