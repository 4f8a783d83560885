// Empties a host: it goes into maintenance, and a reconciler moves its VMs to other hosts, some at a time, until none is left that can move.
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { Deps } from '../deps.ts'
import { changeHost, type HostRow } from '../hosts/service.ts'
import { backupsNote, DRAIN } from '../vms/service.ts'
import { estimateSeconds, factorOf } from './estimate.ts'
import { diskBytesOn, findObstacle, loadFleet, type Obstacle } from './load.ts'
import { planDrain, type FleetVm, type PlannedMove } from './plan.ts'
import * as sql from './sql.ts'
import { counted } from '../../kernel/counted.ts'

export interface DrainMove extends PlannedMove {
  /** It is stopped for it, and started again. */
  restarts: boolean
}

export interface Stay extends Obstacle {
  vm: FleetVm
}

export interface HostPlan {
  moves: DrainMove[]
  stays: Stay[]
}

/** How often a VM is moved while it runs before it is stopped for it, or given up. */
const LIVE_TRIES = 2

/** Since a drain began, or a migration of it ended last: otherwise an owner who restarts his VM over and over would keep it open. */
const LONGEST_WAIT = '30m'

interface DrainTerms {
  /** What it has tried already counts; null: before it begins. */
  drain: sql.DrainRow | null
  stopsOthers: boolean
}

export const termsOf = (drain: sql.DrainRow): DrainTerms => ({ drain, stopsOthers: drain.stops_others })

export async function planHost(
  db: Queries,
  host: HostRow,
  { drain, stopsOthers }: DrainTerms,
  diskBytes?: ReadonlyMap<string, number>,
): Promise<HostPlan> {
  const rows = await sql.vmsToPlan(db, { regionId: host.region_id, hostId: host.id })
  const fleet = await loadFleet(db, host.region_id, rows, diskBytes)
  const moves = drain ? await sql.movesOf(db, drain.id) : []
  const tried = Map.groupBy(moves, ({ vm_id }) => vm_id)
  const patience = {
    waitsUntil: drain ? addDuration(lastProgress(drain, moves), LONGEST_WAIT) : undefined,
    endsRescues: stopsOthers ? { since: drain?.created_at ?? null } : undefined,
  }
  const isOn = new Map(rows.map(({ id, status }) => [id, status === 'RUNNING']))
  const restarting = new Set<string>()
  const movable: FleetVm[] = []
  const stays: Stay[] = []
  for (const vm of fleet.vms) {
    const failed = (tried.get(vm.id) ?? []).filter(({ status }) => status === 'FAILED' || status === 'CANCELLED')
    const next = nextTry(failed, { isOn: isOn.get(vm.id)!, stopsOthers })
    const obstacle = (await findObstacle(db, vm.id, patience)) ?? (typeof next === 'string' ? null : next)
    if (obstacle) stays.push({ vm, ...obstacle })
    else {
      if (next === 'restart') restarting.add(vm.id)
      movable.push({ ...vm, need: { ...vm.need, avoid: new Set([...vm.need.avoid!, ...failed.map(({ host_id }) => host_id)]) } })
    }
  }
  const plan = planDrain(fleet, host, movable)
  return {
    moves: plan.moves.map((move) => ({ ...move, restarts: restarting.has(move.vm.id) })),
    stays: [...stays, ...plan.stays.map((stay) => ({ ...stay, isTemporary: false }))],
  }
}

const lastProgress = ({ created_at }: sql.DrainRow, moves: sql.MoveRow[]): Date =>
  new Date(Math.max(created_at.getTime(), ...moves.map(({ completed_at }) => completed_at?.getTime() ?? 0)))

function nextTry(failed: sql.MoveRow[], { isOn, stopsOthers }: { isOn: boolean; stopsOthers: boolean }): 'move' | 'restart' | Obstacle {
  const last = failed.at(-1)
  if (!last) return 'move'
  if (last.status === 'CANCELLED') return isOn ? { reason: 'Its migration was cancelled', isTemporary: false } : 'move'
  if (failed.length < LIVE_TRIES) return 'move'
  if (isOn && stopsOthers && !last.restarts) return 'restart'
  const advice = isOn && !last.restarts ? ' With --stop-others it is stopped for it, and started again' : ''
  return { reason: `Its migration failed ${failed.length} times: ${last.error}${advice}`, isTemporary: false }
}

export interface DrainPreview {
  moves: { vmId: string; name: string; to: string; bytes: number; seconds: number; note: string | null }[]
  stays: { vmId: string; name: string; reason: string; isTemporary: boolean }[]
  /** Of all moves. */
  seconds: number
  /** By which estimates are corrected, from what earlier migrations took. */
  factor: number
  /** Of VMs elsewhere, which stay on the host. */
  backups: number
}

/** What a drain would do now. Changes nothing. */
export async function previewDrain(deps: Deps, host: HostRow, stopsOthers = false): Promise<DrainPreview> {
  const { db } = deps
  const { moves, stays } = await planHost(db, host, { drain: null, stopsOthers }, await diskBytesOn(deps, host.id))
  const factor = factorOf(await sql.measuredMigrations(db, host.region_id))
  return {
    moves: moves.map(({ vm, to, isOnBackups }) => ({
      vmId: vm.id,
      name: vm.name,
      to: to.name,
      bytes: vm.bytes,
      seconds: estimateSeconds(vm.bytes, factor),
      note: isOnBackups ? backupsNote(to.name) : null,
    })),
    stays: stays.map(toStay),
    seconds: moves.reduce((sum, { vm }) => sum + estimateSeconds(vm.bytes, factor), 0),
    factor,
    backups: await sql.countBackupsOn(db, host.id),
  }
}

export const toStay = ({ vm, reason, isTemporary }: Stay): DrainPreview['stays'][number] => ({
  vmId: vm.id,
  name: vm.name,
  reason,
  isTemporary,
})

export interface DrainOrder {
  concurrency: number
  stopsOthers: boolean
  /** Moves what can be moved, and leaves the rest. */
  isPartial: boolean
}

export const MAX_CONCURRENCY = 16

/** The host is in maintenance from here on. Refused, with nothing changed, where a VM cannot move. */
export async function startDrain(tx: Tx, deps: Deps, host: HostRow, { concurrency, stopsOthers, isPartial }: DrainOrder): Promise<string> {
  if (host.unreachable_since !== null || host.removed_at !== null)
    throw apiError('unavailable', `Host ${host.name} is unreachable or removed: nothing can be moved from it`)
  const { moves, stays } = await planHost(tx, host, { drain: null, stopsOthers })
  const stuck = stays.filter(({ isTemporary }) => !isTemporary)
  if (stuck.length > 0 && !isPartial)
    throw apiError(
      'in_use',
      `${stuck.length} of ${counted(moves.length + stays.length, 'VM')} of ${host.name} cannot move, so nothing was changed:\n${stuck.map(({ vm, reason }) => `${vm.name} (${vm.id}): ${reason}`).join('\n')}\n${
        stuck.length === moves.length + stays.length
          ? `There is nothing to move: npx berthd host set ${host.name} --maintenance on has it take no new VMs`
          : 'To move the others only, add --partial'
      }`,
    )
  await changeHost(tx, host, { maintenance: true }) // locks the host: a second drain waits here
  if ((await sql.lastDrainOf(tx, host.id))?.status === 'RUNNING')
    throw apiError('busy', `Host ${host.name} is being drained already: --status shows how far it is, --cancel ends it`)
  const id = newId()
  const vms = moves.length + stays.length
  const order = { host_id: host.id, stops_others: stopsOthers, concurrency, vm_count: vms, created_at: deps.clock.now() }
  await sql.insertDrain(tx, { id, ...order })
  await triggerReconciler(tx, DRAIN)
  return id
}

/** No further VM is moved. Migrations that are under way go on, and the host stays in maintenance. */
export async function cancelDrain(tx: Tx, deps: Deps, host: HostRow): Promise<DrainStatus> {
  const last = await sql.lastDrainOf(tx, host.id)
  const drain = last && (await sql.lockOpenDrain(tx, last.id))
  if (!drain) throw apiError('invalid_state', `Host ${host.name} is not being drained`)
  const under = new Set((await sql.movesOf(tx, drain.id)).filter(({ status }) => isUnderWay(status)).map(({ vm_id }) => vm_id))
  const left = (await sql.vmsToPlan(tx, { regionId: host.region_id, hostId: host.id })).filter(({ id }) => !under.has(id))
  const remaining = left.map(({ id, name }) => ({ vmId: id, name, reason: 'The drain was cancelled' }))
  await sql.endDrain(tx, deps.clock.now(), drain.id, 'CANCELLED', remaining)
  return (await findDrainStatus(tx, host))!
}

export const isUnderWay = (status: sql.MoveRow['status']): boolean => status === 'PENDING' || status === 'RUNNING'

export interface DrainStatus {
  id: string
  status: sql.DrainRow['status']
  /** On the host at the beginning. */
  vms: number
  moved: { vmId: string; name: string; to: string; seconds: number | null; restarted: boolean }[]
  moving: { vmId: string; name: string; to: string }[]
  /** Not moved, with the reason: while it runs, as it would end now. */
  remaining: { vmId: string; name: string; reason: string }[]
  startedAt: string
  endedAt: string | null
}

/** Of the last drain of the host. Without `explains`, `remaining` is empty while it runs: the reasons take a query for each VM. */
export async function findDrainStatus(db: Queries, host: HostRow, explains = true): Promise<DrainStatus | undefined> {
  const drain = await sql.lastDrainOf(db, host.id)
  if (!drain) return undefined
  const moves = await sql.movesOf(db, drain.id)
  const seconds = ({ started_at, completed_at }: sql.MoveRow): number | null =>
    started_at && completed_at && (completed_at.getTime() - started_at.getTime()) / 1000
  const moving = moves.filter(({ status }) => isUnderWay(status))
  const isMoving = ({ vm }: Stay): boolean => moving.some(({ vm_id }) => vm_id === vm.id)
  const reasons = async () => (await planHost(db, host, termsOf(drain))).stays.filter((stay) => !isMoving(stay)).map(toStay)
  const remaining = drain.remaining ?? (explains ? await reasons() : [])
  return {
    id: drain.id,
    status: drain.status,
    vms: drain.vm_count,
    moved: moves
      .filter(({ status }) => status === 'COMPLETED')
      .map((move) => ({
        vmId: move.vm_id,
        name: move.vm_name,
        to: move.host_name,
        seconds: seconds(move),
        restarted: move.restarts,
      })),
    moving: moving.map(({ vm_id, vm_name, host_name }) => ({ vmId: vm_id, name: vm_name, to: host_name })),
    remaining: remaining as DrainStatus['remaining'],
    startedAt: drain.created_at.toISOString(),
    endedAt: drain.ended_at?.toISOString() ?? null,
  }
}
