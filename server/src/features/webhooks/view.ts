import { headersOf } from './message.ts'
import type { Delivery, DeliveryLog, Webhook } from './schema.ts'
import type { AttemptRow, LoggedRow, WebhookRow } from './sql.ts'

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

export const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  url: row.url,
  events: row.events,
  isActive: row.is_active,
  description: row.description,
  labels: row.labels,
  labelSelector: row.label_selector,
  failCount: row.fail_count,
  disabledReason: row.disabled_reason,
  lastSuccessAt: iso(row.last_success_at),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const toDelivery = (row: LoggedRow): Delivery => ({
  id: row.id,
  eventId: row.event_id,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: iso(row.next_attempt_at),
  responseStatus: row.last_status,
  error: row.last_error,
  latencyMs: row.last_latency_ms,
  createdAt: row.created_at.toISOString(),
  completedAt: iso(row.completed_at),
})

export const toDeliveryLog = (row: LoggedRow, requestBody: string, attempts: AttemptRow[]): DeliveryLog => ({
  ...toDelivery(row),
  requestBody,
  log: attempts.map((attempt) => ({
    attemptedAt: attempt.attempted_at.toISOString(),
    latencyMs: attempt.latency_ms,
    url: attempt.url,
    requestHeaders: headersOf(row.id, attempt.attempted_at, attempt.signature),
    responseStatus: attempt.status,
    responseBody: attempt.response,
    error: attempt.error,
  })),
})
