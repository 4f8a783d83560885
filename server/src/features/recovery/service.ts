// The VMs of a lost host come back on others, and keep what they are: id, name, networks, firewalls, price, MAC, and each public address that the
// other host serves. A host that was fenced may return: its VMs on replicated storage are started elsewhere with their disks. Of one that is destroyed
// with its disks the others are restored from the newest backup outside of it. Everything may be repeated: what is still on the host has not been
// recovered yet.
import type { Db, Queries, Tx } from '../../kernel/database/db.ts'
import { ApiError, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { unassignAll } from '../addresses/service.ts'
import { recordByOperator } from '../audit-log/service.ts'
import { fetchedCopyOf, newestOutside, recoverFromBackup, removeLostBackups, type BackupRow } from '../backups/service.ts'
import type { Deps } from '../deps.ts'
import { callHost, countHostResources, getHost, markLost, removeHost, type HostRow } from '../hosts/service.ts'
import { failAllSnapshots } from '../snapshots/service.ts'
import {
  evacuateVm,
  findBlockingRun,
  findStaleElsewhere,
  forgetHarmlessMachines,
  lockVmById,
  loseVm,
  markWaiting,
  startOnOtherHost,
  vmById,
  type VmDetails,
} from '../vms/service.ts'
import { keepVolumes, loseVolume, volumesOn } from '../volumes/service.ts'
import { startFence } from './fence.workflow.ts'
import { hasAnswered, isFenceIntact, voidFence } from './fencing.ts'
import * as fences from './fences.sql.ts'
import * as sql from './sql.ts'

export { findFence } from './fences.sql.ts'
export { recoveriesFrom, vmIdsOf, type RecoveryRun, type WaitingRecovery } from './sql.ts'

const DESTROYED = 'The host of this VM was destroyed.'
const LOST_WITH_HOST = 'It was on the disks of a host that was destroyed'
export const BUSY = 'An action of it has to end first'
const PROBE_MS = 10_000
const VERIFY_MS = 30_000

type Backup = Pick<BackupRow, 'id' | 'name' | 'size_bytes'> & { takenAt: Date; ageMs: number; hostId: string | null }

export interface VmPlan {
  id: string
  name: string
  status: VmDetails['status']
  /** RESTARTED: with its disk. LOST: no backup outside of the host. WAITS: it can be recovered later, `problem` says why. STAYS:
   *  its disk comes back with its host. */
  outcome: 'RESTARTED' | 'RESTORED' | 'LOST' | 'WAITS' | 'STAYS'
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

/** VMs of lost hosts that another could not start, and those that wait for room, or for what an operator has to do. */
export async function listWaitingRecoveries(db: Queries): Promise<sql.WaitingRecovery[]> {
  const unmoved: sql.WaitingRecovery[] = []
  for (const { provisioned, status, storage_id, host_id, ...row } of await sql.listUnmoved(db)) {
    const host = await getHost(db, host_id!)
    const stays = storage_id === null ? null : objection(host, { provisioned, status })
    unmoved.push({ ...row, problem: stays ?? row.problem, host_name: null, failures: 0, action_id: null, is_under_way: false, step: null })
  }
  return [...(await sql.listFailedStarts(db)), ...unmoved]
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

/** By an operator. It is done by a worker, and tried again until it has succeeded. Undefined where it is under way. */
export async function requestFence(deps: Deps, host: HostRow): Promise<string | undefined> {
  if (await isAnswering(deps, host))
    throw apiError(
      'in_use',
      `Host ${host.name} answers, so it can be asked to stop its VMs. Switch it off, or cut it off its network, first`,
    )
  return deps.db.tx(async (tx) => {
    await sql.lockHost(tx, host.id)
    await fences.markUnreachable(tx, host.id, deps.clock.now())
    await fences.requestFence(tx, deps.clock.now(), host.id, false)
    return startFence(tx, deps, host.id)
  })
}

/** From here on workers start the VMs of a fenced host elsewhere, until all of them are. */
export async function requestRecovery(deps: Deps, host: HostRow): Promise<void> {
  if (await isAnswering(deps, host)) throw answersAgain(host)
  await deps.db.tx((tx) => fences.setRecovers(tx, host.id))
}

const answersAgain = ({ name }: HostRow): ApiError =>
  apiError('in_use', `Host ${name} answers again: it is cleaned, and what is still placed on it starts there`)

/** Now, not only when it was fenced: it may have returned since, or somebody may have undone it. */
async function requireFence(deps: Deps, host: HostRow): Promise<void> {
  if (host.fenced_at === null) throw new Error(`BUG: host ${host.name} was neither fenced nor declared destroyed`)
  if (host.unreachable_since === null) throw answersAgain(host)
  const means = (await fences.findFence(deps.db, host.id))?.means ?? []
  if (await isFenceIntact(deps, host, means, AbortSignal.timeout(VERIFY_MS))) return
  await voidFence(deps, host.id)
  throw apiError('in_use', `What fenced ${host.name} was undone, or it has answered since. A worker fences it again: try again in a minute`)
}

/** Of a VM whose host is lost, and which an action cannot end on. Returns whether it is still busy. */
export async function endOpenRun(tx: Tx, deps: Deps, vmId: string): Promise<boolean> {
  const runs = await sql.openRunsOf(tx, vmId)
  for (const { id, name } of runs) if (name !== 'vm.delete') await deps.workflows.abandon(tx, id, 'The host of this VM failed.')
  return runs.length > 0
}

export const isSettled = async (db: Queries, { id }: HostRow): Promise<boolean> => !(await sql.isAnyBusy(db, id))

class RolledBack extends Error {}

/** As the recovery would place them, one after the other. Changes nothing. Not destroyed: of a fenced host, whose disks come back with it. */
export async function planRecovery(
  deps: Deps,
  host: HostRow,
  among: ReadonlySet<string> | undefined,
  isDestroyed = true,
): Promise<RecoveryPlan> {
  const plan: RecoveryPlan = { vms: [], snapshots: 0, volumes: [], backups: 0 }
  try {
    await deps.db.tx(async (tx) => {
      if (isDestroyed) await markLost(tx, deps.clock.now(), host.id)
      const lost = (await getHost(tx, host.id))!
      for (const id of await sql.vmIdsOf(tx, host.id)) plan.vms.push(await planVm(tx, deps, lost, id, among))
      if (isDestroyed) {
        plan.snapshots = await sql.countSnapshots(tx, host.id)
        plan.volumes = (await volumesOn(tx, host.id)).map(({ name }) => name)
        plan.backups = (await countHostResources(tx, host.id)).backups
      }
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
  if (vm.storage !== 'LOCAL') return planRestart(tx, deps, host, vm, seen, among)
  if (host.lost_at === null) return { ...seen, outcome: 'STAYS', problem: await whatIsOffered(tx, deps, host, vm) }
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

async function planRestart(
  tx: Tx,
  deps: Deps,
  host: HostRow,
  vm: VmDetails,
  seen: Omit<VmPlan, 'outcome'>,
  among: ReadonlySet<string> | undefined,
): Promise<VmPlan> {
  const problem = objection(host, vm)
  if (problem !== null) return { ...seen, outcome: 'WAITS', problem }
  if ((await sql.openRunsOf(tx, vm.id)).length > 0) return { ...seen, outcome: 'WAITS', problem: BUSY }
  const elsewhere = await findStaleElsewhere(tx, vm.id, vm.host_id)
  if (elsewhere) return { ...seen, outcome: 'WAITS', problem: mayRunOn(elsewhere) }
  try {
    const { hostId } = await startOnOtherHost(tx, deps, vm, among)
    const [to, after] = [await getHost(tx, hostId), (await vmById(tx, vm.id))!]
    return { ...seen, outcome: 'RESTARTED', host: to.name, addressAfter: after.ip_address }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...seen, outcome: 'WAITS', problem: error.message }
  }
}

/** Why a VM on replicated storage is not started elsewhere; null where it can be. */
function objection(host: HostRow, vm: Pick<VmDetails, 'provisioned' | 'status'>): string | null {
  if (!vm.provisioned) return 'It is being created: it fails and is refunded'
  if (vm.status === 'UNMANAGED') return 'It is UNMANAGED: adopt it first'
  if (host.fenced_at === null || (host.lost_at !== null && hasAnswered(host)))
    return `Its disk is not lost, but nothing keeps ${host.name} from writing to it: npx berthd host fence ${host.name}`
  if (host.unreachable_since === null) return answersAgain(host).message
  return null
}

const mayRunOn = ({ name }: { name: string }): string =>
  `A machine of it may still run on ${name}, where a move of it ended: it waits until that host answers and it is removed there, or the host is fenced too`

interface Source {
  backup: BackupRow | null
  isLost: boolean
  problem: string | null
}

async function sourceOf(db: Queries, host: HostRow, vm: VmDetails): Promise<Source> {
  if (!vm.provisioned) return { backup: null, isLost: false, problem: 'It is being created: it fails and is refunded' }
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

/** In a transaction per VM. Of a host that was not declared destroyed, those on replicated storage alone. */
export async function startRecoveries(deps: Deps, hostId: string, among: ReadonlySet<string> | undefined): Promise<Started[]> {
  const host = await getHost(deps.db, hostId)
  if (host.lost_at === null) await requireFence(deps, host)
  const started: Started[] = []
  for (const id of await sql.vmIdsOf(deps.db, hostId)) {
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
  if (vm.storage !== 'LOCAL') return restartVm(tx, deps, host, vm, among)
  if (host.lost_at === null) return { ...about, outcome: 'WAITS', reason: await whatIsOffered(tx, deps, host, vm) }
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

async function restartVm(tx: Tx, deps: Deps, host: HostRow, vm: VmDetails, among: ReadonlySet<string> | undefined): Promise<Started> {
  const about = { vmId: vm.id, name: vm.name }
  await sql.lockHost(tx, host.id)
  const problem = objection(await getHost(tx, host.id), vm) // it may have returned meanwhile
  if (problem !== null) {
    if (host.lost_at !== null) await markWaiting(tx, deps, vm, 'Its host was destroyed. It is brought back as soon as that is possible')
    return { ...about, outcome: 'WAITS', reason: problem }
  }
  if (await endOpenRun(tx, deps, vm.id)) return { ...about, outcome: 'WAITS', reason: BUSY }
  const elsewhere = await findStaleElsewhere(tx, vm.id, vm.host_id)
  if (elsewhere) return { ...about, outcome: 'WAITS', reason: mayRunOn(elsewhere) }
  const { actionId } = await startOnOtherHost(tx, deps, vm, among)
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'host recover', resourceIds: [vm.id] })
  return { ...about, outcome: 'STARTED', runId: actionId }
}

/** Its disk may come back with the host, newer than any backup. */
async function whatIsOffered(tx: Tx, deps: Deps, host: HostRow, vm: VmDetails): Promise<string> {
  const { backup } = await sourceOf(tx, host, vm)
  const offer = backup
    ? `with --destroyed it is restored from its newest backup elsewhere, which was ${formatAge(describeBackup(backup, host, deps.clock.now()).ageMs)} old`
    : 'it has no backup elsewhere, so --destroyed would lose it'
  return `Its disk is on ${host.name}. It goes on when the host returns; ${offer}`
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
  const count = (ms / unit).toFixed(1).replace(/\.0$/, '')
  return `${count} ${count === '1' ? name.slice(0, -1) : name}`
}

async function giveUp(tx: Tx, deps: Deps, vm: VmDetails): Promise<void> {
  const reason = 'Its host was destroyed, and there was no backup of it elsewhere: its disk is lost'
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
    if (vm.storage === 'LOCAL')
      await markWaiting(tx, deps, vm, 'Its host was destroyed. It is restored from its backup as soon as there is room for it')
    else if (vm.status === 'RUNNING')
      await markWaiting(tx, deps, vm, 'Its host failed. It is started on another as soon as there is room for it')
    return vm.name
  })
  return { vmId, name, outcome: 'WAITS', reason: error.message }
}

/** Deletes the host where nothing of it is left to recover; returns whether. */
export const forgetHost = (db: Db, now: Date, hostId: string): Promise<boolean> =>
  db.tx(async (tx) => {
    await forgetHarmlessMachines(tx)
    const used = Object.values(await countHostResources(tx, hostId))
    if (used.some((count) => count > 0)) return false
    return (await removeHost(tx, now, await getHost(tx, hostId))) === 'forgotten'
  })
