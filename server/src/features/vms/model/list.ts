// The customer's list of VMs: filtered, sorted, page by page.
import { isTimestamp, pageOf, wrongCursor, type Paged, type PageRequest } from '../../../http/api/schema.ts'
import { inline, type Queries, type Sql, sql } from '../../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../../kernel/database/page-range.ts'
import { invalid } from '../../../kernel/errors.ts'
import { parseIp } from '../../../kernel/ip-range.ts'
import { parseCents } from '../../../kernel/money.ts'
import { findPlan, findRegion } from '../../catalog/service.ts'
import { findFirewall } from '../../firewalls/service.ts'
import { selectedBy } from '../../labels/service.ts'
import { findNetwork } from '../../networks/service.ts'
import type { SortField, VmListItem, VmQuery, VmSort } from '../schema.ts'
import { listColumns } from './read.ts'
import { hasPublicAddress, type VmListRow } from './sql.ts'
import { toVmListItem } from './view.ts'

export async function listVms(
  db: Queries,
  accountId: string,
  { sort = '-createdAt', ...query }: VmQuery,
  page: PageRequest,
): Promise<Paged<VmListItem>> {
  const filter = await resolveFilter(db, accountId, query)
  const isById = sort === '-createdAt'
  if (page.after && !(isById ? page.after.length === 1 : isKey(sort, page.after))) throw wrongCursor()
  if (!filter && isById) return listAll(db, accountId, page)
  const where = matching(accountId, filter ?? {})
  const found = await pageOf(
    page,
    () => countMatching(db, where),
    async (range) => (await listMatching(db, where, sort, range)).map(toVmListItem),
  )
  return { ...found, ...(!isById && { keyOf: keyBy(sort) }) }
}

const listAll = (db: Queries, accountId: string, page: PageRequest): Promise<Paged<VmListItem>> =>
  pageOf(
    page,
    () => countMatching(db, sql`v.account_id = ${accountId}`),
    async (range) => (await selectPage(db, accountId, range)).map(toVmListItem),
  )

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
  const like = name === undefined ? null : `%${name.replace(/[\\%_]/g, '\\$&')}%`
  let where = sql`v.account_id = ${accountId} and (${like}::text is null or v.name ilike ${like})
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
const listMatching = (db: Queries, where: Sql, sort: VmSort, range: PageRange) =>
  db.many<VmListRow>(sql`
    select ${listColumns} from unnest(array(select v.id from vms v where ${where} ${sorted(sort, range)})) with ordinality page (id, position)
    join vm_details d using (id) order by page.position`)

type Field = SortField<VmSort>
const fieldOf = (sort: VmSort): Field => (sort.startsWith('-') ? sort.slice(1) : sort) as Field

/**
 * The second part of a key is the value that the list is sorted by, the third the id. Price, region and plan are of the view and of no index: all
 * that match are sorted. By creation: ids grow.
 */
function sorted(sort: VmSort, range: PageRange): Sql {
  if (sort === '-createdAt') return newestFirst(sql`v.id`, range)
  const [, text = '', id = null] = range.after ?? []
  const by = { range, id, isDown: sort.startsWith('-') }
  switch (fieldOf(sort)) {
    case 'createdAt':
      return sql`${id === null ? sql`` : sql`and v.id > ${id}`} order by v.id ${partOf(range)}`
    case 'name':
      return sortedBy(sql`lower(v.name)`, sql`lower(${text}::text)`, by)
    case 'nextRenewalAt':
      return sortedBy(sql`v.next_renewal_at`, sql`${id === null ? null : new Date(text)}::timestamptz`, by)
    case 'status':
      return sortedBy(sql`v.status`, sql`${text}::text`, by)
    case 'priceMonthly':
      return sortedBy(
        sql`(select s.renewal_price_cents from vm_details s where s.id = v.id)`,
        sql`${id === null ? null : parseCents(text)}::int8`,
        by,
      )
    case 'region':
      return sortedBy(sql`(select lower(s.region_name) from vm_details s where s.id = v.id)`, sql`lower(${text}::text)`, by)
    case 'plan':
      return sortedBy(sql`(select lower(s.plan_name) from vm_details s where s.id = v.id)`, sql`lower(${text}::text)`, by)
  }
}

const partOf = ({ limit, offset }: PageRange): Sql => sql`limit ${limit} offset ${offset}`

interface SortedBy {
  range: PageRange
  /** Of the last VM of the page before. */
  id: string | null
  isDown: boolean
}

/** `last`: the value of the last VM of the page before. */
function sortedBy(value: Sql, last: Sql, { range, id, isDown }: SortedBy): Sql {
  if (isDown)
    return sql`${id === null ? sql`` : sql`and (${value}, v.id) < (${last}, ${id})`} order by ${value} desc, v.id desc ${partOf(range)}`
  return sql`${id === null ? sql`` : sql`and (${value}, v.id) > (${last}, ${id})`} order by ${value}, v.id ${partOf(range)}`
}

/** What a cursor has of a VM. */
const TEXTS: Record<Field, (vm: VmListItem) => string> = {
  createdAt: ({ createdAt }) => createdAt,
  name: ({ name }) => name,
  nextRenewalAt: ({ billing }) => billing.nextRenewalAt,
  status: ({ status }) => status,
  priceMonthly: ({ billing }) => billing.priceMonthly,
  region: ({ region }) => region.name,
  plan: ({ plan }) => plan.name,
}

const IS_TEXT: Partial<Record<Field, (text: string) => boolean>> = {
  createdAt: isTimestamp,
  nextRenewalAt: isTimestamp,
  priceMonthly: (text) => /^\d{1,13}\.\d\d$/.test(text),
}

const keyBy =
  (sort: VmSort) =>
  (vm: VmListItem): string[] => [sort, TEXTS[fieldOf(sort)](vm), vm.id]

const isKey = (sort: VmSort, [of, text = '', id]: string[]): boolean =>
  of === sort && id !== undefined && (IS_TEXT[fieldOf(sort)]?.(text) ?? true)
