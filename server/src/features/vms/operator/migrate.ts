// Moves a VM to another host of its region: a running one without stopping it.
import type { Tx } from '../../../kernel/database/db.ts'
import { ApiError, apiError, notFound } from '../../../kernel/errors.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import { migrateVm } from './migrate.workflow.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import { traitsOfPlan } from '../../catalog/service.ts'
import type { Deps } from '../../deps.ts'
import { RESIZE_ELSEWHERE } from '../actions/resize.workflow.ts'
import { preemptOpenRun, startRunOf } from '../model/guards.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { requireMovable, reserveDestination } from '../move/destination.ts'
import { isSaved } from '../move/steps.ts'

export interface MigrationOrder {
  /** By id or name; undefined: the host with most room. */
  to?: string | undefined
  /** Of memory and disk; undefined: unlimited. */
  miBPerSecond?: number | undefined
  /** Stops a running VM for it, and starts it again. */
  restarts?: boolean
}

export interface Migration {
  actionId: string
  from: string
  to: string
  /** What the operator should know of it. */
  note: string | null
}

export async function startMigration(
  tx: Tx,
  deps: Deps,
  vmId: string,
  { to, miBPerSecond, restarts = false }: MigrationOrder,
): Promise<Migration> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  await preemptOpenRun(tx, deps, vm)
  const source = await requireMovable(tx, vm)
  const avoid = await sql.hostsWithBackups(tx, vmId)
  const size = sizeOnHost(vm, sizeOf(vm))
  const { plan_id: planId, network_mbps: networkMbps } = vm
  const traits = await traitsOfPlan(tx, planId)
  const destination = await reserveDestination(tx, vm, source, { size, to, avoid, planId, networkMbps, traits })
  const isOn = vm.status === 'RUNNING'
  const input = {
    vmId,
    sourceId: source.id,
    destinationId: destination.id,
    isOn: isOn && !restarts,
    miBPerSecond: miBPerSecond ?? null,
    size,
    restarts: isOn && restarts,
  }
  const { actionId } = await startRunOf(tx, deps, vm, 'MIGRATE')(migrateVm, input)
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'vm migrate', resourceIds: [vmId] })
  const note = avoid.has(destination.id) ? backupsNote(destination.name) : null
  return { actionId, from: source.name, to: destination.name, note }
}

export const backupsNote = (host: string): string =>
  `${host} holds backups of this VM, so until the next backup goes elsewhere one host failure loses both`

/** Undone: the machine is on its old host as it was. Nothing else happens to the VM before. */
export async function cancelMigration(tx: Tx, deps: Deps, vmId: string): Promise<{ actionId: string }> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  const actionId = await abortMigration(tx, deps, vmId, 'The operator has cancelled it')
  recordByOperator(tx, deps.clock.now(), { accountId: vm.account_id, action: 'vm migrate cancel', resourceIds: [vmId] })
  return { actionId }
}

async function abortMigration(tx: Tx, deps: Deps, vmId: string, reason: string): Promise<string> {
  const run = await openRunOf(tx, vmId)
  if (run?.name !== migrateVm.name && run?.name !== RESIZE_ELSEWHERE) throw apiError('invalid_state', 'VM is not being moved')
  if (await isSaved(tx, run.id)) throw apiError('invalid_state', 'VM runs on its new host already: move it back instead')
  if (!(await deps.workflows.abort(tx, run.id, reason))) throw apiError('busy', `Its action MIGRATE (${run.id}) is being undone already`)
  return run.id
}

/** For a VM that is about to be suspended, which does not wait for a move. Nothing where there is none that can be aborted. */
export async function makeWayForSuspension(tx: Tx, deps: Deps, vmId: string): Promise<void> {
  await abortMigration(tx, deps, vmId, 'The VM is being suspended').catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
  })
}

class RolledBack extends Error {}

/** What `startMigration` would do. Changes nothing. */
export async function planMigration(deps: Deps, vmId: string, order: MigrationOrder): Promise<Omit<Migration, 'actionId'>> {
  let plan: Migration | undefined
  const rolledBack = deps.db.tx(async (tx) => {
    plan = await startMigration(tx, deps, vmId, order)
    throw new RolledBack()
  })
  await rolledBack.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error
  })
  const { from, to, note } = plan!
  return { from, to, note }
}
