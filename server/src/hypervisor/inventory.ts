// What a host reports: what is there, what it measures and what it can do. All of it is read from the host alone, never from our
// database, so that the fleet can be rebuilt from it.
import type { ConsoleType, NetworkSpec, Power, StopReason } from './spec.ts'

export interface Machine {
  /** Null for a stranger: a machine that does not carry our metadata. */
  vmId: string | null
  accountId: string | null
  generation: number | null
  name: string
  uuid: string
  power: Power
  /** Null while running, or when the host cannot tell. */
  stopReason: StopReason | null
  vcpu: number
  ramMiB: number
  agentConnected: boolean
  nics: { mac: string; networkId: string | null; limitMbps: number | null }[]
}

export interface Volume {
  kind: 'disk' | 'seed' | 'snapshot' | 'backup' | 'template' | 'unknown'
  /** The id of the snapshot, backup or template; the VM's id for disks and seeds; the name of an unknown one. */
  id: string
  vmId: string | null
  generation: number | null
  /** The backup an incremental one builds on. */
  parentId: string | null
  /** False while it is being made, or when whoever made it died. */
  complete: boolean
  capacityBytes: number
  sizeBytes: number
}

export type Network = NetworkSpec & { attachedMacs: string[] }

/** Bytes since the counter's epoch, as the guest sees them. Another epoch means that counting began again at zero. */
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
  ramMiB: number
  /** Null when the guest does not tell. */
  ramUsedMiB: number | null
  diskReadBytes: bigint
  diskWrittenBytes: bigint
  receivedBytes: bigint
  sentBytes: bigint
}

/** Hardware virtualisation, or emulation by QEMU's TCG. */
export type Acceleration = 'kvm' | 'emulation'

export interface HostFacts {
  vcpu: number
  cpuModel: string
  arch: string
  ramMiB: number
  diskGiB: number
  diskFreeGiB: number
  acceleration: Acceleration
  versions: Record<string, string>
  consoles: ConsoleType[]
  /** False on kernels that cannot throttle an interface. */
  canLimit: boolean
}

export type DriverEvent =
  | { type: 'started' | 'rebooted' | 'agent_connected'; vmId: string }
  | { type: 'stopped'; vmId: string; reason: StopReason }
  /** Some may have been lost: list again. */
  | { type: 'missed' }
