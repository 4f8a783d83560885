// The gate that every change of a VM goes through: locked, idle, and in a state that allows it.
import { sql as query, type Queries, type Tx } from '../../../kernel/database/db.ts'
import { notFound, apiError } from '../../../kernel/errors.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import type { Deps } from '../../deps.ts'
import { isPreemptible, requireAllowed, type Verb } from './allowed-actions.ts'
import * as sql from './sql.ts'

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
  await preemptOpenRun(tx, deps, vm)
  requireAllowed(vm, verb)
  if (verb === 'snapshot' || verb === 'backup') await requireNoStaleMachine(tx, vm)
}

/** Until it is put right, its machine may have a disk that goes. */
async function requireNoStaleMachine(tx: Tx, { id, host_id }: sql.VmRow): Promise<void> {
  if (await tx.maybe(query`select from stale_machines where vm_id = ${id} and host_id = ${host_id}`))
    throw apiError('busy', 'The host of this VM was away while the VM changed, and it is put right first: try again in a few minutes')
}

/** One action at a time. A daily backup makes way for the customer and is tried again later. */
export async function preemptOpenRun(tx: Tx, { workflows }: Pick<Deps, 'workflows'>, vm: sql.VmRow): Promise<void> {
  const run = await openRunOf(tx, vm.id)
  if (!run) return
  if (!isPreemptible(run)) {
    throw apiError('busy', `VM is busy: action ${run.label} (${run.id}) is ${run.status === 'PENDING' ? 'waiting' : 'running'}`)
  }
  await workflows.cancel(tx, run.id, 'A daily backup makes way for other actions and is tried again later')
}
