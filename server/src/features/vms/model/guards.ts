// Guards of every change to a VM: locked, owned by the account, idle, and in a state that allows the action.
import type { Principal } from '../../../http/api/principal.ts'
import { addDuration } from '../../../kernel/clock.ts'
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { apiError, notFound } from '../../../kernel/errors.ts'
import { UNDO_GRACE } from '../../../workflow/executor.ts'
import { isBeingUndone, openRunOf, type RunRow } from '../../../workflow/run-store.ts'
import type { Workflow } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'
import { getHost, type HostRow } from '../../hosts/service.ts'
import { isPreemptible, requireAllowed, type Verb } from './allowed-actions.ts'
import * as sql from './sql.ts'
import { hasStaleMachine, MAY_RUN_ELSEWHERE, mayRunElsewhere } from './stale-machines.ts'

type Owner = Pick<Principal, 'accountId'>

/** The caller's VM, locked until the transaction ends; 404 for a VM of another account. */
export async function lockOwnVm(tx: Tx, who: Owner, id: string): Promise<sql.VmDetails> {
  const vm = await sql.lockVm(tx, who.accountId, id)
  if (!vm) throw notFound('VM')
  return vm
}

/** Finds the account's VM without a lock, or throws 404. */
export async function requireVm(db: Queries, accountId: string, id: string): Promise<sql.VmDetails> {
  const vm = await sql.findVm(db, accountId, id)
  if (!vm) throw notFound('VM')
  return vm
}

/** Starts the workflow run of the action. */
export type StartRun = <I>(workflow: Workflow<Deps, I>, input: I, runId?: string) => Promise<ActionStarted>

export interface ActionRequest<F, T> {
  /** Null: allowed in every state. */
  verb: Verb | null
  /** The public label of the action. */
  label: string
  /** Finds the other resources the request names: their 404 takes precedence over the 409 of a busy VM. */
  find?: (vm: sql.VmDetails) => Promise<F>
  /** Checks, reserves and writes what the action needs, and starts its run. */
  act: (vm: sql.VmDetails, start: StartRun, found: F) => Promise<T>
}

/**
 * Every VM action starts here, in one transaction: locks the caller's VM, requires that no other action is open and that the state allows
 * the verb.
 */
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
  if (verb !== 'delete' && verb !== 'suspend') await requireUnfencedHost(tx, vm)
  return act(vm, startRunOf(tx, deps, vm, label), found as F)
}

/** For a VM that is already locked and checked. */
export const startRunOf =
  (tx: Tx, { workflows }: Pick<Deps, 'workflows'>, vm: sql.VmDetails, label: string): StartRun =>
  async (workflow, input, runId) => {
    const options = { label, ownerId: vm.account_id, subjectId: vm.id, ...(runId !== undefined && { runId }) }
    return { actionId: await workflows.start(tx, workflow, input, options) }
  }

/** Requires of a locked VM that no action is open and that its state allows `verb`. */
async function requireIdle(tx: Tx, deps: Pick<Deps, 'workflows' | 'clock'>, vm: sql.VmDetails, verb: Verb): Promise<void> {
  if (verb === 'delete') await endOverdueRun(tx, deps, vm)
  await preemptOpenRun(tx, deps, vm)
  requireAllowed(vm, verb)
  if (verb === 'snapshot' || verb === 'backup' || verb === 'shelve') await requireNoStaleMachine(tx, vm)
}

/** One that waits for a host to be undone, long after its deadline: whoever wants the VM no more need not wait too. */
export async function endOverdueRun(tx: Tx, { workflows, clock }: Pick<Deps, 'workflows' | 'clock'>, { id }: sql.VmRow): Promise<void> {
  const run = await openRunOf(tx, id)
  if (run?.compensating && clock.now() > addDuration(run.deadline_at, UNDO_GRACE)) await workflows.cancel(tx, run.id, 'The VM was deleted')
}

/** Where it is placed on a host that was fenced. */
export const fencedSentence = ({ unreachable_since }: Pick<HostRow, 'unreachable_since'>): string =>
  unreachable_since === null
    ? 'The host of this VM failed and is being put back into service: try again in a few minutes'
    : 'The host of this VM failed and does not answer: the VM goes on by itself, on another host as soon as it can, or on its own when that has returned'

/** What starts there before the host is cleaned is not covered by the fence, and would run beside the machine that is started elsewhere. */
export async function requireUnfencedHost(tx: Tx, { host_id }: sql.VmRow): Promise<void> {
  const host = host_id === null ? null : await getHost(tx, host_id)
  if (host && host.fenced_at !== null) throw apiError('service_unavailable', fencedSentence(host))
}

/** Until the machine is repaired it may use a disk that is about to be removed. */
async function requireNoStaleMachine(tx: Tx, { id, host_id }: sql.VmRow): Promise<void> {
  if (await hasStaleMachine(tx, id, host_id))
    throw apiError('busy', 'The host of this VM was away while the VM changed, and it is put right first: try again in a few minutes')
}

/** Two machines that write to one disk destroy it. */
export async function requireNoMachineElsewhere(tx: Tx, { id, host_id }: sql.VmRow): Promise<void> {
  if (await mayRunElsewhere(tx, id, host_id)) throw apiError('service_unavailable', MAY_RUN_ELSEWHERE)
}

/** An action that was abandoned with its host does not block the next one, but what it undoes may be what the next one makes. */
export async function requireNothingUndone(tx: Tx, { id }: sql.VmRow): Promise<void> {
  if (await isBeingUndone(tx, id)) throw apiError('busy', 'An action of this VM is still being undone: try again in a minute')
}

/** They copy whole disks, and cost nothing where they are undone at once: one account must not keep the places of all. */
const COPIES_AT_ONCE = 2

/** For one that copies its disk. Before hosts are locked. */
export async function requireShelvingPlace(tx: Tx, accountId: string): Promise<void> {
  await sql.queueForPlace(tx, accountId)
  if ((await sql.countRunsOfPayer(tx, accountId, ['vm.shelve', 'vm.unshelve'])) >= COPIES_AT_ONCE)
    throw apiError('busy', `${COPIES_AT_ONCE} VMs of this account are being shelved or unshelved already: try again when one of them is`)
}

/** For a resize on another host. Requests at the same time have queued for the quotas. */
export async function requireMovingPlace(tx: Tx, accountId: string): Promise<void> {
  if ((await sql.countRunsOfPayer(tx, accountId, ['vm.resize_elsewhere'])) >= COPIES_AT_ONCE)
    throw apiError(
      'busy',
      `${COPIES_AT_ONCE} VMs of this account move to other hosts to be resized already: try again when one of them has`,
    )
}

/** Each may bring a file of many GiB to a host, and costs nothing: one account must not keep the places of all. */
const ISOS_AT_ONCE = 4

/** Before hosts are locked. */
export async function requireIsoPlace(tx: Tx, accountId: string): Promise<void> {
  await sql.queueForPlace(tx, accountId)
  if ((await sql.countRunsOfPayer(tx, accountId, ['vm.attach_iso'])) >= ISOS_AT_ONCE)
    throw apiError(
      'busy',
      `ISO images are being attached to ${ISOS_AT_ONCE} VMs of this account already: try again when one of them has its image`,
    )
}

/** Enforces one action at a time. */
export async function preemptOpenRun(tx: Tx, deps: Pick<Deps, 'workflows'>, vm: sql.VmRow): Promise<void> {
  const run = await findBlockingRun(tx, deps, vm)
  if (run) throw apiError('busy', `VM is busy: action ${run.label} (${run.id}) is ${run.status === 'PENDING' ? 'waiting' : 'running'}`)
}

/** The open run, which has to end first. An open daily backup is cancelled instead, in favour of the other action, and retried later. */
export async function findBlockingRun(tx: Tx, { workflows }: Pick<Deps, 'workflows'>, vm: sql.VmRow): Promise<RunRow | undefined> {
  const run = await openRunOf(tx, vm.id)
  if (!run || !isPreemptible(run)) return run
  await workflows.cancel(tx, run.id, 'A daily backup makes way for other actions and is tried again later')
  return undefined
}
