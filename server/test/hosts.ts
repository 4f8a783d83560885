// Simulated hosts and regions in addition to the catalog's, with fault injection.
import { createRegion } from '../src/features/catalog/service.ts'
import { seedHosts, getHost, type HostRow } from '../src/features/hosts/service.ts'
import { simulatedControl, type SimulatedControl } from '../src/hypervisor/simulated/control.ts'
import type { Clock } from '../src/kernel/clock.ts'
import { sql, type Db } from '../src/kernel/database/db.ts'
import type { TestApp } from './harness.ts'

export async function givenHost({ db, clock }: { db: Db; clock: Clock }, name: string, region = 'fra1'): Promise<HostRow> {
  const host = { name, region, driver: 'simulated' as const, uri: '', vcpu: 32, ram: 131_072, disk: 4_000 }
  await db.tx((tx) => seedHosts(tx, clock.now(), [host], 'simulated'))
  return getHost(db, name)
}

/** A region with one host, and so with a network controller of its own. */
export async function givenRegion({ db, clock }: { db: Db; clock: Clock }, slug: string): Promise<HostRow> {
  const place = { slug, name: slug, country: 'DE', city: 'Berlin', available: true }
  await db.tx((tx) => createRegion(tx, clock.now(), place))
  return givenHost({ db, clock }, `host-${slug}`, slug)
}

/** Whatever is placed by `act` is placed on this host. */
export async function placeOn<T>({ db }: { db: Db }, hostId: string, act: () => Promise<T>): Promise<T> {
  await db.run(sql`update hosts set maintenance = id <> ${hostId}`)
  try {
    return await act()
  } finally {
    await db.run(sql`update hosts set maintenance = false`)
  }
}

/** Of a host, or of the network controller of a region: by its id. */
export const controlOf = ({ db, clock }: Pick<TestApp, 'db' | 'clock'>, id: string): SimulatedControl => simulatedControl(db, clock, id)
