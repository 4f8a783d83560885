import { object, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const CURSOR = '^\\d{1,18}$'

const Cursor = Type.String({
  pattern: CURSOR,
  rule: 'must be the cursor of an event',
  description: 'The cursor of the last event already seen; left out, the list begins with the oldest event and a stream with the next one',
})

export const EventsQuery = {
  after: Type.Optional(Cursor),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
}

export const Event = object(
  {
    id: Type.String(),
    cursor: Type.String({ description: "The event's number in the account, from 1 without a gap: pass the last one as `after`" }),
    type: Type.String({ description: 'What webhooks can subscribe to, and others such as vm.upgraded' }),
    timestamp: Timestamp,
    data: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
  },
  { title: 'Event' },
)
export type Event = Static<typeof Event>
