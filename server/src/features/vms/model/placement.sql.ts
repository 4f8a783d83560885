// Where a VM is: its host, its addresses and its shelf.
import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { isOpen } from '../../../workflow/run-store.ts'
import { recordAddressesOfVm } from '../../address-history/service.ts'
import type { VmRow } from './rows.ts'

export async function clearPlacement(tx: Tx, now: Date, id: string): Promise<void> {
  await tx.run(sql`
    update vms set host_id = null, storage_id = null, ip_address = null, address_pool_id = null, ipv6_address = null, ipv6_prefix = null, ipv6_pool_id = null, mac = null,
      billing_status = 'CANCELLED', updated_at = ${now}
    where id = ${id}`)
  await recordAddressesOfVm(tx, now, id)
}

type PlaceColumns = Pick<
  VmRow,
  'host_id' | 'storage_id' | 'ip_address' | 'address_pool_id' | 'mac' | 'ipv6_address' | 'ipv6_prefix' | 'ipv6_pool_id'
>

const placeColumns = (place: PlaceColumns): Sql => sql`
  host_id = ${place.host_id}, storage_id = ${place.storage_id ?? null}, ip_address = ${place.ip_address}, address_pool_id = ${place.address_pool_id}, mac = ${place.mac},
  ipv6_address = ${place.ipv6_address ?? null}, ipv6_prefix = ${place.ipv6_prefix ?? null}, ipv6_pool_id = ${place.ipv6_pool_id ?? null}`

export async function assignPlacement(
  tx: Tx,
  now: Date,
  id: string,
  place: PlaceColumns & Pick<VmRow, 'next_renewal_at' | 'period_price_cents'>,
): Promise<void> {
  await tx.run(sql`
    update vms set ${placeColumns(place)},
      generation = last_generation + 1, last_generation = last_generation + 1,
      billing_status = 'ACTIVE', throttled_at = null, bandwidth_pack_bytes = 0, bandwidth_withheld_bytes = 0,
      renewal_day = extract(day from ${now}::timestamptz at time zone 'UTC'), period_started_at = ${now},
      period_price_cents = ${place.period_price_cents}, next_renewal_at = ${place.next_renewal_at}, updated_at = ${now},
      daily_backup_paid_until = case when daily_backup then ${place.next_renewal_at}::timestamptz end,
      network_10g_paid_until = case when network_10g then ${place.next_renewal_at}::timestamptz end
    where id = ${id}`)
  await recordAddressesOfVm(tx, now, id)
}

/** Does not start a new billing period: an evacuated VM is already paid. */
export async function setPlacement(tx: Tx, now: Date, id: string, place: PlaceColumns): Promise<void> {
  await tx.run(sql`update vms set ${placeColumns(place)}, updated_at = ${now} where id = ${id}`)
  await recordAddressesOfVm(tx, now, id)
}

/** Of a VM that keeps its addresses. */
export const setHost = (tx: Tx, now: Date, id: string, hostId: string) =>
  tx.run(sql`update vms set host_id = ${hostId}, updated_at = ${now} where id = ${id}`)

export interface ShelfTerms {
  creditCents: bigint
  /** Of the period before it was shelved. */
  priceCents: bigint
  periodPriceCents: bigint
}

/** It leaves its host and keeps its addresses, and a disk in a storage backend. */
export const markShelved = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update vms set host_id = null, shelved_at = ${now}, updated_at = ${now} where id = ${id}`)

export const setShelfTerms = (tx: Tx, id: string, { creditCents, priceCents, periodPriceCents }: ShelfTerms) =>
  tx.run(sql`
    update vms set shelved_credit_cents = ${creditCents}, shelved_price_cents = ${priceCents}, period_price_cents = ${periodPriceCents}
    where id = ${id}`)

export interface OffShelf {
  hostId: string | null
  generation: number
  periodPriceCents: bigint
  bandwidthWithheldBytes: bigint
}

/** Of one that is being unshelved, or stays shelved after that has failed. */
export const setOffShelf = (tx: Tx, now: Date, id: string, { hostId, generation, periodPriceCents, bandwidthWithheldBytes }: OffShelf) =>
  tx.run(sql`
    update vms set host_id = ${hostId}, generation = ${generation}, period_price_cents = ${periodPriceCents},
      bandwidth_withheld_bytes = ${bandwidthWithheldBytes}, updated_at = ${now}
    where id = ${id}`)

/** Hosts that serve its addresses, and on which nothing of it is about to be removed. */
export const hostsForShelved = async (db: Queries, vm: WithAddresses): Promise<Set<string>> =>
  new Set(
    (
      await db.many<{ id: string }>(sql`
        select h.id from hosts h where ${serves(vm)} and not exists (select from stale_machines l where l.host_id = h.id and l.vm_id = ${vm.id})`)
    ).map(({ id }) => id),
  )

type WithAddresses = Pick<VmRow, 'id' | 'region_id' | 'address_pool_id' | 'ipv6_pool_id'>

const serves = (vm: WithAddresses): Sql => sql`
  h.region_id = ${vm.region_id} and h.removed_at is null
  and not exists (select from address_pools p where p.id in (${vm.address_pool_id}, ${vm.ipv6_pool_id}) and p.host_id <> h.id)`

/** By a host that may not be ready for the VM. */
export const isServed = async (db: Queries, vm: WithAddresses): Promise<boolean> =>
  (await db.maybe(sql`select from hosts h where ${serves(vm)} limit 1`)) !== undefined

/** The machine on that host is to have them. A VM with volumes on its host is not shelved. */
export const takeVolumesTo = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  tx.run(sql`update volumes set vm_host_id = ${hostId}, updated_at = ${now} where vm_id = ${vmId}`)

export const markUnshelved = (tx: Tx, id: string) =>
  tx.run(sql`update vms set shelved_at = null, shelved_credit_cents = null, shelved_price_cents = null where id = ${id}`)

/** Copies of the VM that are files on its host, and volumes of the account that are. */
export const countLocalFiles = (db: Queries, id: string) =>
  db.one<{ snapshots: number; volumes: string[] }>(sql`
    select (select count(*)::int from snapshots where vm_id = ${id} and storage_id is null and status <> 'FAILED') as snapshots,
      array(select name from volumes where vm_id = ${id} and storage_id is null order by name) as volumes`)

const isStoredOnHost = sql`host_id is not null and status not in ('DELETING', 'FAILED')`

/** Hosts that store backups of the VM, as far as those are on hosts. */
export const hostsWithBackups = async (db: Queries, id: string): Promise<Set<string>> =>
  new Set(
    (await db.many<{ host_id: NotNull<string> }>(sql`select distinct host_id from backups where vm_id = ${id} and ${isStoredOnHost}`)).map(
      ({ host_id }) => host_id,
    ),
  )

const isMove = sql`r.name in ('vm.migrate', 'vm.resize_elsewhere')`

/** Where the VM is being migrated to. */
export const findDestination = async (db: Queries, id: string): Promise<string | undefined> =>
  (
    await db.maybe<{ host_id: string }>(sql`
      select h.id as host_id from workflow_runs r join hosts h on h.id = r.input ->> 'destinationId'
      where r.subject_id = ${id} and ${isMove} and ${isOpen} order by r.id desc limit 1`)
  )?.host_id

/** Where VMs are being migrated to while they run. */
export const findDestinations = (db: Queries, ids: string[]) =>
  db.many<{ vm_id: string; hostname: string }>(sql`
    select v.id as vm_id, h.hostname from workflow_runs r join vms v on v.id = r.subject_id join hosts h on h.id = r.input ->> 'destinationId'
    where r.subject_id = any(${ids}::text[]) and ${isMove} and ${isOpen} and r.input @> '{"isOn": true}' and v.host_id <> h.id`)

export async function setIpv6(
  tx: Tx,
  now: Date,
  id: string,
  { ipv6_address, ipv6_prefix, ipv6_pool_id }: Pick<PlaceColumns, 'ipv6_address' | 'ipv6_prefix' | 'ipv6_pool_id'>,
): Promise<void> {
  await tx.run(
    sql`update vms set ipv6_address = ${ipv6_address}, ipv6_prefix = ${ipv6_prefix}, ipv6_pool_id = ${ipv6_pool_id} where id = ${id}`,
  )
  await recordAddressesOfVm(tx, now, id)
}
