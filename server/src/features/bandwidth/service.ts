// Traffic allowance per billing period. The cap is the plan's traffic, prorated after an upgrade, plus the packs bought in this period; a VM at its cap is throttled
// to the plan's rate until a pack, an upgrade or a renewal lifts the throttle.
import { DryRunResult } from '../../http/api/api.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { catalogNumbers } from '../catalog/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import { markPortsDirty } from '../ports/service.ts'
import { lockOwnVm, recordVmEvent, requirePaidPeriod, requireVm, trafficPackPrice, type VmDetails } from '../vms/service.ts'
import { charge, listTransactionsOf, type Payer, type Quote, toQuote, toTransaction, type Transaction } from '../wallet/service.ts'
import type { BandwidthUsage, BuyBandwidthPack } from './schema.ts'
import * as sql from './sql.ts'
import { toUsage } from './view.ts'

const GB = 1_000_000_000n

export const listUsage = async (db: Queries, accountId: string): Promise<BandwidthUsage[]> =>
  (await sql.listUsage(db, accountId)).map(toUsage)

export async function listPacks(db: Queries, who: Payer, vmId: string, page: PageRequest): Promise<Paged<Transaction>> {
  await requireVm(db, who.accountId, vmId)
  return listTransactionsOf(db, who, { type: 'BANDWIDTH_PACK', referenceId: vmId }, page)
}

export interface PackOrder extends BuyBandwidthPack {
  vmId: string
  dryRun?: boolean | undefined
}

export async function buyPack(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'config' | 'hooks'>,
  accountId: string,
  { vmId, gigabytes, dryRun }: PackOrder,
): Promise<Transaction | DryRunResult<Quote>> {
  const { currency } = deps.config
  const now = deps.clock.now()
  const vm = await lockOwnVm(tx, { accountId }, vmId)
  requireSellable(vm, now)
  const bytes = BigInt(gigabytes) * GB
  const price = trafficPackPrice(await catalogNumbers(tx), bytes)
  await sql.addPack(tx, now, vm.id, bytes)
  await updateThrottle(tx, deps, vm.id)
  const description = `${gigabytes} GB of traffic for ${vm.name} until ${vm.next_renewal_at.toISOString().slice(0, 10)}`
  const entry = { type: 'BANDWIDTH_PACK', description, referenceType: 'VM', referenceId: vm.id, currency } as const
  const row = await charge(tx, now, accountId, price, entry)
  if (!dryRun) return toTransaction(row, accountId)
  return new DryRunResult(toQuote(tx, currency, { charge: price, monthly: vm.renewal_price_cents, balanceAfter: row.balance_after_cents }))
}

/** Also refuses a VM whose period has ended but is not renewed yet: the renewal would reset the pack at once. */
function requireSellable(vm: VmDetails, now: Date): void {
  const isOutOfUse = !vm.provisioned || vm.status === 'SUSPENDED' || vm.status === 'UNMANAGED'
  if (isOutOfUse) throw apiError('invalid_state', `VM is ${vm.status}: a pack is sold only for a VM that is in use`)
  if (vm.shelved_at !== null) throw apiError('invalid_state', 'VM is shelved: a pack is sold only for a VM that is in use')
  requirePaidPeriod(vm, now)
  if (vm.bandwidth_gb === 0) throw apiError('incompatible', 'The traffic of this VM is not metered, so it needs no pack')
}

/** Call it in every transaction that changes a VM's cap or usage. */
export async function updateThrottle(tx: Tx, deps: EventDeps, vmId: string): Promise<void> {
  const change = await sql.setThrottle(tx, deps.clock.now(), vmId)
  if (!change) return
  await markPortsDirty(tx, [vmId])
  await recordVmEvent(tx, deps, vmId, `bandwidth.${change}`)
}

/**
 * An upgrade changes the cap and the limits. When it fails, the machine may already have started with the new limits, so they are
 * applied again.
 */
export async function onVmResized(tx: Tx, deps: EventDeps, vmId: string): Promise<void> {
  await markPortsDirty(tx, [vmId])
  await updateThrottle(tx, deps, vmId)
}

/** Keeps the usage of the period when the VM gets another interface. */
export async function onVmMacChanged(tx: Tx, deps: EventDeps, vmId: string, before: { mac: string }): Promise<void> {
  await sql.carryUsage(tx, vmId, before.mac)
  await updateThrottle(tx, deps, vmId)
}

/** Resets usage, packs, withheld traffic and throttle. */
export async function startPeriod(tx: Tx, deps: EventDeps, vmId: string): Promise<void> {
  await Promise.all([sql.resetUsage(tx, vmId), updateThrottle(tx, deps, vmId)])
}
