import type { Event } from './generated/openapi.ts'
import { EVENT_TYPES } from './generated/events.ts'

type WithoutCursor<Each> = Each extends unknown ? Omit<Each, 'cursor'> : never

/** What `webhook.test` sends; it is in no log. */
interface TestEvent {
  id: string
  type: 'webhook.test'
  timestamp: string
  data: { webhookId: string }
}

/** The body of a webhook, discriminated by `type`. A later server may send types that are not listed here. */
export type WebhookEvent = WithoutCursor<Event> | TestEvent

export type EventType = Event['type']

/** The payload of one type, such as `EventData<'vm.created'>`. */
export type EventData<Type extends EventType> = DataIn<Event, Type>

type DataIn<Each extends Event, Type> = Each extends unknown ? (Type extends Each['type'] ? Each['data'] : never) : never

/** Every type of event: what a webhook can subscribe to and `GET /events` lists. */
export const WEBHOOK_EVENTS: readonly EventType[] = EVENT_TYPES
