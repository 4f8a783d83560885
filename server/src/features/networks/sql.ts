import type { ListedNetwork } from '../../hypervisor/network-controller.ts'
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
import { selectedBy, type Labels } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { NetworkQuery } from './schema.ts'

export type NetworkRow = Row<'networks'>

export type CountedRow = NetworkRow & { attachment_count: number }

export type NewNetwork = Pick<
  NetworkRow,
  'id' | 'account_id' | 'region_id' | 'name' | 'labels' | 'cidr' | 'gateway' | 'enable_snat' | 'snat_address' | 'enable_dhcp' | 'created_at'
>

export type RouteRow = Row<'network_routes'>

export type PeeringRow = Row<'network_peerings'>

/** From the side of one network. */
export interface PeerRow {
  id: string
  created_at: Date
  network_id: string
  name: string
  cidr: string
  gateway: string
}

const countedAttachments = sql`(select count(*)::int from network_attachments a where a.network_id = n.id)`
const attachmentCount = sql`${countedAttachments} as attachment_count`

/** Networks of a region are created one after the other, so that what is free when it is looked for is still free when it is taken. */
export const lockRegion = (tx: Tx, regionId: string) => tx.run(sql`select from regions where id = ${regionId} for no key update`)

export const insertNetwork = (tx: Tx, row: NewNetwork) =>
  tx.one<CountedRow>(sql`
    insert into networks (id, account_id, region_id, name, labels, cidr, gateway, enable_snat, snat_address, enable_dhcp, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.region_id}, ${row.name}, ${json(row.labels)}, ${row.cidr}, ${row.gateway}, ${row.enable_snat},
      ${row.snat_address}, ${row.enable_dhcp}, ${row.created_at}, ${row.created_at})
    returning ${allColumns('networks')}, 0 as attachment_count`)

export const findOverlap = (tx: Tx, accountId: string, regionId: string, cidr: string) =>
  tx.maybe<NetworkRow>(sql`
    select ${allColumns('networks')} from networks
    where account_id = ${accountId} and region_id = ${regionId} and cidr && ${cidr}::inet and deleted_at is null order by id limit 1`)

/** The lowest address between the two that no network of the region has, also none that is still being removed. */
export const nextSnatAddress = (tx: Tx, regionId: string, first: string, last: string) =>
  tx.maybe<{ address: string }>(sql`
    with taken as (select snat_address as address from networks where region_id = ${regionId} and snat_address is not null)
    select host(address) as address from (select ${first}::inet as address union select address + 1 from taken) candidates
    where address between ${first}::inet and ${last}::inet and address not in (select address from taken) order by candidates.address limit 1`)

export type NetworkFilter = Omit<NetworkQuery, 'sort'>

const listed = (accountId: string, { regionId, name, labelSelector }: NetworkFilter) => sql`
  n.account_id = ${accountId} and n.deleted_at is null and (${regionId ?? null}::text is null or n.region_id = ${regionId ?? null})
  and ${containing(sql`n.name`, name)} ${selectedBy(sql`n.labels`, labelSelector)}`

export const countNetworks = async (db: Queries, accountId: string, filter: NetworkFilter): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from networks n where ${listed(accountId, filter)}`)).count)

export type NetworkField = SortField<NetworkQuery>

function sorted(range: SortedRange<NetworkField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`n.id`, range)
    case 'name':
      return sortedByText(sql`n.name`, sql`n.id`, range)
    case 'cidr':
      return sortedByAddress(sql`n.cidr`, sql`n.id`, range)
    case 'region':
      return sortedByText(sql`(select r.name from regions r where r.id = n.region_id)`, sql`n.id`, range)
    case 'attachmentCount':
      return sortedByNumber(countedAttachments, sql`n.id`, range)
  }
}

export const listNetworks = (db: Queries, accountId: string, filter: NetworkFilter, range: SortedRange<NetworkField>) =>
  db.many<CountedRow>(sql`
    select ${allColumns('networks', 'n')}, ${attachmentCount} from networks n where ${listed(accountId, filter)} ${sorted(range)}`)

export const findNetwork = (db: Queries, accountId: string, id: string) =>
  db.maybe<CountedRow>(sql`
    select ${allColumns('networks', 'n')}, ${attachmentCount} from networks n where id = ${id} and account_id = ${accountId} and deleted_at is null`)

export const listAttachments = (db: Queries, id: string) =>
  db.many<{ vmId: string; ipAddress: string }>(sql`
    select vm_id as "vmId", host(address) as "ipAddress" from network_attachments where network_id = ${id} order by address`)

/** What is null stays. */
export const describeNetwork = (tx: Tx, accountId: string, id: string, name: string | null, labels: Labels | null, now: Date) =>
  tx.maybe<CountedRow>(sql`
    update networks n set name = coalesce(${name}, name), labels = coalesce(${labels && json(labels)}::jsonb, labels), updated_at = ${now}
    where id = ${id} and account_id = ${accountId} and deleted_at is null returning ${allColumns('networks', 'n')}, ${attachmentCount}`)

/** A route of the account's networks in the region to a part of that range, or to more. */
export const findRouteInto = (tx: Tx, accountId: string, regionId: string, cidr: string) =>
  tx.maybe<{ destination: string; name: string }>(sql`
    select r.destination, n.name from network_routes r join networks n on n.id = r.network_id
    where n.account_id = ${accountId} and n.region_id = ${regionId} and n.deleted_at is null and r.destination && ${cidr}::inet order by r.id limit 1`)

export const listRoutes = (db: Queries, networkId: string) =>
  db.many<RouteRow>(sql`select ${allColumns('network_routes')} from network_routes where network_id = ${networkId} order by destination`)

export const insertRoute = (tx: Tx, row: RouteRow) =>
  tx.run(sql`
    insert into network_routes (id, network_id, destination, next_hop, created_at)
    values (${row.id}, ${row.network_id}, ${row.destination}, ${row.next_hop}, ${row.created_at})`)

export const deleteRoute = (tx: Tx, networkId: string, id: string) =>
  tx.maybe<RouteRow>(
    sql`delete from network_routes where id = ${id} and network_id = ${networkId} returning ${allColumns('network_routes')}`,
  )

/** Those of a network, with the other one. */
export const listPeers = (db: Queries, networkId: string) =>
  db.many<PeerRow>(sql`
    select p.id, p.created_at, n.id as network_id, n.name, n.cidr, host(n.gateway) as gateway
    from network_peerings p join networks n on n.id = case when p.network_id = ${networkId} then p.peer_id else p.network_id end
    where (p.network_id = ${networkId} or p.peer_id = ${networkId}) and n.gateway is not null order by n.cidr`)

export const insertPeering = (tx: Tx, { id, network_id, peer_id, account_id, region_id, created_at }: PeeringRow) =>
  tx.run(sql`
    insert into network_peerings (id, network_id, peer_id, account_id, region_id, created_at)
    values (${id}, least(${network_id}::text, ${peer_id}::text), greatest(${network_id}::text, ${peer_id}::text), ${account_id}, ${region_id}, ${created_at})`)

export const deletePeerings = (tx: Tx, ids: string[]) => tx.run(sql`delete from network_peerings where id = any(${ids}::text[])`)

/** At most one. */
export const vmsAt = async (tx: Tx, networkId: string, address: string): Promise<string[]> =>
  (
    await tx.many<{ vm_id: string }>(
      sql`select vm_id from network_attachments where network_id = ${networkId} and address = ${address}::inet`,
    )
  ).map((row) => row.vm_id)

/** In a fixed order, so that concurrent requests for the same networks do not deadlock. */
export const lockNetworks = (tx: Tx, accountId: string, ids: string[]) =>
  tx.many<NetworkRow>(sql`
    select ${allColumns('networks')} from networks where id = any(${ids}::text[]) and account_id = ${accountId} and deleted_at is null order by id for update`)

export const markDeleted = (tx: Tx, id: string, now: Date) => tx.run(sql`update networks set deleted_at = ${now} where id = ${id}`)

export const attachedNames = async (tx: Tx, networkId: string): Promise<string[]> =>
  (
    await tx.many<{ name: string }>(sql`
    select coalesce(v.name, a.vm_id) as name from network_attachments a left join vms v on v.id = a.vm_id
    where a.network_id = ${networkId} order by a.number`)
  ).map((row) => row.name)

const pending = (now: Date) => sql`
  (not is_applied or deleted_at is not null) and coalesce(claimed_until, '-infinity') <= ${now} and coalesce(next_try_at, '-infinity') <= ${now}`

export const regionsWithPending = (db: Queries, now: Date) =>
  db.many<{ region_id: string }>(sql`select distinct region_id from networks where ${pending(now)}`)

/** Of the account that is not among those that had their turn, else of the first of them. Its deleted networks first: they free their addresses
 *  outside. */
export const claimPending = (db: Queries, regionId: string, turns: readonly string[], now: Date, until: Date) =>
  db.maybe<NetworkRow>(sql`
    update networks set claimed_until = ${until} where id = (
      select id from networks where region_id = ${regionId} and ${pending(now)}
      order by array_position(${turns}::text[], account_id) nulls first, deleted_at nulls last, updated_at, id limit 1 for update skip locked)
    returning ${allColumns('networks')}`)

/** False without the claim. A change made meanwhile is still to be applied. */
export const markApplied = async (db: Queries, { id, version, claimed_until }: NetworkRow): Promise<boolean> =>
  (await db.run(sql`
    update networks set is_applied = version = ${version}, claimed_until = null, next_try_at = null where id = ${id} and claimed_until = ${claimed_until}`)) >
  0

/** After a call that may have ended later than another one with a newer state. */
export const markUnapplied = (db: Queries, id: string) => db.run(sql`update networks set is_applied = false where id = ${id}`)

/** True if the network is no longer as that row says. */
export const markOutdated = async (db: Queries, { id, version }: NetworkRow): Promise<boolean> =>
  (await db.run(sql`update networks set is_applied = false where id = ${id} and version <> ${version}`)) > 0

export const markChanged = (tx: Tx, id: string, now: Date) =>
  tx.run(sql`update networks set version = version + 1, is_applied = false, next_try_at = null, updated_at = ${now} where id = ${id}`)

export const removeDeleted = (db: Queries, id: string) => db.run(sql`delete from networks where id = ${id} and deleted_at is not null`)

export const postpone = (db: Queries, { id, claimed_until }: NetworkRow, until: Date) =>
  db.run(sql`update networks set claimed_until = null, next_try_at = ${until} where id = ${id} and claimed_until = ${claimed_until}`)

/** Marks networks that the controller of the region lacks, or has in another version, as not applied, except those that are being applied. */
export const markWrong = (db: Queries, now: Date, regionId: string, present: ListedNetwork[]) =>
  db.many<{ id: string }>(sql`
    update networks n set is_applied = false
    where region_id = ${regionId} and is_applied and deleted_at is null and coalesce(claimed_until, '-infinity') <= ${now} and not exists (
      select from jsonb_to_recordset(${json(present)}::jsonb) as p("networkId" text, version int) where p."networkId" = n.id and p.version = n.version)
    returning id`)

/** Those without a row in this region. A row is written before its network is made, and deleted after it was removed. */
export const unknownOf = async (db: Queries, regionId: string, ids: string[]): Promise<string[]> =>
  (
    await db.many<{ id: string }>(sql`
    select id from unnest(${ids}::text[]) as found(id) where not exists (select from networks n where n.id = found.id and n.region_id = ${regionId})`)
  ).map((row) => row.id)
