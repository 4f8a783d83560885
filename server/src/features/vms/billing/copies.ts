// What snapshots and backups take: the account's quota, room on hosts and, where the catalog has a price for them, money. A snapshot or an
// on-demand backup counts as the disk of its VM, so that its price is known before it is made. A daily backup counts as its size once it
// is made; its add-on pays for it. A copy is charged once it is made: one that fails, or is deleted before, costs nothing and leaves no
// entries in the ledger. Lock order: the rows of copies, quotas, storage backends, hosts, event log, wallet.
import { DryRunResult } from '../../../http/api/api.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { type Cents, formatCents, prorateDown } from '../../../kernel/money.ts'
import { StepError } from '../../../workflow/workflow-builder.ts'
import { recountQuota, releaseQuota, reserveQuota } from '../../accounts/service.ts'
import { COPIES_QUOTA, lockedOf } from '../../backup-targets/service.ts'
import { requireSelected, type Spender } from '../../budgets/service.ts'
import { catalogNumbers } from '../../catalog/service.ts'
import type { Deps } from '../../deps.ts'
import { releaseDisk, reserveDisk } from '../../hosts/capacity.ts'
import { releaseStorage, reserveStorage } from '../../storage/service.ts'
import { balanceOf, type Quote, refund, refundable, requireFunds, toQuote, tryCharge } from '../../wallet/service.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { vmById, type VmDetails } from '../model/sql.ts'
import { proratedForRest, wholeDaysBetween } from './pricing.ts'

export interface CopyTerms {
  countedGib: number
  /** A month. */
  priceCents: Cents
  /** For the rest of the billing period, if it were made at once. */
  chargeCents: Cents
}

export interface CopyRequest {
  /** The hosts it needs room on, or the storage backend. */
  hostIds: string[]
  storageId?: string | null
  isPriced: boolean
}

/** Checks and reserves; the caller writes the row, which has no price before `chargeCopy`. */
export async function reserveCopy(
  tx: Tx,
  deps: Deps,
  vm: VmDetails,
  { hostIds, storageId = null, isPriced }: CopyRequest,
): Promise<CopyTerms> {
  const now = deps.clock.now()
  const countedGib = vm.disk_gib
  const priceCents = isPriced ? BigInt(countedGib) * (await catalogNumbers(tx))('price.copies_gib') : 0n
  if (priceCents > 0n) requirePaidPeriod(vm, now)
  const chargeCents = priceCents > 0n ? proratedForRest(vm, now, priceCents) : 0n
  await reserveQuota(tx, vm.account_id, COPIES_QUOTA, BigInt(countedGib), () => lockedOf(tx, vm.account_id))
  await requireFunds(tx, now, vm.account_id, chargeCents, deps.config.currency)
  if (chargeCents > 0n) await requireSelected(tx, now, vm.account_id, vm.id)
  if (storageId !== null && !(await reserveStorage(tx, storageId, countedGib)))
    throw apiError(
      'no_capacity',
      `The storage of this VM has no room for a copy of its disk (${countedGib} GiB) at the moment: delete snapshots that are no longer needed, or try again later`,
    )
  if (!(await reserveDisk(tx, hostIds, countedGib)))
    throw apiError(
      'no_capacity',
      `No host has room for a copy of this disk (${countedGib} GiB) at the moment: delete snapshots or backups that are no longer needed, or try again later`,
    )
  return { countedGib, priceCents, chargeCents }
}

export async function quoteCopy(tx: Tx, deps: Deps, vm: VmDetails, { priceCents, chargeCents }: CopyTerms): Promise<DryRunResult<Quote>> {
  const balanceAfter = (await balanceOf(tx, vm.account_id)) - chargeCents
  return new DryRunResult(
    toQuote(tx, deps.config.currency, { charge: chargeCents, monthly: vm.renewal_price_cents + priceCents, balanceAfter }),
  )
}

interface MadeCopy {
  vmId: string
  /** As it was when the copy was requested. */
  priceCents: Cents
  /** For the ledger. */
  what: string
  /** Who asked for it. */
  spender: Spender
}

/** In the workflow of a copy that is made. Fails it where the money has been spent meanwhile. Locks the wallet: call it last. */
export async function chargeCopy(tx: Tx, deps: Deps, now: Date, { vmId, priceCents, what, spender }: MadeCopy): Promise<void> {
  const vm = await getVmRow(tx, vmId)
  const amount = proratedForRest(vm, now, priceCents)
  if (amount === 0n) return
  const description = `${what} of ${vm.name} for the rest of the period`
  const entry = { type: 'ADDON_CHARGE', description, referenceType: 'VM', referenceId: vm.id } as const
  if (await tryCharge(tx, now, vm.account_id, amount, entry, { spender, currency: deps.config.currency })) return
  const price = `${formatCents(amount)} ${deps.config.currency}`
  const reason = `The wallet no longer held ${price} when the copy was made, its price for the rest of the period`
  throw new StepError('insufficient_funds', reason, { retry: false })
}

/** What a copy took, as read when its row stopped counting. */
export interface CountedCopy {
  vm_id: string
  account_id: string
  /** On each of its hosts. */
  counted_gib: number
  /** Zero for a backup that its owner has deleted, and that is kept because others depend on it. */
  quota_gib: number
  price_cents: bigint
  host_ids: string[]
  storage_id: string | null
}

export async function releaseCopies(tx: Tx, copies: CountedCopy[]): Promise<void> {
  const accounts = new Map<string, number>()
  const hosts = new Map<string, number>()
  const backends = new Map<string, number>()
  for (const { account_id, counted_gib, quota_gib, host_ids, storage_id } of copies) {
    if (quota_gib > 0) accounts.set(account_id, (accounts.get(account_id) ?? 0) + quota_gib)
    for (const id of host_ids) hosts.set(id, (hosts.get(id) ?? 0) + counted_gib)
    if (storage_id !== null) backends.set(storage_id, (backends.get(storage_id) ?? 0) + counted_gib)
  }
  for (const [accountId, gib] of [...accounts].sort(byId)) await releaseQuota(tx, accountId, COPIES_QUOTA, BigInt(gib))
  for (const [id, gib] of [...backends].sort(byId)) await releaseStorage(tx, id, gib)
  await releaseDisk(tx, hosts)
}

/** Of a copy that takes less than was reserved for it. */
export async function releaseCopyRoom(tx: Tx, accountId: string, quotaGib: number, gibByHost: Map<string, number>): Promise<void> {
  await releaseCopyQuota(tx, accountId, quotaGib)
  await releaseDisk(tx, gibByHost)
}

export async function releaseCopyQuota(tx: Tx, accountId: string, gib: number): Promise<void> {
  if (gib > 0) await releaseQuota(tx, accountId, COPIES_QUOTA, BigInt(gib))
}

/** Of copies that take more or less than when they were made. */
export const recountCopyQuota = (tx: Tx, accountId: string, moreGib: number) => recountQuota(tx, accountId, COPIES_QUOTA, BigInt(moreGib))

const byId = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1)

/** Refunds the unused days of copies that are gone, while their VM exists. Locks the wallet: call it last. */
export async function refundCopies(tx: Tx, now: Date, copies: CountedCopy[]): Promise<void> {
  for (const [vmId, own] of Map.groupBy(copies, ({ vm_id }) => vm_id)) {
    const paid = own.reduce((sum, { price_cents }) => sum + price_cents, 0n)
    const vm = paid > 0n ? await vmById(tx, vmId) : undefined
    if (!vm || (await catalogNumbers(tx))('setting.refund_unused_days') === 0n) continue
    const unused = unusedOfMonth(vm, now, paid)
    const most = await refundable(tx, vm.account_id, vm.id)
    const amount = unused < most ? unused : most
    const entry = { type: 'VM_REFUND', description: `Unused days of snapshots and backups of ${vm.name}` } as const
    if (amount > 0n) await refund(tx, now, vm.account_id, amount, { ...entry, referenceType: 'VM', referenceId: vm.id })
  }
}

/** The share of a monthly price that falls on the unused whole days of the billing period. */
export function unusedOfMonth(vm: Pick<VmDetails, 'period_started_at' | 'next_renewal_at'>, now: Date, monthly: Cents): Cents {
  const all = wholeDaysBetween(vm.period_started_at, vm.next_renewal_at)
  return all === 0n ? 0n : prorateDown(monthly, wholeDaysBetween(now, vm.next_renewal_at), all)
}
