// PATCH /vms/{id}, and what an operator does with a VM's place in the fleet.
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { invalid, notFound, apiError } from '../../../kernel/errors.ts'
import { recordByOperator } from '../../audit-log/service.ts'
import type { Deps } from '../../deps.ts'
import { pauseFilter, resumeFilter } from '../../firewalls/service.ts'
import { charge, type Quote, toQuote } from '../../wallet/service.ts'
import { billForAddOns } from '../billing/add-ons.ts'
import { recordVmEvent } from '../model/events.ts'
import { driverForVm, getVmRow } from '../model/machine-spec.ts'
import type { AddOns } from '../billing/pricing.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import type { UpdateVm, Vm } from '../schema.ts'
import { lockVm, preemptOpenRun } from '../model/guards.ts'
import { notifyResized } from '../model/hooks.ts'
import { getVm } from '../model/read.ts'
import * as sql from '../model/sql.ts'

/** What the month costs is only certain when the action has ended: until then nothing can be added to it. */
const PRICED_BY_ACTION = new Set<string>(['PROVISIONING', 'UPGRADING'])

export async function update(
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  change: UpdateVm,
  dryRun = false,
): Promise<Vm | DryRunResult<Quote>> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, isProtected, dailyBackupEnabled, network10gEnabled')
  const now = deps.clock.now()
  const vm = await lockVm(tx, who.accountId, vmId)
  const wanted = { dailyBackup: change.dailyBackupEnabled ?? vm.daily_backup, network10g: change.network10gEnabled ?? vm.network_10g }
  const priceChanges = wanted.dailyBackup !== vm.daily_backup || wanted.network10g !== vm.network_10g
  if (priceChanges && PRICED_BY_ACTION.has(vm.status)) await preemptOpenRun(tx, deps, vm)
  if (isSwitchedOn(vm, wanted)) requireBillable(vm, now)
  const bill = await billForAddOns(tx, now, vm, wanted)
  await sql.updateVm(tx, now, {
    id: vm.id,
    name: change.name ?? vm.name,
    is_protected: change.isProtected ?? vm.is_protected,
    daily_backup: wanted.dailyBackup,
    network_10g: wanted.network10g,
    period_price_cents: bill.periodPriceCents,
    ...bill.paid,
  })
  if (wanted.network10g !== vm.network_10g) await notifyResized(tx, deps, vm.id)
  const { currency } = deps.config
  const description = `${bill.names.join(' and ')} of ${vm.name} for the rest of the period`
  const entry = { type: 'ADDON_CHARGE', description, referenceType: 'VM', referenceId: vm.id, currency } as const
  const paid = bill.charge > 0n || dryRun ? await charge(tx, now, vm.account_id, bill.charge, entry) : null
  if (dryRun && paid) {
    const monthly = (await getVmRow(tx, vmId)).renewal_price_cents
    return new DryRunResult(toQuote(currency, { charge: bill.charge, monthly, balanceAfter: paid.balance_after_cents }))
  }
  return getVm(tx, who.accountId, vmId)
}

const isSwitchedOn = (vm: sql.VmDetails, { dailyBackup, network10g }: AddOns): boolean =>
  (dailyBackup && !vm.daily_backup) || (network10g && !vm.network_10g)

/** A VM that is not in use and whose month is over pays for its add-ons with the month that begins when it comes back. */
function requireBillable(vm: sql.VmDetails, now: Date): void {
  if (vm.status === 'UNMANAGED')
    throw apiError('invalid_state', 'VM is UNMANAGED, and nothing is charged for it: add-ons can be switched on when it is managed again')
  const isInUse = vm.provisioned && vm.status !== 'SUSPENDED'
  if (isInUse || vm.account_suspended) requirePaidPeriod(vm, now)
}

/** By an operator: the VM is left running and untouched, unbilled, and no longer acted upon. */
export async function unmanage(tx: Tx, deps: Deps, vmId: string): Promise<void> {
  const vm = await sql.lockVm(tx, vmId)
  if (!vm) throw notFound('VM')
  await preemptOpenRun(tx, deps, vm)
  if (!vm.provisioned) throw apiError('invalid_state', 'VM never came up, so there is nothing to leave running')
  const now = deps.clock.now()
  await sql.setStatus(tx, now, vmId, { status: 'UNMANAGED', reason: 'The operator has taken it out of management' })
  await pauseFilter(tx, vmId)
  recordByOperator(tx, now, { accountId: vm.account_id, action: 'vm unmanage', resourceIds: [vmId] })
  await recordVmEvent(tx, deps, vmId, 'vm.unmanaged')
}

/** Back under management, in the power state it is found in; nothing is rebooted. */
export async function adopt(deps: Deps, vmId: string): Promise<void> {
  const isOn = await probeUnmanagedVm(deps, vmId)
  await deps.db.tx((tx) => adoptInPowerState(tx, deps, vmId, isOn))
}

/** Asks its host whether it is on. */
export async function probeUnmanagedVm(deps: Deps, vmId: string): Promise<boolean> {
  const vm = await sql.vmById(deps.db, vmId)
  requireUnmanaged(vm)
  const driver = await driverForVm(deps, vm)
  const machine = await driver.findMachine(vmId, AbortSignal.timeout(10_000))
  if (!machine) throw apiError('invalid_state', 'Its host has no such VM: delete it instead')
  return machine.power === 'running'
}

export async function adoptInPowerState(tx: Tx, deps: Deps, vmId: string, isOn: boolean): Promise<void> {
  const vm = await sql.lockVm(tx, vmId)
  requireUnmanaged(vm)
  const now = deps.clock.now()
  await sql.resumeBilling(tx, now, vmId)
  await sql.setStatus(tx, now, vmId, { status: isOn ? 'RUNNING' : 'STOPPED', wantedOn: isOn })
  await resumeFilter(tx, vmId)
  recordByOperator(tx, now, { accountId: vm.account_id, action: 'vm adopt', resourceIds: [vmId] })
  await recordVmEvent(tx, deps, vmId, 'vm.adopted')
}

function requireUnmanaged(vm: sql.VmDetails | undefined): asserts vm is sql.VmDetails {
  if (!vm) throw notFound('VM')
  if (vm.status !== 'UNMANAGED') throw apiError('invalid_state', `VM must be UNMANAGED to adopt; it is ${vm.status}`)
}
