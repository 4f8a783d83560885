// Who may do what to a volume: one action at a time, on what is paid and can be reached.
import type { Principal } from '../../http/api/principal.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { findHost } from '../hosts/service.ts'
import { GRACE, isOver } from '../renewals/service.ts'
import { SHELVED, startAction, type StartRun } from '../vms/service.ts'
import * as sql from './sql.ts'

export async function requireVolume(db: Queries, accountId: string, id: string): Promise<sql.ShownVolume> {
  const row = await sql.findVolume(db, accountId, id)
  if (!row) throw notFound('Volume')
  return row
}

export async function lockOwnVolume(tx: Tx, accountId: string, id: string): Promise<sql.ShownVolume> {
  const row = await sql.lockVolume(tx, accountId, id)
  if (!row) throw notFound('Volume')
  return row
}

/** One action at a time. */
export function requireIdleVolume({ name, run_id, open_run }: sql.ShownVolume): void {
  if (run_id === null) return
  const what = open_run === null ? 'an action' : `action ${open_run.label}`
  throw apiError('busy', `The volume ${name} is busy: ${what} (${run_id}) is running. Wait until it has ended`)
}

export const movedError = () => apiError('busy', 'The volume was moved by another request: look which VM has it now, and try again')

const unpaidError = (name: string) =>
  apiError('invalid_state', `The renewal of volume ${name} is not paid: deposit what is due, it renews by itself within a minute`)

/** Within the grace period, also before it is suspended: an action under way keeps it from that. */
export function requirePaid(row: sql.ShownVolume, now: Date): void {
  if (isOver(now, row, GRACE)) throw unpaidError(row.name)
}

/** A prorated price would be zero after the period has ended. */
export function requirePaidPeriod({ name, billing_status, next_renewal_at }: sql.VolumeRow, now: Date): void {
  if (billing_status !== 'ACTIVE') throw unpaidError(name)
  if (next_renewal_at <= now)
    throw apiError('invalid_state', `The month of volume ${name} is over and being renewed: try again in a minute`)
}

/** Of a detached one: nothing else may write to it. */
export async function requireReachable(tx: Tx, row: sql.ShownVolume): Promise<void> {
  if (await sql.isLeft(tx, row))
    throw apiError(
      'busy',
      `The VM that had volume ${row.name} may still write to it on a host that is out of reach: try again when the host is back, or ask support`,
    )
}

/** Of a locked one that this VM, or a new one, is to have. */
export async function requireFree(tx: Tx, row: sql.ShownVolume, now: Date, vmId: string | null = null): Promise<void> {
  requireIdleVolume(row)
  if (row.vm_id !== null) {
    const owner = row.vm_id === vmId ? 'this VM already' : `VM ${row.vm_name}: detach it first`
    throw apiError('in_use', `The volume ${row.name} is attached to ${owner}`)
  }
  requirePaid(row, now)
  await requireReachable(tx, row)
}

/** Nothing is reached on a host that was removed. */
export async function requireHost(tx: Tx, { host_id }: Pick<sql.VolumeRow, 'host_id'>): Promise<void> {
  if (host_id !== null && (await findHost(tx, host_id))?.removed_at)
    throw apiError('invalid_state', 'The host of this volume is out of service: ask support when it returns')
}

interface VolumeActionRequest<F, T> {
  /** Of the VM that has it; null: allowed in every state but UNMANAGED, and to a suspended account. */
  verb: 'snapshot' | null
  label: string
  /** Finds the other resources the request names: their 404 takes precedence over the 409 of a busy volume. */
  find?: () => Promise<F>
  act: (row: sql.ShownVolume, start: StartRun, found: F) => Promise<T>
}

/** Of the VM that has the volume, or of the volume itself: one action at a time of either. */
export async function startVolumeAction<T, F = undefined>(
  tx: Tx,
  deps: Deps,
  who: Pick<Principal, 'accountId'>,
  id: string,
  { verb, label, find, act }: VolumeActionRequest<F, T>,
): Promise<T> {
  const { accountId } = who
  const { vm_id: vmId } = await requireVolume(tx, accountId, id)
  const lock = async () => ({ row: await lockOwnVolume(tx, accountId, id), found: (await find?.()) as F })
  const begin = ({ row, found }: Awaited<ReturnType<typeof lock>>, start: StartRun): Promise<T> => {
    requireIdleVolume(row)
    if (row.vm_id !== vmId) throw movedError()
    return act(row, start, found)
  }
  if (vmId !== null)
    return startAction(tx, deps, who, vmId, {
      verb,
      label,
      find: lock,
      act: async (vm, start, locked) => {
        if (vm.status === 'UNMANAGED')
          throw apiError('invalid_state', 'The VM of this volume is UNMANAGED: nothing is done with it until the operator adopts it again')
        if (vm.shelved_at !== null) throw apiError('invalid_state', `The ${SHELVED}`)
        return begin(locked, start)
      },
    })
  const locked = await lock()
  await requireHost(tx, locked.row)
  if (verb !== null) {
    if (await sql.isOwnerSuspended(tx, accountId))
      throw apiError('invalid_state', 'This account is suspended, so nothing of it is changed: open a ticket to ask why')
    await requireReachable(tx, locked.row)
  }
  return begin(locked, startRunOfVolume(tx, deps, locked.row, label))
}

/** Of a volume that no VM has. */
export const startRunOfVolume =
  (tx: Tx, { workflows }: Deps, { id, account_id }: sql.ShownVolume, label: string): StartRun =>
  async (workflow, input, runId) => ({
    actionId: await workflows.start(tx, workflow, input, {
      label,
      ownerId: account_id,
      subjectId: id,
      ...(runId !== undefined && { runId }),
    }),
  })
