// Who wants to hear of which events. A subscriber that throws does not disturb the others.
import type { EventName, EventOf } from '../protocol/events.ts'

export type Handler<K extends EventName> = (event: EventOf<K>) => void

export class Subscriptions {
  private readonly handlers = new Map<EventName, Set<Handler<never>>>()
  private readonly onProblem: (error: Error) => void

  constructor(onProblem: (error: Error) => void) {
    this.onProblem = onProblem
  }

  names(): EventName[] {
    return [...this.handlers.keys()]
  }

  has(name: EventName): boolean {
    return this.handlers.has(name)
  }

  add<K extends EventName>(name: K, handler: Handler<K>): void {
    const set = this.handlers.get(name) ?? new Set()
    this.handlers.set(name, set.add(handler))
  }

  remove<K extends EventName>(name: K, handler: Handler<K>): void {
    const set = this.handlers.get(name)
    set?.delete(handler)
    if (set?.size === 0) this.handlers.delete(name)
  }

  tell<K extends EventName>(name: K, event: EventOf<K>): void {
    for (const handler of [...(this.handlers.get(name) ?? [])] as Handler<K>[]) {
      try {
        handler(event)
      } catch (error) {
        this.onProblem(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }
}

export function warnOfProblem(error: Error): void {
  process.emitWarning(error)
}
