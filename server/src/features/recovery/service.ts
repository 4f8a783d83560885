// A host and its disks are destroyed. Its VMs are restored on other hosts from the newest backup outside of it, and keep what they are: id,
// name, networks, firewalls, price, MAC, and each public address that the other host serves. Everything may be repeated: what is still on
// the host has not been recovered yet.
import type { Db, Queries, Tx } from '../../kernel/database/db.ts'
import { ApiError, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { unassignAll } from '../addresses/service.ts'
import { recordByOperator } from '../audit-log/service.ts'
import { fetchedCopyOf, newestOutside, recoverFromBackup, removeLostBackups, type BackupRow } from '../backups/service.ts'
import type { Deps } from '../deps.ts'
import { callHost, countHostResources, getHost, markLost, removeHost, type HostRow } from '../hosts/service.ts'
import { failAllSnapshots } from '../snapshots/service.ts'
import { evacuateVm, findBlockingRun, lockVmById, loseVm, markWaiting, vmById, type VmDetails } from '../vms/service.ts'
import { keepVolumes, loseVolume, volumesOn } from '../volumes/service.ts'
import * as sql from './sql.ts'

export { recoveriesFrom, type RecoveryRun } from './sql.ts'

const DESTROYED = 'The host of this VM was destroyed.'
const LOST_WITH_HOST = 'It was on the disks of a host that was destroyed'
const PROBE_MS = 10_000

type Backup = Pick<BackupRow, 'id' | 'name' | 'size_bytes'> & { takenAt: Date; ageMs: number; hostId: string | null }

export interface VmPlan {
  id: string
  name: string
  status: VmDetails['status']
  /** LOST: no backup outside of the host. WAITS: it can be restored later, `problem` says why. */
  outcome: 'RESTORED' | 'LOST' | 'WAITS'
  backup: Backup | null
  /** Where it goes. */
  host: string | null
  addressBefore: string | null
  addressAfter: string | null
  problem: string | null
}

export interface RecoveryPlan {
  vms: VmPlan[]
  /** Lost with the disks, beside those of VMs that are lost. */
  snapshots: number
  volumes: string[]
  backups: number
}

/** Whether the host answers. One that was declared destroyed is not asked. */
export async function isAnswering(deps: Deps, host: HostRow): Promise<boolean> {
  if (host.lost_at !== null) return false
  return (await callHost(deps, host.id, AbortSignal.timeout(PROBE_MS), (driver, signal) => driver.health(signal), PROBE_MS)) === null
}

/** Nothing is started elsewhere before this: what the host still ran would run twice. */
export async function declareDestroyed(deps: Deps, host: HostRow): Promise<void> {
  if (host.lost_at === null && (await isAnswering(deps, host)))
    throw apiError('in_use', `Host ${host.name} answers, so its VMs may be running. Switch it off for good first`)
  await deps.db.tx(async (tx) => {
    await sql.lockHost(tx, host.id)
    await markLost(tx, deps.clock.now(), host.id)
    for (const { id } of await sql.runsOn(tx, host.id)) await deps.workflows.abandon(tx, id, DESTROYED)
  })
}

export const isSettled = async (db: Queries, { id }: HostRow): Promise<boolean> => !(await sql.isAnyBusy(db, id))

class RolledBack extends Error {}

/** As the recovery would place them, one after the other. Changes nothing. */
export async function planRecovery(deps: Deps, host: HostRow, among: ReadonlySet<string> | undefined): Promise<RecoveryPlan> {
  const plan: RecoveryPlan = { vms: [], snapshots: 0, volumes: [], backups: 0 }
  try {
    await deps.db.tx(async (tx) => {
      await markLost(tx, deps.clock.now(), host.id)
      const lost = (await getHost(tx, host.id))!
      for (const { id } of await sql.vmsOf(tx, host.id)) plan.vms.push(await planVm(tx, deps, lost, id, among))
      plan.snapshots = await sql.countSnapshots(tx, host.id)
      plan.volumes = (await volumesOn(tx, host.id)).map(({ name }) => name)
      plan.backups = (await countHostResources(tx, host.id)).backups
      throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  return plan
}

async function planVm(tx: Tx, deps: Deps, host: HostRow, vmId: string, among: ReadonlySet<string> | undefined): Promise<VmPlan> {
  const vm = (await lockVmById(tx, vmId))!
  const { id, name, status, ip_address: addressBefore } = vm
  const seen = { id, name, status, host: null, addressBefore, addressAfter: null, backup: null, problem: null }
  const found = await sourceOf(tx, host, vm)
  if (!found.backup) return { ...seen, outcome: found.isLost ? 'LOST' : 'WAITS', problem: found.problem }
  const backup = describeBackup(found.backup, host, deps.clock.now())
  if (found.problem !== null) return { ...seen, outcome: 'WAITS', backup, problem: found.problem }
  try {
    const copy = { ...(await fetchedCopyOf(tx, vm, found.backup)), runId: newId() }
    await evacuateVm(tx, deps, vm, { templateId: found.backup.os_template_id, copy, among })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...seen, outcome: 'WAITS', backup, problem: error.message }
  }
  const after = (await vmById(tx, id))!
  return { ...seen, outcome: 'RESTORED', backup, host: (await getHost(tx, after.host_id!)).name, addressAfter: after.ip_address }
}

interface Source {
  backup: BackupRow | null
  isLost: boolean
  problem: string | null
}

async function sourceOf(db: Queries, host: HostRow, vm: VmDetails): Promise<Source> {
  if (!vm.provisioned) return { backup: null, isLost: false, problem: 'It is being created: it fails and is refunded' }
  if (vm.storage !== 'LOCAL')
    return {
      backup: null,
      isLost: false,
      problem: 'Its disk is in a storage backend and is not lost, but cannot be used by another host yet',
    }
  const [backup] = await newestOutside(db, host.id, vm.id)
  if (!backup) return { backup: null, isLost: true, problem: 'There is no backup of it outside of this host' }
  const { unreachable_holder: holder } = backup
  return { backup, isLost: false, problem: holder === null ? null : `The host ${holder}, which stores its backup, is unreachable` }
}

/** Its age is at the time when the host was last known to work. */
function describeBackup(row: BackupRow, host: HostRow, now: Date): Backup {
  const takenAt = row.started_at ?? row.created_at
  const lostAt = host.unreachable_since ?? now
  return {
    id: row.id,
    name: row.name,
    size_bytes: row.size_bytes,
    hostId: row.host_id,
    takenAt,
    ageMs: Math.max(0, lostAt.getTime() - takenAt.getTime()),
  }
}

export interface Lost {
  backups: number
  volumes: string[]
  /** Names of volumes that an action still works on. */
  busyVolumes: string[]
}

/** What is gone with the disks no longer counts, costs or is shown; unused days are refunded. */
export async function removeLost(deps: Deps, host: HostRow): Promise<Lost> {
  const backups = await removeLostBackups(deps, host.id, LOST_WITH_HOST)
  const [volumes, busyVolumes]: string[][] = [[], []]
  for (const { id, name, vm_id } of await volumesOn(deps.db, host.id))
    ((await loseVolume(deps, id, vm_id, LOST_WITH_HOST)) ? volumes! : busyVolumes!).push(name)
  return { backups, volumes: volumes!, busyVolumes: busyVolumes! }
}

export type Started =
  | { vmId: string; name: string; outcome: 'STARTED'; runId: string }
  | { vmId: string; name: string; outcome: 'LOST' | 'WAITS'; reason: string }

/** In a transaction per VM. */
export async function startRecoveries(deps: Deps, hostId: string, among: ReadonlySet<string> | undefined): Promise<Started[]> {
  const host = await getHost(deps.db, hostId)
  if (host.lost_at === null) throw new Error(`BUG: host ${host.name} was not declared destroyed`)
  const started: Started[] = []
  for (const { id } of await sql.vmsOf(deps.db, hostId)) {
    const one = await deps.db.tx((tx) => recoverVm(tx, deps, host, id, among)).catch((error: unknown) => waitForRoom(deps, id, error))
    if (one) started.push(one)
  }
  return started
}

/** Undefined where it has been moved or deleted meanwhile. */
async function recoverVm(
  tx: Tx,
  deps: Deps,
  host: HostRow,
  id: string,
  among: ReadonlySet<string> | undefined,
): Promise<Started | undefined> {
  const vm = await lockVmById(tx, id)
  if (vm?.host_id !== host.id) return undefined
  const about = { vmId: id, name: vm.name }
  const run = await findBlockingRun(tx, deps, vm)
  if (run) return { ...about, outcome: 'WAITS', reason: `Action ${run.label} (${run.id}) has to end first` }
  const { backup, isLost, problem } = await sourceOf(tx, host, vm)
  if (isLost) {
    await giveUp(tx, deps, vm)
    return { ...about, outcome: 'LOST', reason: problem! }
  }
  if (!backup || problem !== null) {
    await markWaiting(tx, deps, vm, 'Its host was destroyed. It is brought back as soon as that is possible')
    return { ...about, outcome: 'WAITS', reason: problem! }
  }
  const { actionId } = await recoverFromBackup(tx, deps, vm, backup, {
    reason: whatIsLost(describeBackup(backup, host, deps.clock.now())),
    among,
  })
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'host recover', resourceIds: [id] })
  return { ...about, outcome: 'STARTED', runId: actionId }
}

const whatIsLost = ({ takenAt, ageMs }: Backup): string =>
  `Its host was destroyed. It was restored from its backup of ${takenAt.toISOString()}: what was written to its disk in the ${formatAge(ageMs)} after that is lost`

const UNITS: [name: string, ms: number][] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
]

/** "5.2 hours": the largest unit of which there are two or more. */
export function formatAge(ms: number): string {
  const [name, unit] = UNITS.find(([, each]) => ms >= 2 * each) ?? UNITS.at(-1)!
  return `${(ms / unit).toFixed(1).replace(/\.0$/, '')} ${name}`
}

async function giveUp(tx: Tx, deps: Deps, vm: VmDetails): Promise<void> {
  const reason = 'Its host was destroyed, and there was no backup of it elsewhere: its disk is lost. Rebuild or delete it'
  await loseVm(tx, deps, vm, reason, async () => {
    const copies = await failAllSnapshots(tx, vm.id)
    await unassignAll(tx, { ...vm, isLeft: false }, deps)
    await keepVolumes(tx, { ...vm, isLeft: false }, deps)
    return copies
  })
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'host recover', resourceIds: [vm.id] })
}

/** The customer sees that it is down, and that it will be restored. */
async function waitForRoom(deps: Deps, vmId: string, error: unknown): Promise<Started> {
  if (!(error instanceof ApiError)) throw error
  const name = await deps.db.tx(async (tx) => {
    const vm = (await lockVmById(tx, vmId))!
    await markWaiting(tx, deps, vm, 'Its host was destroyed. It is restored from its backup as soon as there is room for it')
    return vm.name
  })
  return { vmId, name, outcome: 'WAITS', reason: error.message }
}

/** Deletes the host where nothing of it is left to recover; returns whether. */
export const forgetHost = (db: Db, now: Date, hostId: string): Promise<boolean> =>
  db.tx(async (tx) => {
    const { vms, networks, backups, volumes, leaving } = await countHostResources(tx, hostId)
    if (vms + networks + backups + volumes + leaving > 0) return false
    return (await removeHost(tx, now, await getHost(tx, hostId))) === 'forgotten'
  })
