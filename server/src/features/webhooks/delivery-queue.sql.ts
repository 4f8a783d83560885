// The delivery queue: inserted with the event, claimed by any free worker, completed in batches.
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { meetsRest } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import { payerOf } from '../accounts/service.ts'
import type { UnnumberedEvent } from '../events/service.ts'
import type { DeliveryStatus, WebhookRow } from './sql.ts'

/** Of what the event is about: of the VM where it shows one. */
function labelsIn(data: object): Record<string, string> {
  const shown = data as Record<string, { labels?: Record<string, string> } | undefined>
  return (shown['vm'] ?? shown['volume'] ?? shown['image'] ?? shown['address'])?.labels ?? {}
}

const meets = (labels: Sql, selector: Sql): Sql => sql`${labels} @> (${selector} -> 'equals') and ${meetsRest(labels, selector)}`

/**
 * One per matching subscription. The id is derived from event and subscription id, because only the database knows the matches. No deleted
 * one is active, but without being told PostgreSQL does not use the index of the others, and reads those of all accounts for each event.
 */
export const insertDeliveries = (tx: Tx, event: UnnumberedEvent) =>
  tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, event_id, type, status, next_attempt_at, created_at)
    select left(${event.id}, 9) || left(md5(${event.id} || w.id), 16), w.id, ${event.id}, ${event.type}, 'PENDING',
      ${event.created_at}, ${event.created_at}
    from webhooks w where w.account_id = ${event.account_id} and w.deleted_at is null and w.is_active and ${event.type} = any(w.events)
      and (w.selector is null or ${meets(sql`${json(labelsIn(event.data))}::jsonb`, sql`w.selector`)})`)

const dueAt = (now: Date): Sql =>
  sql`status = 'PENDING' and next_attempt_at <= ${now} and (claimed_until is null or claimed_until <= ${now})`

export interface Lane {
  webhook_id: string
  payer_id: string
  is_active: boolean
  failing: boolean
  url: string
}

/**
 * Subscriptions with due deliveries: healthy ones first, then the first of every payer, the second and so on, so that accounts whose
 * subscriptions may send no more for the moment do not fill the limit. A loose index scan steps from one subscription to the next, so
 * a receiver with a million pending deliveries costs no more than one with a single delivery.
 */
export const dueLanes = (db: Queries, now: Date, limit: number) =>
  db.many<Lane>(sql`
    with recursive lane as (
      (select webhook_id from webhook_deliveries where status = 'PENDING' order by webhook_id limit 1)
      union all
      select (select webhook_id from webhook_deliveries where status = 'PENDING' and webhook_id > lane.webhook_id
        order by webhook_id limit 1) from lane where lane.webhook_id is not null)
    select w.id as webhook_id, y.payer_id, w.is_active, w.fail_count > 0 as failing, w.url
    from lane join webhooks w on w.id = lane.webhook_id cross join lateral (select ${payerOf(sql`w.account_id`)} as payer_id) y
    cross join lateral (select next_attempt_at from webhook_deliveries d
      where d.webhook_id = w.id and ${dueAt(now)} order by next_attempt_at limit 1) first
    order by w.fail_count > 0, row_number() over (partition by y.payer_id, w.fail_count > 0 order by first.next_attempt_at),
      first.next_attempt_at limit ${limit}`)

export interface Claim {
  id: string
  claims: number
  attempts: number
  webhook_id: string
  payer_id: string
  failing: boolean
  /** Without success for so long that further failures disable it. */
  is_disable_candidate: boolean
  url: string
  secret: Buffer
  previous_secret: Buffer | null
  event_id: string
  type: string
  /** JSON as stored. */
  data: string
  happened_at: Date
}

export interface Share {
  webhookId: string
  count: number
}

/** Skips rows that another worker has locked. */
export const claimDue = (db: Queries, shares: Share[], now: Date, until: Date, forlornSince: Date) =>
  db.many<Claim>(sql`
    with due as (
      select d.id from unnest(${shares.map((share) => share.webhookId)}::text[], ${shares.map((share) => share.count)}::int[])
        as share(webhook_id, count)
      cross join lateral (
        select id from webhook_deliveries where webhook_id = share.webhook_id and ${dueAt(now)}
        order by next_attempt_at limit share.count for update skip locked) d)
    update webhook_deliveries d set claims = d.claims + 1, claimed_until = ${until}
    from due, webhooks w, events e where d.id = due.id and w.id = d.webhook_id and e.id = d.event_id
    returning d.id, d.claims, d.attempts, d.webhook_id, ${payerOf(sql`w.account_id`)} as payer_id, w.fail_count > 0 as failing, w.url, w.secret,
      greatest(w.last_success_at, w.active_since) <= ${forlornSince} as is_disable_candidate,
      case when w.previous_secret_until > ${now} then w.previous_secret end as previous_secret,
      e.id as event_id, e.type, e.data::text as data, e.created_at as happened_at`)

export const releaseClaim = (db: Queries, id: string, claims: number) =>
  db.run(sql`update webhook_deliveries set claimed_until = null where id = ${id} and claims = ${claims}`)

export interface Tally {
  webhookId: string
  /** Consecutive failures at the end of the batch. */
  failures: number
  succeeded: boolean
}

/**
 * The first statement locks subscriptions in a fixed order, so that concurrent workers do not deadlock; the second counts. In one statement
 * they would: its update sees the rows as they were before the locks, and waits for those who wait for the locks.
 */
export function countOutcomes(tallies: Tally[], now: Date): Sql[] {
  const ids = tallies.map((tally) => tally.webhookId)
  return [
    sql`select from webhooks where id = any(${ids}::text[]) order by id for no key update`,
    sql`
    update webhooks w set fail_count = case when t.succeeded then t.failures else w.fail_count + t.failures end,
      last_success_at = case when t.succeeded then ${now} else w.last_success_at end
    from unnest(${ids}::text[], ${tallies.map((tally) => tally.failures)}::int[], ${tallies.map((tally) => tally.succeeded)}::bool[]) as t(id, failures, succeeded)
    where w.id = t.id`,
  ]
}

export interface Settled {
  id: string
  claims: number
  status: DeliveryStatus
  nextAttemptAt: Date | null
}

/** Fenced by the claim: a superseded claim changes nothing. */
export const settleDeliveries = (settled: Settled[], now: Date): Sql =>
  sql`
    update webhook_deliveries d set status = s.status, attempts = d.attempts + 1, next_attempt_at = s.next_attempt_at, claimed_until = null,
      completed_at = case when s.status <> 'PENDING' then ${now}::timestamptz end
    from unnest(${settled.map((each) => each.id)}::text[], ${settled.map((each) => each.claims)}::int[],
      ${settled.map((each) => each.status)}::text[], ${settled.map((each) => each.nextAttemptAt)}::timestamptz[])
      as s(id, claims, status, next_attempt_at)
    where d.id = s.id and d.claims = s.claims and d.status = 'PENDING'`

export const disable = (tx: Tx, webhookIds: string[], reason: string, now: Date) =>
  tx.many<WebhookRow>(sql`
    update webhooks set is_active = false, disabled_reason = ${reason}, updated_at = ${now}
    where id = any(${webhookIds}::text[]) and is_active returning ${allColumns('webhooks')}`)

/** Those of `webhookIds` with at least this many failures and no success (or creation) after `since`. */
export const receiversToDisable = async (tx: Tx, webhookIds: string[], failures: number, since: Date): Promise<string[]> =>
  (
    await tx.many<{ id: string }>(sql`
      select id from webhooks where id = any(${webhookIds}::text[]) and is_active and fail_count >= ${failures}
        and greatest(last_success_at, active_since) <= ${since}`)
  ).map((row) => row.id)

/** Deletes up to a thousand rows and returns their number; those of deleted subscriptions first. */
export const deleteOld = (db: Queries, completedBefore: Date, deletedBefore: Date) =>
  db.run(sql`
    delete from webhook_deliveries where id in (
      (select d.id from webhooks w join webhook_deliveries d on d.webhook_id = w.id where w.deleted_at < ${deletedBefore} limit 500)
      union
      (select id from webhook_deliveries where status <> 'PENDING' and completed_at < ${completedBefore} limit 500))`)

export const deleteEmptied = (db: Queries, deletedBefore: Date) =>
  db.run(sql`
    delete from webhooks w where deleted_at < ${deletedBefore}
      and not exists (select 1 from webhook_deliveries where webhook_id = w.id)`)
