// Host id → driver. A driver is opened at its first use and shared from then on. Opening does not connect, so an unreachable host fails in
// the driver's methods, not here. The URI of a host is looked up at every use: another process may have changed it, and the old address may
// belong to another host by now.
import { stopwatch } from '../kernel/clock.ts'
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
  /** Closes drivers of hosts that are no longer used: those whose URI changed at once; those missing from the list (a removed host may still
   *  have to delete a VM) when they were not used for a while. */
  prune(fleet: HostRef[]): void
  close(): Promise<void>
}

export interface DriverPoolOptions {
  factories: Partial<Record<DriverKind, DriverFactory>>
  /** Returns undefined for an unknown host. */
  lookup: (hostId: string) => Promise<HostRef | undefined>
  /** How long the driver of a removed host is kept after its last use: longer than a workflow step takes. */
  idleMs?: number
}

interface Opened {
  host: HostRef
  driver: Promise<Driver>
  idleMs: () => number
}

export function createDriverPool({ factories, lookup, idleMs = 15 * 60_000 }: DriverPoolOptions): DriverPool {
  const drivers = new Map<string, Opened>()
  const leaving = new Set<Promise<void>>()
  let isClosed = false

  const open = async (host: HostRef): Promise<Driver> => {
    const factory = factories[host.driver]
    if (!factory) throw new Error(`Host ${host.id} needs the ${host.driver} driver, which this process does not have`)
    return factory(host)
  }
  const openFor = (host: HostRef): Opened => {
    const opened: Opened = { host, driver: open(host), idleMs: stopwatch() }
    drivers.set(host.id, opened)
    opened.driver.catch(() => drivers.get(host.id) === opened && drivers.delete(host.id))
    return opened
  }
  /** Calls in flight fail; their retries get the next driver. */
  const forget = ({ host, driver }: Opened): void => {
    drivers.delete(host.id)
    const closed = driver
      .then((opened) => opened.close())
      .catch(() => undefined) // it never opened, or its host is unreachable
      .finally(() => leaving.delete(closed))
    leaving.add(closed)
  }

  return {
    async get(hostId) {
      const host = await lookup(hostId)
      const known = drivers.get(hostId)
      if (known && !(host && isSame(known.host, host))) forget(known)
      if (!host) throw new Error(`There is no host ${hostId}`)
      if (isClosed) throw new Error(`Host ${hostId} is asked for by a process that has ended its work`)
      const opened = drivers.get(hostId) ?? openFor(host)
      opened.idleMs = stopwatch()
      return opened.driver
    },
    prune(fleet) {
      const hosts = new Map(fleet.map((host) => [host.id, host]))
      for (const opened of drivers.values()) {
        const host = hosts.get(opened.host.id)
        if (host ? !isSame(opened.host, host) : opened.idleMs() >= idleMs) forget(opened)
      }
    },
    async close() {
      isClosed = true
      for (const opened of drivers.values()) forget(opened)
      await Promise.all(leaving)
    },
  }
}

const isSame = (one: HostRef, other: HostRef): boolean => one.driver === other.driver && one.uri === other.uri
