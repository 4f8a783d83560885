import type { SortField } from '../../http/api/schema.ts'
import { json, sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { containing, sortedByAge, sortedByNumber, sortedByText, type SortedRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { openRunAsJson, type OpenRun } from '../../workflow/run-store.ts'
import { selectedBy } from '../labels/service.ts'
import { isSuspended, payerOf } from '../accounts/service.ts'
import { paid, unpaid, type Deadlines, type Period } from '../renewals/service.ts'
import { isStale } from '../vms/service.ts'
import type { VolumeQuery } from './schema.ts'

export type VolumeRow = Row<'volumes'>

export interface ShownVolume extends VolumeRow {
  region_slug: string
  region_name: string
  vm_name: string | null
  renewal_price_cents: bigint
  /** What its snapshots are part of `period_price_cents` with. */
  snapshot_price_cents: bigint
  open_run: OpenRun | null
}

const COPY_PRICE = sql`(select value from catalog_values where name = 'price.copies_gib')`
const isPriced = sql`s.status in ('AVAILABLE', 'RESTORING')`

/** Of the row `v`, with its snapshots. Where these are free they are not read. */
export const RENEWAL_PRICE = sql`(v.size_gib * (select value from catalog_values
  where name = case v.storage when 'LOCAL' then 'price.volume_gib' else 'price.volume_replicated_gib' end)
  + case when ${COPY_PRICE} > 0 then ${COPY_PRICE} * (
    select coalesce(sum(s.counted_gib), 0) from volume_snapshots s where s.volume_id = v.id and ${isPriced}) else 0 end)`

/** The subject of the run is the VM, or a volume that no VM has. */
const shown = sql`${allColumns('volumes', 'v')}, r.slug as region_slug, r.name as region_name, ${RENEWAL_PRICE} as renewal_price_cents,
  (select vm.name from vms vm where vm.id = v.vm_id) as vm_name,
  (select coalesce(sum(s.price_cents), 0)::int8 from volume_snapshots s where s.volume_id = v.id) as snapshot_price_cents,
  case when v.run_id is not null then ${openRunAsJson(sql`coalesce(v.vm_id, v.id)`)} end as open_run`

export type NewVolume = Pick<
  VolumeRow,
  | 'id'
  | 'account_id'
  | 'region_id'
  | 'name'
  | 'labels'
  | 'is_protected'
  | 'size_gib'
  | 'storage'
  | 'host_id'
  | 'storage_id'
  | 'renewal_day'
  | 'period_started_at'
  | 'period_price_cents'
  | 'next_renewal_at'
  | 'created_at'
>

export const insertVolume = (tx: Tx, row: NewVolume) =>
  tx.run(sql`
    insert into volumes (id, account_id, region_id, name, labels, is_protected, size_gib, storage, host_id, storage_id, renewal_day, period_started_at,
      period_price_cents, next_renewal_at, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.region_id}, ${row.name}, ${json(row.labels)}, ${row.is_protected}, ${row.size_gib}, ${row.storage},
      ${row.host_id}, ${row.storage_id}, ${row.renewal_day}, ${row.period_started_at}, ${row.period_price_cents}, ${row.next_renewal_at},
      ${row.created_at}, ${row.created_at})`)

export type VolumeFilter = Omit<VolumeQuery, 'sort'>

const matching = (accountId: string, { regionId, vmId, status, name, labelSelector }: VolumeFilter) => sql`
  v.account_id = ${accountId} and v.deleted_at is null and (${regionId ?? null}::text is null or v.region_id = ${regionId ?? null})
  and (${vmId ?? null}::text is null or v.vm_id = ${vmId ?? null}) and (${status ?? null}::text is null or v.status = ${status ?? null})
  and ${containing(sql`v.name`, name)} ${selectedBy(sql`v.labels`, labelSelector)}`

export type VolumeField = SortField<VolumeQuery>

function sorted(range: SortedRange<VolumeField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`v.id`, range)
    case 'name':
      return sortedByText(sql`v.name`, sql`v.id`, range)
    case 'sizeGiB':
      return sortedByNumber(sql`v.size_gib`, sql`v.id`, range)
    case 'region':
      return sortedByText(sql`r.name`, sql`v.id`, range)
    case 'status':
      return sortedByText(sql`v.status`, sql`v.id`, range)
    case 'priceMonthly':
      return sortedByNumber(RENEWAL_PRICE, sql`v.id`, range)
  }
}

export const countVolumes = async (db: Queries, accountId: string, filter: VolumeFilter): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from volumes v where ${matching(accountId, filter)}`)).count)

export const listVolumes = (db: Queries, accountId: string, filter: VolumeFilter, range: SortedRange<VolumeField>) =>
  db.many<ShownVolume>(sql`
    select ${shown} from volumes v join regions r on r.id = v.region_id where ${matching(accountId, filter)} ${sorted(range)}`)

export const findVolume = (db: Queries, accountId: string, id: string) =>
  db.maybe<ShownVolume>(sql`
    select ${shown} from volumes v join regions r on r.id = v.region_id where v.id = ${id} and v.account_id = ${accountId} and v.deleted_at is null`)

export const volumeById = (db: Queries, id: string) =>
  db.maybe<ShownVolume>(sql`select ${shown} from volumes v join regions r on r.id = v.region_id where v.id = ${id}`)

/** Locks nothing of another account, whose transactions would wait. */
export const lockVolume = async (tx: Tx, accountId: string, id: string): Promise<ShownVolume | undefined> => {
  // Pipelined in order: the second statement reads the row under the lock.
  const lock = tx.run(sql`select 1 from volumes where id = ${id} and account_id = ${accountId} for update`)
  const [, row] = await Promise.all([lock, findVolume(tx, accountId, id)])
  return row
}

export const lockVolumeById = async (tx: Tx, id: string): Promise<ShownVolume | undefined> => {
  const [, row] = await Promise.all([tx.run(sql`select 1 from volumes where id = ${id} for update`), volumeById(tx, id)])
  return row
}

export const describeVolume = (
  tx: Tx,
  now: Date,
  id: string,
  { name, labels, is_protected }: Pick<VolumeRow, 'name' | 'labels' | 'is_protected'>,
) =>
  tx.run(sql`
    update volumes set name = ${name}, labels = ${json(labels)}, is_protected = ${is_protected}, updated_at = ${now} where id = ${id}`)

export const setSize = (tx: Tx, now: Date, id: string, size: { sizeGiB: number; periodPriceCents: bigint; runId: string | null }) =>
  tx.run(sql`
    update volumes set size_gib = ${size.sizeGiB}, period_price_cents = ${size.periodPriceCents}, run_id = ${size.runId}, updated_at = ${now}
    where id = ${id}`)

export const beginRun = (tx: Tx, now: Date, id: string, runId: string) =>
  tx.run(sql`update volumes set run_id = ${runId}, updated_at = ${now} where id = ${id}`)

export const endRun = (tx: Tx, now: Date, id: string) => tx.run(sql`update volumes set run_id = null, updated_at = ${now} where id = ${id}`)

export const beginAttach = (tx: Tx, now: Date, id: string, vm: { id: string; hostId: string }, runId: string) =>
  tx.run(sql`
    update volumes set vm_id = ${vm.id}, vm_host_id = ${vm.hostId}, status = 'ATTACHING', run_id = ${runId}, has_data = true, left_vm_id = null,
      left_host_id = null, updated_at = ${now}
    where id = ${id}`)

export const beginDetach = (tx: Tx, now: Date, id: string, runId: string) =>
  tx.run(sql`update volumes set status = 'DETACHING', run_id = ${runId}, updated_at = ${now} where id = ${id}`)

export const markAttached = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update volumes set status = 'ATTACHED', run_id = null, updated_at = ${now} where id = ${id}`)

/** `left`: the machine that may still have it. */
export const markDetached = (tx: Tx, now: Date, id: string, left: { vmId: string; hostId: string } | null = null) =>
  tx.run(sql`
    update volumes set vm_id = null, vm_host_id = null, status = 'AVAILABLE', run_id = null, left_vm_id = ${left?.vmId ?? null},
      left_host_id = ${left?.hostId ?? null}, updated_at = ${now}
    where id = ${id}`)

export const forgetData = (tx: Tx, id: string) => tx.run(sql`update volumes set has_data = false where id = ${id}`)

/** Of a VM whose machine is gone. `leftHostId`: but for one there, which may still write to those in storage backends. */
export const detachAll = (tx: Tx, now: Date, vmId: string, leftHostId: string | null) =>
  tx.run(sql`
    update volumes set vm_id = null, vm_host_id = null, status = 'AVAILABLE', run_id = null, updated_at = ${now},
      left_vm_id = case when ${leftHostId}::text is not null and storage_id is not null then ${vmId} end,
      left_host_id = case when storage_id is not null then ${leftHostId}::text end
    where vm_id = ${vmId}`)

/** A machine that may still write to it is on its host until a reconciler has put that right. */
export const isLeft = async (db: Queries, { left_vm_id, left_host_id }: VolumeRow): Promise<boolean> =>
  left_vm_id !== null && (await db.one<{ stale: boolean }>(sql`select ${isStale(sql`${left_vm_id}`, sql`${left_host_id}`)} as stale`)).stale

export const countOnVm = async (db: Queries, vmId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from volumes where vm_id = ${vmId}`)).count

/** By name: those of the account that a volume of this host can be attached to. */
export const vmsOn = async (db: Queries, accountId: string, hostId: string): Promise<string[]> =>
  (
    await db.many<{ name: string }>(
      sql`select name from vms where account_id = ${accountId} and host_id = ${hostId} order by name, id limit 5`,
    )
  ).map(({ name }) => name)

export const hostsOf = async (db: Queries, accountId: string): Promise<Set<string>> =>
  new Set(
    (
      await db.many<{ host_id: string }>(
        sql`select distinct h.id as host_id from vms v join hosts h on h.id = v.host_id where v.account_id = ${accountId} order by 1`,
      )
    ).map(({ host_id }) => host_id),
  )

export const isOwnerSuspended = async (db: Queries, accountId: string): Promise<boolean> =>
  (await db.one<{ suspended: boolean }>(sql`select ${isSuspended(sql`${accountId}`)} as suspended`)).suspended

/** Of a volume of the account that is not deleted. */
export const findOwnSnapshot = (db: Queries, accountId: string, id: string) =>
  db.maybe<
    Pick<VolumeRow, 'host_id' | 'storage_id' | 'storage' | 'region_id'> & { volume_id: string; status: string; size_gib: number }
  >(sql`
    select s.volume_id, s.status, s.size_gib, v.host_id, v.storage_id, v.storage, v.region_id
    from volume_snapshots s join volumes v on v.id = s.volume_id where s.id = ${id} and v.account_id = ${accountId} and v.deleted_at is null`)

export const beginMaking = (tx: Tx, id: string, runId: string) =>
  tx.run(sql`update volumes set run_id = ${runId}, has_data = true where id = ${id}`)

/** Never one that was used before. */
export const nextGeneration = async (tx: Tx, id: string): Promise<number> =>
  (
    await tx.one<{ generation: number }>(
      sql`update volumes set last_generation = last_generation + 1 where id = ${id} returning last_generation as generation`,
    )
  ).generation

export const setGeneration = (tx: Tx, now: Date, id: string, generation: number) =>
  tx.run(sql`update volumes set generation = ${generation}, updated_at = ${now} where id = ${id}`)

export const addPeriodPrice = (tx: Tx, id: string, cents: bigint) =>
  tx.run(sql`update volumes set period_price_cents = period_price_cents + ${cents} where id = ${id}`)

/** A renewal pays for the snapshots that exist, at the price of today. */
export const setSnapshotPrices = (tx: Tx, id: string) =>
  tx.run(
    sql`update volume_snapshots s set price_cents = case when ${isPriced} then s.counted_gib * ${COPY_PRICE} else 0 end where s.volume_id = ${id}`,
  )

/** They go with their volume, and have its room until then. Returns what they take. */
export const deleteSnapshotsOf = async (tx: Tx, id: string): Promise<number> =>
  (
    await tx.many<{ counted_gib: number }>(sql`
    update volume_snapshots set status = 'DELETING' where volume_id = ${id} returning counted_gib`)
  ).reduce((sum, row) => sum + row.counted_gib, 0)

export const snapshotGib = async (tx: Tx, id: string): Promise<number> =>
  (await tx.one<{ gib: number }>(sql`select coalesce(sum(counted_gib), 0)::int as gib from volume_snapshots where volume_id = ${id}`)).gib

export const volumesOn = (db: Queries, hostId: string) =>
  db.many<Pick<VolumeRow, 'id' | 'name' | 'vm_id'>>(
    sql`select id, name, vm_id from volumes where host_id = ${hostId} and deleted_at is null order by id`,
  )

export const markDeleted = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update volumes set deleted_at = ${now}, updated_at = ${now} where id = ${id}`)

/** The ledger goes on naming it. */
export const deleteVolume = (tx: Tx, id: string) =>
  tx.run(sql`
    with gone as (delete from volumes where id = ${id} returning id, account_id, name, labels)
    insert into deleted_resources (id, account_id, type, name, labels) select id, account_id, 'VOLUME', name, labels from gone on conflict do nothing`)

/** Hosts and storage backends that have data of deleted volumes. */
export const placesToPurge = async (db: Queries): Promise<string[]> =>
  (
    await db.many<{ place: string }>(sql`
      select place from (select distinct coalesce(host_id, storage_id, '') as place from volumes where deleted_at is not null) p order by place`)
  ).map(({ place }) => place)

export const deletedIn = (db: Queries, place: string) =>
  db.many<Pick<VolumeRow, 'id' | 'generation' | 'host_id' | 'storage_id'> & { snapshot_ids: NotNull<string[]> }>(sql`
    select id, generation, host_id, storage_id, array(select s.id from volume_snapshots s where s.volume_id = v.id order by s.id) as snapshot_ids
    from volumes v where deleted_at is not null and (host_id = ${place} or storage_id = ${place}) order by deleted_at, id limit 200`)

/** Its price may change back. Any other action leaves the bill alone, so that nobody puts it off by one after another. */
export const isGrowing = ({ run_id, status }: VolumeRow): boolean => run_id !== null && status === 'ATTACHED'

/**
 * Unpaid ones only where the balance covers them now, or a deadline has passed. Those of a removed host are out of reach, and cost nothing.
 * Suspended ones last: where they cannot be taken from their VMs they are due again and again.
 */
export const dueVolumes = (db: Queries, { now, graceOver, retentionOver }: Deadlines) =>
  db.many<{ id: string }>(sql`
    select v.id from volumes v left join wallets w on w.account_id = ${payerOf(sql`v.account_id`)}
    where v.next_renewal_at <= ${now} and v.deleted_at is null and (v.run_id is null or v.status <> 'ATTACHED') and not ${isSuspended(sql`v.account_id`)}
      and not exists (select from hosts h where h.id = v.host_id and h.removed_at is not null)
      and (v.billing_status = 'ACTIVE' or coalesce(w.balance_cents, 0) >= ${RENEWAL_PRICE}
        or (v.billing_status = 'PAST_DUE' and v.past_due_at <= ${graceOver})
        or (v.billing_status = 'SUSPENDED' and (v.vm_id is not null or v.past_due_at <= ${retentionOver})))
    order by v.billing_status = 'SUSPENDED', v.next_renewal_at, v.id limit 500`)

export const setPeriod = (tx: Tx, now: Date, id: string, period: Period) =>
  tx.run(sql`update volumes set ${paid(now, period)} where id = ${id}`)

export const insertPeriod = (tx: Tx, id: string, { startsAt, endsAt }: Period, transactionId: string) =>
  tx.run(sql`
    insert into volume_periods (volume_id, started_at, ends_at, transaction_id) values (${id}, ${startsAt}, ${endsAt}, ${transactionId})`)

export const markUnpaid = (tx: Tx, now: Date, id: string, status: 'PAST_DUE' | 'SUSPENDED') =>
  tx.run(sql`update volumes set ${unpaid(now, status)} where id = ${id}`)
