import { Type } from '../../http/api/schema.ts'
import type { Api } from '../../http/api/api.ts'
import type { Deps, Routes } from '../deps.ts'
import type { EventCatalog } from '../events/schema.ts'
import { countRedelivery, getDelivery, listDeliveries, redeliver } from './deliveries.ts'
import {
  DeletedWebhook,
  Delivery,
  DeliveryFilter,
  DeliveryLog,
  TestResult,
  Webhook,
  webhookInputs,
  WebhookQuery,
  WebhookWithSecret,
  type WebhookInputs,
} from './schema.ts'
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, rotateSecret, updateWebhook } from './service.ts'
import { recordTest, sendTest } from './test-event.ts'

const tag = 'Webhooks'
const params = { id: Type.String() }
const deliveryParams = { ...params, deliveryId: Type.String() }
const [read, update] = ['webhooks:read', 'webhooks:update']

export const webhookRoutes =
  (catalog: EventCatalog): Routes =>
  (api, deps) =>
    declareRoutes(api, deps, webhookInputs(catalog))

const declareRoutes = (api: Api, deps: Deps, { CreateWebhook, UpdateWebhook }: WebhookInputs): void => {
  const { db, clock, outbound } = deps

  api.page(
    '/webhooks',
    { operationId: 'listWebhooks', summary: 'List webhooks, newest first', tag, scope: read, query: WebhookQuery, data: Webhook },
    ({ principal, query }, page) => listWebhooks(db, principal.accountId, query.labelSelector, page),
  )

  api.post(
    '/webhooks',
    {
      operationId: 'createWebhook',
      summary: 'Subscribe a URL to events. The secret is shown this once',
      tag,
      scope: 'webhooks:create',
      body: CreateWebhook,
      status: 201,
      data: WebhookWithSecret,
      answersSecret: true,
      errorCodes: ['url_not_allowed', 'quota_exceeded'],
      prepare: ({ body }) => outbound.rejectionReason(body.url),
    },
    (tx, { principal, body }, reasonAgainst) => createWebhook(tx, deps, principal.accountId, body, reasonAgainst),
  )

  api.get(
    '/webhooks/:id',
    { operationId: 'getWebhook', summary: 'Get a webhook', tag, scope: read, params, data: Webhook },
    ({ principal, params: { id } }) => getWebhook(db, principal.accountId, id),
  )

  api.patch(
    '/webhooks/:id',
    {
      operationId: 'updateWebhook',
      summary: 'Change a webhook, or switch it off and on',
      tag,
      scope: update,
      params,
      body: UpdateWebhook,
      data: Webhook,
      errorCodes: ['url_not_allowed', 'invalid_state'],
      prepare: async ({ body }) => (body.url === undefined ? null : outbound.rejectionReason(body.url)),
      // A URL may have a secret in it, which the log would keep.
      before: async (tx, { principal, params: { id } }) => {
        const { url: _url, ...rest } = await getWebhook(tx, principal.accountId, id)
        return rest
      },
    },
    (tx, { principal, params: { id }, body }, reasonAgainst) =>
      updateWebhook(tx, clock.now(), principal.accountId, id, body, reasonAgainst),
  )

  api.delete(
    '/webhooks/:id',
    {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook and its delivery log',
      tag,
      scope: 'webhooks:delete',
      params,
      data: DeletedWebhook,
      before: (tx, { principal, params: { id } }) => getWebhook(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteWebhook(tx, clock.now(), principal.accountId, id),
  )

  api.post(
    '/webhooks/:id/test',
    {
      operationId: 'testWebhook',
      summary: 'Send a test event now and tell what came of it',
      tag,
      scope: update,
      params,
      data: TestResult,
      errorCodes: ['invalid_state'],
      prepare: ({ principal, params: { id } }) => sendTest(deps, principal, id),
    },
    (tx, _, test) => recordTest(tx, clock.now(), test),
  )

  api.post(
    '/webhooks/:id/rotate-secret',
    {
      operationId: 'rotateWebhookSecret',
      summary: 'Make a new secret, shown this once. Messages carry the signature of the old one too for 24 hours',
      tag,
      scope: update,
      params,
      data: WebhookWithSecret,
    },
    (tx, { principal, params: { id } }) => rotateSecret(tx, deps, principal.accountId, id),
  )

  api.page(
    '/webhooks/:id/deliveries',
    {
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of the last 30 days, newest first',
      tag,
      scope: read,
      params,
      query: DeliveryFilter,
      data: Delivery,
    },
    ({ principal, params: { id }, query }, page) => listDeliveries(db, principal.accountId, id, query.status ?? null, page),
  )

  api.get(
    '/webhooks/:id/deliveries/:deliveryId',
    {
      operationId: 'getWebhookDelivery',
      summary: 'Get a delivery with its newest 50 attempts: request, response, latency',
      tag,
      scope: read,
      params: deliveryParams,
      data: DeliveryLog,
    },
    ({ principal, params: { id, deliveryId } }) => getDelivery(db, principal.accountId, id, deliveryId),
  )

  api.post(
    '/webhooks/:id/deliveries/:deliveryId/redeliver',
    {
      operationId: 'redeliverWebhookDelivery',
      summary: 'Deliver again, under the same webhook-id and with all attempts anew; not while it is PENDING, ten a minute for an account',
      tag,
      scope: update,
      params: deliveryParams,
      data: Delivery,
      errorCodes: ['invalid_state'],
      prepare: ({ principal, params: { id } }) => countRedelivery(deps, principal, id),
    },
    (tx, { principal, params: { id, deliveryId } }) => redeliver(tx, clock.now(), principal.accountId, id, deliveryId),
  )
}
