// What snapshots and backups take: the account's quota, room on hosts and, where the catalog has a price for them, money. A snapshot or an
// on-demand backup counts as the disk of its VM, so that its price is known before it is made. A daily backup counts as its size once it
// is made; its add-on pays for it. Lock order: the rows of copies, quotas, hosts, event log, wallet.
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { type Cents, prorateDown } from '../../../kernel/money.ts'
import { releaseQuota, reserveQuota } from '../../accounts/service.ts'
import { catalogNumbers } from '../../catalog/service.ts'
import type { Deps } from '../../deps.ts'
import { releaseDisk, reserveDisk } from '../../hosts/capacity.ts'
import { charge, refund, refundable, requireFunds, type TransactionRow } from '../../wallet/service.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import { vmById, type VmDetails } from '../model/sql.ts'
import { proratedForRest, wholeDaysBetween } from './pricing.ts'

const QUOTA = 'copies_gib'

export interface CopyTerms {
  countedGib: number
  /** A month. */
  priceCents: Cents
  /** For the rest of the billing period. */
  chargeCents: Cents
}

export interface CopyRequest {
  /** The hosts it needs room on. */
  hostIds: string[]
  isPriced: boolean
}

/** Checks and reserves; the caller writes the row and then calls `chargeCopy`. */
export async function reserveCopy(tx: Tx, deps: Deps, vm: VmDetails, { hostIds, isPriced }: CopyRequest): Promise<CopyTerms> {
  const now = deps.clock.now()
  const countedGib = vm.disk_gib
  const priceCents = isPriced ? BigInt(countedGib) * (await catalogNumbers(tx))('price.copies_gib') : 0n
  if (priceCents > 0n) requirePaidPeriod(vm, now)
  const chargeCents = priceCents > 0n ? proratedForRest(vm, now, priceCents) : 0n
  await reserveQuota(tx, vm.account_id, QUOTA, BigInt(countedGib))
  await requireFunds(tx, vm.account_id, chargeCents, deps.config.currency)
  if (!(await reserveDisk(tx, hostIds, countedGib)))
    throw apiError(
      'no_capacity',
      `No host has room for a copy of this disk (${countedGib} GiB) at the moment: delete snapshots or backups that are no longer needed, or try again later`,
    )
  return { countedGib, priceCents, chargeCents }
}

/** Locks the wallet: call it last. */
export const chargeCopy = (tx: Tx, deps: Deps, vm: VmDetails, amount: Cents, what: string): Promise<TransactionRow> =>
  charge(tx, deps.clock.now(), vm.account_id, amount, {
    type: 'ADDON_CHARGE',
    description: `${what} of ${vm.name} for the rest of the period`,
    referenceType: 'VM',
    referenceId: vm.id,
    currency: deps.config.currency,
  })

/** For a copy that could not be made: all that was charged for it. */
export async function refundFailedCopy(
  tx: Tx,
  now: Date,
  { id, account_id, name }: Pick<VmDetails, 'id' | 'account_id' | 'name'>,
  chargedCents: string | undefined,
): Promise<void> {
  const amount = BigInt(chargedCents ?? 0)
  if (amount === 0n) return
  const description = `A snapshot or backup of ${name} could not be made`
  await refund(tx, now, account_id, amount, { type: 'VM_REFUND', description, referenceType: 'VM', referenceId: id })
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
}

export async function releaseCopies(tx: Tx, copies: CountedCopy[]): Promise<void> {
  const accounts = new Map<string, number>()
  const hosts = new Map<string, number>()
  for (const { account_id, counted_gib, quota_gib, host_ids } of copies) {
    if (quota_gib > 0) accounts.set(account_id, (accounts.get(account_id) ?? 0) + quota_gib)
    for (const id of host_ids) hosts.set(id, (hosts.get(id) ?? 0) + counted_gib)
  }
  for (const [accountId, gib] of [...accounts].sort(byId)) await releaseQuota(tx, accountId, QUOTA, BigInt(gib))
  await releaseDisk(tx, hosts)
}

/** Of a copy that takes less than was reserved for it. */
export async function releaseCopyRoom(tx: Tx, accountId: string, quotaGib: number, gibByHost: Map<string, number>): Promise<void> {
  await releaseCopyQuota(tx, accountId, quotaGib)
  await releaseDisk(tx, gibByHost)
}

export async function releaseCopyQuota(tx: Tx, accountId: string, gib: number): Promise<void> {
  if (gib > 0) await releaseQuota(tx, accountId, QUOTA, BigInt(gib))
}

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
