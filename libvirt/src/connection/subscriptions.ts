// Event listeners by kind. One that throws does not affect the others.
import { ProtocolError } from '../errors.ts'
import { eventKinds } from '../protocol/events.ts'
import type { EventName, EventOf } from '../protocol/events.ts'
import type { Frame } from '../wire/frame.ts'
import { decode } from '../xdr/types.ts'
import type { Type } from '../xdr/types.ts'

export type Handler<K extends EventName> = (event: EventOf<K>) => void

const names = new Map(Object.entries(eventKinds).map(([name, kind]) => [kind.number, name as EventName]))

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

  /** Ignores events of unknown kinds, and those without listeners. */
  deliver(frame: Frame): void {
    const name = names.get(frame.procedure)
    if (name === undefined || !this.has(name)) return
    const { layout, name: procedure }: { layout: Type<never, unknown>; name: string } = eventKinds[name]
    try {
      this.tell(name, decode(layout, frame.payload) as EventOf<typeof name>)
    } catch (cause) {
      this.onProblem(new ProtocolError(`${procedure}: the event cannot be decoded: ${(cause as Error).message}`, { procedure, cause }))
    }
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
