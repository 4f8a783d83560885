// The delivery log of a subscription: requests and responses.
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { Deps } from '../deps.ts'
import { findEvent } from '../events/service.ts'
import { DELIVER } from './fan-out.ts'
import { bodyOf } from './message.ts'
import { MAX_ATTEMPTS } from './schedule.ts'
import { SHOWN_ATTEMPTS, type Delivery, type DeliveryLog } from './schema.ts'
import { lockWebhook, requireNotSuspended, requireWebhook } from './service.ts'
import * as sql from './sql.ts'
import { requireRedeliveryLeft, testBody } from './test-event.ts'
import { toDelivery, toDeliveryLog } from './view.ts'

export async function listDeliveries(
  db: Queries,
  accountId: string,
  webhookId: string,
  status: sql.DeliveryStatus | null,
  page: PageRequest,
): Promise<Paged<Delivery>> {
  await requireWebhook(db, accountId, webhookId)
  return pageOf(
    page,
    () => sql.countDeliveries(db, webhookId, status),
    async (range) => (await sql.listDeliveries(db, webhookId, status, range)).map(toDelivery),
  )
}

export async function getDelivery(db: Queries, accountId: string, webhookId: string, id: string): Promise<DeliveryLog> {
  await requireWebhook(db, accountId, webhookId)
  const row = await requireDelivery(db, webhookId, id)
  return toDeliveryLog(row, await requestBodyOf(db, row), await sql.attemptsAt(db, id, SHOWN_ATTEMPTS))
}

async function requestBodyOf(db: Queries, row: sql.DeliveryRow): Promise<string> {
  if (row.event_id === null) return testBody(row)
  const event = await findEvent(db, row.event_id)
  return bodyOf({ id: event.id, type: event.type, happenedAt: event.created_at, data: event.data })
}

/** Counts before the transaction, because refused requests count too. */
export async function countRedelivery(deps: Deps, { accountId, payerId }: Principal, webhookId: string): Promise<void> {
  await requireWebhook(deps.db, accountId, webhookId)
  await requireRedeliveryLeft(deps, payerId)
}

/** Keeps the id, so that a receiver can detect the duplicate. Of the earlier attempts it keeps as many as are shown beside its own. */
export async function redeliver(tx: Tx, now: Date, accountId: string, webhookId: string, id: string): Promise<Delivery> {
  const webhook = await lockWebhook(tx, accountId, webhookId)
  const row = await requireDelivery(tx, webhookId, id)
  if (row.event_id === null) throw apiError('invalid_state', 'A test event is not delivered again: send another one with POST …/test')
  if (!webhook.is_active) throw apiError('invalid_state', 'The webhook is switched off: set isActive to true first')
  if (row.status === 'PENDING') throw apiError('invalid_state', 'This delivery is PENDING and is attempted by itself: see nextAttemptAt')
  await requireNotSuspended(tx, accountId)
  await sql.deleteAttemptsBut(tx, id, SHOWN_ATTEMPTS - MAX_ATTEMPTS)
  await sql.restartDelivery(tx, id, now)
  await triggerReconciler(tx, DELIVER)
  return toDelivery(await requireDelivery(tx, webhookId, id))
}

async function requireDelivery(db: Queries, webhookId: string, id: string): Promise<sql.LoggedRow> {
  const row = await sql.findDelivery(db, webhookId, id)
  if (!row) throw notFound('Delivery')
  return row
}
