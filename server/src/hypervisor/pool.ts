// Host id → driver. A driver is opened when first asked for and shared from then on; opening one is cheap and does not wait for the
// host, so a dead host shows in its verbs, not here.
import type { Driver } from './driver.ts'

export type DriverKind = 'simulated' | 'libvirt'

export interface HostRef {
  id: string
  driver: DriverKind
  uri: string
}

type DriverFactory = (host: HostRef) => Driver | Promise<Driver>

export interface DriverPool {
  get(hostId: string): Promise<Driver>
  /** Call when a host was changed or removed; the next `get` looks it up again. */
  forget(hostId: string): Promise<void>
  close(): Promise<void>
}

export interface DriverPoolOptions {
  factories: Partial<Record<DriverKind, DriverFactory>>
  /** Answers undefined for a host nobody knows. */
  lookup: (hostId: string) => Promise<HostRef | undefined>
}

export function createDriverPool({ factories, lookup }: DriverPoolOptions): DriverPool {
  const drivers = new Map<string, Promise<Driver>>()

  const open = async (hostId: string): Promise<Driver> => {
    const host = await lookup(hostId)
    if (!host) throw new Error(`There is no host ${hostId}`)
    const factory = factories[host.driver]
    if (!factory) throw new Error(`Host ${hostId} needs the ${host.driver} driver, which this process does not have`)
    return factory(host)
  }

  const forget = async (hostId: string): Promise<void> => {
    const driver = drivers.get(hostId)
    drivers.delete(hostId)
    await driver?.then(
      (opened) => opened.close(),
      () => undefined, // it never opened, so there is nothing to close
    )
  }

  return {
    get(hostId) {
      const known = drivers.get(hostId)
      if (known) return known
      const opening = open(hostId)
      drivers.set(hostId, opening)
      opening.catch(() => drivers.get(hostId) === opening && drivers.delete(hostId))
      return opening
    },
    forget,
    close: async () => void (await Promise.all([...drivers.keys()].map(forget))),
  }
}
