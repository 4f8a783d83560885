// Takes a VM out of management and back. An UNMANAGED VM keeps running; it is neither billed nor changed.
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, notFound } from '../../../kernel/errors.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import type { Deps } from '../../deps.ts'
import { pausePorts, resumePorts } from '../../ports/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { findBlockingRun, preemptOpenRun } from '../model/guards.ts'
import { driverForVm } from '../model/machine-spec.ts'
import * as sql from '../model/sql.ts'

/** By an operator: the VM keeps running, is no longer billed and accepts no actions. */
export async function unmanage(tx: Tx, deps: Deps, vmId: string): Promise<void> {
  const vm = await lockForUnmanage(tx, deps, vmId)
  await preemptOpenRun(tx, deps, vm)
  await leaveUnmanaged(tx, deps, vmId)
}

/** Returns the action of a busy VM, which is unmanaged once it has ended, by the reconciler `enforceSuspension`. */
export async function unmanageWhenIdle(tx: Tx, deps: Deps, vmId: string): Promise<string | null> {
  const vm = await lockForUnmanage(tx, deps, vmId)
  const run = await findBlockingRun(tx, deps, vm)
  if (run) await sql.setPendingHold(tx, vmId, 'UNMANAGE')
  else await leaveUnmanaged(tx, deps, vmId)
  return run?.label ?? null
}

async function lockForUnmanage(tx: Tx, { clock }: Deps, vmId: string): Promise<sql.VmDetails> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) throw notFound('VM')
  if (!vm.provisioned) throw apiError('invalid_state', 'VM never came up, so there is nothing to leave running')
  if (vm.shelved_at !== null) throw apiError('invalid_state', 'VM is shelved, so there is nothing to leave running')
  recordByOperator(tx, clock.now(), { accountId: vm.account_id, action: 'vm unmanage', resourceIds: [vmId] })
  return vm
}

/** Requires a locked, idle VM. */
export async function leaveUnmanaged(tx: Tx, deps: Deps, vmId: string): Promise<void> {
  await sql.setStatus(tx, deps.clock.now(), vmId, { status: 'UNMANAGED', reason: 'The operator has taken it out of management' })
  await sql.setPendingHold(tx, vmId, null)
  await pausePorts(tx, vmId)
  await recordVmEvent(tx, deps, vmId, 'vm.unmanaged')
}

/** Resumes management in the observed power state, without a reboot. */
export async function adopt(deps: Deps, vmId: string): Promise<void> {
  const isOn = await probeUnmanagedVm(deps, vmId)
  await deps.db.tx((tx) => adoptInPowerState(tx, deps, vmId, isOn))
}

/** Reads the power state from the host. */
export async function probeUnmanagedVm(deps: Deps, vmId: string): Promise<boolean> {
  const vm = await sql.vmById(deps.db, vmId)
  requireUnmanaged(vm)
  const driver = await driverForVm(deps, vm)
  const machine = await driver.findMachine(vmId, AbortSignal.timeout(10_000))
  if (!machine) throw apiError('invalid_state', 'Its host has no such VM: delete it instead')
  return machine.power === 'running'
}

export async function adoptInPowerState(tx: Tx, deps: Deps, vmId: string, isOn: boolean): Promise<void> {
  const vm = await sql.lockVmById(tx, vmId)
  requireUnmanaged(vm)
  const now = deps.clock.now()
  await sql.resumeBilling(tx, now, vmId)
  await sql.setStatus(tx, now, vmId, { status: isOn ? 'RUNNING' : 'STOPPED', desiredRunning: isOn })
  await resumePorts(tx, vmId)
  recordByOperator(tx, now, { accountId: vm.account_id, action: 'vm adopt', resourceIds: [vmId] })
  await recordVmEvent(tx, deps, vmId, 'vm.adopted')
}

function requireUnmanaged(vm: sql.VmDetails | undefined): asserts vm is sql.VmDetails {
  if (!vm) throw notFound('VM')
  if (vm.status !== 'UNMANAGED') throw apiError('invalid_state', `VM must be UNMANAGED to adopt; it is ${vm.status}`)
}
