import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Webhook subscriptions. Receivers check requests with `verifyWebhook`. */
export class Webhooks extends Resource {
  list(query?: Query<'listWebhooks'>, options?: CallOptions) {
    return this.api.pages('listWebhooks', { query }, options)
  }

  /** The response contains the secret, which is not shown again. */
  create(body: Body<'createWebhook'>, options?: CallOptions) {
    return this.api.call('createWebhook', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getWebhook', { path: { id } }, options)
  }

  update(id: string, body: Body<'updateWebhook'>, options?: CallOptions) {
    return this.api.call('updateWebhook', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteWebhook', { path: { id } }, options)
  }

  /** Sends a test event now and returns the delivery result. */
  test(id: string, options?: CallOptions) {
    return this.api.call('testWebhook', { path: { id } }, options)
  }

  /** The response contains the new secret. Deliveries are signed with both for a while. */
  rotateSecret(id: string, options?: CallOptions) {
    return this.api.call('rotateWebhookSecret', { path: { id } }, options)
  }

  deliveries(id: string, query?: Query<'listWebhookDeliveries'>, options?: CallOptions) {
    return this.api.pages('listWebhookDeliveries', { path: { id }, query }, options)
  }

  /** Includes request and response of each attempt. */
  delivery(id: string, deliveryId: string, options?: CallOptions) {
    return this.api.call('getWebhookDelivery', { path: { id, deliveryId } }, options)
  }

  redeliver(id: string, deliveryId: string, options?: CallOptions) {
    return this.api.call('redeliverWebhookDelivery', { path: { id, deliveryId } }, options)
  }
}
