// What the control plane may ask of one host. Drivers: simulated (state in PostgreSQL) and libvirt. Every driver passes conformance.ts.
//
// The contract of every verb:
// - It is idempotent and keyed by our ids: it looks at the host, does what is missing, and answers the same the second time.
// - It may be cut anywhere (a crash, an abort, a lost connection) and then be called again, or be taken back, by any process.
//   What is half made is never taken for whole.
// - It resolves once the host has really done it, and rejects with a DriverError only.
// - `signal` is its deadline: soon after the abort it rejects with kind `aborted`.
// - Two processes may call it at the same moment; both see one outcome.
// - Answers survive JSON, except for counters and metrics, which count in bigint.
import type { Duplex, Readable } from 'node:stream'
import type { DriverEvent, HostFacts, Machine, MetricsSample, Network, NicCounters, Volume } from './inventory.ts'
import type { ConsoleType, DiskSource, StopOutcome, Filter, MachineSpec, NetworkSpec, NicSpec, Readiness, TemplateRef } from './spec.ts'

export * from './errors.ts'
export type * from './inventory.ts'
export * from './spec.ts'

/** The order of a create: networks, filter, disk, running, ready. The order of a rebuild or restore: stopped, disk of the next
 *  generation, running with it, ready, no disk of the old one; to take it back: stopped, running with the old spec, no new disk. */
export interface Machines {
  /** The disk of `spec.generation` exists, at least `diskGiB` large, with its seed. A missing template is brought to the host first.
   *  From the template it is a fresh guest; a copy keeps the hostname, keys and passwords it had. `no_space` leaves nothing. */
  ensureDisk(spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void>
  /** Refuses the disk the machine is defined with (`in_use`). */
  ensureNoDisk(vmId: string, generation: number, signal: AbortSignal): Promise<void>
  /** A stopped machine is defined as the spec says (size, generation, interfaces) and its disk grown to `diskGiB`. A disk never
   *  shrinks: a larger one stays as it is and the answer says so. `invalid_state` when it runs in another shape. */
  ensureDefined(spec: MachineSpec, signal: AbortSignal): Promise<{ diskGiB: number }>
  /** Defined as the spec says, and on. Needs its disk, its networks and its filter: a machine never runs unfiltered. A paused one goes
   *  on. `invalid_state` when it runs with another generation, vcpu or RAM: stop it first. */
  ensureRunning(spec: MachineSpec, signal: AbortSignal): Promise<void>
  /** Asks the guest, and cuts it off after the grace; 0 cuts it off at once. A machine that is not there is stopped already. */
  ensureStopped(vmId: string, order: { graceMs: number }, signal: AbortSignal): Promise<{ how: StopOutcome }>
  /** Reboots at most once per action id, whoever asks and however often. `invalid_state` when it is not running. */
  ensureRestarted(vmId: string, order: { actionId: string; graceMs: number }, signal: AbortSignal): Promise<{ how: StopOutcome }>
  /** Waits until the agent answers, or at once when the image has none. `guest_failed`, with the last console lines, when the
   *  time is over or the machine went down. */
  ensureReady(vmId: string, order: { timeoutMs: number }, signal: AbortSignal): Promise<{ readiness: Readiness }>
  /** Through the agent. `unsupported` when the image has none, `transient` while it does not answer. */
  ensurePassword(vmId: string, login: { user: string; passwordHash: string }, signal: AbortSignal): Promise<void>
  /** Nothing of the VM is left on the host: jobs, machine, filter, disks, seeds, snapshots, backups. Safe on half-made things. */
  ensurePurged(vmId: string, signal: AbortSignal): Promise<void>
  /** The same but for its backups, which stay: the VM lives on another host by now. */
  ensurePurgedKeepBackups(vmId: string, signal: AbortSignal): Promise<void>
}

export interface Templates {
  /** The image is on the host and its checksum is right. Where images come from is the driver's own setting. */
  ensureTemplate(template: TemplateRef, signal: AbortSignal): Promise<void>
  /** `in_use` while a disk is built on it. */
  ensureNoTemplate(templateId: string, signal: AbortSignal): Promise<void>
}

export interface Networking {
  /** `conflict` when the range overlaps another network with SNAT or DHCP on this host; `in_use` when attached machines
   *  would have to be unplugged to change it. */
  ensureNetwork(network: NetworkSpec, signal: AbortSignal): Promise<void>
  /** `in_use` while an interface is attached. */
  ensureNoNetwork(networkId: string, signal: AbortSignal): Promise<void>
  /** Plugged in, live and in the definition, and the guest gets its address (lease, or the agent where DHCP is off). */
  ensureInterface(vmId: string, nic: NicSpec, signal: AbortSignal): Promise<void>
  ensureNoInterface(vmId: string, mac: string, signal: AbortSignal): Promise<void>
  /** Live and in the definition, both ways. `limited` is false where the host's kernel cannot. */
  ensureLimit(vmId: string, mac: string, limitMbps: number | null, signal: AbortSignal): Promise<{ limited: boolean }>
  /** The VM's only filter, on its public interface; replaces what was there. Open connections survive. May come before the machine. */
  ensureFilter(vmId: string, filter: Filter, signal: AbortSignal): Promise<void>
}

/** How long a running guest is asked to let go of an interface before `ensureNoInterface` says that it does not. */
export const NIC_RELEASE_TIMEOUT_MS = 180_000

/** Standalone copies of the disk: nothing hangs on the live disk, and they outlive its generations. A guest that somebody froze and did
 *  not live to set going again is set going by each of these verbs but the last three. */
export interface SnapshotsAndBackups {
  /** Running guests are frozen for a moment. Aborting removes what was begun, at the latest when it is asked for again or taken back. */
  ensureSnapshot(vmId: string, snapshotId: string, signal: AbortSignal): Promise<{ sizeBytes: number }>
  ensureNoSnapshot(vmId: string, snapshotId: string, signal: AbortSignal): Promise<void>
  /** Incremental on `parentId` where the host still knows what changed since then; otherwise full, and `parentId` comes back null. */
  ensureBackup(vmId: string, order: BackupOrder, signal: AbortSignal): Promise<{ sizeBytes: number; parentId: string | null }>
  /** Also stops one under way in any process, which then rejects with `cancelled`. `in_use` while another builds on it. */
  ensureNoBackup(vmId: string, backupId: string, signal: AbortSignal): Promise<void>
  /** Its bytes are kept on another host and go from this one, which still knows what changes from then on. */
  ensureBackupOffloaded(vmId: string, backupId: string, signal: AbortSignal): Promise<void>
  /** The bytes of one backup without its parents, to be kept on another host. */
  readBackup(vmId: string, backupId: string, signal: AbortSignal): Promise<Readable>
  /** The backup is here, byte for byte. Its parents must be here before it. `open` is called only when it is missing. */
  ensureBackupCopy(vmId: string, copy: BackupOrder, open: () => Promise<Readable>, signal: AbortSignal): Promise<{ sizeBytes: number }>
}

export interface BackupOrder {
  backupId: string
  parentId: string | null
  /** The bytes of the parent are kept on another host: what changed since then is enough here. */
  parentIsRemote?: boolean
}

export interface Monitoring {
  /** After a lost answer this is the look at the real state. */
  findMachine(vmId: string, signal: AbortSignal): Promise<Machine | null>
  listMachines(signal: AbortSignal): AsyncIterable<Machine>
  listVolumes(signal: AbortSignal): AsyncIterable<Volume>
  listNetworks(signal: AbortSignal): AsyncIterable<Network>
  listFilters(signal: AbortSignal): AsyncIterable<{ vmId: string }>
  /** Of machines that are on; cheap enough for every minute. */
  counters(vmIds: string[] | 'all', signal: AbortSignal): AsyncIterable<NicCounters>
  metrics(vmIds: string[] | 'all', signal: AbortSignal): AsyncIterable<MetricsSample>
  /** Events are hints, listing is truth: some are lost, some come twice. Resolves once listening; the answer ends it. */
  subscribe(heard: (event: DriverEvent) => void, signal: AbortSignal): Promise<() => Promise<void>>
  /** Takes over from a session that is still open. Ends when the machine stops. */
  openConsole(vmId: string, type: ConsoleType, signal: AbortSignal): Promise<Duplex>
  /** PNG of the screen of a running machine. */
  screenshot(vmId: string, signal: AbortSignal): Promise<Buffer>
  facts(signal: AbortSignal): Promise<HostFacts>
  /** Rejects when the host does not answer; otherwise what an operator should look at, in sentences. */
  health(signal: AbortSignal): Promise<{ problems: string[] }>
}

export interface Driver extends Machines, Templates, Networking, SnapshotsAndBackups, Monitoring {
  readonly hostId: string
  /** Leaves the host as it is. Consoles and subscriptions of this driver end. */
  close(): Promise<void>
}
