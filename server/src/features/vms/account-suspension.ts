// What the suspension of an account means to its VMs. Nothing of it runs, is charged for or is deleted until it is lifted; then they come
// back as far as they are paid.
import type { Tx } from '../../kernel/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { openRunOf } from '../../workflow/store.ts'
import type { Deps } from '../deps.ts'
import { preemptOpenRun } from './gate.ts'
import { startSuspension, startUnsuspension } from './operator.ts'
import { COMES_BACK_WHEN_PAID, HELD_BY_OPERATOR } from './power.workflow.ts'
import * as sql from './sql.ts'

export interface SuspensionOutcome {
  actionIds: string[]
  skipped: { vmId: string; why: string }[]
}

/** Answers the action, or nothing when it takes none. */
type Order = (tx: Tx, deps: Deps, vm: sql.VmDetails) => Promise<string | undefined>

const forEachVm =
  (order: Order) =>
  async (tx: Tx, deps: Deps, accountId: string): Promise<SuspensionOutcome> => {
    const outcome: SuspensionOutcome = { actionIds: [], skipped: [] }
    for (const vmId of await sql.vmIdsOfAccount(tx, accountId)) {
      try {
        const vm = await sql.lockVm(tx, vmId)
        const actionId = vm && (await order(tx, deps, vm))
        if (actionId !== undefined) outcome.actionIds.push(actionId)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        outcome.skipped.push({ vmId, why: error.message })
      }
    }
    return outcome
  }

/** What is in ERROR is off already and stays what it is: its owner leaves it by a rebuild or a restore, once the account is back. */
export const suspendAccountVms = forEachVm(async (tx, deps, vm) => {
  if (vm.status === 'UNMANAGED') return undefined
  if (vm.status !== 'ERROR' && vm.status !== 'SUSPENDED') return startSuspension(tx, deps, vm.id)
  await preemptOpenRun(tx, deps, vm) // one that is being started, or brought back, is told of
  if (vm.status === 'SUSPENDED') await sql.setStatus(tx, deps.clock.now(), vm.id, { status: 'SUSPENDED', reason: HELD_BY_OPERATOR })
  return undefined
})

/** What is unpaid has all its time to be paid again. What is in ERROR is not charged for the time in between, as little as the others. */
export const unsuspendAccountVms = forEachVm(async (tx, deps, vm) => {
  const now = deps.clock.now()
  if ((await openRunOf(tx, vm.id))?.label === 'SUSPEND') await preemptOpenRun(tx, deps, vm) // says so: it is off in a moment
  if (vm.status === 'ERROR' && vm.provisioned) await sql.resumeBilling(tx, now, vm.id)
  if (vm.status !== 'SUSPENDED') return undefined
  if (vm.billing_status !== 'SUSPENDED' || vm.next_renewal_at > now) return startUnsuspension(tx, deps, vm.id)
  await sql.restartRetention(tx, now, vm.id)
  await sql.setStatus(tx, now, vm.id, { status: 'SUSPENDED', reason: COMES_BACK_WHEN_PAID })
  return undefined
})
