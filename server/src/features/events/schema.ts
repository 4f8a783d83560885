import { labelQuery } from '../labels/schema.ts'
import { object, oneOf, Timestamp, Type, type Static, type TSchema } from '../../http/api/schema.ts'

export const CURSOR = '^\\d{1,18}$'

const Cursor = Type.String({
  pattern: CURSOR,
  rule: 'must be the cursor of an event',
  description: 'The cursor of the last event already seen; left out, the list begins with the oldest event and a stream with the next one',
})

export const EventsQuery = {
  after: Type.Optional(Cursor),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  ...labelQuery,
}

/**
 * The payload of every type of event. Each feature adds its own by declaration merging, because the log is to the left of all of them:
 * what is not declared here cannot be recorded.
 */
export interface EventPayloads {}

export type EventType = keyof EventPayloads

export interface EventSpec<Data extends TSchema = TSchema> {
  /** Its title ends in `EventData`. */
  data: Data
  summary: string
  /** Operations that record it whenever they succeed. */
  emittedBy: string[]
  /** Operations that record it in some cases, such as a failure. */
  sometimesEmittedBy: string[]
}

export type EventCatalog = { [Type in EventType]: EventSpec }

/** For `interface EventPayloads extends PayloadsOf<…>`. */
export type PayloadsOf<Specs extends Record<string, EventSpec>> = { [Type in keyof Specs]: Static<Specs[Type]['data']> }

export const defineEvent = <Data extends TSchema>(
  data: Data,
  summary: string,
  { by = [], sometimesBy = [] }: { by?: string[]; sometimesBy?: string[] } = {},
): EventSpec<Data> => ({ data, summary, emittedBy: by, sometimesEmittedBy: sometimesBy })

export type Event = {
  [Type in EventType]: { id: string; cursor: string; type: Type; timestamp: string; data: EventPayloads[Type] }
}[EventType]

export const dataTitle = ({ data }: EventSpec): string => (data as { title?: string }).title!

/** One variant per payload, for all types that have it. */
export function eventSchema(catalog: EventCatalog) {
  const groups = Map.groupBy(Object.entries<EventSpec>(catalog), ([, spec]) => dataTitle(spec))
  const variants = [...groups].map(([title, specs]) =>
    object(
      {
        id: Type.String(),
        cursor: Type.String({
          description: "The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after`",
        }),
        type: oneOf(specs.map(([type]) => type)),
        timestamp: Timestamp,
        data: specs[0]![1].data,
      },
      { title: variantOf(title) },
    ),
  )
  const mapping = Object.entries<EventSpec>(catalog).map(([type, spec]) => [type, `#/components/schemas/${variantOf(dataTitle(spec))}`])
  return Type.Unsafe<Event>({
    oneOf: variants,
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) as object },
    description: 'Its data is typed by its type',
    title: 'Event',
  })
}

const variantOf = (title: string): string => title.replace(/Data$/, '')
