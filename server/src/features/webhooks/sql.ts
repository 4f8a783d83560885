// Subscriptions and their log. Lock order: subscription before delivery.
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { parseSelector, selectedBy } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type WebhookRow = Row<'webhooks'>

export type NewWebhook = Pick<
  WebhookRow,
  'id' | 'account_id' | 'url' | 'events' | 'description' | 'labels' | 'label_selector' | 'secret' | 'created_at'
>

const parsed = (selector: string | null): string | null => selector && json(parseSelector(selector))

export const insertWebhook = (tx: Tx, row: NewWebhook) =>
  tx.one<WebhookRow>(sql`
    insert into webhooks (id, account_id, url, events, description, labels, label_selector, selector, secret, active_since, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.url}, ${row.events}, ${row.description}, ${json(row.labels)}, ${row.label_selector}, ${parsed(row.label_selector)}, ${row.secret},
      ${row.created_at}, ${row.created_at}, ${row.created_at})
    returning ${allColumns('webhooks')}`)

const listed = (accountId: string, labelSelector: string | undefined) =>
  sql`account_id = ${accountId} and deleted_at is null ${selectedBy(sql`labels`, labelSelector)}`

export const countWebhooks = async (db: Queries, accountId: string, labelSelector: string | undefined): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from webhooks where ${listed(accountId, labelSelector)}`)).count)

export const listWebhooks = (db: Queries, accountId: string, labelSelector: string | undefined, range: PageRange) =>
  db.many<WebhookRow>(
    sql`select ${allColumns('webhooks')} from webhooks where ${listed(accountId, labelSelector)} ${newestFirst(sql`id`, range)}`,
  )

export const webhookIdsOf = async (tx: Tx, accountId: string): Promise<string[]> =>
  (await tx.many<{ id: string }>(sql`select id from webhooks where ${listed(accountId, undefined)} order by id`)).map(({ id }) => id)

export const findWebhook = (db: Queries, accountId: string, id: string) =>
  db.maybe<WebhookRow>(
    sql`select ${allColumns('webhooks')} from webhooks where id = ${id} and account_id = ${accountId} and deleted_at is null`,
  )

/** Held until the transaction ends. Inserting events and deliveries does not wait for this lock. */
export const lockWebhook = (tx: Tx, accountId: string, id: string) =>
  tx.maybe<WebhookRow>(sql`
    select ${allColumns('webhooks')} from webhooks where id = ${id} and account_id = ${accountId} and deleted_at is null for no key update`)

/** Writes the columns that the owner may change. */
export const updateWebhook = (tx: Tx, row: WebhookRow) =>
  tx.one<WebhookRow>(sql`
    update webhooks set url = ${row.url}, events = ${row.events}, description = ${row.description}, labels = ${json(row.labels)},
      label_selector = ${row.label_selector}, selector = ${parsed(row.label_selector)}, is_active = ${row.is_active},
      disabled_reason = ${row.disabled_reason}, fail_count = ${row.fail_count}, active_since = ${row.active_since},
      secret = ${row.secret}, previous_secret = ${row.previous_secret}, previous_secret_until = ${row.previous_secret_until},
      updated_at = ${row.updated_at}
    where id = ${row.id} returning ${allColumns('webhooks')}`)

export const markDeleted = (tx: Tx, id: string, now: Date) =>
  tx.run(sql`
    update webhooks set deleted_at = ${now}, updated_at = ${now}, is_active = false, secret = '', previous_secret = null where id = ${id}`)

export type DeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'

export type DeliveryRow = Row<'webhook_deliveries'>

export type AttemptRow = Row<'webhook_attempts'>

/** A delivery with its last attempt. */
export type LoggedRow = DeliveryRow & { last_status: number | null; last_error: string | null; last_latency_ms: number | null }

const logged = sql`
  select ${allColumns('webhook_deliveries', 'd')}, a.status as last_status, a.error as last_error, a.latency_ms as last_latency_ms from webhook_deliveries d
  left join lateral (select ${allColumns('webhook_attempts')} from webhook_attempts where delivery_id = d.id order by number desc limit 1) a on true`

export const countDeliveries = async (db: Queries, webhookId: string, status: DeliveryStatus | null): Promise<number> =>
  (
    await db.one<{ count: number }>(sql`
      select count(*)::int as count from webhook_deliveries
      where webhook_id = ${webhookId} and (${status}::text is null or status = ${status})`)
  ).count

export const listDeliveries = (db: Queries, webhookId: string, status: DeliveryStatus | null, range: PageRange) =>
  db.many<LoggedRow>(sql`
    ${logged} where d.webhook_id = ${webhookId} and (${status}::text is null or d.status = ${status})
    ${newestFirst(sql`d.id`, range)}`)

export const findDelivery = (db: Queries, webhookId: string, id: string) =>
  db.maybe<LoggedRow>(sql`${logged} where d.id = ${id} and d.webhook_id = ${webhookId}`)

/** The newest ones, oldest first. */
export const attemptsAt = (db: Queries, deliveryId: string, limit: number) =>
  db.many<AttemptRow>(sql`
    select ${allColumns('webhook_attempts')} from (
      select ${allColumns('webhook_attempts')} from webhook_attempts where delivery_id = ${deliveryId} order by number desc limit ${limit}) newest
    order by number`)

export const deleteAttemptsBut = (tx: Tx, deliveryId: string, newest: number) =>
  tx.run(sql`
    delete from webhook_attempts where delivery_id = ${deliveryId} and number <= (
      select number from webhook_attempts where delivery_id = ${deliveryId} order by number desc offset ${newest} limit 1)`)

export const attemptsOf = (db: Queries, deliveryIds: string[]) =>
  db.many<Pick<AttemptRow, 'delivery_id' | 'number'>>(
    sql`select delivery_id, number from webhook_attempts where delivery_id = any(${deliveryIds}::text[])`,
  )

/** Restarts the retry schedule and fences an outstanding claim. */
export const restartDelivery = (tx: Tx, id: string, now: Date) =>
  tx.run(sql`
    update webhook_deliveries set status = 'PENDING', attempts = 0, claims = claims + 1, next_attempt_at = ${now},
      claimed_until = null, completed_at = null
    where id = ${id}`)

/** Only for disabled subscriptions: one that was enabled again in the meantime keeps its deliveries. Lock order as in `countOutcomes`. */
export const cancelPending = (tx: Tx, webhookIds: string[], now: Date) =>
  tx.run(sql`
    update webhook_deliveries set status = 'CANCELLED', next_attempt_at = null, completed_at = ${now}
    where status = 'PENDING' and webhook_id in (
      select id from webhooks where id = any(${webhookIds}::text[]) and not is_active order by id for no key update)`)

export const insertTest = (tx: Tx, row: Pick<DeliveryRow, 'id' | 'webhook_id' | 'type' | 'status' | 'created_at'>, now: Date) =>
  tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, type, status, attempts, claims, created_at, completed_at)
    values (${row.id}, ${row.webhook_id}, ${row.type}, ${row.status}, 1, 1, ${row.created_at}, ${now})`)

/** Skips attempts whose delivery was deleted in the meantime. */
export const insertAttempts = (rows: AttemptRow[]): Sql =>
  sql`
    insert into webhook_attempts (delivery_id, number, url, signature, status, error, response, latency_ms, attempted_at)
    select id, number, url, signature, status, error, response, latency_ms, attempted_at from unnest(${rows.map((row) => row.delivery_id)}::text[], ${rows.map((row) => row.number)}::int[],
      ${rows.map((row) => row.url)}::text[], ${rows.map((row) => row.signature)}::text[], ${rows.map((row) => row.status)}::int[],
      ${rows.map((row) => row.error)}::text[], ${rows.map((row) => row.response)}::text[], ${rows.map((row) => row.latency_ms)}::int[],
      ${rows.map((row) => row.attempted_at)}::timestamptz[])
      as r(id, number, url, signature, status, error, response, latency_ms, attempted_at)
    where exists (select 1 from webhook_deliveries where id = r.id)
    on conflict do nothing`
