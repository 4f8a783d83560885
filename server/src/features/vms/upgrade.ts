// POST /vms/{id}/upgrade. The larger size, its room, its quota and its charge are taken before anything happens; a failure gives all back.
import type { Principal } from '../../http/principal.ts'
import type { Tx } from '../../kernel/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { catalogNumbers, getPlan } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { reserveCapacity, type Size } from '../hosts/capacity.ts'
import { charge, requireFunds } from '../wallet/service.ts'
import { tradeInAddOns } from './add-ons.ts'
import { recordVmEvent } from './events.ts'
import { sizeOf, takeVmQuotas } from './place.ts'
import { monthlyPrice, planShape, proratedDifference, type PricedSize } from './pricing.ts'
import { lockVm, requireIdle } from './gate.ts'
import { requirePaidPeriod } from './rules.ts'
import { dryRunQuote } from './quote.ts'
import { resizeVm } from './shape.ts'
import * as sql from './sql.ts'
import { upgradeVm, type ShapeBefore } from './upgrade.workflow.ts'

export async function upgrade(
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  planId: string,
  dryRun = false,
): Promise<{ actionId: string }> {
  const { currency } = deps.config
  const now = deps.clock.now()
  const vm = await lockVm(tx, who.accountId, vmId)
  const shape = planShape(await getPlan(tx, planId))
  await requireIdle(tx, deps, vm, 'upgrade')
  requirePaidPeriod(vm, now)
  requireLarger(vm, shape)
  const more = difference(vm, shape)
  await takeVmQuotas(tx, vm.account_id, more, 0n)
  const numbers = await catalogNumbers(tx)
  const monthly = monthlyPrice(numbers, shape.priceCents, { dailyBackup: vm.daily_backup, network10g: vm.network_10g })
  const price = proratedDifference(vm, now, monthly)
  await requireFunds(tx, vm.account_id, price, currency)
  if (!(await reserveCapacity(tx, vm.host_id!, more))) {
    throw apiError(
      'no_capacity',
      `The host of this VM has no room for plan ${shape.name} at the moment: try again later, or create a new VM`,
    )
  }
  const paidAddOns = await tradeInAddOns(tx, vm)
  // A plan that has become cheaper than what was paid for is free, and what was paid stays paid: refunds are reckoned from it.
  const periodPriceCents = monthly > vm.period_price_cents ? monthly : vm.period_price_cents
  await resizeVm(tx, now, vm.id, { ...shape, periodPriceCents })
  await sql.setStatus(tx, now, vm.id, { status: 'UPGRADING' })
  const input = {
    vmId: vm.id,
    wasRunning: vm.status === 'RUNNING',
    before: shapeBefore(vm, paidAddOns),
    more,
    chargedCents: price.toString(),
  }
  const actionId = await deps.workflows.start(tx, upgradeVm, input, { label: 'UPGRADE', ownerId: vm.account_id, subjectId: vm.id })
  await recordVmEvent(tx, now, vm.id, 'vm.upgrading', { actionId })
  const description = `Upgrade of ${vm.name} to ${shape.name} for the rest of the period`
  const entry = { type: 'VM_UPGRADE', description, referenceType: 'VM', referenceId: vm.id, currency } as const
  const { balance_after_cents } = await charge(tx, now, vm.account_id, price, entry)
  if (dryRun) throw dryRunQuote(deps, { charge: price, monthly, balanceAfter: balance_after_cents })
  return { actionId }
}

function requireLarger(vm: sql.VmDetails, shape: PricedSize): void {
  if (!shape.available || (shape.regionSlugs && !shape.regionSlugs.includes(vm.region_slug))) {
    throw apiError('unavailable', `Plan ${shape.name} is not available in ${vm.region_slug}`)
  }
  const more = difference(vm, shape)
  const sizes = [more.vcpu, more.ramMiB, more.diskGiB]
  if (sizes.some((each) => each < 0) || sizes.every((each) => each === 0)) {
    throw apiError('plan_not_larger', `Plan ${shape.name} is not larger than the current plan ${vm.plan_slug}`)
  }
}

const difference = (vm: sql.VmDetails, shape: PricedSize): Size => {
  const size = sizeOf(vm)
  return { vcpu: shape.vcpu - size.vcpu, ramMiB: shape.ramMiB - size.ramMiB, diskGiB: shape.diskGiB - size.diskGiB }
}

const shapeBefore = (vm: sql.VmDetails, paid: sql.PaidAddOns): ShapeBefore => ({
  planId: vm.plan_id,
  vcpu: vm.vcpu,
  ramMiB: vm.ram_mib,
  diskGiB: vm.disk_gib,
  bandwidthGb: vm.bandwidth_gb,
  networkMbps: vm.network_mbps,
  throttleMbps: vm.throttle_mbps,
  customPriceCents: vm.custom_price_cents?.toString() ?? null,
  periodPriceCents: vm.period_price_cents.toString(),
  dailyBackupPaidUntil: paid.daily_backup_paid_until?.toISOString() ?? null,
  network10gPaidUntil: paid.network_10g_paid_until?.toISOString() ?? null,
})
