// The types of the driver interface. Customers choose only the hostname, the login user and the SSH keys; these reach the guest alone, never
// a definition on the host.

import type { Arch } from '../kernel/arch.ts'

export type { Arch } from '../kernel/arch.ts'

/** Bytes per GiB. */
export const GIB = 2 ** 30

export const FIRMWARES = ['bios', 'uefi', 'secure-boot'] as const
export type Firmware = (typeof FIRMWARES)[number]

export interface TemplateRef {
  id: string
  slug: string
  /** Of the image, which never changes once the template is in use. */
  checksum: string
  arch: Arch
  /** By default BIOS on x86_64 and UEFI on aarch64. `secure-boot`: UEFI that starts only what is signed. */
  firmware?: Firmware | null
  /** Whether its guests have a TPM, whose state is the host's and moves with the machine. */
  tpm?: boolean
  /** Whether its guests run the guest agent, which readiness checks and password resets need. */
  hasAgent: boolean
}

/** What cloud-init configures at the first boot. */
export interface CloudInitData {
  /** The VM that a copy of its disk takes itself for; by default the one it is made for. */
  instanceId?: string
  hostname: string
  /** Owner of the keys and the password. */
  user: string
  sshKeys: string[]
  /** crypt(3) hash; null = no password login. */
  passwordHash: string | null
  /** Of the customer; what is above stays as it is whatever they say. */
  userData?: UserDataPart[]
}

/** As cloud-init takes it. */
export interface UserDataPart {
  /** Its MIME type, such as text/x-shellscript. */
  type: string
  filename: string | null
  /** How cloud configuration is merged with that of the parts before it; null: as cloud-init does by default. */
  mergeType: string | null
  text: string
}

/** What the guest says of cloud-init: it may say what it likes. */
export interface Initialization {
  /** `none`: the guest runs nothing of the kind. */
  state: 'running' | 'completed' | 'failed' | 'none'
  /** How long it took; null while it runs, and where the guest does not say. */
  seconds: number | null
  errors: string[]
  /** The last lines of its output; empty until it has ended. */
  output: string
}

export interface NicSpec {
  mac: string
  kind: 'public' | 'private'
  /** Null for the public network. */
  networkId: string | null
  /** Null: none of this family. */
  ipv4: NicAddress | null
  ipv6: NicAddress | null
  dns: string[]
}

export interface NicAddress {
  address: string
  /** Of what is on link. */
  prefix: number
  /** Null: no default route over this interface. */
  gateway: string | null
}

/** Of reads and writes together; null = unlimited. */
export interface DiskLimits {
  iops: number | null
  miBPerSecond: number | null
}

/** A disk of its own, which outlives the machine that has it. */
export interface VolumeSpec extends VolumeRef {
  sizeGiB: number
}

export interface VolumeRef {
  volumeId: string
  /** Begun by every restore, from 0 on. Each has data of its own. */
  generation: number
  /** The storage backend that holds it; null: the host itself. Never changes. */
  storageId: string | null
}

/** The volume need not be the one that is made of it. */
export interface VolumeSnapshotRef {
  volumeId: string
  snapshotId: string
}

/** What the guest finds below /dev/disk/by-id, after `virtio-`: virtio has room for 20 characters of it. */
export const volumeSerial = (volumeId: string): string => volumeId.slice(-20)

/** CPUs of a host. */
export interface CpuSet {
  cpus: number[]
  /** Each vCPU has the one in its place for itself, and the memory is of this NUMA node as far as it has some; null: all vCPUs share them with other machines. */
  numaNode: number | null
}

/** Of the guest; its disk is not part of it. */
export interface ComputeSize {
  vcpu: number
  ramMiB: number
}

/** Of a running machine. */
export interface LiveSize extends ComputeSize {
  /** Why the guest does not use all of it, for the customer; null: it does. */
  guestReason: string | null
}

/** What the guest of a rescue system finds the machine's own disk by, as volumes by theirs. */
export const OWN_DISK_SERIAL = 'own-disk'

/** A system that starts instead of the machine's own, to mend that: from a disk of its own, which `ensureDisk` makes as one of a generation that no other
 *  disk of the machine has. The machine's own disk and its volumes are attached beside it. */
export interface RescueSystem {
  generation: number
  template: TemplateRef
}

/** An ISO image of an account. */
export interface IsoRef {
  imageId: string
  /** `sha256:` and 64 hex digits, of the file. */
  checksum: string
  sizeBytes: number
}

export interface MachineSpec {
  vmId: string
  /** Chosen and stored before the first call, so that the machine can be found after a lost reply. */
  uuid: string
  accountId: string
  /** Incremented by every rebuild and restore. Each generation has its own disk. */
  generation: number
  vcpu: number
  /** Where its vCPUs run; null: on any CPU of the host. */
  cpus: CpuSet | null
  ramMiB: number
  diskGiB: number
  diskLimits: DiskLimits
  /** The storage backend that holds the disk; null: the host itself. Never changes. */
  storageId: string | null
  template: TemplateRef
  seed: CloudInitData
  nics: NicSpec[]
  volumes: VolumeSpec[]
  /** Undefined: it starts from its own disk. What its template says of firmware, TPM and agent holds for its own system. */
  rescue?: RescueSystem | undefined
  /** In its CD drive when it starts, and what it starts from first. Undefined: it has no drive. One that runs keeps what it has; a rescue system has none. */
  iso?: IsoRef | undefined
}

/** What is in the drive of a machine that is started so. */
export const isoOf = ({ iso, rescue }: Pick<MachineSpec, 'iso' | 'rescue'>): IsoRef | undefined => (rescue ? undefined : iso)

/** The template of what a machine starts. */
export const systemOf = ({ template, rescue }: Pick<MachineSpec, 'template' | 'rescue'>): TemplateRef => rescue?.template ?? template

/** Initial content of a disk. `pool`: the disk itself, which its storage backend has; `not_found` where it has not. */
export type DiskSource =
  | { from: 'template' }
  | { from: 'snapshot'; snapshotId: string }
  | { from: 'backup'; backupId: string }
  | { from: 'pool' }

export type FilterAction = 'ACCEPT' | 'DROP' | 'REJECT'

export interface FilterRule {
  direction: 'IN' | 'OUT'
  action: FilterAction
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY'
  /** Destination ports, both ends included; empty = all. */
  ports: { from: number; to: number }[]
  /** Addresses or ranges; empty = any. */
  sources: string[]
  destinations: string[]
}

/** First match wins, then the default. Stateful. DHCP and ARP always pass; anti-spoofing is always on and not listed here. */
export interface Filter {
  rules: FilterRule[]
  defaultInbound: FilterAction
  defaultOutbound: FilterAction
}

export type Power = 'running' | 'stopped' | 'paused'

/** user: requested through the driver · guest: shut down from inside · crash: QEMU or guest crashed · host: power or daemon lost. */
export type StopReason = 'user' | 'guest' | 'crash' | 'host'

/** Result of a stop or reboot: nothing to do, done by the guest, or forced after the grace period. */
export type StopOutcome = 'already' | 'clean' | 'forced'

/** `reachable`: the guest agent answered. `booting`: running, and the image has no agent. */
export type Readiness = 'reachable' | 'booting'

export type ConsoleType = 'serial' | 'vnc'
