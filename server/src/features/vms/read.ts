import { pageOf, type Paged, type PageRequest } from '../../http/schema.ts'
import type { Queries } from '../../kernel/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { openRunOf } from '../../workflow/store.ts'
import { quotaUsed } from '../accounts/service.ts'
import { firewallsOf } from '../firewalls/service.ts'
import { attachmentsOf } from '../networks/service.ts'
import { keysOf } from '../ssh-keys/service.ts'
import type { Vm, VmListItem, VmStatus } from './schema.ts'
import * as sql from './sql.ts'
import { toVm, toVmListItem } from './view.ts'

export async function listVms(db: Queries, accountId: string, status: VmStatus | undefined, page: PageRequest): Promise<Paged<VmListItem>> {
  const total = status ? await sql.countByStatus(db, accountId, status) : Number(await quotaUsed(db, accountId, 'vms'))
  const { items } = await pageOf(page, total, (limit, offset) => sql.listVms(db, accountId, status ?? null, limit, offset))
  return { total, items: items.map(toVmListItem) }
}

export async function getVm(db: Queries, accountId: string, id: string): Promise<Vm> {
  const row = await sql.findVm(db, accountId, id)
  if (!row) throw notFound('VM')
  return fullForm(db, row)
}

export async function fullForm(db: Queries, row: sql.VmDetails): Promise<Vm> {
  // One after the other: inside a transaction there is only one connection to ask.
  const sshKeys = await keysOf(db, row.id)
  const firewalls = await firewallsOf(db, row.id)
  const attachments = await attachmentsOf(db, row.id)
  const currentAction = await openRunOf(db, row.id)
  const privateNetworks = attachments.map(({ network_id, network_name }) => ({ id: network_id, name: network_name }))
  return toVm(row, { sshKeys, firewalls, privateNetworks, currentAction })
}
