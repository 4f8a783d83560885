// What a host reports: inventory, statistics and capabilities. It is read from the host alone, never from the database, so that the fleet
// can be recovered from its hosts.
import type { ComputeSize, ConsoleType, CpuSet, DiskLimits, Power, StopReason } from './spec.ts'

export interface Machine {
  /** Null for an unknown machine, which does not carry our metadata. */
  vmId: string | null
  accountId: string | null
  generation: number | null
  /** Of the disk of its rescue system; null where it starts from its own. */
  rescueGeneration: number | null
  name: string
  uuid: string
  power: Power
  /** Null while running, or when the host does not know. */
  stopReason: StopReason | null
  /** Paused by a write that found the disk of the host full. The write is repeated when the machine is resumed, so nothing is lost. */
  isOutOfSpace: boolean
  vcpu: number
  /** Null: any CPU of the host. */
  cpus: CpuSet | null
  ramMiB: number
  /** How large it can get while it runs. */
  room: ComputeSize
  diskLimits: DiskLimits
  agentConnected: boolean
  nics: { mac: string }[]
  /** Their ids. */
  volumes: string[]
  /** Of the ISO image in its drive; null without one. */
  isoId: string | null
}

export interface Volume {
  kind: 'disk' | 'seed' | 'snapshot' | 'backup' | 'template' | 'volume' | 'iso' | 'unknown'
  /** The id of the snapshot, backup, template, ISO image or customer's volume; the VM's id for disks and seeds; the name of an unknown one. */
  id: string
  /** Of a snapshot of a volume the id of the volume. */
  vmId: string | null
  generation: number | null
  /** The backup that an incremental one is a layer on. */
  parentId: string | null
  /** False while it is being created, and after its creator died. */
  complete: boolean
  capacityBytes: number
  /** What it takes; in a storage backend what it may take. */
  sizeBytes: number
  /** The storage backend that holds it; null: the host itself. */
  storageId: string | null
}

/** Bytes since the start of the epoch, from the guest's point of view. Counters restart at zero with every new epoch. */
export interface NicCounters {
  vmId: string
  mac: string
  epoch: string
  receivedBytes: bigint
  sentBytes: bigint
}

/** Totals since the start of this epoch; rates are differences of two samples. */
export interface MetricsSample {
  vmId: string
  epoch: string
  vcpu: number
  cpuNs: bigint
  /** That its CPUs were ready to run while those of the host were not free. Null where the host does not say. */
  cpuWaitNs: bigint | null
  ramMiB: number
  /** Null when the guest reports no memory statistics. */
  ramUsedMiB: number | null
  diskReadBytes: bigint
  diskWrittenBytes: bigint
  diskRequests: bigint
  /** That the requests took, together. */
  diskNs: bigint
  receivedBytes: bigint
  sentBytes: bigint
}

/** Hardware virtualisation, or emulation by QEMU's TCG. */
export type Acceleration = 'kvm' | 'emulation'

export interface HostFacts {
  /** As the host itself reports it, also to the network controller. */
  hostname: string
  /** Of the machine, as its firmware has it; null where unknown. */
  uuid: string | null
  vcpu: number
  /** NUMA node of each CPU, from CPU 0 on; -1 where there is no such CPU. Null where unknown. */
  cpuNodes: number[] | null
  cpuModel: string
  arch: string
  /** Architectures, and what guests of each can have: `aarch64`, `x86_64:secure-boot`. Those of another architecture than the host's are emulated. */
  guestTypes: string[]
  ramMiB: number
  diskGiB: number
  diskFreeGiB: number
  acceleration: Acceleration
  versions: Record<string, string>
  consoles: ConsoleType[]
  /** Of the fastest network card; null where unknown. */
  uplinkMbps: number | null
}

export type DriverEvent =
  | { type: 'started' | 'paused' | 'rebooted' | 'agent_connected'; vmId: string }
  | { type: 'stopped'; vmId: string; reason: StopReason }
  /** Events may have been lost: list again. */
  | { type: 'missed' }
