import { nameText, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'

/** Event types that can be subscribed to: exactly those of the public API. Other types appear in the feed only. */
export const EVENT_NAMES = [
  'vm.created',
  'vm.started',
  'vm.stopped',
  'vm.restarted',
  'vm.suspended',
  'vm.terminated',
  'vm.renewed',
  'billing.payment_received',
  'billing.low_balance',
  'ticket.reply',
] as const

const EventName = oneOf([...EVENT_NAMES])

const Url = Type.String({
  format: 'uri',
  maxLength: 2_048,
  rule: 'must be a valid URI of at most 2048 characters',
  description: 'An https URL with a public host',
})
const Events = Type.Array(EventName, { minItems: 1, description: 'What to be told of; a name given twice counts once' })
const Description = nameText(0, 200)

const fields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  isActive: Type.Boolean({ description: 'False after a 410, after 10 failures in a row with no success for 5 days, or when switched off' }),
  description: Type.String(),
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

export const CreateWebhook = object({ url: Url, events: Events, description: Type.Optional(Description) })
export type CreateWebhook = Static<typeof CreateWebhook>

export const UpdateWebhook = object({
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  description: Type.Optional(Description),
  isActive: Type.Optional(Type.Boolean({ description: 'true begins anew with a failCount of 0; false cancels what is still to be sent' })),
})
export type UpdateWebhook = Static<typeof UpdateWebhook>

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

export const DeliveryLog = object(
  { ...deliveryFields, requestBody: Type.String({ description: 'What is sent and signed, byte for byte' }), log: Type.Array(Attempt) },
  { title: 'WebhookDeliveryLog' },
)
export type DeliveryLog = Static<typeof DeliveryLog>
