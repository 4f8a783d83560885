// Targets in use: connections, and the limit that all uploads of this process to a target share.
import { createBandwidthLimit, type BandwidthLimit } from '../../backup-target/bandwidth.ts'
import type { ObjectStore } from '../../backup-target/object-store.ts'
import type { TargetRow } from './sql.ts'

export interface OpenTarget {
  store: ObjectStore
  bandwidth: BandwidthLimit
}

export interface BackupTargetPool {
  /** Opened again after its settings were changed. */
  get(target: TargetRow): Promise<OpenTarget>
  close(): void
}

export type OpenStore = (target: TargetRow) => Promise<ObjectStore & { close(): void }>

const MIB = 1024 ** 2

export function createBackupTargetPool(open: OpenStore): BackupTargetPool {
  const targets = new Map<string, Promise<OpenTarget & { close(): void }>>()
  return {
    get: (target) => {
      const settings = JSON.stringify(target)
      const known = targets.get(settings)
      if (known) return known
      const opened = open(target).then((store) => ({
        store,
        bandwidth: createBandwidthLimit(target.bandwidth_mib === null ? null : target.bandwidth_mib * MIB),
        close: () => store.close(),
      }))
      opened.catch(() => targets.delete(settings))
      targets.set(settings, opened)
      return opened
    },
    close: () => {
      for (const opened of targets.values())
        opened.then(
          ({ close }) => close(),
          () => {},
        )
    },
  }
}
