// Events are sent by NOTIFY, in the transaction that changes the state, to every process. One connection per process listens for all its
// hosts while there are subscribers.
import { json, sql, type Db, type Queries } from '../../kernel/database/db.ts'
import type { DriverEvent } from '../driver.ts'

const CHANNEL = 'simulated_events'

export const notify = (queries: Queries, hostId: string, event: DriverEvent): Promise<number> =>
  queries.run(sql`select pg_notify(${CHANNEL}, ${json({ hostId, event })})`)

interface Subscriber {
  hostId: string
  listener: (event: DriverEvent) => void
  /** Called when its driver is closed. */
  over?: () => void
}

export interface EventHub {
  subscribe(subscriber: Subscriber): Promise<() => Promise<void>>
}

export function eventHub(db: Db): EventHub {
  const subscribers = new Set<Subscriber>()
  let listening: Promise<() => Promise<void>> | undefined

  const onNotify = (payload: string): void => {
    const { hostId, event } = JSON.parse(payload) as { hostId: string; event: DriverEvent }
    for (const each of subscribers) if (each.hostId === hostId) each.listener(event)
  }
  /** Sent only once LISTEN is active again: a listing before that could miss events in between. */
  let hasListened = false
  const onListening = (yes: boolean): void => {
    if (yes && hasListened) subscribers.forEach((each) => each.listener({ type: 'missed' }))
    hasListened ||= yes
  }

  return {
    async subscribe(subscriber) {
      subscribers.add(subscriber)
      try {
        await (listening ??= db.listen(CHANNEL, onNotify, onListening))
      } catch (error) {
        subscribers.delete(subscriber)
        listening = undefined
        throw error
      }
      return async () => {
        if (!subscribers.delete(subscriber) || subscribers.size > 0) return
        const stopped = listening?.then((stop) => stop())
        listening = undefined
        hasListened = false
        await stopped
      }
    },
  }
}

export interface ClosableHub extends EventHub {
  close(): Promise<void>
}

/** The subscriptions of one driver, which end with it. */
export function ownSubscriptions(hub: EventHub): ClosableHub {
  const stops = new Map<() => Promise<void>, Subscriber>()
  return {
    async subscribe(subscriber) {
      const stop = await hub.subscribe(subscriber)
      stops.set(stop, subscriber)
      return async () => {
        stops.delete(stop)
        await stop()
      }
    },
    async close() {
      await Promise.all([...stops.keys()].map((stop) => stop()))
      for (const { over } of stops.values()) over?.()
    },
  }
}
