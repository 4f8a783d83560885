// Reading VMs, and the gate that every change of a VM goes through.
import { pageOf, type Paged, type PageRequest } from '../../http/schema.ts'
import type { Queries, Tx } from '../../kernel/db.ts'
import { notFound, refuse } from '../../kernel/errors.ts'
import { openRunOf } from '../../workflow/store.ts'
import { quotaUsed } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { firewallsOf } from '../firewalls/service.ts'
import { attachmentsOf } from '../networks/service.ts'
import { keysOf } from '../ssh-keys/service.ts'
import { requireAllowed, type Verb } from './rules.ts'
import type { Vm, VmListItem, VmStatus } from './schema.ts'
import * as sql from './sql.ts'
import { toVm, toVmListItem } from './view.ts'

export type { VmDetails, VmRow } from './sql.ts'
export { setStatus, vmById } from './sql.ts'
export { recordVmEvent } from './events.ts'
export { driverFor, driverOf, getVmRow, machineSpec, speedLimit } from './machine.ts'
export { restoreWorkflow, startRestore } from './restore.ts'

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

/** The account's VM, locked until the transaction ends. */
export async function lockVm(tx: Tx, accountId: string, id: string): Promise<sql.VmDetails> {
  const vm = await sql.lockVm(tx, id)
  if (!vm || vm.account_id !== accountId) throw notFound('VM')
  return vm
}

/** Whether the VM exists in this account, without a lock. */
export async function requireVm(db: Queries, accountId: string, id: string): Promise<sql.VmDetails> {
  const vm = await sql.findVm(db, accountId, id)
  if (!vm) throw notFound('VM')
  return vm
}

/** Locks the VM and makes sure that nothing else is going on and that its state allows `verb`. */
export async function lockIdleVm(tx: Tx, deps: Pick<Deps, 'workflows'>, accountId: string, id: string, verb: Verb): Promise<sql.VmDetails> {
  const vm = await lockVm(tx, accountId, id)
  await requireIdle(tx, deps, vm, verb)
  return vm
}

/** The same for a VM that is locked already. */
export async function requireIdle(tx: Tx, deps: Pick<Deps, 'workflows'>, vm: sql.VmDetails, verb: Verb): Promise<void> {
  await makeWay(tx, deps, vm)
  requireAllowed(vm, verb)
}

/** One action at a time. A daily backup makes way for the customer and is tried again later. */
export async function makeWay(tx: Tx, { workflows }: Pick<Deps, 'workflows'>, vm: sql.VmRow): Promise<void> {
  const run = await openRunOf(tx, vm.id)
  if (!run) return
  if (run.label !== 'BACKUP_CREATE' || !(run.input as { daily?: boolean }).daily) {
    throw refuse('busy', `VM is busy: action ${run.label} (${run.id}) is ${run.status === 'PENDING' ? 'waiting' : 'running'}`)
  }
  await workflows.cancel(tx, run.id, 'A daily backup makes way for other actions and is tried again later')
}
