// Event registrations of a connection: each kind once, for all its subscribers.
import { LibvirtError } from '../errors.ts'
import { areas } from '../protocol/index.ts'
import { eventKinds } from '../protocol/events.ts'
import type { EventName, EventSource } from '../protocol/events.ts'
import type { Procedure } from '../protocol/procedure.ts'

type Call = <Args, Result>(procedure: Procedure<Args, Result>, args: Args) => Promise<Result>
interface Desk {
  register(call: Call, event: number): Promise<number>
  deregister(call: Call, callback: number): Promise<void>
}

const { connect, registration } = areas
const desks: Record<EventSource, Desk> = {
  domain: {
    register: (call, event) => call(registration.registerDomainEvent, { event }),
    deregister: (call, callback) => call(registration.deregisterDomainEvent, { callback }),
  },
  network: {
    register: (call, event) => call(registration.registerNetworkEvent, { event }),
    deregister: (call, callback) => call(registration.deregisterNetworkEvent, { callback }),
  },
  pool: {
    register: (call, event) => call(registration.registerPoolEvent, { event }),
    deregister: (call, callback) => call(registration.deregisterPoolEvent, { callback }),
  },
  connection: {
    register: (call) => call(connect.registerCloseCallback, {}).then(() => 0),
    deregister: (call) => call(connect.unregisterCloseCallback, {}),
  },
}

export class Registrations {
  private readonly call: Call
  private readonly asked = new Map<EventName, Promise<number>>()

  constructor(call: Call) {
    this.call = call
  }

  async ensure(name: EventName): Promise<void> {
    const { source, event } = eventKinds[name]
    const asked = this.asked.get(name) ?? desks[source].register(this.call, event)
    this.asked.set(name, asked)
    await asked.catch((error: unknown) => {
      this.asked.delete(name)
      throw error
    })
  }

  /** A lost connection has nothing to deregister. */
  async drop(name: EventName): Promise<void> {
    const asked = this.asked.get(name)
    this.asked.delete(name)
    if (asked) await desks[eventKinds[name].source].deregister(this.call, await asked).catch(ignoreLoss)
  }
}

function ignoreLoss(error: unknown): void {
  if (!(error instanceof LibvirtError) || error.outcome === 'refused') throw error
}
