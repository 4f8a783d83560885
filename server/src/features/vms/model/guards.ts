// What every change of a VM goes through: locked, its own account's, idle, and in a state that allows it.
import type { Principal } from '../../../http/api/principal.ts'
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { apiError, notFound } from '../../../kernel/errors.ts'
import { openRunOf } from '../../../workflow/run-store.ts'
import type { Workflow } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'
import { isPreemptible, requireAllowed, type Verb } from './allowed-actions.ts'
import * as sql from './sql.ts'
import { hasStaleMachine } from './stale-machines.ts'

type Owner = Pick<Principal, 'accountId'>

/** The caller's VM, locked until the transaction ends. Of another account it is not found. */
export async function lockOwnVm(tx: Tx, who: Owner, id: string): Promise<sql.VmDetails> {
  const vm = await sql.lockVmById(tx, id)
  if (!vm || vm.account_id !== who.accountId) throw notFound('VM')
  return vm
}

/** Whether the VM exists in this account, without a lock. */
export async function requireVm(db: Queries, accountId: string, id: string): Promise<sql.VmDetails> {
  const vm = await sql.findVm(db, accountId, id)
  if (!vm) throw notFound('VM')
  return vm
}

/** Opens the run of the action. */
export type StartRun = <I>(workflow: Workflow<Deps, I>, input: I, runId?: string) => Promise<ActionStarted>

export interface ActionRequest<F, T> {
  /** Null: in every state. */
  verb: Verb | null
  /** What the owner reads the action as. */
  label: string
  /** Finds what else the request names: a 404 comes before the 409 of a VM that is busy. */
  find?: (vm: sql.VmDetails) => Promise<F>
  /** Checks, reserves and writes what the action needs, and starts its run. */
  act: (vm: sql.VmDetails, start: StartRun, found: F) => Promise<T>
}

/** Every action of a VM begins here, in one transaction: the VM is the caller's and locked, nothing else is going on, and its state allows
 *  the verb. */
export async function startAction<T, F = undefined>(
  tx: Tx,
  deps: Deps,
  who: Owner,
  vmId: string,
  { verb, label, find, act }: ActionRequest<F, T>,
): Promise<T> {
  const vm = await lockOwnVm(tx, who, vmId)
  const found = await find?.(vm)
  if (verb === null) await preemptOpenRun(tx, deps, vm)
  else await requireIdle(tx, deps, vm, verb)
  return act(vm, startRunOf(tx, deps, vm, label), found as F)
}

/** For a VM that is locked and checked already. */
export const startRunOf =
  (tx: Tx, { workflows }: Pick<Deps, 'workflows'>, vm: sql.VmDetails, label: string): StartRun =>
  async (workflow, input, runId) => {
    const options = { label, ownerId: vm.account_id, subjectId: vm.id, ...(runId !== undefined && { runId }) }
    return { actionId: await workflows.start(tx, workflow, input, options) }
  }

/** Of a VM that is locked: nothing else is going on, and its state allows `verb`. */
async function requireIdle(tx: Tx, deps: Pick<Deps, 'workflows'>, vm: sql.VmDetails, verb: Verb): Promise<void> {
  await preemptOpenRun(tx, deps, vm)
  requireAllowed(vm, verb)
  if (verb === 'snapshot' || verb === 'backup') await requireNoStaleMachine(tx, vm)
}

/** Until it is repaired, its machine may have a disk that is about to be removed. */
async function requireNoStaleMachine(tx: Tx, { id, host_id }: sql.VmRow): Promise<void> {
  if (await hasStaleMachine(tx, id, host_id))
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
