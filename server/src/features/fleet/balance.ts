// Levels the load of the hosts of a region by moving running VMs, a few at a time.
import type { Queries } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { RegionRow } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { startMigration } from '../vms/service.ts'
import { findObstacle, loadFleet } from './load.ts'
import { loadOf, planBalance, type Fleet, type PlannedMove } from './plan.ts'
import * as sql from './sql.ts'

/** Between two hosts, of the resource of which each has sold most. */
const MIN_GAP = 0.05

export interface BalancePlan {
  moves: { vmId: string; name: string; from: string; to: string }[]
  /** Load of each host in percent, before and after. */
  hosts: { name: string; before: number; after: number }[]
}

/** Hosts in maintenance and unreachable ones are left alone. */
async function propose(db: Queries, region: RegionRow, maxMoves: number): Promise<{ fleet: Fleet; moves: PlannedMove[] }> {
  const rows = (await sql.vmsToPlan(db, { regionId: region.id, hostId: null })).filter(({ is_bound }) => !is_bound)
  const loaded = await loadFleet(db, region.id, rows)
  const hosts = loaded.hosts.filter(({ maintenance, unreachable_since }) => !maintenance && unreachable_since === null)
  const usable = new Set(hosts.map(({ id }) => id))
  let fleet = { ...loaded, hosts, vms: loaded.vms.filter(({ hostId }) => usable.has(hostId)) }
  const free = new Set<string>()
  for (;;) {
    const moves = planBalance(fleet, { maxMoves, minGap: MIN_GAP })
    const stuck = new Set<string>()
    for (const { vm } of moves) {
      if (free.has(vm.id)) continue
      if (await findObstacle(db, vm.id)) stuck.add(vm.id)
      else free.add(vm.id)
    }
    if (stuck.size === 0) return { fleet, moves }
    fleet = { ...fleet, vms: fleet.vms.filter(({ id }) => !stuck.has(id)) }
  }
}

/** What `startBalance` would do now. */
export async function previewBalance(db: Queries, region: RegionRow, maxMoves: number): Promise<BalancePlan> {
  const { fleet, moves } = await propose(db, region, maxMoves)
  const nameOf = new Map(fleet.hosts.map(({ id, name }) => [id, name]))
  const percent = (load: number): number => Math.round(100 * load)
  return {
    moves: moves.map(({ vm, to }) => ({ vmId: vm.id, name: vm.name, from: nameOf.get(vm.hostId)!, to: to.name })),
    hosts: fleet.hosts.map((host) => {
      const sum = { vcpu: 0, ramMiB: 0, diskGiB: 0 }
      for (const { vm, to } of moves) {
        const sign = to.id === host.id ? 1 : vm.hostId === host.id ? -1 : 0
        sum.vcpu += sign * vm.need.vcpu
        sum.ramMiB += sign * vm.need.ramMiB
        sum.diskGiB += sign * vm.need.diskGiB
      }
      return { name: host.name, before: percent(loadOf(host)), after: percent(loadOf(host, sum)) }
    }),
  }
}

export interface BalanceStart {
  started: { vmId: string; name: string; to: string; actionId: string }[]
  refused: { vmId: string; name: string; reason: string }[]
}

export async function startBalance(deps: Deps, region: RegionRow, maxMoves: number): Promise<BalanceStart> {
  const result: BalanceStart = { started: [], refused: [] }
  for (const { vm, to } of (await propose(deps.db, region, maxMoves)).moves) {
    const about = { vmId: vm.id, name: vm.name }
    try {
      const { actionId } = await deps.db.tx((tx) => startMigration(tx, deps, vm.id, { to: to.id }))
      result.started.push({ ...about, to: to.name, actionId })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      result.refused.push({ ...about, reason: error.message })
    }
  }
  return result
}
