// What every feature is handed. Only compose.ts builds it.
import type { Config } from '../config.ts'
import type { Api } from '../http/api/api.ts'
import type { Principal } from '../http/api/principal.ts'
import type { Driver } from '../hypervisor/driver.ts'
import type { DriverPool } from '../hypervisor/driver-pool.ts'
import type { NetworkControllerPool } from '../hypervisor/network-controller-pool.ts'
import type { OwnImages } from '../images/own-images.ts'
import type { ImageStore } from '../images/store.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Vault } from '../kernel/crypto.ts'
import type { Db, Tx } from '../kernel/database/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Mailer } from '../kernel/net/smtp.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Outbound } from '../kernel/net/outbound-http.ts'
import { keyedReconcilersFor, reconcilersFor } from '../workflow/reconciler-loop.ts'
import { workflowsFor, type Engine, type StartOptions } from '../workflow/workflow-builder.ts'
import type { RunWatcher } from '../workflow/run-watcher.ts'
import type { Cents } from '../kernel/money.ts'
import type { RegionRow } from './catalog/service.ts'
import type { VmVolume } from './vms/schema.ts'
import type { BrandingStore } from './branding/store.ts'
import type { BackupTargetPool } from './backup-targets/pool.ts'
import type { AuditTrail } from './audit-log/audit-trail.ts'
import type { EventFeed } from './events/feed.ts'
import type { UnnumberedEvent } from './events/sql.ts'
import type { HostSetup } from './hosts/host-setup.ts'
import type { PaymentProvider } from './payments/provider.ts'
import type { StoragePools } from './storage/service.ts'

export interface Deps {
  config: Config
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  vault: Vault
  branding: BrandingStore
  /** Null when customers cannot deposit by themselves. */
  payments: PaymentProvider | null
  workflows: Engine
  watch: RunWatcher
  feed: EventFeed
  audit: AuditTrail
  outbound: Outbound
  /** Null while no mail is to be sent. */
  mailer: Mailer | null
  hypervisors: DriverPool
  networkControllers: NetworkControllerPool
  backupTargets: BackupTargetPool
  storage: StoragePools
  images: OwnImages
  /** Images of OS templates. `open` fetches one that is not on this machine. */
  templates: ImageStore
  /** Certificate and key of a chassis in PEM; null where there is no authority yet. */
  issueChassis(name: string): Promise<{ cert: string; key: string } | null>
  hostSetup: HostSetup
  hooks: Hooks
}

/** What recording an event takes. */
export type EventDeps = Pick<Deps, 'clock' | 'hooks'>

interface DeletedVm {
  id: string
  account_id: string
  host_id: string | null
  isLeft: boolean
}

/** What a VM is made of where that is no template. */
export interface VmSource {
  /** Of the system on it. */
  templateId: string
  diskGiB: number
  /** In the transaction that found it. */
  start(
    run: { vmId: string; chargedCents: string; passwordHash: string | null; hasUserData?: boolean; volumes?: VmVolumeRef[] },
    options: StartOptions,
  ): Promise<string>
}

/** Of a VM that is created. JSON-compatible: the input of its run has it. */
export interface VmVolumeRef {
  volumeId: string
  /** For this VM: with one that cannot be built it goes. */
  isMade: boolean
}

export interface VmVolumesEnd {
  vmId: string
  hostId: string
  runId: string
  now: Date
  volumes: VmVolumeRef[]
  error: string | null
  /** Its machine may be left. */
  cleanupFailed: boolean
}

/** Volumes that VMs are created with, checked and locked. */
export interface VmVolumes {
  /** On local storage, where the VM has to be then. */
  host: { id: string; volumeName: string } | null
  /** Whether VMs in this region can have them. */
  requireIn(region: RegionRow): void
  /** Books quotas, and room of storage backends, for all VMs. */
  reserve(region: RegionRow): Promise<ReservedVolumes>
}

export interface ReservedVolumes {
  /** A month, of one VM. */
  price: Cents
  /** What new ones take of the host of each VM. */
  gibOnHost: number
  refsOf(index: number): VmVolumeRef[]
  /** Of a VM that exists, in its run. */
  attach(index: number, vm: { id: string; hostId: string }, runId: string): Promise<unknown>
  /** Once all VMs have theirs. */
  record(): Promise<unknown>
  /** Answers the balance after it; undefined where there was nothing to charge. */
  charge(): Promise<Cents | undefined>
}

/** What features do when something happens in a feature to the left of them, which must not import them. Those with a `tx` run in the
 *  transaction of what happened and fail it; features/index.ts lists them. */
export interface Hooks {
  /** For what must exist together with an event, such as its webhook deliveries. */
  onEvent: ((tx: Tx, event: UnnumberedEvent) => Promise<unknown>)[]
  /** For what waits for money. */
  onCredit: ((tx: Tx) => Promise<unknown>)[]
  /** For what a member made with rights that are gone: all where `allowed` is empty. Answers the ids of revoked tokens. */
  onRightsTaken: ((
    tx: Tx,
    deps: EventDeps,
    member: { accountId: string; userId: string },
    allowed: ReadonlySet<string>,
  ) => Promise<string[]>)[]
  /** For what follows from a VM's size, such as how much traffic it may use. */
  onVmResized: ((tx: Tx, deps: EventDeps, vmId: string) => Promise<unknown>)[]
  /** For what is kept by the MAC address of a VM's public interface, such as its traffic, or by the host that it was on. */
  onVmMacChanged: ((tx: Tx, deps: EventDeps, vmId: string, before: { mac: string; hostId: string }) => Promise<unknown>)[]
  /** For what belongs to a VM and outlives its row, or counts. Before the VM's capacity is released. `isLeft`: on an unreachable host. */
  onVmDeleted: ((tx: Tx, vm: DeletedVm, deps: EventDeps) => Promise<unknown>)[]
  /** For copies that a host no longer has. Given the ids of all that it has, fails those of its kind that are missing; answers their ids. */
  onCopiesListed: ((tx: Tx, now: Date, hostId: string, present: string[]) => Promise<string[]>)[]
  /** Finds the backup that a VM is to be made of. It is not purged before the transaction ends, nor during the run that `start` begins. */
  openVmSource: (tx: Tx, deps: Deps, who: Principal, backupId: string) => Promise<VmSource>
  /** Finds the volumes that so many VMs are to be created with. */
  openVmVolumes: (tx: Tx, deps: Deps, who: Principal, wanted: VmVolume[], count: number) => Promise<VmVolumes>
  /** When the run ends that has provisioned the VM or, with an `error`, has not. What it answers records that: after the events of the VM. */
  endVmVolumes: (tx: Tx, deps: Deps, end: VmVolumesEnd) => Promise<() => Promise<unknown>>
  /** For what is lost at power-off, such as traffic counters. A failure is logged and does not keep the VM from being stopped. */
  beforePowerOff: ((deps: Deps, vmId: string, driver: Driver, signal: AbortSignal) => Promise<unknown>)[]
}

export type Routes = (api: Api, deps: Deps) => void

export const workflow = workflowsFor<Deps>()
export const reconciler = reconcilersFor<Deps>()
export const keyedReconciler = keyedReconcilersFor<Deps>()
