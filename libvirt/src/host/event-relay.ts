// Relays the events of one connection to the subscribers of the host, each kind once.
import type { Connection } from '../connection/connection.ts'
import type { Subscriptions } from '../connection/subscriptions.ts'
import { LibvirtError } from '../errors.ts'
import type { EventName, EventOf } from '../protocol/events.ts'

export class EventRelay {
  private readonly connection: Connection
  private readonly subscribers: Subscriptions
  private readonly asked = new Map<EventName, Promise<unknown>>()

  constructor(connection: Connection, subscribers: Subscriptions) {
    this.connection = connection
    this.subscribers = subscribers
  }

  /** A connection lost meanwhile is no failure: the next one registers again. */
  async ensure<K extends EventName>(name: K): Promise<void> {
    const pass = (event: EventOf<K>) => this.subscribers.tell(name, event)
    const asked = this.asked.get(name) ?? this.connection.subscribe(name, pass)
    this.asked.set(name, asked)
    await asked.catch((error: unknown) => {
      if (!(error instanceof LibvirtError) || error.outcome === 'refused') throw error
    })
  }
}
