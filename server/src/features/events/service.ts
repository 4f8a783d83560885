// The durable event log. An event is written in the transaction that makes it true; feed, stream and webhooks read the same rows.
import { json, sql, type Queries, type Tx } from '../../kernel/db.ts'
import { newId } from '../../kernel/ids.ts'

/** What webhooks may subscribe to: exactly the names of the public API. Other types appear in the feed only. */
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
  const event = await tx.one<EventRow>(sql`
    with counter as (
      insert into event_counters as c (account_id, last_number) values (${accountId}, 1)
      on conflict (account_id) do update set last_number = c.last_number + 1 returning last_number)
    insert into events (account_id, number, id, type, subject_id, data, created_at)
    select ${accountId}, last_number, ${newId()}, ${type}, ${subjectId ?? null}, ${json(data)}, ${now} from counter
    returning *`)
  for (const listener of listeners) await listener(tx, event)
  await tx.run(sql`select pg_notify('berth_events', ${accountId})`)
  return event
}

export const eventsAfter = (db: Queries, accountId: string, after: bigint, limit: number) =>
  db.many<EventRow>(sql`select * from events where account_id = ${accountId} and number > ${after} order by number limit ${limit}`)
