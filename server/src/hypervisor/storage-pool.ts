// A storage backend, as the control plane sees it.
import type { VolumeData } from './driver.ts'

export interface PoolSpace {
  /** After replication: what guests can write in all, and what they can still write. */
  capacityBytes: number
  availableBytes: number
}

/** A process that writes to an image: a QEMU of a host, or a tool of a worker. */
export interface StorageClient {
  /** The VM or volume of the image. */
  ownerId: string
  address: string
  /** Of this process at its address. */
  nonce: number
  /** Whether it has the image open now. One that is cut off from the pool loses that after 30 seconds, and keeps the lock of the image. */
  isWatching: boolean
}

/** As Ceph writes it. Nonce 0: all processes at the address. */
export const blockedClient = (address: string, nonce: number): string => `${address.includes(':') ? `[${address}]` : address}:0/${nonce}`

/** What the control plane asks of a pool, without any host. */
export interface StoragePool extends VolumeData, Fencing {
  space(signal: AbortSignal): Promise<PoolSpace>
  /** Makes the pool ours, where it is nobody's. `conflict` where another backend, of this installation or another one, has its disks there. */
  claim(signal: AbortSignal): Promise<void>
  /** VMs and volumes that it has anything of, half made or half removed things included. */
  listOwnerIds(signal: AbortSignal): Promise<string[]>
  /** Whether a machine has something of the VM, or the volume, open, on whatever host. */
  isOpen(ownerId: string, signal: AbortSignal): Promise<boolean>
  /** `in_use` while a disk is a clone of it. */
  ensureNoTemplate(templateId: string, signal: AbortSignal): Promise<void>
  /**
   * Removes up to `most` snapshots that nothing but the next incremental backup needs: they hold what was overwritten since the last one, and
   * without them the next one is full. Resolves to how many.
   */
  removeBases(most: number, signal: AbortSignal): Promise<number>
  /** Removes what killed processes left half made of something that is complete by now. */
  ensureNoDrafts(signal: AbortSignal): Promise<void>
  /** Removes all that it has of the VM, or the volume. */
  ensurePurged(ownerId: string, signal: AbortSignal): Promise<void>
}

/** Clients are those of `blockedClient`. */
export interface Fencing {
  /** Who has the images of these VMs and volumes open, or holds their locks. */
  listClients(ownerIds: readonly string[], signal: AbortSignal): Promise<StorageClient[]>
  /** Addresses of the cluster's own machines. */
  listServers(signal: AbortSignal): Promise<string[]>
  /** None of them writes or reads any more when this resolves, for a year. */
  ensureBlocked(clients: readonly string[], signal: AbortSignal): Promise<void>
  /** Which of them are. */
  listBlocked(clients: readonly string[], signal: AbortSignal): Promise<string[]>
  /** `permanent` where the user of the pool may not do it. */
  ensureUnblocked(clients: readonly string[], signal: AbortSignal): Promise<void>
}
