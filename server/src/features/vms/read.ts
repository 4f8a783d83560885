import { offsetOf, pageOf, type Paged, type PageRequest } from '../../http/schema.ts'
import type { Queries } from '../../kernel/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { quotaUsed } from '../accounts/service.ts'
import type { Vm, VmListItem, VmStatus } from './schema.ts'
import * as sql from './shown-sql.ts'
import { toVm, toVmListItem } from './view.ts'

export async function listVms(db: Queries, accountId: string, status: VmStatus | undefined, page: PageRequest): Promise<Paged<VmListItem>> {
  if (status) return listByStatus(db, accountId, status, page)
  const rows = await sql.listVms(db, accountId, page.limit, offsetOf(page))
  const total = rows[0]?.total ?? (await quotaUsed(db, accountId, 'vms')) // a page past the end does not know
  return { total: Number(total), items: rows.map(toVmListItem) }
}

async function listByStatus(db: Queries, accountId: string, status: VmStatus, page: PageRequest): Promise<Paged<VmListItem>> {
  const total = await sql.countByStatus(db, accountId, status)
  return pageOf(page, total, async (limit, offset) => (await sql.listVmsByStatus(db, accountId, status, limit, offset)).map(toVmListItem))
}

export async function getVm(db: Queries, accountId: string, id: string): Promise<Vm> {
  const row = await sql.findVmDetail(db, accountId, id)
  if (!row) throw notFound('VM')
  return toVm(row)
}
