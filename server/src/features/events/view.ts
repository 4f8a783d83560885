import type { Event } from './schema.ts'
import type { EventRow } from './sql.ts'

/** `recordEvent` wrote the type together with its data. */
export const toEvent = ({ id, number, type, created_at, data }: EventRow): Event =>
  ({ id, cursor: String(number), type, timestamp: created_at.toISOString(), data }) as Event
