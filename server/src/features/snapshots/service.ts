import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { quotaLimit } from '../accounts/service.ts'
import type { ActionStarted } from '../actions/schema.ts'
import type { Deps } from '../deps.ts'
import { requireVm, startAction, startRestore } from '../vms/service.ts'
import { deleteSnapshot } from './delete.workflow.ts'
import { restoreFromSnapshot } from './restore.workflow.ts'
import type { CreateSnapshot, Snapshot } from './schema.ts'
import * as sql from './sql.ts'
import { takeSnapshot } from './create.workflow.ts'
import { toSnapshot } from './view.ts'

/** Row and workflow run commit together, so a crash never leaves a snapshot without a run. */
export const createSnapshot = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  input: CreateSnapshot,
): Promise<ActionStarted & { snapshot: Snapshot }> =>
  startAction(tx, deps, who, vmId, {
    verb: 'snapshot',
    label: 'SNAPSHOT_CREATE',
    act: async (vm, start) => {
      await requireRoom(tx, vm.account_id, vmId)
      const row = await sql.insertSnapshot(tx, {
        id: newId(),
        vm_id: vmId,
        account_id: vm.account_id,
        os_template_id: vm.os_template_id,
        name: input.name,
        description: input.description ?? '',
        created_at: deps.clock.now(),
      })
      return { snapshot: toSnapshot(row), ...(await start(takeSnapshot, { vmId, snapshotId: row.id })) }
    },
  })

async function requireRoom(tx: Tx, accountId: string, vmId: string): Promise<void> {
  const limit = await quotaLimit(tx, accountId, 'snapshots_per_vm')
  const count = await sql.countSnapshots(tx, vmId)
  if (count >= limit)
    throw apiError('quota_exceeded', `Quota exceeded: this VM has ${count} of ${limit} snapshots. Delete one, or ask support for more`)
}

export async function listSnapshots(db: Queries, accountId: string, vmId: string, page: PageRequest): Promise<Paged<Snapshot>> {
  await requireVm(db, accountId, vmId)
  const total = await sql.countSnapshots(db, vmId)
  const { items } = await pageOf(page, total, (limit, offset) => sql.listSnapshots(db, vmId, limit, offset))
  return { total, items: items.map(toSnapshot) }
}

export async function getSnapshot(db: Queries, accountId: string, vmId: string, id: string): Promise<Snapshot> {
  await requireVm(db, accountId, vmId)
  return toSnapshot(await requireSnapshot(db, vmId, id))
}

async function requireSnapshot(db: Queries, vmId: string, id: string): Promise<sql.SnapshotRow> {
  const row = await sql.findSnapshot(db, vmId, id)
  if (!row) throw notFound('Snapshot')
  return row
}

export const restoreSnapshot = (tx: Tx, deps: Deps, who: Principal, vmId: string, id: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'restore',
    label: 'SNAPSHOT_RESTORE',
    find: () => requireSnapshot(tx, vmId, id),
    act: async (vm, start, { status, os_template_id }) => {
      if (status !== 'AVAILABLE') throw apiError('invalid_state', `Snapshot must be AVAILABLE to restore; it is ${status}`)
      await sql.setStatus(tx, id, 'RESTORING')
      return startRestore(tx, deps, vm, restoreFromSnapshot, { runId: newId(), copyId: id, templateId: os_template_id }, start)
    },
  })

/** Snapshots are stored beside the disk and are lost with it. */
export const failAllSnapshots = sql.markAllFailed

/** Allowed in every VM state except UNMANAGED: removing a snapshot does not touch the disk beside it. */
export const removeSnapshot = (tx: Tx, deps: Deps, who: Principal, vmId: string, id: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: null,
    label: 'SNAPSHOT_DELETE',
    find: () => requireSnapshot(tx, vmId, id),
    act: async (vm, start) => {
      if (vm.status === 'UNMANAGED')
        throw apiError('invalid_state', 'VM is UNMANAGED: its snapshots cannot be deleted until the operator adopts it again')
      await sql.setStatus(tx, id, 'DELETING')
      return start(deleteSnapshot, { vmId, snapshotId: id })
    },
  })
