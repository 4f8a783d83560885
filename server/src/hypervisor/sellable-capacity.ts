// How much of a host is for VMs.

export interface Capacity {
  vcpu: number
  ramMiB: number
  diskGiB: number
}

export interface HostSize {
  cpus: number
  memoryMiB: number
  /** Null while there is no pool. */
  diskFreeGiB: number | null
  /** Allocated by the volumes in the pool. */
  diskTakenGiB: number
}

const MIN_RESERVE_MIB = 1024
const RESERVE = 0.1

/** A tenth of memory and disk, and at least 1 GiB of memory, is reserved for the host itself. */
export function sellableCapacity({ cpus, memoryMiB, diskFreeGiB, diskTakenGiB }: HostSize): Capacity {
  const ramMiB = Math.floor(memoryMiB - Math.max(MIN_RESERVE_MIB, memoryMiB * RESERVE))
  return {
    vcpu: cpus,
    ramMiB: Math.max(256, ramMiB),
    diskGiB: Math.max(1, Math.floor(((diskFreeGiB ?? 0) + diskTakenGiB) * (1 - RESERVE))),
  }
}
