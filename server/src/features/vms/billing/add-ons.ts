// Daily backups and 10G. An add-on switched on in the middle of a period is charged once, prorated for the rest of the period, however
// often it is toggled; switched off, it stays paid until the period ends. The plan's own price changes only at the next renewal.
import type { Tx } from '../../../kernel/database/db.ts'
import type { Cents } from '../../../kernel/money.ts'
import { catalogNumbers } from '../../catalog/service.ts'
import { dailyBackupPrice, monthlyPrice, proratedForRest, type AddOns } from './pricing.ts'
import * as sql from '../model/sql.ts'

export interface AddOnBill {
  charge: Cents
  /** The add-ons that are charged. */
  names: string[]
  periodPriceCents: Cents
  paid: sql.PaidAddOns
}

export async function billForAddOns(tx: Tx, now: Date, vm: sql.VmDetails, wanted: Omit<AddOns, 'publicIpv4'>): Promise<AddOnBill> {
  const paid = await sql.paidAddOns(tx, vm.id)
  const isPaid = (until: Date | null): boolean => until !== null && until >= vm.next_renewal_at
  const isNew = (on: boolean, was: boolean, until: Date | null): boolean => on && !was && !isPaid(until) && isUnderWay(vm, now)
  const backups = isNew(wanted.dailyBackup, vm.daily_backup, paid.daily_backup_paid_until)
  const fast = isNew(wanted.network10g, vm.network_10g, paid.network_10g_paid_until)
  const numbers = await catalogNumbers(tx)
  const added = (backups ? dailyBackupPrice(numbers, vm.plan_price_cents) : 0n) + (fast ? numbers('price.network_10g') : 0n)
  const all = monthlyPrice(numbers, vm.plan_price_cents, {
    dailyBackup: wanted.dailyBackup || isPaid(paid.daily_backup_paid_until),
    network10g: wanted.network10g || isPaid(paid.network_10g_paid_until),
    publicIpv4: vm.public_ipv4,
  })
  // An upgrade may have absorbed a paid add-on and left credit over: that part is not charged twice.
  const monthly = least(added, atLeastZero(all - vm.period_price_cents))
  return {
    charge: proratedForRest(vm, now, monthly),
    names: [...(backups ? ['Daily backups'] : []), ...(fast ? ['10G'] : [])],
    periodPriceCents: vm.period_price_cents + monthly,
    paid: {
      daily_backup_paid_until: backups ? vm.next_renewal_at : paid.daily_backup_paid_until,
      network_10g_paid_until: fast ? vm.next_renewal_at : paid.network_10g_paid_until,
    },
  }
}

const least = (a: Cents, b: Cents): Cents => (a < b ? a : b)
const atLeastZero = (cents: Cents): Cents => (cents > 0n ? cents : 0n)

/**
 * Also true while an unsuspend action runs: the new period is paid and has begun, although the status is SUSPENDED until the guest is up.
 */
const isUnderWay = (vm: sql.VmDetails, now: Date): boolean => vm.billing_status !== 'CANCELLED' && vm.next_renewal_at > now

/**
 * An upgrade replaces everything paid so far, including add-ons that are paid but switched off: their price is credited to the upgrade.
 * Returns the previous state, for compensation.
 */
export async function absorbPaidAddOns(tx: Tx, vm: sql.VmDetails): Promise<sql.PaidAddOns> {
  const paid = await sql.paidAddOns(tx, vm.id)
  await sql.setPaidAddOns(tx, vm.id, {
    daily_backup_paid_until: vm.daily_backup ? paid.daily_backup_paid_until : null,
    network_10g_paid_until: vm.network_10g ? paid.network_10g_paid_until : null,
  })
  return paid
}
