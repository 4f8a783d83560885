// The customer's view of VMs.
import { offsetOf, type Paged, pageOf, type PageRequest } from '../../../http/api/schema.ts'
import { inline, type Queries, sql } from '../../../kernel/database/db.ts'
import { notFound } from '../../../kernel/errors.ts'
import { openRunAsJson } from '../../../workflow/run-store.ts'
import { isSuspended, quotaUsed, usedOfQuota } from '../../accounts/service.ts'
import { firewallsAsJson } from '../../firewalls/service.ts'
import { networksAsJson } from '../../networks/service.ts'
import { keysAsJson } from '../../ssh-keys/service.ts'
import type { Vm, VmListItem, VmStatus } from '../schema.ts'
import type { VmDetailRow, VmListRow } from './sql.ts'
import { toVm, toVmListItem } from './view.ts'

export async function listVms(db: Queries, accountId: string, status: VmStatus | undefined, page: PageRequest): Promise<Paged<VmListItem>> {
  if (status) return listByStatus(db, accountId, status, page)
  const rows = await selectPage(db, accountId, page.limit, offsetOf(page))
  const total = rows[0]?.total ?? (await quotaUsed(db, accountId, 'vms')) // a page past the end has no row with the total
  return { total: Number(total), items: rows.map(toVmListItem) }
}

async function listByStatus(db: Queries, accountId: string, status: VmStatus, page: PageRequest): Promise<Paged<VmListItem>> {
  const total = await countByStatus(db, accountId, status)
  return pageOf(page, total, async (limit, offset) => (await listVmsByStatus(db, accountId, status, limit, offset)).map(toVmListItem))
}

export const getVm = async (db: Queries, accountId: string, id: string): Promise<Vm> => toVm(await getVmDetail(db, accountId, id))

const listColumns = sql`
  d.id, d.name, d.hostname, d.status, d.vcpu, d.ram_mib, d.disk_gib, d.bandwidth_gb, d.network_mbps, d.network_10g, d.daily_backup,
  d.is_protected, host(d.ip_address) as ip_address, d.region_slug, d.region_name, d.plan_slug, d.plan_name, d.plan_price_cents,
  d.template_slug, d.template_name, d.template_version, d.next_renewal_at, d.billing_status, d.renewal_price_cents, d.created_at`

const id = sql`d.id`
const detailColumns = sql`
  ${listColumns}, d.account_id, d.bandwidth_used_bytes, d.bandwidth_pack_bytes, d.readiness, d.status_reason, d.provisioned,
  d.event_sequence, d.updated_at, ${isSuspended(sql`d.account_id`)} as account_suspended,
  coalesce((select h.can_shape_traffic from hosts h where h.id = d.host_id), true) as can_shape_traffic,
  ${keysAsJson(id)} as ssh_keys, ${firewallsAsJson(id)} as firewalls, ${networksAsJson(id)} as networks, ${openRunAsJson(id)} as open_run`

export async function getVmDetail(db: Queries, accountId: string, vmId: string): Promise<VmDetailRow> {
  const row = await db.maybe<VmDetailRow>(
    sql`select ${detailColumns} from vm_details d where d.id = ${vmId} and d.account_id = ${accountId}`,
  )
  if (!row) throw notFound('VM')
  return row
}

/**
 * Selects the page's ids first, so that at a far offset the join covers one page only. The first page inlines its limit: with a parameter
 * PostgreSQL plans the query each time, which takes longer than the query. `total` counts all VMs of the account.
 */
const selectPage = (db: Queries, accountId: string, limit: number, offset: number) =>
  db.many<VmListRow & { total: bigint }>(sql`
    select ${listColumns}, ${usedOfQuota(accountId, 'vms')} as total
    from (select id from vms where account_id = ${accountId} order by id desc limit ${inline(limit)} ${offset > 0 ? sql`offset ${offset}` : sql``}) page
    join vm_details d using (id) order by d.id desc`)

const listVmsByStatus = (db: Queries, accountId: string, status: string, limit: number, offset: number) =>
  db.many<VmListRow>(sql`
    select ${listColumns}
    from (select id from vms where account_id = ${accountId} and status = ${status} order by id desc limit ${limit} offset ${offset}) page
    join vm_details d using (id) order by d.id desc`)

const countByStatus = async (db: Queries, accountId: string, status: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from vms where account_id = ${accountId} and status = ${status}`)).count)
