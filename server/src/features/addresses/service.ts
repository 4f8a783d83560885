// Public addresses of an account that move between its VMs. Lock order: VMs, address, ports, quota, event log, wallet.
import { DryRunResult } from '../../http/api/api.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { type Cents, prorateDown } from '../../kernel/money.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import { catalogNumbers, getRegion } from '../catalog/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import type { EventType } from '../events/schema.ts'
import { recordEvent } from '../events/service.ts'
import { allocateFloatingAddress, LEFT_REST, releasePublicIp, RELEASED_REST } from '../hosts/public-addresses.ts'
import { setReverseName } from '../reverse-names/service.ts'
import { nextRenewal, wholeDaysBetween } from '../vms/service.ts'
import { balanceOf, charge, type Quote, refund, refundable, requireFunds, toQuote } from '../wallet/service.ts'
import type { Address, addressEvents, ReserveAddress, UpdateAddress } from './schema.ts'
import * as sql from './sql.ts'
import { toAddress } from './view.ts'

export { RENEWAL_PRICE } from './sql.ts'

const QUOTA = 'addresses'
/** From past due to unassigned. */
export const GRACE = '24h'

export async function reserveAddress(
  tx: Tx,
  deps: Deps,
  accountId: string,
  { regionId, name }: ReserveAddress,
  dryRun = false,
): Promise<Address | DryRunResult<Quote>> {
  const now = deps.clock.now()
  const { currency } = deps.config
  const region = await getRegion(tx, regionId)
  if (!region.available) throw apiError('unavailable', `Region ${region.slug} takes nothing new at the moment`)
  const price = (await catalogNumbers(tx))('price.address')
  await reserveQuota(tx, accountId, QUOTA, 1n)
  await requireFunds(tx, accountId, price, currency)
  const { address, poolId } = await allocateFloatingAddress(tx, now, region)
  const id = newId()
  const period = { startsAt: now, endsAt: nextRenewal(now, now.getUTCDate()) }
  await sql.insertAddress(tx, {
    id,
    account_id: accountId,
    region_id: region.id,
    name: name ?? address,
    address,
    pool_id: poolId,
    renewal_day: now.getUTCDate(),
    period_started_at: period.startsAt,
    period_price_cents: price,
    next_renewal_at: period.endsAt,
    created_at: now,
  })
  const shown = await recordAddressEvent(tx, deps, id, 'address.reserved')
  const entry = { type: 'ADDRESS_CHARGE', description: `First month of ${address}`, ...referenceTo(id), currency } as const
  const paid = await charge(tx, now, accountId, price, entry)
  await sql.insertPeriod(tx, id, period, paid.id)
  if (dryRun) return new DryRunResult(toQuote(currency, { charge: price, monthly: price, balanceAfter: paid.balance_after_cents }))
  return shown
}

const referenceTo = (id: string) => ({ referenceType: 'ADDRESS', referenceId: id }) as const

export async function listAddresses(db: Queries, accountId: string, filter: sql.AddressFilter, page: PageRequest): Promise<Paged<Address>> {
  const total = await sql.countAddresses(db, accountId, filter)
  return pageOf(page, total, async (range) => (await sql.listAddresses(db, accountId, filter, range)).map(toAddress))
}

export async function getAddress(db: Queries, accountId: string, id: string): Promise<Address> {
  const row = await sql.findAddress(db, accountId, id)
  if (!row) throw notFound('Address')
  return toAddress(row)
}

export async function lockOwnAddress(tx: Tx, accountId: string, id: string): Promise<sql.ShownAddress> {
  const row = await sql.lockAddress(tx, accountId, id)
  if (!row) throw notFound('Address')
  return row
}

export async function updateAddress(tx: Tx, deps: Deps, accountId: string, id: string, change: UpdateAddress): Promise<Address> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, reverseName')
  const now = deps.clock.now()
  const row = await lockOwnAddress(tx, accountId, id)
  if (change.reverseName !== undefined) await setReverseName(tx, deps.config, now, accountId, row.address, change.reverseName)
  await sql.renameAddress(tx, id, change.name ?? row.name, now)
  return getAddress(tx, accountId, id)
}

/** One move at a time: after a failed one too, until no port has the address but its owner's. */
export async function requireIdleAddress(tx: Tx, { id, address, releasing_vm_id }: sql.AddressRow): Promise<void> {
  const run = await openRunOf(tx, id)
  if (run) throw apiError('busy', `The address is being moved: action ${run.label} (${run.id}) is running. Wait until it has ended`)
  if (releasing_vm_id !== null) throw apiError('busy', `The address ${address} is being taken from a VM: try again in a moment`)
}

/** Refunds the unused whole days. */
export async function releaseAddress(
  tx: Tx,
  deps: Deps,
  accountId: string,
  id: string,
  dryRun = false,
): Promise<{ id: string } | DryRunResult<Quote>> {
  const now = deps.clock.now()
  const row = await lockOwnAddress(tx, accountId, id)
  await requireIdleAddress(tx, row)
  if (row.vm_id !== null) throw apiError('in_use', `The address ${row.address} is assigned to a VM: unassign it first`)
  const unused = row.billing_status === 'ACTIVE' ? await unusedOf(tx, now, row) : 0n
  if (dryRun) {
    const balanceAfter = (await balanceOf(tx, accountId)) + unused
    return new DryRunResult(toQuote(deps.config.currency, { charge: -unused, monthly: 0n, balanceAfter }))
  }
  await removeAddress(tx, deps, now, row, null)
  const most = unused > 0n ? await refundable(tx, accountId, id) : 0n
  const amount = unused < most ? unused : most
  if (amount > 0n) {
    const description = `Unused days of ${row.address}`
    await refund(tx, now, accountId, amount, { type: 'ADDRESS_REFUND', description, ...referenceTo(id) })
  }
  return { id }
}

/** Of a locked address that no port has. */
export async function removeAddress(tx: Tx, deps: EventDeps, now: Date, row: sql.ShownAddress, reason: string | null): Promise<void> {
  await releaseQuota(tx, row.account_id, QUOTA, 1n)
  const isLeft = row.left_at !== null && addDuration(row.left_at, LEFT_REST) > now
  await releasePublicIp(tx, now, { address: row.address, poolId: row.pool_id }, isLeft ? LEFT_REST : RELEASED_REST)
  await recordAddressEvent(tx, deps, row.id, 'address.released', { reason })
  await sql.deleteAddress(tx, row.id)
}

async function unusedOf(tx: Tx, now: Date, row: sql.AddressRow): Promise<Cents> {
  if ((await catalogNumbers(tx))('setting.refund_unused_days') === 0n) return 0n
  const all = wholeDaysBetween(row.period_started_at, row.next_renewal_at)
  return all === 0n ? 0n : prorateDown(row.period_price_cents, wholeDaysBetween(now, row.next_renewal_at), all)
}

interface EventDetail {
  actionId?: string | null
  reason?: string | null
}

/** Call it after the change: the event shows the address as it is now. */
export async function recordAddressEvent(
  tx: Tx,
  deps: EventDeps,
  id: string,
  type: keyof typeof addressEvents & EventType,
  { actionId = null, reason = null }: EventDetail = {},
): Promise<Address> {
  const row = await sql.addressById(tx, id)
  if (!row) throw new Error(`BUG: address ${id} is gone while an event is recorded`)
  const address = toAddress(row)
  await recordEvent(tx, deps, { accountId: row.account_id, type, subjectId: id, data: { address, actionId, reason } })
  return address
}

/** Its machine may still run on the unreachable host, with the addresses that it has here too. */
export const onVmEvacuated = (tx: Tx, { clock }: EventDeps, vmId: string): Promise<unknown> => sql.markLeft(tx, clock.now(), vmId)

/** A deleted VM leaves its addresses to its owner. Its ports are gone by then. */
export async function unassignAll(tx: Tx, vm: { id: string; isLeft: boolean }, { clock }: EventDeps): Promise<void> {
  if (vm.isLeft) await sql.markLeft(tx, clock.now(), vm.id)
  for (const { id } of await sql.addressesOfVm(tx, vm.id)) await sql.setOwner(tx, clock.now(), id, null, null)
  await sql.forgetVm(tx, vm.id)
}
