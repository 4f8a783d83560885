import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { selectedBy } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

/** NOTIFY channel; the payload is the account with a new event. */
export const EVENTS = 'berth_events'

export type EventRow = Row<'events'>

export type UnnumberedEvent = Omit<EventRow, 'number' | 'data'> & { data: object }

/** Locks the account's event counter before a lock that comes later in the lock order, such as the wallet. */
export const reserveLog = (tx: Tx, accountId: string) =>
  tx.run(sql`
    insert into event_counters as c (account_id, last_number) values (${accountId}, 0)
    on conflict (account_id) do update set last_number = c.last_number`)

export const insertEvent = (tx: Tx, event: UnnumberedEvent) =>
  tx.one<EventRow>(sql`
    with counter as (
      insert into event_counters as c (account_id, last_number) values (${event.account_id}, 1)
      on conflict (account_id) do update set last_number = c.last_number + 1 returning last_number)
    insert into events (account_id, number, id, type, subject_id, data, created_at)
    select ${event.account_id}, last_number, ${event.id}, ${event.type}, ${event.subject_id}, ${json(event.data)}, ${event.created_at}
    from counter, pg_notify(${EVENTS}, ${event.account_id})
    returning ${allColumns('events')}`)

/** Of what the event is about, as it was then: of the VM where the event shows one. */
const LABELS = sql`coalesce(coalesce(nullif(data -> 'vm', 'null'), data -> 'volume', data -> 'image', data -> 'address') -> 'labels', '{}')`

export const eventsAfter = (db: Queries, accountId: string, after: bigint, limit: number, labelSelector?: string) =>
  db.many<EventRow>(sql`
    select ${allColumns('events')} from events where account_id = ${accountId} and number > ${after} ${selectedBy(LABELS, labelSelector)}
    order by number limit ${limit}`)

/** Those that the selector does not select too: a stream has passed them. */
export const markedEventsAfter = (db: Queries, accountId: string, after: bigint, limit: number, labelSelector?: string) =>
  db.many<EventRow & { is_selected: boolean }>(sql`
    select ${allColumns('events')}, (true ${selectedBy(LABELS, labelSelector)}) as is_selected
    from events where account_id = ${accountId} and number > ${after} order by number limit ${limit}`)

/** The number of the account's newest event, 0 before the first. */
export const lastNumber = async (db: Queries, accountId: string): Promise<bigint> =>
  (await db.maybe<{ last_number: bigint }>(sql`select last_number from event_counters where account_id = ${accountId}`))?.last_number ?? 0n

/** Returns `data` as the stored JSON text. */
export const findEvent = (db: Queries, id: string) =>
  db.one<Omit<EventRow, 'data'> & { data: string }>(sql`
    select account_id, number, id, type, subject_id, data::text as data, created_at from events where id = ${id}`)

/** Keeps what a webhook or an email still has to tell. Returns the number of deleted rows. */
export const deleteBefore = (db: Queries, moment: Date, most: number) =>
  db.run(sql`
    delete from events where ctid = any(array(select ctid from events e where created_at < ${moment}
      and not exists (select from webhook_deliveries d where d.event_id = e.id) and not exists (select from emails m where m.event_id = e.id)
      limit ${most}))`)
