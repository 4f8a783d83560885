// Where the driver finds the storage backends of a host's region.
import type { RbdPool } from './rbd/pool.ts'

export interface StorageSource {
  poolsOf(hostId: string): Promise<RbdPool[]>
}

/** All disks are on their hosts. */
export const NO_STORAGE: StorageSource = { poolsOf: () => Promise.resolve([]) }
