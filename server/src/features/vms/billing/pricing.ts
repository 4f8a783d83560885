// Prices. All inputs come from the catalog; all results are cents.
import type { Queries } from '../../../kernel/database/db.ts'
import { apiError, invalid } from '../../../kernel/errors.ts'
import { type Cents, prorateDown, prorateUp } from '../../../kernel/money.ts'
import { catalogNumbers, getDefaultPlan, getPlan, type CatalogNumbers } from '../../catalog/service.ts'
import type { PricePart } from '../../wallet/service.ts'
import type { VmDetails, VmSize } from '../model/sql.ts'
import type { CustomConfig, UpgradeVm } from '../schema.ts'

type Numbers = (name: string) => bigint

export interface PricedSize extends Omit<VmSize, 'periodPriceCents' | 'bandwidthWithheldBytes'> {
  storage: VmDetails['storage']
  dedicatedCpu: boolean
  /** What its host must have. */
  traits: string[]
  priceCents: Cents
  regionSlugs: string[] | null
  available: boolean
  name: string
}

/** The requested plan, the custom configuration, or the catalog's default plan. */
export async function resolveSize(db: Queries, input: UpgradeVm): Promise<PricedSize> {
  if (input.planId !== undefined && input.customConfig !== undefined)
    throw invalid('give either planId or customConfig, not both', 'customConfig')
  if (input.customConfig) return customShape(await catalogNumbers(db), input.customConfig)
  return planShape(input.planId === undefined ? await getDefaultPlan(db) : await getPlan(db, input.planId))
}

export const planShape = (plan: Awaited<ReturnType<typeof getPlan>>): PricedSize => ({
  planId: plan.id,
  name: plan.slug,
  vcpu: plan.vcpu,
  ramMiB: plan.ram_mib,
  diskGiB: plan.disk_gib,
  bandwidthGb: plan.bandwidth_gb,
  networkMbps: plan.network_mbps,
  throttleMbps: plan.throttle_mbps,
  diskIops: plan.disk_iops,
  diskMiBPerSecond: plan.disk_mib_per_second,
  storage: plan.storage,
  dedicatedCpu: plan.dedicated_cpu,
  traits: plan.traits,
  customPriceCents: null,
  priceCents: plan.price_cents,
  regionSlugs: plan.region_slugs,
  available: plan.available,
})

/** Traffic and speed beyond what is included have a price of their own, where the operator has set one. */
function customShape(numbers: CatalogNumbers, config: CustomConfig): PricedSize {
  const { vcpu, ram, disk } = config
  const memory = prorateUp(numbers('price.ram_gib'), BigInt(ram), 1024n)
  const storage = prorateUp(numbers('price.disk_10_gib'), BigInt(disk), 10n)
  const bandwidth = chosen(numbers, config, 'bandwidth', { included: 'custom.bandwidth_gb', price: 'price.custom_bandwidth_100_gb' })
  const speed = chosen(numbers, config, 'networkSpeed', { included: 'custom.network_mbps', price: 'price.custom_network_100_mbps' })
  const size = numbers('price.custom_base') + BigInt(vcpu) * numbers('price.vcpu') + memory + storage
  const priceCents = size + bandwidth.priceCents + speed.priceCents
  return {
    planId: null,
    name: 'custom',
    vcpu,
    ramMiB: ram,
    diskGiB: disk,
    bandwidthGb: bandwidth.amount,
    networkMbps: speed.amount,
    throttleMbps: Number(numbers('custom.throttle_mbps')),
    diskIops: null,
    diskMiBPerSecond: null,
    dedicatedCpu: false,
    traits: [],
    storage: 'LOCAL',
    customPriceCents: priceCents,
    priceCents,
    regionSlugs: null,
    available: true,
  }
}

/** The size that the VM has. */
export const currentSize = (vm: VmDetails): PricedSize => ({
  planId: vm.plan_id,
  name: vm.plan_slug,
  vcpu: vm.vcpu,
  ramMiB: vm.ram_mib,
  diskGiB: vm.disk_gib,
  bandwidthGb: vm.bandwidth_gb,
  networkMbps: vm.network_mbps,
  throttleMbps: vm.throttle_mbps,
  diskIops: vm.disk_iops,
  diskMiBPerSecond: vm.disk_mib_per_second,
  storage: vm.storage,
  dedicatedCpu: vm.dedicated_cpu,
  traits: [],
  customPriceCents: vm.custom_price_cents,
  priceCents: vm.plan_price_cents,
  regionSlugs: null,
  available: true,
})

/** The same with a larger disk: a custom configuration, which costs as much as before and the additional disk. */
export function withDisk(numbers: Numbers, size: PricedSize, diskGiB: number): PricedSize {
  if (diskGiB === size.diskGiB) return size
  const more = BigInt(diskGiB - size.diskGiB)
  const price =
    size.storage === 'LOCAL' ? prorateUp(numbers('price.disk_10_gib'), more, 10n) : more * numbers('price.volume_replicated_gib')
  const priceCents = size.priceCents + price
  return { ...size, planId: null, name: `${size.name} with ${diskGiB} GiB disk`, diskGiB, priceCents, customPriceCents: priceCents }
}

/** Mbit/s beyond what the catalog includes; 0 where none were bought. The speed of plans is the operator's promise. */
export const speedBought = (numbers: Numbers, { planId, networkMbps }: Pick<VmSize, 'planId' | 'networkMbps'>): number =>
  planId === null && networkMbps > Number(numbers('custom.network_mbps')) ? networkMbps : 0

function chosen(
  numbers: CatalogNumbers,
  config: CustomConfig,
  field: 'bandwidth' | 'networkSpeed',
  names: { included: string; price: string },
): { amount: number; priceCents: Cents } {
  const included = Number(numbers(names.included))
  const amount = config[field]
  if (amount === undefined) return { amount: included, priceCents: 0n }
  const price = numbers.find(names.price)
  // Nothing included means unmetered: there is nothing to buy.
  if (price === undefined || included === 0)
    throw apiError('unavailable', `customConfig.${field} cannot be chosen here, as it has no price: leave it out`)
  return { amount, priceCents: prorateUp(price, BigInt(Math.max(0, amount - included)), 100n) }
}

export interface AddOns {
  dailyBackup: boolean
  network10g: boolean
  publicIpv4: boolean
}

export const dailyBackupPrice = (numbers: Numbers, planPrice: Cents): Cents =>
  prorateUp(planPrice, numbers('addon.daily_backup_percent'), 100n)

/** What a month costs, part by part; those of nothing are left out. */
export function priceParts(numbers: Numbers, planPrice: Cents, { dailyBackup, network10g, publicIpv4 }: AddOns, copies = 0n): PricePart[] {
  const less = publicIpv4 ? 0n : least(numbers('price.ipv4'), planPrice)
  const parts: PricePart[] = [
    { part: 'WITHOUT_IPV4', cents: -less },
    { part: 'DAILY_BACKUP', cents: dailyBackup ? dailyBackupPrice(numbers, planPrice) : 0n },
    { part: 'NETWORK_10G', cents: network10g ? numbers('price.network_10g') : 0n },
    { part: 'COPIES', cents: copies },
  ]
  return [{ part: 'PLAN', cents: planPrice }, ...parts.filter(({ cents }) => cents !== 0n)]
}

/** The same of what renews; none of a shelved one, which has another price. */
export function renewalParts(numbers: Numbers, vm: VmDetails): { parts?: PricePart[] } {
  if (vm.shelved_at !== null) return {}
  const addOns = { dailyBackup: vm.daily_backup, network10g: vm.network_10g, publicIpv4: vm.public_ipv4 }
  const parts = priceParts(numbers, vm.plan_price_cents, addOns, vm.copies_price_cents)
  return sumOf(parts) === vm.renewal_price_cents ? { parts } : {}
}

const sumOf = (parts: PricePart[]): Cents => parts.reduce((sum, { cents }) => sum + cents, 0n)

/** Monthly price of a plan with its add-ons, less that of an IPv4 address for a VM without one; must equal `renewal_price_cents` of the view. */
export const monthlyPrice = (numbers: Numbers, planPrice: Cents, addOns: AddOns): Cents => sumOf(priceParts(numbers, planPrice, addOns))

/** The price difference to a dearer month, prorated per second for the rest of the period and rounded up. */
export const proratedDifference = (vm: VmDetails, now: Date, monthly: Cents): Cents =>
  monthly > vm.period_price_cents ? proratedForRest(vm, now, monthly - vm.period_price_cents) : 0n

/** A monthly price prorated for the rest of the period. */
export const proratedForRest = (vm: VmDetails, now: Date, monthly: Cents): Cents =>
  prorateUp(monthly, secondsLeft(now, vm.next_renewal_at), secondsLeft(vm.period_started_at, vm.next_renewal_at))

export const GB = 1_000_000_000n

/** A hundredth of the catalog's price per 100 GB for each GB (10^9 bytes), rounded up to the cent. */
export const trafficPackPrice = (numbers: Numbers, bytes: bigint): Cents => prorateUp(numbers('price.bandwidth_100_gb'), bytes, 100n * GB)

/**
 * What a resize now leaves out of the new plan's traffic in this period. Its price is prorated, so the additional traffic is: else the
 * traffic of a month could be had for the price of its last day. Negative where the VM had a plan with more traffic for a part of it.
 * Of a VM that is not metered: by how much it had used more than its share of the time when it became so. What it uses from then on is not counted later.
 */
export function withheldTraffic(vm: VmDetails, now: Date, bandwidthGb: number): bigint {
  const [left, all] = [secondsLeft(now, vm.next_renewal_at), secondsLeft(vm.period_started_at, vm.next_renewal_at)]
  const [before, after] = [BigInt(vm.bandwidth_gb) * GB, BigInt(bandwidthGb) * GB]
  const { bandwidth_withheld_bytes: withheld, bandwidth_used_bytes: used } = vm
  if (after === 0n) return before === 0n ? withheld : used - (before - withheld - prorateUp(before, left, all))
  if (before === 0n) return after - (used - withheld + prorateDown(after, left, all))
  const more = after - before
  const added = more < 0n ? -prorateUp(-more, left, all) : prorateDown(more, left, all)
  return withheld + more - added
}

/** The traffic of the period so far and to come; null where it is not metered. */
export const includedTraffic = (bandwidthGb: number, withheldBytes: bigint): bigint | null =>
  bandwidthGb === 0 ? null : BigInt(bandwidthGb) * GB - withheldBytes

/**
 * Refund of a deleted VM: its unused whole days, reduced by the share of the included traffic it used. What remains of `paid`, all that
 * this period has cost, also covers that traffic at the price of packs: else creating, upgrading and deleting VMs would be the cheapest way
 * to buy traffic.
 */
export const refundForUnusedDays = (numbers: Numbers, vm: VmDetails, now: Date, paid: Cents): Cents =>
  refundOf(numbers, vm, now, paid, vm.period_price_cents)

/** Of a part of the period's price. */
function refundOf(numbers: Numbers, vm: VmDetails, now: Date, paid: Cents, part: Cents): Cents {
  const days = wholeDaysBetween(now, vm.next_renewal_at)
  const all = wholeDaysBetween(vm.period_started_at, vm.next_renewal_at)
  if (all === 0n) return 0n
  const { period_price_cents: price, bandwidth_withheld_bytes: withheld } = vm
  const included = includedTraffic(vm.bandwidth_gb, withheld)
  // Unmetered traffic has no share, and what a shelved VM has used was settled when it was shelved.
  if (vm.shelved_at !== null || (included === null && withheld <= 0n)) return prorateDown(part, days, all)
  const used = least(vm.bandwidth_used_bytes, included ?? withheld)
  const unused = included === null ? prorateDown(part, days, all) : prorateDown(part, days * (included - used), all * included)
  const most = least(paid, price) - trafficPackPrice(numbers, used)
  return most < 0n ? 0n : least(most, unused)
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/**
 * What a cheaper month gives back now: of the difference as much as a delete gives back of the whole. The price of the period falls by what
 * is given back and no more: what is not stays paid, so that it is not charged again by an upgrade in the same period.
 */
export function cheaperMonth(
  numbers: Numbers,
  vm: VmDetails,
  now: Date,
  { monthly, paid }: { monthly: Cents; paid: Cents },
): { refundCents: Cents; periodPriceCents: Cents } {
  const price = vm.period_price_cents
  const refundCents = monthly < price && numbers('setting.refund_unused_days') > 0n ? refundOf(numbers, vm, now, paid, price - monthly) : 0n
  if (refundCents === 0n) return { refundCents, periodPriceCents: price }
  const [days, all] = [wholeDaysBetween(now, vm.next_renewal_at), wholeDaysBetween(vm.period_started_at, vm.next_renewal_at)]
  return { refundCents, periodPriceCents: price - prorateUp(refundCents, all, days) }
}

export { catalogNumbers }

// Billing periods. A VM bought on the 31st renews on the last day of shorter months and on the 31st of longer ones.

/** The same time of day on `day` of the month after `from`, or on the last day of that month. */
export function nextRenewal(from: Date, day: number): Date {
  const next = new Date(from)
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const daysInMonth = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(day, daysInMonth))
  return next
}

/** Rounds a started second up, so that per-second proration never sells a fraction for free. */
export const secondsLeft = (from: Date, to: Date): bigint => BigInt(Math.max(0, Math.ceil((to.getTime() - from.getTime()) / 1000)))

const DAY_MS = 86_400_000

export const wholeDaysBetween = (from: Date, to: Date): bigint => BigInt(Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY_MS)))
