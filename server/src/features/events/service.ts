// The durable event log. An event is written in the transaction that makes it true; feed, stream and webhooks read the same rows.
import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import type { Event } from './schema.ts'
import { toEvent } from './view.ts'

/** Says which account has a new event. */
export const EVENTS = 'berth_events'

export interface EventRow {
  account_id: string
  number: bigint
  id: string
  type: string
  subject_id: string | null
  data: unknown
  created_at: Date
}

export interface NewEvent {
  accountId: string
  type: string
  subjectId?: string
  data: object
}

type Listener = (tx: Tx, event: EventRow) => Promise<unknown>
const listeners: Listener[] = []

/** Called in the transaction of every event: what must exist together with it is written here. */
export const onEvent = (listener: Listener): void => void listeners.push(listener)

/** Takes the account's place in the log ahead of something that must be locked after it, such as its wallet. */
export const reserveLog = (tx: Tx, accountId: string) =>
  tx.run(sql`
    insert into event_counters as c (account_id, last_number) values (${accountId}, 0)
    on conflict (account_id) do update set last_number = c.last_number`)

/** Takes the account's event counter, which stays locked until the commit: call it as late in the transaction as possible. */
export async function recordEvent(tx: Tx, now: Date, { accountId, type, subjectId, data }: NewEvent): Promise<EventRow> {
  if (listeners.length === 0) throw new Error('BUG: an event that nobody would hear of: load features/index.ts first')
  const event = await tx.one<EventRow>(sql`
    with counter as (
      insert into event_counters as c (account_id, last_number) values (${accountId}, 1)
      on conflict (account_id) do update set last_number = c.last_number + 1 returning last_number)
    insert into events (account_id, number, id, type, subject_id, data, created_at)
    select ${accountId}, last_number, ${newId()}, ${type}, ${subjectId ?? null}, ${json(data)}, ${now}
    from counter, pg_notify(${EVENTS}, ${accountId})
    returning *`)
  for (const listener of listeners) await listener(tx, event)
  return event
}

export const eventsAfter = (db: Queries, accountId: string, after: bigint, limit: number) =>
  db.many<EventRow>(sql`select * from events where account_id = ${accountId} and number > ${after} order by number limit ${limit}`)

/** The number of the account's newest event, 0 before the first. */
export const lastNumber = async (db: Queries, accountId: string): Promise<bigint> =>
  (await db.maybe<{ last_number: bigint }>(sql`select last_number from event_counters where account_id = ${accountId}`))?.last_number ?? 0n

/** With its data as JSON, the way it is stored. */
export const findEvent = (db: Queries, id: string) =>
  db.one<Omit<EventRow, 'data'> & { data: string }>(sql`
    select account_id, number, id, type, subject_id, data::text as data, created_at from events where id = ${id}`)

export const listEvents = async (db: Queries, accountId: string, after: string, limit: number): Promise<Event[]> =>
  (await eventsAfter(db, accountId, BigInt(after), limit)).map(toEvent)
