// Simulated hosts in addition to the catalog's, with fault injection.
import { seedHosts, getHost, type HostRow } from '../src/features/hosts/service.ts'
import { simulatedControl, type SimulatedControl } from '../src/hypervisor/simulated/control.ts'
import type { Clock } from '../src/kernel/clock.ts'
import type { Db } from '../src/kernel/database/db.ts'
import type { TestApp } from './harness.ts'

export async function givenHost({ db, clock }: { db: Db; clock: Clock }, name: string): Promise<HostRow> {
  const host = { name, region: 'fra1', driver: 'simulated' as const, uri: '', vcpu: 32, ram: 131_072, disk: 4_000 }
  await db.tx((tx) => seedHosts(tx, clock.now(), [host], 'simulated'))
  return getHost(db, name)
}

export const controlOf = ({ db, clock }: Pick<TestApp, 'db' | 'clock'>, hostId: string): SimulatedControl =>
  simulatedControl(db, clock, hostId)
