import { addDuration, parseDurationMs } from '../../kernel/clock.ts'
import type { SortField } from '../../http/api/schema.ts'
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import {
  containing,
  sortedByAddress,
  sortedByAge,
  sortedByNumber,
  sortedByText,
  type SortedRange,
} from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { hasOpenRun, openRunAsJson, type OpenRun } from '../../workflow/run-store.ts'
import { isSuspended, payerOf, payingTogether } from '../accounts/service.ts'
import { recordFloatingAddress } from '../address-history/service.ts'
import { selectedBy } from '../labels/service.ts'
import { LEFT_REST, RELEASED_REST } from '../hosts/public-addresses.ts'
import { paid, unpaid, type Deadlines, type Period } from '../renewals/service.ts'
import { reverseNameAsJson, type ReverseName } from '../reverse-names/service.ts'
import type { AddressQuery } from './schema.ts'

export type AddressRow = Row<'addresses'>

export interface ShownAddress extends AddressRow {
  reverse: ReverseName | null
  region_slug: string
  region_name: string
  renewal_price_cents: bigint
  open_run: OpenRun | null
}

export const RENEWAL_PRICE = sql`(select value from catalog_values where name = 'price.address')`

const shown = sql`${allColumns('addresses', 'a')}, host(a.address) as address, r.slug as region_slug, r.name as region_name,
  ${reverseNameAsJson(sql`a.address`, sql`a.account_id`)} as reverse, ${RENEWAL_PRICE} as renewal_price_cents, ${openRunAsJson(sql`a.id`)} as open_run`

export type NewAddress = Pick<
  AddressRow,
  | 'id'
  | 'account_id'
  | 'region_id'
  | 'name'
  | 'labels'
  | 'address'
  | 'pool_id'
  | 'renewal_day'
  | 'period_started_at'
  | 'period_price_cents'
  | 'next_renewal_at'
  | 'created_at'
>

export const insertAddress = (tx: Tx, row: NewAddress) =>
  tx.run(sql`
    insert into addresses (id, account_id, region_id, name, labels, address, pool_id, renewal_day, period_started_at, period_price_cents, next_renewal_at, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.region_id}, ${row.name}, ${json(row.labels)}, ${row.address}, ${row.pool_id}, ${row.renewal_day}, ${row.period_started_at},
      ${row.period_price_cents}, ${row.next_renewal_at}, ${row.created_at}, ${row.created_at})`)

export type AddressFilter = Omit<AddressQuery, 'sort'>

const matching = (accountId: string, { regionId, vmId, name, labelSelector }: AddressFilter) => sql`
  a.account_id = ${accountId} and (${regionId ?? null}::text is null or a.region_id = ${regionId ?? null}) and (${vmId ?? null}::text is null or a.vm_id = ${vmId ?? null})
  and ${containing(sql`a.name`, name)} ${selectedBy(sql`a.labels`, labelSelector)}`

export type AddressField = SortField<AddressQuery>

function sorted(range: SortedRange<AddressField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`a.id`, range)
    case 'address':
      return sortedByAddress(sql`a.address`, sql`a.id`, range)
    case 'name':
      return sortedByText(sql`a.name`, sql`a.id`, range)
    case 'region':
      return sortedByText(sql`r.name`, sql`a.id`, range)
    case 'priceMonthly':
      return sortedByNumber(RENEWAL_PRICE, sql`a.id`, range)
  }
}

export const countAddresses = async (db: Queries, accountId: string, filter: AddressFilter): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from addresses a where ${matching(accountId, filter)}`)).count)

export const listAddresses = (db: Queries, accountId: string, filter: AddressFilter, range: SortedRange<AddressField>) =>
  db.many<ShownAddress>(sql`
    select ${shown} from addresses a join regions r on r.id = a.region_id where ${matching(accountId, filter)} ${sorted(range)}`)

export const findAddress = (db: Queries, accountId: string, id: string) =>
  db.maybe<ShownAddress>(sql`
    select ${shown} from addresses a join regions r on r.id = a.region_id where a.id = ${id} and a.account_id = ${accountId}`)

export const addressById = (db: Queries, id: string) =>
  db.maybe<ShownAddress>(sql`select ${shown} from addresses a join regions r on r.id = a.region_id where a.id = ${id}`)

/** Locks nothing of another account, whose transactions would wait. */
export const lockAddress = async (tx: Tx, accountId: string, id: string): Promise<ShownAddress | undefined> => {
  // Pipelined in order: the second statement reads the row under the lock.
  const lock = tx.run(sql`select 1 from addresses where id = ${id} and account_id = ${accountId} for update`)
  const [, row] = await Promise.all([lock, findAddress(tx, accountId, id)])
  return row
}

export const lockAddressById = async (tx: Tx, id: string): Promise<ShownAddress | undefined> => {
  const [, row] = await Promise.all([tx.run(sql`select 1 from addresses where id = ${id} for update`), addressById(tx, id)])
  return row
}

export const describeAddress = (tx: Tx, { id, name, labels }: Pick<AddressRow, 'id' | 'name' | 'labels'>, now: Date) =>
  tx.run(sql`update addresses set name = ${name}, labels = ${json(labels)}, updated_at = ${now} where id = ${id}`)

/** The port of the VM that had it must lose it before that of the new one gets it. */
export async function setOwner(tx: Tx, now: Date, id: string, vmId: string | null, releasingVmId: string | null): Promise<void> {
  await tx.run(sql`
    update addresses set vm_id = ${vmId}, releasing_vm_id = ${releasingVmId}, guest_state = ${vmId === null ? null : 'PENDING'}, guest_reason = null,
      guest_due_at = null, updated_at = ${now} where id = ${id}`)
  await recordFloatingAddress(tx, now, id)
}

/** False when it has been claimed by a newer assignment. */
export async function markReleased(tx: Tx, now: Date, id: string, releasingVmId: string): Promise<boolean> {
  const marked = await tx.run(sql`update addresses set releasing_vm_id = null where id = ${id} and releasing_vm_id = ${releasingVmId}`)
  if (marked > 0) await recordFloatingAddress(tx, now, id)
  return marked > 0
}

/** Those whose move was interrupted for good. */
export const unreleased = (db: Queries) =>
  db.many<Pick<AddressRow, 'id' | 'vm_id' | 'releasing_vm_id'>>(sql`
    select id, vm_id, releasing_vm_id from addresses a where releasing_vm_id is not null and not ${hasOpenRun(sql`a.id`)} order by id limit 500`)

export type DueGuest = Pick<AddressRow, 'id' | 'guest_reason'> & { payer_id: string; vm_id: string }

/** Round robin by payer, those that have not been silent first. */
export const dueGuests = (db: Queries, now: Date) =>
  db.many<DueGuest>(sql`
    select a.id, y.payer_id, a.guest_reason, v.id as vm_id
    from addresses a join vms v on v.id = a.vm_id cross join lateral (select ${payerOf(sql`a.account_id`)} as payer_id) y
    where a.guest_due_at <= ${now} and a.releasing_vm_id is null
    order by row_number() over (partition by y.payer_id order by a.guest_reason is not null, a.guest_due_at, a.id), a.guest_due_at, a.id limit 500`)

export interface GuestOutcome {
  state: AddressRow['guest_state']
  reason: string | null
  /** When to look again; null: when the guest has booted. */
  dueAt: Date | null
}

/** Nothing if it has moved meanwhile. */
export const setGuestState = (db: Queries, now: Date, id: string, vmId: string, { state, reason, dueAt }: GuestOutcome) =>
  db.run(sql`
    update addresses set guest_state = ${state}, guest_reason = ${reason}, guest_due_at = ${dueAt},
      updated_at = case when guest_state = ${state} then updated_at else ${now}::timestamptz end where id = ${id} and vm_id = ${vmId}`)

export const addressesOfVm = (tx: Tx, vmId: string) =>
  tx.many<{ id: string }>(sql`select id from addresses where vm_id = ${vmId} order by id for update`)

/** Those that the port of the VM may still have on the host, which did not confirm that it has lost them. */
export const markUnconfirmed = (db: Queries, now: Date, vmId: string, hostId: string) =>
  db.run(leave(now, vmId, hostId, sql`releasing_vm_id = ${vmId}`))

/** Also those that it has. */
export const markLeft = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  tx.run(leave(now, vmId, hostId, sql`vm_id = ${vmId} or releasing_vm_id = ${vmId}`))

const leave = (now: Date, vmId: string, hostId: string, which: Sql): Sql => sql`
  with gone as (update addresses set left_at = ${now} where ${which} returning address)
  insert into unconfirmed_releases (address, vm_id, host_id) select address, ${vmId}, ${hostId} from gone on conflict do nothing`

/**
 * Ends what waits for a host that has confirmed: the VM's ports as they are now are in force there, or its machine is gone from there. While
 * an action of the VM runs neither is known: an evacuation records the machine that it left when it has ended. A host that was removed
 * from the fleet confirms nothing.
 */
export async function confirmReleases(tx: Tx, now: Date): Promise<void> {
  const confirmed = await tx.many<{ address: string }>(sql`
    delete from unconfirmed_releases u using hosts h
    where h.id = u.host_id and h.removed_at is null and not ${hasOpenRun(sql`u.vm_id`)}
      and not exists (select from stale_machines s where s.host_id = u.host_id and s.vm_id = u.vm_id)
      and not exists (select from vm_ports p where p.vm_id = u.vm_id and p.host_id = u.host_id
        and not (p.is_managed and p.applied_version is not distinct from p.desired_version))
      and not exists (select from addresses a where a.address = u.address and a.releasing_vm_id = u.vm_id)
    returning host(u.address) as address`)
  if (confirmed.length === 0) return
  const isConfirmed = sql`address = any(${confirmed.map(({ address }) => address)}::inet[]) and not exists (
    select from unconfirmed_releases u where u.address = outer_row.address)`
  await tx.run(sql`update addresses outer_row set left_at = null where ${isConfirmed}`)
  const shorterByMs = parseDurationMs(LEFT_REST) - parseDurationMs(RELEASED_REST)
  await tx.run(sql`
    update free_addresses outer_row set available_at = greatest(${now}, available_at - ${shorterByMs}::int8 * interval '1 millisecond')
    where ${isConfirmed} and available_at > ${addDuration(now, RELEASED_REST)}`)
}

export const accountsWithRestsOver = (db: Queries, now: Date) =>
  db.many<{ id: string }>(sql`
    select distinct a.id from free_addresses f join accounts a on a.id = f.account_id where f.available_at <= ${now} order by 1 limit 500`)

/** Returns how many count no longer. */
export const endRests = (tx: Tx, now: Date, accountId: string): Promise<number> =>
  tx.run(sql`
    with over as (select address from free_addresses where account_id = ${accountId} and available_at <= ${now} order by address for update),
      forgotten as (delete from unconfirmed_releases where address in (select address from over))
    update free_addresses set account_id = null where address in (select address from over)`)

export const restsOf = (db: Queries, accountId: string) =>
  db.one<{ count: bigint; firstUntil: Date | null }>(sql`
    select count(*), min(available_at) as "firstUntil" from free_addresses where account_id in ${payingTogether(sql`${accountId}`)}`)

/** Its ports are gone. */
export async function forgetVm(tx: Tx, now: Date, vmId: string): Promise<void> {
  const forgotten = await tx.many<{ id: string }>(
    sql`update addresses set releasing_vm_id = null where releasing_vm_id = ${vmId} returning id`,
  )
  for (const { id } of forgotten) await recordFloatingAddress(tx, now, id)
}

/** The ledger goes on naming it. */
export const deleteAddress = (tx: Tx, id: string) =>
  tx.run(sql`
    with gone as (delete from addresses where id = ${id} returning id, account_id, name, labels)
    insert into deleted_resources (id, account_id, type, name, labels) select id, account_id, 'ADDRESS', name, labels from gone on conflict do nothing`)

/** Unpaid ones only where the balance covers them now, or a deadline has passed. Suspended ones last: on a lost host they are due again and again. */
export const dueAddresses = (db: Queries, { now, graceOver, retentionOver }: Deadlines) =>
  db.many<{ id: string }>(sql`
    select a.id from addresses a left join wallets w on w.account_id = ${payerOf(sql`a.account_id`)}
    where a.next_renewal_at <= ${now} and not ${isSuspended(sql`a.account_id`)}
      and (a.billing_status = 'ACTIVE' or coalesce(w.balance_cents, 0) >= ${RENEWAL_PRICE}
        or (a.billing_status = 'PAST_DUE' and a.past_due_at <= ${graceOver})
        or (a.billing_status = 'SUSPENDED' and (a.vm_id is not null or a.past_due_at <= ${retentionOver})))
    order by a.billing_status = 'SUSPENDED', a.next_renewal_at, a.id limit 500`)

export const setPeriod = (tx: Tx, now: Date, id: string, period: Period) =>
  tx.run(sql`update addresses set ${paid(now, period)} where id = ${id}`)

export const insertPeriod = (tx: Tx, id: string, { startsAt, endsAt }: Period, transactionId: string) =>
  tx.run(sql`
    insert into address_periods (address_id, started_at, ends_at, transaction_id) values (${id}, ${startsAt}, ${endsAt}, ${transactionId})`)

export const markUnpaid = (tx: Tx, now: Date, id: string, status: 'PAST_DUE' | 'SUSPENDED') =>
  tx.run(sql`update addresses set ${unpaid(now, status)} where id = ${id}`)
