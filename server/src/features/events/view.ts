import type { Event } from './schema.ts'
import type { EventRow } from './sql.ts'

export const toEvent = ({ id, number, type, created_at, data }: EventRow): Event => ({
  id,
  cursor: String(number),
  type,
  timestamp: created_at.toISOString(),
  data: data as Event['data'],
})
