// Suspension of an account's VMs. Until the account is unsuspended none of them runs, is charged or is deleted; then the paid ones
// resume.
import type { Tx } from '../../../kernel/database/db.ts'
import { ApiError, notFound } from '../../../kernel/errors.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import type { Deps } from '../../deps.ts'
import { COMES_BACK_WHEN_PAID, HELD_BY_OPERATOR, suspend, unsuspend } from '../actions/power.ts'
import { requireAllowed } from '../model/allowed-actions.ts'
import { findBlockingRun, preemptOpenRun } from '../model/guards.ts'
import * as sql from '../model/sql.ts'
import { makeWayForSuspension } from './migrate.ts'

/** What came of an operator's order: the started action, or the one that has to end first. */
export interface OrderOutcome {
  actionId: string | null
  waitsFor: string | null
}

/** A busy VM is suspended once its action has ended, by the reconciler `enforceSuspension`. */
export async function startSuspension(tx: Tx, deps: Deps, vmId: string): Promise<OrderOutcome> {
  const vm = await lockAnyVm(tx, vmId)
  const run = await findBlockingRun(tx, deps, vm)
  if (vm.status === 'SUSPENDED' && run?.label !== 'UNSUSPEND') requireAllowed(vm, 'suspend')
  await sql.setPendingHold(tx, vmId, 'SUSPEND')
  await makeWayForSuspension(tx, deps, vmId)
  if (!run) return { actionId: await start(suspend, 'vm suspend')(tx, deps, vm), waitsFor: null }
  record(tx, deps, vm, 'vm suspend')
  return { actionId: run.label === 'SUSPEND' ? run.id : null, waitsFor: run.label }
}

/** After the grace period. A busy VM is suspended by a later call, once its action has ended; a move of it, which may take hours, is undone. */
export async function suspendUnpaid(tx: Tx, deps: Deps, vm: sql.VmDetails): Promise<void> {
  await sql.setPendingHold(tx, vm.id, 'UNPAID')
  await makeWayForSuspension(tx, deps, vm.id)
  if (!(await findBlockingRun(tx, deps, vm))) await suspend(tx, deps, { accountId: vm.account_id }, vm.id, true)
}

/** Withdraws a suspension that has not begun. */
export async function startUnsuspension(tx: Tx, deps: Deps, vmId: string): Promise<OrderOutcome> {
  const vm = await lockAnyVm(tx, vmId)
  const run = await openRunOf(tx, vmId)
  const isPending = vm.pending_hold === 'SUSPEND' && run?.label !== 'SUSPEND'
  if (isPending) await sql.setPendingHold(tx, vmId, null)
  if (!isPending || (vm.status === 'SUSPENDED' && !run))
    return { actionId: await start(unsuspend, 'vm unsuspend')(tx, deps, vm), waitsFor: null }
  record(tx, deps, vm, 'vm unsuspend')
  return { actionId: null, waitsFor: null }
}

/** Operators find a VM of any account. */
async function lockAnyVm(tx: Tx, vmId: string): Promise<sql.VmDetails> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  return vm
}

const start =
  (verb: typeof suspend, action: string) =>
  async (tx: Tx, deps: Deps, vm: sql.VmDetails): Promise<string> => {
    const { actionId } = await verb(tx, deps, { accountId: vm.account_id }, vm.id)
    record(tx, deps, vm, action)
    return actionId
  }

const record = (tx: Tx, { clock }: Deps, vm: sql.VmDetails, action: string): void =>
  recordByOperator(tx, clock.now(), { accountId: vm.account_id, action, resourceIds: [vm.id] })

export const suspendByOperator = (deps: Deps, vmId: string): Promise<OrderOutcome> => deps.db.tx((tx) => startSuspension(tx, deps, vmId))
export const unsuspendByOperator = (deps: Deps, vmId: string): Promise<OrderOutcome> =>
  deps.db.tx((tx) => startUnsuspension(tx, deps, vmId))

export interface SuspensionOutcome {
  actionIds: string[]
  skipped: { vmId: string; reason: string }[]
}

/** Returns the id of the started action, or undefined when none is needed. */
type VmStep = (tx: Tx, deps: Deps, vm: sql.VmDetails) => Promise<string | undefined>

const forEachVm =
  (step: VmStep) =>
  async (tx: Tx, deps: Deps, accountId: string): Promise<SuspensionOutcome> => {
    const outcome: SuspensionOutcome = { actionIds: [], skipped: [] }
    for (const vmId of await sql.vmIdsOfAccount(tx, accountId)) {
      try {
        const vm = await sql.lockVmById(tx, vmId)
        const actionId = vm && (await step(tx, deps, vm))
        if (actionId !== undefined) outcome.actionIds.push(actionId)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        outcome.skipped.push({ vmId, reason: error.message })
      }
    }
    return outcome
  }

/** A VM in ERROR is off already and keeps its status: its owner can rebuild or restore it once the account is unsuspended. */
export const suspendAccountVms = forEachVm(async (tx, deps, vm) => {
  if (vm.status === 'UNMANAGED') return undefined
  if (vm.status !== 'SUSPENDED') await makeWayForSuspension(tx, deps, vm.id)
  if (vm.status !== 'ERROR' && vm.status !== 'SUSPENDED') return start(suspend, 'vm suspend')(tx, deps, vm)
  await preemptOpenRun(tx, deps, vm) // throws when a start or unsuspend action is open
  if (vm.status === 'SUSPENDED') await sql.setStatus(tx, deps.clock.now(), vm.id, { status: 'SUSPENDED', reason: HELD_BY_OPERATOR })
  return undefined
})

/** Restarts the retention of unpaid VMs. No VM, including those in ERROR, is charged for the suspended time. */
export const unsuspendAccountVms = forEachVm(async (tx, deps, vm) => {
  const now = deps.clock.now()
  if ((await openRunOf(tx, vm.id))?.label === 'SUSPEND') await preemptOpenRun(tx, deps, vm) // throws: the VM is about to be off
  if (vm.pending_hold === 'SUSPEND') await sql.setPendingHold(tx, vm.id, null)
  if (vm.status === 'ERROR' && vm.provisioned) await sql.resumeBilling(tx, now, vm.id)
  if (vm.status !== 'SUSPENDED') return undefined
  if (vm.billing_status !== 'SUSPENDED' || vm.next_renewal_at > now) return start(unsuspend, 'vm unsuspend')(tx, deps, vm)
  await sql.restartRetention(tx, now, vm.id)
  await sql.setStatus(tx, now, vm.id, { status: 'SUSPENDED', reason: COMES_BACK_WHEN_PAID })
  return undefined
})
