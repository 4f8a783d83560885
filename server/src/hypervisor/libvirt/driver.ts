// The libvirt driver: QEMU guests on hosts that run libvirtd. No agent of Berth runs on a host; everything goes over libvirt's protocol.
import type { Log } from '../../kernel/log.ts'
import type { HostRef } from '../driver-pool.ts'
import type { Driver, Machines, Monitoring, SnapshotsAndBackups } from '../driver.ts'
import type { ImageSource, IsoSource } from '../image-source.ts'
import type { StorageSource } from '../storage-source.ts'
import type { LocalAccess } from '../local-access.ts'
import { backupTransferMethods } from './copies/backup-transfer.ts'
import { backupMethods } from './copies/backups.ts'
import { snapshotMethods } from './copies/snapshots.ts'
import { endpointOf, rootOf } from './core/endpoint.ts'
import { type HostContext, openHostContext } from './core/host-context.ts'
import { passwordMethods } from './domain/guest-agent.ts'
import { chassisMethods } from './host/chassis-certificate.ts'
import { factMethods } from './host/facts.ts'
import { healthMethods } from './host/health.ts'
import { detectAcceleration } from './host/kvm-probe.ts'
import { definitionMethods } from './machine/definition.ts'
import { initializationMethods } from './machine/initialization.ts'
import { isoMethods } from './machine/isos.ts'
import { liveSizeMethods } from './machine/live-size.ts'
import { migrationMethods } from './machine/migration.ts'
import { powerMethods } from './machine/power.ts'
import { purgeMethods } from './machine/purge.ts'
import { readinessMethods } from './machine/readiness.ts'
import { restartMethods } from './machine/restart.ts'
import { consoleMethods } from './monitoring/console.ts'
import { eventMethods } from './monitoring/events.ts'
import { inventoryMethods } from './monitoring/inventory.ts'
import { statsMethods } from './monitoring/stats.ts'
import { interfaceMethods } from './network/interfaces.ts'
import { diskMethods } from './storage/disks.ts'
import { volumeMethods } from './machine/volumes.ts'
import { templateMethods } from './storage/templates.ts'

export interface LibvirtOptions {
  log: Log
  /** Where template images come from. */
  images: ImageSource
  /** And ISO images. */
  isos?: IsoSource | undefined
  /** Where disks are that are not on their host. */
  storage?: StorageSource | undefined
  access: LocalAccess
}

export const libvirtDrivers =
  ({ log, images, isos, storage, access }: LibvirtOptions) =>
  ({ id: hostId, uri }: HostRef): Driver => {
    const context = openHostContext({
      hostId,
      endpoint: endpointOf(uri, access),
      images,
      isos,
      storage,
      log,
      root: rootOf(uri),
      connect: access.connect,
    })
    // Probed now, so that the first VM need not wait for it. After a failure that VM probes again.
    detectAcceleration(context, AbortSignal.timeout(PROBE_MS)).catch(() => undefined)
    return {
      hostId,
      ...machines(context),
      ...migrationMethods(context),
      ...templateMethods(context),
      ...isoMethods(context),
      ...interfaceMethods(context),
      ...volumeMethods(context),
      ...copies(context),
      ...monitoring(context),
      ...chassisMethods(context),
      close: context.close,
    }
  }

const PROBE_MS = 120_000

export const copies = (context: HostContext): SnapshotsAndBackups => ({
  ...snapshotMethods(context),
  ...backupMethods(context),
  ...backupTransferMethods(context),
})

export const machines = (context: HostContext): Machines => ({
  ...diskMethods(context),
  ...definitionMethods(context),
  ...liveSizeMethods(context),
  ...powerMethods(context),
  ...restartMethods(context),
  ...readinessMethods(context),
  ...initializationMethods(context),
  ...passwordMethods(context),
  ...purgeMethods(context),
})

export const monitoring = (context: HostContext): Monitoring => ({
  ...inventoryMethods(context),
  ...statsMethods(context),
  ...eventMethods(context),
  ...consoleMethods(context),
  ...factMethods(context),
  ...healthMethods(context),
})
