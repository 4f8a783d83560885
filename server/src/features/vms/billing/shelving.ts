// What shelving gives back, and what unshelving costs. In the period in which a VM is shelved the wallet gets what a deletion would have refunded, less
// the shelved price of that time; unshelved in the same period, the share of it that falls on the rest is charged again. In a period that
// was renewed shelved, unshelving charges the difference of both prices for the rest.
import type { Tx } from '../../../kernel/database/db.ts'
import { type Cents, prorateDown, prorateUp } from '../../../kernel/money.ts'
import { catalogNumbers, keptIpv4Price, type CatalogNumbers } from '../../catalog/service.ts'
import type { ShelfTerms, VmDetails } from '../model/sql.ts'
import { GB, monthlyPrice, proratedDifference, proratedForRest, secondsLeft, wholeDaysBetween } from './pricing.ts'
import { unusedOf } from './refund.ts'

/** A month of the VM on a host, without its copies. */
const monthlyOnHost = (numbers: CatalogNumbers, vm: VmDetails): Cents =>
  monthlyPrice(numbers, vm.plan_price_cents, { dailyBackup: vm.daily_backup, network10g: vm.network_10g, publicIpv4: vm.public_ipv4 })

interface ShelvedSize {
  diskGiB: number
  storage: VmDetails['storage']
  publicIpv4: boolean
}

/** A month of the disk and the public IPv4 address; never more than on a host. Must equal `renewal_price_cents` of the view. */
export function shelvedPrice(numbers: CatalogNumbers, { diskGiB, storage, publicIpv4 }: ShelvedSize, onHost: Cents): Cents {
  const perGiB = numbers(storage === 'LOCAL' ? 'price.shelved_gib' : 'price.shelved_replicated_gib')
  const price = BigInt(diskGiB) * perGiB + (publicIpv4 ? keptIpv4Price(numbers) : 0n)
  return price < onHost ? price : onHost
}

/** If it were shelved now. Locks the wallet: call it last. */
export async function shelfTerms(tx: Tx, now: Date, vm: VmDetails): Promise<ShelfTerms & { monthly: Cents }> {
  const numbers = await catalogNumbers(tx)
  const size = { diskGiB: vm.disk_gib, storage: vm.storage, publicIpv4: vm.public_ipv4 }
  const monthly = shelvedPrice(numbers, size, monthlyOnHost(numbers, vm))
  const unused = await unusedOf(tx, now, vm, 0n)
  const rest = proratedForRest(vm, now, monthly)
  const creditCents = unused > rest ? unused - rest : 0n
  return { creditCents, priceCents: vm.period_price_cents, periodPriceCents: keptPrice(vm, now, unused - creditCents, monthly), monthly }
}

/** The monthly price by which a deletion is refunded: what was kept of the unused days, and no more than the shelved price. */
function keptPrice(vm: VmDetails, now: Date, keptCents: Cents, monthly: Cents): Cents {
  const [days, all] = [wholeDaysBetween(now, vm.next_renewal_at), wholeDaysBetween(vm.period_started_at, vm.next_renewal_at)]
  const kept = days === 0n ? 0n : prorateDown(keptCents, all, days)
  return kept < monthly ? kept : monthly
}

export interface UnshelveTerms {
  chargeCents: Cents
  periodPriceCents: Cents
  bandwidthWithheldBytes: bigint
  /** Without its copies. */
  monthly: Cents
}

/** If it were unshelved now. */
export async function unshelveTerms(tx: Tx, now: Date, vm: VmDetails): Promise<UnshelveTerms> {
  const monthly = monthlyOnHost(await catalogNumbers(tx), vm)
  const { shelved_credit_cents: credit, shelved_price_cents: price } = vm
  const isSamePeriod = credit !== null && price !== null
  const since = isSamePeriod ? vm.shelved_at! : vm.period_started_at
  const [left, all] = [secondsLeft(now, vm.next_renewal_at), secondsLeft(since, vm.next_renewal_at)]
  return {
    chargeCents: isSamePeriod ? (all === 0n ? 0n : prorateUp(credit, left, all)) : proratedDifference(vm, now, monthly),
    periodPriceCents: isSamePeriod ? price : monthly,
    bandwidthWithheldBytes: withheldAfterShelf(vm, left, all),
    monthly,
  }
}

/** The traffic of the time on the shelf is not paid for: of what was left when it began, that of the rest of the period is. */
function withheldAfterShelf(vm: VmDetails, left: bigint, all: bigint): bigint {
  const before = vm.bandwidth_withheld_bytes
  const included = BigInt(vm.bandwidth_gb) * GB - before
  const unused = included - vm.bandwidth_used_bytes
  if (vm.bandwidth_gb === 0 || unused <= 0n || all === 0n) return before
  const given = prorateDown(unused, all, secondsLeft(vm.period_started_at, vm.next_renewal_at))
  return before + given - prorateDown(given, left, all)
}
