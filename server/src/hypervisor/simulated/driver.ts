// The simulated driver: the state of its hosts is in PostgreSQL, so it survives restarts and is shared by all processes. For demos, tests, load
// tests and dashboard development.
import { crc32 } from 'node:zlib'
import type { Clock } from '../../kernel/clock.ts'
import type { Db } from '../../kernel/database/db.ts'
import type { Driver } from '../driver.ts'
import type { HostRef } from '../driver-pool.ts'
import { backupMethods } from './backups.ts'
import { diskMethods } from './disks.ts'
import { isoMethods } from './isos.ts'
import { eventHub, ownSubscriptions } from './events.ts'
import { guestMethods } from './guest.ts'
import { simulatedHost, type SimulatedHost } from './host.ts'
import { inventoryMethods } from './inventory.ts'
import { statsMethods } from './stats.ts'
import { interfaceMethods } from './interfaces.ts'
import { realPace, type Pace } from './latency.ts'
import { liveSizeMethods } from './live-size.ts'
import { migrationMethods } from './migration.ts'
import { powerMethods } from './power.ts'
import { definitionMethods } from './definition.ts'
import { snapshotMethods } from './snapshots.ts'
import { volumeMethods } from './customer-volumes.ts'
import { monitoringMethods, type HostSize } from './monitoring.ts'

export interface SimulatedOptions {
  db: Db
  clock: Clock
  pace?: Pace
  /** What an interface receives while its machine runs; a quarter of it is sent. */
  bytesPerSecond?: (mac: string) => number
  /** What guests of it begin with is read from the image. */
  findImage?: SimulatedHost['findImage']
}

/** 2 to 20 kB/s: some 5 to 50 GB a month. */
const idleChatter = (mac: string): number => 2_000 + (crc32(mac) % 18_000)

export function simulatedDrivers({
  db,
  clock,
  pace = realPace,
  bytesPerSecond = idleChatter,
  findImage = async () => undefined,
}: SimulatedOptions): (host: HostRef) => Driver {
  const hub = eventHub(db)
  return ({ id: hostId, uri }): Driver => {
    const size = sizeFrom(uri)
    const events = ownSubscriptions(hub)
    const host = simulatedHost({ hostId, db, clock, pace, bytesPerSecond, findImage, diskGiB: size.diskGiB })
    return {
      hostId,
      ...diskMethods(host),
      ...isoMethods(host),
      ...definitionMethods(host),
      ...liveSizeMethods(host),
      ...powerMethods(host),
      ...guestMethods(host),
      ...migrationMethods(host),
      ...interfaceMethods(host),
      ...volumeMethods(host),
      ...snapshotMethods(host),
      ...backupMethods(host),
      ...inventoryMethods(host),
      ...statsMethods(host),
      ...monitoringMethods(host, events, size),
      listCertificates: (signal) => host.call('listCertificates', signal, async () => []),
      ensureChassisCertificate: (_validUntil, _issue, signal) => host.call('ensureChassisCertificate', signal, async () => null),
      close: events.close,
    }
  }
}

/** `simulated:///?vcpu=64&ramMiB=262144&diskGiB=4096`; what is missing takes these values. */
function sizeFrom(uri: string): HostSize {
  const given = new URL(uri).searchParams
  const whole = (name: string, fallback: number): number => {
    const value = Number(given.get(name) ?? fallback)
    if (!Number.isInteger(value) || value <= 0) throw new Error(`${name} in ${uri} must be a whole number above 0`)
    return value
  }
  return { vcpu: whole('vcpu', 64), ramMiB: whole('ramMiB', 262_144), diskGiB: whole('diskGiB', 4_096) }
}
