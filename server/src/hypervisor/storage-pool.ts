// A storage backend, as the control plane sees it.
import type { VolumeData } from './driver.ts'

export interface PoolSpace {
  /** After replication: what guests can write in all, and what they can still write. */
  capacityBytes: number
  availableBytes: number
}

/** What the control plane asks of a pool, without any host. */
export interface StoragePool extends VolumeData {
  space(signal: AbortSignal): Promise<PoolSpace>
  /** Makes the pool ours, where it is nobody's. `conflict` where another backend, of this installation or another one, has its disks there. */
  claim(signal: AbortSignal): Promise<void>
  /** VMs and volumes that it has anything of, half made or half removed things included. */
  listOwnerIds(signal: AbortSignal): Promise<string[]>
  /** Whether a machine has something of the VM, or the volume, open, on whatever host. */
  isOpen(ownerId: string, signal: AbortSignal): Promise<boolean>
  /** Removes what killed processes left half made of something that is complete by now. */
  ensureNoDrafts(signal: AbortSignal): Promise<void>
  /** Removes all that it has of the VM, or the volume. */
  ensurePurged(ownerId: string, signal: AbortSignal): Promise<void>
}
