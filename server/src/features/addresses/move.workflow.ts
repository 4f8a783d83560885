// Moves an address to a VM, or away from one. The transaction sets the owner by compare and set; the workflow has the ports follow: the one
// of the VM that had the address loses it, then that of the new owner gets it, then the guests are told. A move that fails gives the address
// back; the reconciler of unfinished releases puts the ports right then.
import type { Principal } from '../../http/api/principal.ts'
import { DriverError } from '../../hypervisor/driver.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import { findPortState, markPortsDirty } from '../ports/service.ts'
import { GRACE, isOver } from '../renewals/service.ts'
import { applyPortsNow, controllerForVm, isPlaced, lockOwnVm, lockVmById, portSpecs, vmById, type VmDetails } from '../vms/service.ts'
import { configureGuest, forgetInGuest } from './guest.ts'
import type { AddressMoving, AssignAddress } from './schema.ts'
import { lockOwnAddress, recordAddressEvent, requireIdleAddress } from './service.ts'
import * as sql from './sql.ts'

export const FINISH_RELEASES = 'addresses.releases'

export interface MoveInput {
  addressId: string
  /** Null: it is unassigned. */
  vmId: string | null
  /** The same where its owner is only told again. */
  previousVmId: string | null
}

/** VMs come before addresses in every transaction, and in the order of their ids. */
async function lockVms(tx: Tx, ids: (string | null)[]): Promise<void> {
  for (const id of [...new Set(ids.filter((each) => each !== null))].sort()) await lockVmById(tx, id)
}

/** A host that does not confirm holds no address up for longer. */
const CONFIRM_MS = 1_500

/**
 * The port of the VM loses the address. Where its host does not confirm that, it is enough that the controller has it: a host that is dead or
 * cut off learns of it before anything else when it returns.
 */
export async function releasePort(deps: Deps, vmId: string, signal: AbortSignal): Promise<void> {
  await applyPortsNow(deps, vmId, AbortSignal.any([signal, AbortSignal.timeout(CONFIRM_MS)]))
  const state = await findPortState(deps.db, vmId)
  const isDone = state?.isManaged && state.isApplied
  const vm = isDone ? undefined : await vmById(deps.db, vmId)
  if (!vm || !isPlaced(vm)) return
  await sql.markUnconfirmed(deps.db, deps.clock.now(), vmId, vm.host_id!)
  const [port] = await portSpecs(deps.db, vm)
  await (await controllerForVm(deps, vm)).ensurePort(port!, signal, { unconfirmed: true })
}

/** The port of the new owner may have it from here on. */
export async function finishRelease(tx: Tx, now: Date, id: string, releasingVmId: string, vmId: string | null): Promise<void> {
  if ((await sql.markReleased(tx, now, id, releasingVmId)) && vmId !== null) await markPortsDirty(tx, [vmId])
}

export const moveAddress = workflow<MoveInput>('address.move', {
  deadline: '5m',
  locks: (tx, { vmId, previousVmId }) => lockVms(tx, [vmId, previousVmId]),
})
  .step('release', {
    timeout: '30s',
    run: async ({ deps, input: { addressId }, signal }) => {
      const row = await sql.addressById(deps.db, addressId)
      if (row?.releasing_vm_id) await releasePort(deps, row.releasing_vm_id, signal)
      return { from: row?.releasing_vm_id ?? null }
    },
    save: async (tx, { input: { addressId, vmId }, results: { release }, now }) => {
      if (release.from !== null) await finishRelease(tx, now, addressId, release.from, vmId)
    },
  })
  .step('assign', {
    timeout: '30s',
    run: async ({ deps, input: { addressId, vmId }, signal }) => {
      if (vmId === null) return
      if ((await sql.addressById(deps.db, addressId))?.vm_id !== vmId)
        throw new StepError('not_found', 'The VM was deleted while the address was being assigned to it', { retry: false })
      const trouble = await applyPortsNow(deps, vmId, signal)
      if (trouble !== null) throw new DriverError('unreachable', `The port of VM ${vmId} is not applied: ${trouble}`)
    },
  })
  .step('guest', {
    timeout: '20s',
    optional: true,
    tries: 1,
    run: async ({ deps, input: { addressId, vmId }, signal }) => {
      if (vmId === null) return
      const outcome = await configureGuest(deps, addressId, vmId, signal)
      await sql.setGuestState(deps.db, deps.clock.now(), addressId, vmId, outcome)
    },
  })
  .step('old guest', {
    timeout: '20s',
    optional: true,
    tries: 1,
    run: async ({ deps, input: { addressId, vmId, previousVmId }, signal }) => {
      if (previousVmId !== null && previousVmId !== vmId) await forgetInGuest(deps, addressId, previousVmId, signal)
    },
  })
  .onSuccess(async (tx, { deps, input: { addressId, vmId }, runId, now }) => {
    const row = await sql.lockAddressById(tx, addressId)
    if (row && row.vm_id === vmId && row.guest_state === 'PENDING' && row.guest_due_at === null && row.guest_reason === null)
      await sql.setGuestState(tx, now, addressId, row.vm_id!, { state: 'PENDING', reason: null, dueAt: now }) // the step failed
    if (row) await recordAddressEvent(tx, deps, addressId, vmId === null ? 'address.unassigned' : 'address.assigned', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input: { addressId, vmId, previousVmId }, error, runId, now }) => {
    const row = await sql.lockAddressById(tx, addressId)
    if (!row) return
    const giveTo = previousVmId !== null && (await vmById(tx, previousVmId)) ? previousVmId : null
    // A port that got it must lose it again before the other one has it back.
    const from = row.vm_id === null || row.vm_id === giveTo ? null : row.vm_id
    await sql.setOwner(tx, now, addressId, giveTo, from)
    if (giveTo !== null) await sql.setGuestState(tx, now, addressId, giveTo, { state: 'PENDING', reason: null, dueAt: now })
    await markPortsDirty(
      tx,
      [vmId, giveTo].filter((each) => each !== null),
    )
    await triggerReconciler(tx, FINISH_RELEASES)
    await recordAddressEvent(tx, deps, addressId, 'address.assignment_failed', { actionId: runId, reason: error?.userMessage ?? null })
  })

export async function assignAddress(
  tx: Tx,
  deps: Deps,
  { accountId }: Pick<Principal, 'accountId'>,
  id: string,
  { vmId, expectedVmId }: AssignAddress,
): Promise<AddressMoving> {
  const row = await lockForMove(tx, accountId, id, vmId)
  const vm = await lockOwnVm(tx, { accountId }, vmId)
  await requireExpected(tx, row, expectedVmId)
  await requireIdleAddress(tx, row)
  requireUsable(row, vm, deps.clock.now())
  return { vmId, actionId: await startMove(tx, deps, row, vmId) }
}

export async function unassignAddress(
  tx: Tx,
  deps: Deps,
  { accountId }: Pick<Principal, 'accountId'>,
  id: string,
  expectedVmId?: string,
): Promise<AddressMoving> {
  const row = await lockForMove(tx, accountId, id, null)
  await requireExpected(tx, row, expectedVmId)
  await requireIdleAddress(tx, row)
  if (row.vm_id === null) throw apiError('invalid_state', `The address ${row.address} is not assigned to a VM`)
  return { vmId: row.vm_id, actionId: await startMove(tx, deps, row, null) }
}

/** The owner may change between reading it and locking it; whoever changed it is moving the address. */
async function lockForMove(tx: Tx, accountId: string, id: string, vmId: string | null): Promise<sql.ShownAddress> {
  const before = await sql.findAddress(tx, accountId, id)
  await lockVms(tx, [vmId !== null && (await vmById(tx, vmId))?.account_id === accountId ? vmId : null, before?.vm_id ?? null])
  const row = await lockOwnAddress(tx, accountId, id)
  if (row.vm_id !== before?.vm_id) {
    await requireIdleAddress(tx, row)
    throw apiError('busy', 'The address was moved by another request: look who has it now, and try again')
  }
  return row
}

async function requireExpected(tx: Tx, { address, vm_id }: sql.AddressRow, expected: string | null | undefined): Promise<void> {
  if (expected === undefined || expected === vm_id) return
  const owner = vm_id === null ? 'not assigned to a VM' : `assigned to ${(await vmById(tx, vm_id))?.name ?? 'VM'} (${vm_id})`
  throw apiError('invalid_state', `The address ${address} is ${owner}, not as expected: nothing was changed`)
}

function requireUsable(row: sql.AddressRow, vm: VmDetails, now: Date): void {
  const { address, region_id } = row
  // Before it is suspended too: a move under way keeps it from that.
  if (isOver(now, row, GRACE))
    throw apiError('invalid_state', `The renewal of ${address} is not paid: deposit what is due, it renews by itself within a minute`)
  if (vm.account_suspended)
    throw apiError('invalid_state', 'This account is suspended, so nothing of it is changed: open a ticket to ask why')
  if (!vm.provisioned || !isPlaced(vm) || vm.status === 'UNMANAGED' || vm.status === 'SUSPENDED')
    throw apiError('invalid_state', `VM ${vm.name} is ${vm.status}: it cannot have an address now`)
  if (vm.ip_address === null)
    throw apiError('incompatible', `VM ${vm.name} has no public IPv4 address, and so no way out for ${address}: choose another VM`)
  if (vm.region_id !== region_id) throw apiError('region_mismatch', `The address ${address} is in another region than VM ${vm.name}`)
}

/** Of a locked, idle address whose VMs are locked. An owner that stays the same is told again. */
export async function startMove(tx: Tx, deps: Deps, row: sql.ShownAddress, vmId: string | null): Promise<string> {
  const previousVmId = row.vm_id
  await sql.setOwner(tx, deps.clock.now(), row.id, vmId, previousVmId === vmId ? null : previousVmId)
  await markPortsDirty(
    tx,
    [previousVmId, vmId].filter((each) => each !== null),
  )
  const input = { addressId: row.id, vmId, previousVmId }
  const label = vmId === null ? 'ADDRESS_UNASSIGN' : 'ADDRESS_ASSIGN'
  return deps.workflows.start(tx, moveAddress, input, { label, ownerId: row.account_id, subjectId: row.id })
}
