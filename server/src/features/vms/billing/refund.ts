// What is given back of the paid period of a VM that is deleted, lost or shelved.
import type { Tx } from '../../../kernel/database/db.ts'
import type { Cents } from '../../../kernel/money.ts'
import { catalogNumbers } from '../../catalog/service.ts'
import { paidSince, refund, refundable } from '../../wallet/service.ts'
import type { VmDetails } from '../model/sql.ts'
import { unusedOfMonth } from './copies.ts'
import { refundForUnusedDays } from './pricing.ts'

/** The refund for the unused part of the paid period, if the VM were deleted now. */
export async function unusedOf(tx: Tx, now: Date, vm: VmDetails, copiesCents: Cents): Promise<Cents> {
  const numbers = await catalogNumbers(tx)
  if (vm.billing_status === 'CANCELLED' || numbers('setting.refund_unused_days') === 0n) return 0n
  const paid = await paidSince(tx, vm.account_id, vm.id, vm.period_started_at)
  const amount = refundForUnusedDays(numbers, vm, now, paid) + unusedOfMonth(vm, now, copiesCents)
  const most = await refundable(tx, vm.account_id, vm.id)
  return amount < most ? amount : most
}

export async function refundUnused(tx: Tx, now: Date, vm: VmDetails, copiesCents: Cents): Promise<void> {
  const cents = await unusedOf(tx, now, vm, copiesCents)
  if (cents === 0n) return
  await refund(tx, now, vm.account_id, cents, {
    type: 'VM_REFUND',
    description: `Unused days of ${vm.name}`,
    referenceType: 'VM',
    referenceId: vm.id,
  })
}
