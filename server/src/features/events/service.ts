// The durable event log. An event is written in the transaction of its change; feed, stream and webhooks read the same rows.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import type { EventDeps } from '../deps.ts'
import type { Event, EventPayloads, EventType } from './schema.ts'
import { eventsAfter, insertEvent, type EventRow } from './sql.ts'
import { toEvent } from './view.ts'

export { findEvent, reserveLog, type EventRow, type UnnumberedEvent } from './sql.ts'

/** A payload of another type of event does not compile. */
export type NewEvent = {
  [Type in EventType]: { accountId: string; type: Type; subjectId?: string; data: EventPayloads[Type] }
}[EventType]

/** Locks the account's event counter until the commit, so call it as late in the transaction as possible. */
export async function recordEvent(tx: Tx, { clock, hooks }: EventDeps, { accountId, type, subjectId, data }: NewEvent): Promise<EventRow> {
  const event = { account_id: accountId, id: newId(), type, subject_id: subjectId ?? null, data, created_at: clock.now() }
  const [row] = await Promise.all([insertEvent(tx, event), ...hooks.onEvent.map((hook) => hook(tx, event))]) // pipelined in order
  return row
}

export const listEvents = async (db: Queries, accountId: string, after: string, limit: number, labelSelector?: string): Promise<Event[]> =>
  (await eventsAfter(db, accountId, BigInt(after), limit, labelSelector)).map(toEvent)
