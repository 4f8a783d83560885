// Placement groups: how VMs of an account are placed among hosts, relative to each other. Whoever places a VM of a group holds the lock of
// the group until the transaction ends, so that two that are placed at the same time see each other.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import type { PlacementRule } from '../hosts/service.ts'
import type { CreatePlacementGroup, PlacementGroup, RenamePlacementGroup } from './schema.ts'
import * as sql from './sql.ts'

export { groupAsJson } from './sql.ts'

const QUOTA = 'placement_groups'

export async function listGroups(
  db: Queries,
  accountId: string,
  labelSelector: string | undefined,
  page: PageRequest,
): Promise<Paged<PlacementGroup>> {
  return pageOf(
    page,
    () => sql.countGroups(db, accountId, labelSelector),
    async (range) => (await sql.listGroups(db, accountId, labelSelector, range)).map(toGroup),
  )
}

export async function createGroup(
  tx: Tx,
  now: Date,
  accountId: string,
  { name, policy, labels = {} }: CreatePlacementGroup,
): Promise<PlacementGroup> {
  const row = { id: newId(), account_id: accountId, name, labels, policy, created_at: now }
  await sql.insertGroup(tx, row)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  return toGroup({ ...row, vms: [], host_count: 0 })
}

export const getGroup = async (db: Queries, accountId: string, id: string): Promise<PlacementGroup> =>
  found(await sql.findGroup(db, accountId, id))

export async function renameGroup(tx: Tx, accountId: string, id: string, { name, labels }: RenamePlacementGroup): Promise<PlacementGroup> {
  if (name === undefined && labels === undefined) throw invalid('give at least one of name, labels')
  return found(await sql.describeGroup(tx, accountId, id, name ?? null, labels ?? null))
}

export async function deleteGroup(tx: Tx, accountId: string, id: string): Promise<{ id: string }> {
  const group = await lockGroup(tx, accountId, id)
  const { vms } = (await sql.findGroup(tx, accountId, id))!
  if (vms.length > 0) {
    const names = vms.slice(0, 5).map(({ name }) => name)
    const more = vms.length > names.length ? ` and ${vms.length - names.length} more` : ''
    throw apiError('in_use', `Placement group ${group.name} has VMs: take ${names.join(', ')}${more} out of it first`)
  }
  await sql.deleteGroup(tx, id)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  return { id }
}

/** What a new VM in the group has to keep to. */
export async function ruleForNewVm(tx: Tx, accountId: string, groupId: string | undefined): Promise<PlacementRule | null> {
  return groupId === undefined ? null : toRule(tx, await lockGroup(tx, accountId, groupId), null)
}

/** What the VM has to keep to wherever it goes. */
export async function ruleForVm(tx: Tx, vmId: string): Promise<PlacementRule | null> {
  const group = await sql.lockGroupOf(tx, vmId)
  return group ? toRule(tx, group, vmId) : null
}

const toRule = async (tx: Tx, { id, policy }: sql.GroupRow, exceptVmId: string | null): Promise<PlacementRule> => ({
  policy,
  vmsByHost: new Map((await sql.countByHost(tx, id, exceptVmId)).map(({ host_id, vms }) => [host_id!, vms])),
})

/** Of a VM that is placed by `ruleForNewVm` of the same transaction. */
export async function joinGroup(tx: Tx, vmId: string, groupId: string | undefined): Promise<void> {
  if (groupId !== undefined) await sql.setGroup(tx, vmId, groupId)
}

/** The VM stays on its host. Null takes it out of its group. */
export async function changeGroup(tx: Tx, vm: { id: string; account_id: string }, groupId: string | null): Promise<void> {
  if (groupId === null) return void (await sql.clearGroup(tx, vm.id))
  const group = await lockGroup(tx, vm.account_id, groupId)
  const { policy, vmsByHost } = await toRule(tx, group, vm.id)
  const hosts = await sql.hostsOfVm(tx, vm.id)
  if (policy === 'STRICT_SPREAD' && hosts.some(({ host_id }) => host_id !== null && vmsByHost.has(host_id)))
    throw apiError('incompatible', `A VM of placement group ${group.name} is on the host of this one: create a new VM in the group instead`)
  await sql.setGroup(tx, vm.id, groupId)
}

async function lockGroup(tx: Tx, accountId: string, id: string): Promise<sql.GroupRow> {
  const group = await sql.lockGroup(tx, accountId, id)
  if (!group) throw notFound('Placement group')
  return group
}

function found(row: sql.ShownGroup | undefined): PlacementGroup {
  if (!row) throw notFound('Placement group')
  return toGroup(row)
}

const toGroup = ({ id, name, labels, policy, vms, host_count, created_at }: sql.ShownGroup): PlacementGroup => ({
  id,
  name,
  labels,
  policy,
  vms: vms.map((vm) => ({ id: vm.id, name: vm.name })),
  hostCount: host_count,
  createdAt: created_at.toISOString(),
})
