// The customer's list of VMs: filtered, sorted, page by page.
import type { Paged, PageRequest, SortField } from '../../../http/api/schema.ts'
import { moneyKey, sortedPageOf, textKey, timeKey, type Keys } from '../../../http/api/sorted-list.ts'
import { inline, type Queries, type Sql, sql } from '../../../kernel/database/db.ts'
import {
  containing,
  sortedByAge,
  sortedByNumber,
  sortedByText,
  sortedByTime,
  type PageRange,
  type SortedRange,
} from '../../../kernel/database/page-range.ts'
import { invalid } from '../../../kernel/errors.ts'
import { parseIp } from '../../../kernel/ip-range.ts'
import { findPlan, findRegion } from '../../catalog/service.ts'
import { findFirewall } from '../../firewalls/service.ts'
import { selectedBy } from '../../labels/service.ts'
import { findNetwork } from '../../networks/service.ts'
import type { VmListItem, VmQuery } from '../schema.ts'
import { listColumns } from './read.ts'
import { hasPublicAddress, type VmListRow } from './sql.ts'
import { toVmListItem } from './view.ts'

export async function listVms(db: Queries, accountId: string, { sort, ...query }: VmQuery, page: PageRequest): Promise<Paged<VmListItem>> {
  const filter = await resolveFilter(db, accountId, query)
  const where = filter ? matching(accountId, filter) : sql`v.account_id = ${accountId}`
  const isAll = !filter && (sort === undefined || sort === '-createdAt')
  return sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => countMatching(db, where),
    async (range) => (await (isAll ? selectPage(db, accountId, range) : listMatching(db, where, range))).map(toVmListItem),
  )
}

type VmField = SortField<VmQuery>

const SORT_KEYS: Keys<VmListItem, VmField> = {
  name: textKey(({ name }) => name),
  nextRenewalAt: timeKey(({ billing }) => billing.nextRenewalAt),
  status: textKey(({ status }) => status),
  priceMonthly: moneyKey(({ billing }) => billing.priceMonthly),
  region: textKey(({ region }) => region.name),
  plan: textKey(({ plan }) => plan.name),
}

/**
 * Selects the page's ids first, so that at a far offset the join covers one page only. The first page inlines its limit: with a parameter
 * PostgreSQL plans the query each time, which takes longer than the query.
 */
const selectPage = (db: Queries, accountId: string, { limit, offset, after }: PageRange) =>
  db.many<VmListRow>(sql`
    select ${listColumns}
    from (select id from vms where account_id = ${accountId} ${after ? sql`and id < ${after[0]}` : sql``}
      order by id desc limit ${inline(limit)} ${offset > 0 ? sql`offset ${offset}` : sql``}) page
    join vm_details d using (id) order by d.id desc`)

interface Filter {
  status?: string | undefined
  regionId?: string | undefined
  /** Null: a custom configuration. */
  planId?: string | null | undefined
  networkId?: string | undefined
  firewallId?: string | undefined
  shelved?: boolean | undefined
  name?: string | undefined
  address?: string | undefined
  labelSelector?: string | undefined
}

/** Null without any filter. What a filter names must exist: an empty list would hide a typo. */
async function resolveFilter(db: Queries, accountId: string, query: VmQuery): Promise<Filter | null> {
  const { status, region, plan, network, firewall, shelved, name, address, labelSelector } = query
  if (address !== undefined && !parseIp(address)) throw invalid('address must be an address such as 198.51.100.7 or 2001:db8::7', 'address')
  const filter: Filter = {
    status,
    shelved,
    name,
    address,
    labelSelector,
    regionId: region && known('region', 'a region', await findRegion(db, region)),
    planId: plan === 'custom' ? null : plan && known('plan', 'a plan, or custom', await findPlan(db, plan)),
    networkId: network && known('network', 'a private network of yours', await findNetwork(db, accountId, network)),
    firewallId: firewall && known('firewall', 'a firewall of yours', await findFirewall(db, accountId, firewall)),
  }
  return Object.values(filter).some((each) => each !== undefined) ? filter : null
}

function known(field: string, what: string, row: { id: string } | undefined): string {
  if (!row) throw invalid(`${field} must be ${what}`, field)
  return row.id
}

/** Adds only the requested conditions that an index serves, so that each combination has its own plan. */
function matching(
  accountId: string,
  { status, regionId, planId, networkId, firewallId, shelved, name, address, labelSelector }: Filter,
): Sql {
  let where = sql`v.account_id = ${accountId} and ${containing(sql`v.name`, name)}
    and (${shelved ?? null}::boolean is null or (v.shelved_at is not null) = ${shelved ?? null})
    and (${address ?? null}::inet is null or ${hasPublicAddress(sql`v`, address ?? null)}
      or exists (select from network_attachments a where a.vm_id = v.id and a.address = ${address ?? null}))
    and (${networkId ?? null}::text is null or v.id in (select a.vm_id from network_attachments a where a.network_id = ${networkId ?? null}))
    and (${firewallId ?? null}::text is null or v.id in (select b.vm_id from firewall_bindings b where b.firewall_id = ${firewallId ?? null}))`
  if (status) where = sql`${where} and v.status = ${status}`
  if (regionId) where = sql`${where} and v.region_id = ${regionId}`
  if (planId !== undefined) where = sql`${where} and v.plan_id is not distinct from ${planId}`
  return sql`${where} ${selectedBy(sql`v.labels`, labelSelector)}`
}

const countMatching = async (db: Queries, where: Sql): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from vms v where ${where}`)).count

/** The page's ids are selected first, so that at a far offset the join covers one page only. */
const listMatching = (db: Queries, where: Sql, range: SortedRange<VmField>) =>
  db.many<VmListRow>(sql`
    select ${listColumns} from unnest(array(select v.id from vms v where ${where} ${sorted(range)})) with ordinality page (id, position)
    join vm_details d using (id) order by page.position`)

/** Price, region and plan are of the view and of no index: all that match are sorted. */
function sorted(range: SortedRange<VmField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`v.id`, range)
    case 'name':
      return sortedByText(sql`v.name`, sql`v.id`, range)
    case 'nextRenewalAt':
      return sortedByTime(sql`v.next_renewal_at`, sql`v.id`, range)
    case 'status':
      return sortedByText(sql`v.status`, sql`v.id`, range)
    case 'priceMonthly':
      return sortedByNumber(sql`(select s.renewal_price_cents from vm_details s where s.id = v.id)`, sql`v.id`, range)
    case 'region':
      return sortedByText(sql`(select s.region_name from vm_details s where s.id = v.id)`, sql`v.id`, range)
    case 'plan':
      return sortedByText(sql`(select s.plan_name from vm_details s where s.id = v.id)`, sql`v.id`, range)
  }
}
