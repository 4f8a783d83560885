// Events, webhook deliveries and emails are complete, and idempotency keys are consistent.
import { sql, type Sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'

/** The first number since then: events of one moment were not always numbered in time order. */
const firstSince = (since: Date, whose: Sql): Sql =>
  sql`(select ${whose}, min(number) as first from events where created_at >= ${since} group by ${whose})`

const numbering = invariant(
  'events.numbering',
  'Event numbers of an account have no gaps',
  ({ since }) => sql`
    select c.account_id as id, format('the counter says %s, there are %s events from %s to %s', c.last_number, e.count, r.first, e.last) as what
    from ${firstSince(since, sql`account_id`)} r join event_counters c using (account_id), lateral (
      select count(*), max(number) as last from events where account_id = c.account_id and number >= r.first) e
    where c.last_number <> e.last or e.count <> e.last - r.first + 1`,
)

const LIFECYCLE = {
  CREATE: 'vm.created',
  START: 'vm.started',
  STOP: 'vm.stopped',
  RESTART: 'vm.restarted',
  REBUILD: 'vm.started',
  SUSPEND: 'vm.suspended',
  DELETE: 'vm.terminated',
  MIGRATE: 'vm.migrated',
  SHELVE: 'vm.shelved',
  UNSHELVE: 'vm.unshelved',
}

/** Suspending a suspended VM that was powered on again records no second event. */
const actionEvents = invariant(
  'events.actions',
  'Every completed action has its event',
  ({ since }) => sql`
    select r.id, format('%s of VM %s is COMPLETED without %s', r.label, r.subject_id, l.type) as what
    from workflow_runs r join unnest(${Object.keys(LIFECYCLE)}::text[], ${Object.values(LIFECYCLE)}::text[]) as l(label, type) using (label)
    where r.status = 'COMPLETED' and r.completed_at >= ${since} and r.name like 'vm.%'
      and not (r.name = 'vm.suspend' and r.input @> '{"again": true}') and not exists (
      select from events e where e.subject_id = r.subject_id and e.type = l.type and e.data ->> 'actionId' = r.id)`,
)

const sequence = invariant(
  'events.sequence',
  'Event sequences of a VM have no gaps',
  ({ since }) => sql`
    select v.id, format('%s were counted, there are %s from %s to %s', v.event_sequence, e.count, e.first, e.last) as what
    from ${firstSince(since, sql`subject_id`)} r join vms v on v.id = r.subject_id, lateral (
      select count(*), min((data ->> 'sequence')::int) as first, max((data ->> 'sequence')::int) as last
      from events where subject_id = v.id and number >= r.first and data ? 'sequence') e
    where e.count > 0 and (v.event_sequence <> e.last or e.count <> e.last - e.first + 1)`,
)

/** A subscription changed at the same moment may or may not have seen the event; deliveries are kept for 30 days. */
const delivered = invariant(
  'webhooks.deliveries',
  'Every event has a delivery for every subscribed webhook',
  ({ since, now }) => sql`
    select e.id, format('event %s of %s has no delivery to webhook %s', e.type, e.account_id, w.id) as what
    from webhooks w join events e on e.account_id = w.account_id and e.type = any(w.events)
    where w.is_active and e.created_at > greatest(w.active_since, w.updated_at) + interval '30 seconds'
      and e.created_at >= greatest(${since}, ${now}::timestamptz - interval '29 days')
      and not exists (select from webhook_deliveries d where d.event_id = e.id and d.webhook_id = w.id)`,
)

const overdueDeliveries = invariant(
  'webhooks.overdue',
  'No webhook delivery is overdue',
  ({ now }) => sql`
    select d.id, format('delivery of %s to webhook %s was due at %s', d.type, d.webhook_id, d.next_attempt_at) as what
    from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where d.status = 'PENDING' and w.is_active and d.next_attempt_at < ${new Date(now.getTime() - 10 * 60_000)}`,
  { settle: '10m' },
)

const overdueEmails = invariant(
  'emails.overdue',
  'No email is overdue',
  ({ now }) => sql`
    select m.id, format('mail of event %s was due at %s', m.event_id, m.next_attempt_at) as what
    from emails m where m.status = 'PENDING' and m.next_attempt_at < ${new Date(now.getTime() - 2 * 3_600_000)}`,
  { settle: '10m' },
)

/** A volume that is restored, and a snapshot of a detached one that is deleted, are named by each of these requests. */
const keys = invariant(
  'idempotency.finished',
  'An idempotency key stores one successful response and one resource',
  ({ now }) => sql`
    select account_id as id, format('key %s holds status %s', key, status) as what from idempotency_keys where status not between 200 and 299
    union all
    select min(account_id), format('%s keys stand for %s', count(*), location) from idempotency_keys
    where location is not null and (status = 201 or location !~ '/volumes/') group by location having count(*) > 1
    union all
    select account_id, format('key %s ran out at %s and is still there', key, expires_at) from idempotency_keys
    where expires_at < ${new Date(now.getTime() - 10 * 60_000)}`,
  { settle: '2m' },
)

const keyUsage = invariant(
  'idempotency.counted',
  'The stored idempotency keys of an account are counted',
  () => sql`
    select u.account_id as id, format('%s keys of %s bytes are counted as %s of %s', k.keys, k.bytes, u.keys, u.bytes) as what
    from idempotency_usage u
    left join (select account_id, count(*) as keys, sum(octet_length(body)) as bytes from idempotency_keys group by account_id) k using (account_id)
    where (u.keys, u.bytes) is distinct from (coalesce(k.keys, 0), coalesce(k.bytes, 0))`,
)

export const eventInvariants: Invariant[] = [numbering, actionEvents, sequence, delivered, overdueDeliveries, overdueEmails, keys, keyUsage]
