// The driver interface: every call the control plane makes on one host. Drivers: simulated (state in PostgreSQL) and libvirt. Every driver
// passes conformance.ts.
//
// The contract of every method:
// - It is idempotent and keyed by our ids: it reads the state of the host, does what is missing, and returns the same the second time.
// - It may be interrupted anywhere (crash, abort, lost connection); any process may then repeat it or roll it back. An incomplete volume
//   is never used as a complete one.
// - It resolves after the host has done it, and rejects with a DriverError only.
// - `signal` is its deadline: after the abort it rejects with kind `aborted`.
// - Concurrent calls of two processes have one effect, and both return it.
// - Results are JSON values, except for counters and metrics, which are bigint.
import type { Duplex, Readable } from 'node:stream'
import type { DiskContent, DiskLayer } from './extent.ts'
import type { DriverEvent, HostFacts, Machine, MetricsSample, NicCounters, Volume } from './inventory.ts'
import type {
  ConsoleType,
  CpuSet,
  DiskSource,
  Initialization,
  IsoRef,
  LiveSize,
  StopOutcome,
  MachineSpec,
  NicSpec,
  Readiness,
  TemplateRef,
  VolumeRef,
  VolumeSnapshotRef,
  VolumeSpec,
} from './spec.ts'

export * from './errors.ts'
export type * from './inventory.ts'
export * from './spec.ts'

/** Order of calls. Create: networks and ports (network-controller.ts), disk, running, ready. Rebuild and restore: stopped, disk of the next
 *  generation, running with it, ready, no disk of the old generation; rolled back by: stopped, running with the old spec, no new disk. */
export interface Machines {
  /** The disk of `spec.generation` exists, at least `diskGiB` large, with its seed. A missing template is uploaded first. A disk
   *  from the template boots as a new guest, and so does a copy of another VM, with its files; a copy of the VM itself keeps its hostname, keys and
   *  passwords. `no_space` leaves no volume. */
  ensureDisk(spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void>
  /** `in_use` for a disk the machine is defined with. */
  ensureNoDisk(vmId: string, generation: number, signal: AbortSignal): Promise<void>
  /** A stopped machine is defined as the spec says (size, limits, generation, interfaces, ISO image) and its disk grown to `diskGiB`. A disk never
   *  shrinks: a larger one keeps its size, which is returned. A running one gets the limits of
   *  its disk and a larger disk live; `invalid_state` while it runs with another generation, rescue system, vcpu or RAM. */
  ensureDefined(spec: MachineSpec, signal: AbortSignal): Promise<{ diskGiB: number }>
  /** Defined as the spec says, and running. Requires its disk. A paused one is resumed. `invalid_state` while it runs with another generation,
   *  rescue system, vcpu or RAM: stop it first. */
  ensureRunning(spec: MachineSpec, signal: AbortSignal): Promise<void>
  /** A running machine gets the vCPUs (on the CPUs of its spec) and the RAM of the spec, live and in its definition, and its guest is told to use them, by its
   *  agent: what it does not use after GUEST_TAKES_MS it has nevertheless. A smaller spec takes back what was added since the start, as far as the guest
   *  releases it. Returns what the machine has then. `invalid_state` above its room. One that is off is left as it is. What was added stays when the
   *  guest reboots or moves; the next start is from the spec, with new room. */
  ensureLiveSize(spec: MachineSpec, signal: AbortSignal): Promise<LiveSize>
  /** A running machine runs on these CPUs from now on, and when it is started again; its memory stays where it is. Null: on any. One that is off gets those of its
   *  spec when it is started. */
  ensureCpus(vmId: string, cpus: CpuSet | null, signal: AbortSignal): Promise<void>
  /** A paused machine is resumed; any other stays as it is. One that finds the disk of its host full again is paused again at once. */
  ensureResumed(vmId: string, signal: AbortSignal): Promise<void>
  /** ACPI shutdown, then power off after the grace period; 0 powers off at once. A machine that does not exist counts as stopped. */
  ensureStopped(vmId: string, request: { graceMs: number }, signal: AbortSignal): Promise<{ how: StopOutcome }>
  /** Reboots at most once per action id, across processes and retries. `invalid_state` when it is not running. */
  ensureRestarted(vmId: string, request: { actionId: string; graceMs: number }, signal: AbortSignal): Promise<{ how: StopOutcome }>
  /** Waits until the guest agent answers; returns at once for an image without agent, unless `evenWithoutAgent`: its owner may have installed
   *  one. `guest_failed`, with the console tail, at the timeout or when the machine goes off. */
  ensureReady(
    vmId: string,
    request: { timeoutMs: number; evenWithoutAgent?: boolean },
    signal: AbortSignal,
  ): Promise<{ readiness: Readiness }>
  /** How far cloud-init is in the running guest, through its agent. `unsupported` for an image without agent, `invalid_state` while it is off, `transient`
   *  while the agent does not respond, or not in a form that can be read. */
  readInitialization(vmId: string, signal: AbortSignal): Promise<Initialization>
  /** Through the guest agent. `unsupported` for an image without agent, `transient` while the agent does not respond. */
  ensurePassword(vmId: string, login: { user: string; passwordHash: string }, signal: AbortSignal): Promise<void>
  /** Purges everything of the VM from the host and from its storage backend: jobs, domain, disks, seeds, snapshots, backups; incomplete ones
   *  too. */
  ensurePurged(vmId: string, signal: AbortSignal): Promise<void>
  /** As `ensurePurged`, but keeps the backups and what is in a storage backend: for a VM that was evacuated to another host. */
  ensurePurgedKeepBackups(vmId: string, signal: AbortSignal): Promise<void>
}

/** How long `ensureLiveSize` waits for a guest to use what it got, or to release it. */
export const GUEST_TAKES_MS = 60_000

/** Moves a machine to another host of its region, running or off. Order of calls: describeDisk here, ensureReceiver there, ensureMigrated here,
 *  ensureReceived there; ensurePurgedKeepBackups here removes what was left. Never do both hosts run it. Snapshots, and volumes that are on the host
 *  itself, do not move; backups that follow are full. */
export interface Migrations {
  /** What the disk that receives this machine's must be like; null in a storage backend, where it stays. */
  describeDisk(vmId: string, signal: AbortSignal): Promise<DiskShape | null>
  /** An empty disk of that shape and its seed, or access to the storage backend that has the disk. Replaces what an earlier attempt left, and
   *  leaves a machine alone that is here or arriving. `no_space` leaves no volume. */
  ensureReceiver(spec: MachineSpec, disk: DiskShape | null, signal: AbortSignal): Promise<Receiver>
  /** Resolves when the machine has left for the receiver. Joins a migration that any process has begun, which goes on when its process dies or
   *  aborts. A failure leaves the machine here as it was. `invalid_state` when it is not on, or off, as the request says. */
  ensureMigrated(spec: MachineSpec, request: MigrationRequest, signal: AbortSignal): Promise<void>
  /** Aborts a migration of any process, or waits for one that cannot be aborted any more. A machine that has not left is as it was. */
  ensureNotMigrating(vmId: string, request: { isOn: boolean }, signal: AbortSignal): Promise<void>
  /** The machine has arrived: it runs, or is off, and its disk is complete. `not_found` when it is not here. */
  ensureReceived(spec: MachineSpec, request: { isOn: boolean }, signal: AbortSignal): Promise<void>
}

export interface DiskShape {
  capacityBytes: number
  /** Whether it is a layer on its template, rather than a copy. */
  isLayer: boolean
}

/** What the other host needs to know of this one. */
export interface Receiver {
  hostId: string
  /** Of its storage pool. */
  folder: string
  /** Of all its guests; null where it cannot start each as a user of its own. */
  guestGroup: number | null
  /** Whether guests may leave checksums and segments to their interfaces. */
  canOffload: boolean
}

export interface MigrationRequest {
  receiver: Receiver
  /** Address of the receiver's hypervisor, as the product knows it. */
  uri: string
  /** Of the receiver, where it runs there; the spec has those of this host. */
  cpus: CpuSet | null
  isOn: boolean
  /** Whether the receiver has taken the machine over, which may be off again: asked where this host cannot tell, after a crash of its daemon. */
  hasArrived: () => Promise<boolean>
  /** Ends the machine that arrives there, when it no longer takes anything. */
  dropReceiver: () => Promise<unknown>
  /** Of the guest, at the end. A guest that writes too fast for it is slowed down, and after some minutes its memory follows it. */
  downtimeMs: number
  /** Of memory and disk; null = unlimited. */
  miBPerSecond: number | null
  onProgress?: (progress: MigrationProgress) => void
}

/** Of the memory, or of the disk before it. */
export interface MigrationProgress {
  remainingBytes: number
  totalBytes: number
}

export interface Templates {
  /** The image is on the host, and its checksum was verified there. */
  ensureTemplate(template: TemplateRef, signal: AbortSignal): Promise<void>
  /** `in_use` while a disk on the host is built on it. */
  ensureNoTemplate(templateId: string, signal: AbortSignal): Promise<void>
}

/** ISO images of accounts: files that no machine writes to. A machine is defined with that of its spec, which is brought to the host where it is missing. */
export interface Isos {
  /** The file is on the host as it is, and its checksum was verified there. */
  ensureIso(iso: IsoRef, signal: AbortSignal): Promise<void>
  /** `in_use` while a machine of the host has it in its drive. */
  ensureNoIso(imageId: string, signal: AbortSignal): Promise<void>
  /** A machine that has a drive has this in it from now on, live and in the definition, or nothing (null), whatever its guest does with the drive. Returns
   *  the image that is in it: null also for a machine without a drive, and where there is none. The file is brought as by `ensureIso`. */
  ensureInDrive(vmId: string, iso: IsoRef | null, signal: AbortSignal): Promise<{ isoId: string | null }>
}

/** Interfaces of machines. Each is bound to its port (network-controller.ts), which must exist: without it nothing passes. */
export interface Interfaces {
  /** Attached, live and in the definition; a guest without DHCP gets its address by the guest agent. */
  ensureInterface(vmId: string, nic: NicSpec, signal: AbortSignal): Promise<void>
  ensureNoInterface(vmId: string, mac: string, signal: AbortSignal): Promise<void>
  /** The running guest has the address on that interface beside its own, until it is off, and its gateway knows where to find it. Through the
   *  guest agent: `unsupported` for an image without agent, `invalid_state` while it is off, `transient` while the agent does not respond. */
  ensureGuestAddress(vmId: string, address: GuestAddress, signal: AbortSignal): Promise<void>
  ensureNoGuestAddress(vmId: string, address: GuestAddress, signal: AbortSignal): Promise<void>
  /** The running guest has these routes until it is off, and no others that it was given so. A route of its own to the same range goes first, and is never
   *  changed. Through the guest agent, as `ensureGuestAddress`. `transient` also while the guest does not reach the gateway. */
  ensureGuestRoutes(vmId: string, routes: readonly GuestRoutes[], signal: AbortSignal): Promise<void>
}

/** No range has two gateways. */
export interface GuestRoutes {
  gateway: string
  ranges: readonly string[]
}

export interface GuestAddress {
  /** Of the interface. */
  mac: string
  /** Without prefix: it is no one else's on the link. */
  address: string
  gateway: string
}

/** How long `ensureNoInterface` waits for a running guest to release the interface. */
export const NIC_RELEASE_TIMEOUT_MS = 180_000

/** The data of volumes: on a host, or in a storage backend, which needs no host for it. */
export interface VolumeData {
  /** It exists, at first empty or as the snapshot has it, and is at least `sizeGiB` large. For a volume that no running machine has.
   *  `no_space` leaves none. */
  ensureVolume(volume: VolumeSpec, source: VolumeSnapshotRef | null, signal: AbortSignal): Promise<void>
  /** This generation; snapshots are kept. `in_use` while a machine of this host is defined with it, or any machine has it open. */
  ensureNoVolume(volume: VolumeRef, signal: AbortSignal): Promise<void>
  /** Independent of the volume and its generations. After an abort the incomplete copy is made again by the next call, or removed by
   *  `ensureNoVolumeSnapshot`. */
  ensureVolumeSnapshot(volume: VolumeRef, request: VolumeSnapshotRequest, signal: AbortSignal): Promise<{ sizeBytes: number }>
  /** Also aborts one that any process is making. */
  ensureNoVolumeSnapshot(volume: VolumeRef, request: VolumeSnapshotRequest, signal: AbortSignal): Promise<void>
}

export interface VolumeSnapshotRequest {
  snapshotId: string
  /** The machine of this host that has the volume, whose filesystems are frozen while the copy begins; null: none has it. */
  vmId: string | null
}

/** Volumes of customers: disks that outlive the machines that have them. A machine is defined with those of its spec; `ensurePurged` keeps
 *  them. */
export interface Volumes extends VolumeData {
  /** Attached, live and in the definition. Requires the volume. `in_use` while another machine of this host is defined with it. */
  ensureVolumeAttached(vmId: string, volume: VolumeRef, signal: AbortSignal): Promise<void>
  /** A running guest must release it: `transient` after VOLUME_RELEASE_TIMEOUT_MS. Done as well without the machine. */
  ensureVolumeDetached(vmId: string, volume: VolumeRef, signal: AbortSignal): Promise<void>
  /** Of a machine that has it, live where it runs. Never shrinks: a larger one keeps its size, which is returned. */
  ensureVolumeSize(vmId: string, volume: VolumeSpec, signal: AbortSignal): Promise<{ sizeGiB: number }>
}

/** How long `ensureVolumeDetached` waits for a running guest to release the volume. */
export const VOLUME_RELEASE_TIMEOUT_MS = 90_000

/** Copies of the disk, independent of the live disk and its generations. A guest that a dead process left frozen is thawed by each of these
 *  methods but those that read and store data.
 *
 *  Of a disk in a storage backend a backup is made there, and one that `ensureBackupFromExtents` stores is kept there, until it is offloaded;
 *  `ensureBackupCopy` stores on the host in any case, what it has stored is read first, and only `ensureNoBackup` removes it. */
export interface SnapshotsAndBackups {
  /** Filesystems of running guests are frozen while the job starts. After an abort the incomplete volume is reused by the next call, or
   *  removed by `ensureNoSnapshot`. */
  ensureSnapshot(vmId: string, snapshotId: string, signal: AbortSignal): Promise<{ sizeBytes: number }>
  ensureNoSnapshot(vmId: string, snapshotId: string, signal: AbortSignal): Promise<void>
  /** The disk as it was at the snapshot. */
  readSnapshotExtents(vmId: string, snapshotId: string, signal: AbortSignal): Promise<DiskLayer>
  /** Incremental on `parentId` where the host has a usable checkpoint of it; otherwise full, and `parentId` is returned as null. One that an
   *  earlier call has made counts as crash-consistent: whether the guest was frozen is known only to the process that began it. */
  ensureBackup(vmId: string, request: BackupRequest, signal: AbortSignal): Promise<BackupMade>
  /** Also aborts one that any process is making, which then rejects with `cancelled`. `in_use` while another backup is a layer on it. */
  ensureNoBackup(vmId: string, backupId: string, signal: AbortSignal): Promise<void>
  /** Removes the data, which is stored elsewhere by now. The checkpoint stays if the next backup is to be incremental on it. */
  ensureBackupOffloaded(vmId: string, backup: { backupId: string; keepCheckpoint: boolean }, signal: AbortSignal): Promise<void>
  /** The data of one backup without its parents, to be stored on another host. */
  readBackup(vmId: string, backupId: string, signal: AbortSignal): Promise<Readable>
  /** Stores the data of a backup of another host. Its parents must be stored first. `open` is called only when it is missing. */
  ensureBackupCopy(vmId: string, copy: BackupRequest, open: () => Promise<Readable>, signal: AbortSignal): Promise<{ sizeBytes: number }>
  /** What the disk had at one backup, or what changed since its parent: to be stored outside of hosts. Readable while the backup is here. */
  readBackupExtents(vmId: string, backupId: string, signal: AbortSignal): Promise<DiskLayer>
  /** Stores a disk as a full backup, where the disk of the machine is to be. `open` is called only when it is missing. A disk that is made from
   *  one in a storage backend may use it up. */
  ensureBackupFromExtents(
    vmId: string,
    backup: { backupId: string; storageId: string | null },
    open: () => Promise<DiskContent>,
    signal: AbortSignal,
  ): Promise<void>
}

/** FILESYSTEM: the machine was off, or its filesystems were frozen when the copy began. CRASH: as after a power loss. */
export type Consistency = 'FILESYSTEM' | 'CRASH'

export interface BackupMade {
  sizeBytes: number
  parentId: string | null
  consistency: Consistency
}

export interface BackupRequest {
  backupId: string
  parentId: string | null
  /** The parent's data is stored on another host: its checkpoint is enough here. */
  parentIsRemote?: boolean
}

export interface Monitoring {
  /** Reads the real state, for example after a lost reply. */
  findMachine(vmId: string, signal: AbortSignal): Promise<Machine | null>
  listMachines(signal: AbortSignal): AsyncIterable<Machine>
  listVolumes(signal: AbortSignal): AsyncIterable<Volume>
  /** Of running machines; cheap enough for every minute. */
  counters(vmIds: string[] | 'all', signal: AbortSignal): AsyncIterable<NicCounters>
  metrics(vmIds: string[] | 'all', signal: AbortSignal): AsyncIterable<MetricsSample>
  /** Events may be lost or duplicated: treat them as hints, listings as the truth. Resolves once subscribed, with the unsubscribe function. */
  subscribe(listener: (event: DriverEvent) => void, signal: AbortSignal): Promise<() => Promise<void>>
  /** Disconnects a session that is still open. Ends when the machine stops. */
  openConsole(vmId: string, type: ConsoleType, signal: AbortSignal): Promise<Duplex>
  /** PNG of the screen of a running machine. */
  screenshot(vmId: string, signal: AbortSignal): Promise<Buffer>
  facts(signal: AbortSignal): Promise<HostFacts>
  /** Rejects when the host is unreachable; otherwise returns the problems for the operator, as text. */
  health(signal: AbortSignal): Promise<{ problems: string[] }>
}

export interface HostCertificate {
  /** LIBVIRT: by which others know its libvirtd. CHASSIS: by which network controllers know it. */
  kind: 'LIBVIRT' | 'CHASSIS'
  /** Distinguished names. */
  subject: string
  issuer: string
  expiresAt: Date
}

/** The host as a chassis of network controllers on other machines, and as a server of TLS. */
export interface Chassis {
  /** Those that lie on the host; none where nobody connects to it from elsewhere. */
  listCertificates(signal: AbortSignal): Promise<HostCertificate[]>
  /** Its certificate for them is valid until then or longer: `issue` makes another one of the same name, unless it cannot or may not: the name is
   *  what the host says. Resolves to its end as it is then; null where the host has none. */
  ensureChassisCertificate(
    validUntil: Date,
    issue: (name: string) => Promise<{ cert: string; key: string } | null>,
    signal: AbortSignal,
  ): Promise<string | null>
}

export interface Driver extends Machines, Migrations, Templates, Isos, Interfaces, Volumes, SnapshotsAndBackups, Monitoring, Chassis {
  readonly hostId: string
  /** Changes nothing on the host. Consoles and subscriptions of this driver end. */
  close(): Promise<void>
}
