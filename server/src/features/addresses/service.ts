// Public addresses of an account that move between its VMs. Lock order: VMs, address, ports, quota, event log, wallet.
import { DryRunResult } from '../../http/api/api.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import { addressKey, moneyKey, sortedPageOf, textKey, type Keys } from '../../http/api/sorted-list.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { ApiError, apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import { requireSelected } from '../budgets/service.ts'
import { catalogNumbers, getRegion } from '../catalog/service.ts'
import type { Deps, EventDeps } from '../deps.ts'
import type { EventType } from '../events/schema.ts'
import { recordEvent } from '../events/service.ts'
import { allocateFloatingAddress, LEFT_REST, releasePublicIp, RELEASED_REST } from '../hosts/public-addresses.ts'
import { firstPeriod, quoteRemoval, refundUnused, unusedDays } from '../renewals/service.ts'
import { setReverseName } from '../reverse-names/service.ts'
import { charge, type Quote, requireFunds, toQuote } from '../wallet/service.ts'
import type { Address, addressEvents, AddressQuery, ReserveAddress, UpdateAddress } from './schema.ts'
import * as sql from './sql.ts'
import { toAddress } from './view.ts'

export { RENEWAL_PRICE } from './sql.ts'

const QUOTA = 'addresses'

export async function reserveAddress(
  tx: Tx,
  deps: Deps,
  accountId: string,
  { regionId, name, labels = {} }: ReserveAddress,
  dryRun = false,
): Promise<Address | DryRunResult<Quote>> {
  const now = deps.clock.now()
  const { currency } = deps.config
  const region = await getRegion(tx, regionId)
  if (!region.available) throw apiError('unavailable', `Region ${region.slug} takes nothing new at the moment`)
  const price = (await catalogNumbers(tx))('price.address')
  await reserveAddressQuota(tx, now, accountId)
  await requireFunds(tx, now, accountId, price, currency)
  const { address, poolId } = await allocateFloatingAddress(tx, now, region)
  const id = newId()
  const period = firstPeriod(now, price)
  await sql.insertAddress(tx, {
    id,
    account_id: accountId,
    region_id: region.id,
    name: name ?? address,
    labels,
    address,
    pool_id: poolId,
    renewal_day: period.renewalDay,
    period_started_at: period.startsAt,
    period_price_cents: price,
    next_renewal_at: period.endsAt,
    created_at: now,
  })
  const shown = await recordAddressEvent(tx, deps, id, 'address.reserved')
  const entry = { type: 'ADDRESS_CHARGE', description: `First month of ${address}`, ...referenceTo(id), currency } as const
  const paid = await charge(tx, now, accountId, price, entry)
  await sql.insertPeriod(tx, id, period, paid.id)
  if (dryRun) return new DryRunResult(toQuote(tx, currency, { charge: price, monthly: price, balanceAfter: paid.balance_after_cents }))
  return shown
}

/** Also of released addresses that rest: else an account could have every address of a pool rest, one after the other. */
async function reserveAddressQuota(tx: Tx, now: Date, accountId: string): Promise<void> {
  await endRests(tx, now, accountId)
  try {
    await reserveQuota(tx, accountId, QUOTA, 1n)
  } catch (error) {
    const { count, firstUntil } = await sql.restsOf(tx, accountId)
    if (!(error instanceof ApiError) || firstUntil === null) throw error
    const which = `Released ones count until they have rested: ${count} of them, the first until ${firstUntil.toISOString()}`
    throw apiError(error.code, `${error.message}. ${which}`)
  }
}

export async function endRests(tx: Tx, now: Date, accountId: string): Promise<void> {
  const count = await sql.endRests(tx, now, accountId)
  if (count > 0) await releaseQuota(tx, accountId, QUOTA, BigInt(count))
}

const referenceTo = (id: string) => ({ referenceType: 'ADDRESS', referenceId: id }) as const

const SORT_KEYS: Keys<Address, sql.AddressField> = {
  address: addressKey(({ address }) => address),
  name: textKey(({ name }) => name),
  region: textKey(({ region }) => region.name),
  priceMonthly: moneyKey(({ billing }) => billing.priceMonthly),
}

export const listAddresses = (
  db: Queries,
  accountId: string,
  { sort, ...filter }: AddressQuery,
  page: PageRequest,
): Promise<Paged<Address>> =>
  sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => sql.countAddresses(db, accountId, filter),
    async (range) => (await sql.listAddresses(db, accountId, filter, range)).map(toAddress),
  )

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
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, labels, reverseName')
  const now = deps.clock.now()
  const row = await lockOwnAddress(tx, accountId, id)
  if (change.reverseName !== undefined) await setReverseName(tx, deps.config, now, accountId, row.address, change.reverseName)
  if (change.labels !== undefined) await requireSelected(tx, now, accountId, id) // as it was: nobody with a budget labels nothing into it
  await sql.describeAddress(tx, { id, name: change.name ?? row.name, labels: change.labels ?? row.labels }, now)
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
  const unused = await unusedDays(tx, now, row)
  if (dryRun) return quoteRemoval(tx, deps, accountId, unused)
  await removeAddress(tx, deps, now, row, null)
  await refundUnused(tx, now, row, unused, { type: 'ADDRESS_REFUND', what: row.address, referenceType: 'ADDRESS' })
  return { id }
}

/** Of a locked address that no port has. It counts against the quota until its rest is over. */
export async function removeAddress(tx: Tx, deps: EventDeps, now: Date, row: sql.ShownAddress, reason: string | null): Promise<void> {
  const isLeft = row.left_at !== null && addDuration(row.left_at, LEFT_REST) > now
  const taken = { address: row.address, poolId: row.pool_id }
  await releasePublicIp(tx, now, taken, isLeft ? LEFT_REST : RELEASED_REST, { account_id: row.account_id })
  await recordAddressEvent(tx, deps, row.id, 'address.released', { reason })
  await sql.deleteAddress(tx, row.id)
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
export const onVmEvacuated = (tx: Tx, { clock }: EventDeps, vmId: string, { hostId }: { hostId: string }): Promise<unknown> =>
  sql.markLeft(tx, clock.now(), vmId, hostId)

/** A deleted VM leaves its addresses to its owner. Its ports are gone by then. */
export async function unassignAll(
  tx: Tx,
  vm: { id: string; host_id: string | null; isLeft: boolean },
  { clock }: EventDeps,
): Promise<void> {
  if (vm.isLeft) await sql.markLeft(tx, clock.now(), vm.id, vm.host_id!)
  for (const { id } of await sql.addressesOfVm(tx, vm.id)) await sql.setOwner(tx, clock.now(), id, null, null)
  await sql.forgetVm(tx, clock.now(), vm.id)
}
