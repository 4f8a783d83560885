import type { Principal } from '../../http/api/principal.ts'
import type { DryRunResult } from '../../http/api/api.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { quotaLimit } from '../accounts/service.ts'
import { spenderOf } from '../budgets/service.ts'
import type { ActionStarted } from '../actions/schema.ts'
import type { Deps } from '../deps.ts'
import { quoteCopy, releaseCopies, requireVm, reserveCopy, SHELVED, startAction, startRestore, type CountedCopy } from '../vms/service.ts'
import type { Quote } from '../wallet/service.ts'
import { deleteSnapshot } from './delete.workflow.ts'
import { restoreFromSnapshot } from './restore.workflow.ts'
import type { CreateSnapshot, Snapshot, UpdateSnapshot } from './schema.ts'
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
  dryRun = false,
): Promise<(ActionStarted & { snapshot: Snapshot }) | DryRunResult<Quote>> =>
  startAction(tx, deps, who, vmId, {
    verb: 'snapshot',
    label: 'SNAPSHOT_CREATE',
    act: async (vm, start) => {
      await requireFewer(tx, vm.account_id, vmId)
      const place = vm.storage_id === null ? { hostIds: [vm.host_id!] } : { hostIds: [], storageId: vm.storage_id }
      const terms = await reserveCopy(tx, deps, vm, { ...place, isPriced: true })
      const row = await sql.insertSnapshot(tx, {
        id: newId(),
        vm_id: vmId,
        account_id: vm.account_id,
        os_template_id: vm.os_template_id,
        name: input.name,
        description: input.description ?? '',
        labels: input.labels ?? {},
        host_id: place.hostIds[0] ?? null,
        storage_id: vm.storage_id,
        counted_gib: terms.countedGib,
        created_at: deps.clock.now(),
      })
      const started = await start(takeSnapshot, {
        vmId,
        snapshotId: row.id,
        priceCents: terms.priceCents.toString(),
        ...spenderOf(tx, vm.account_id),
      })
      if (dryRun) return quoteCopy(tx, deps, vm, terms)
      return { snapshot: toSnapshot(row), ...started }
    },
  })

async function requireFewer(tx: Tx, accountId: string, vmId: string): Promise<void> {
  const limit = await quotaLimit(tx, accountId, 'snapshots_per_vm')
  const count = await sql.countSnapshots(tx, vmId)
  if (count >= limit)
    throw apiError('quota_exceeded', `Quota exceeded: this VM has ${count} of ${limit} snapshots. Delete one, or ask support for more`)
}

export async function listSnapshots(
  db: Queries,
  accountId: string,
  vmId: string,
  labelSelector: string | undefined,
  page: PageRequest,
): Promise<Paged<Snapshot>> {
  await requireVm(db, accountId, vmId)
  return pageOf(
    page,
    () => sql.countSnapshots(db, vmId, labelSelector),
    async (range) => (await sql.listSnapshots(db, vmId, labelSelector, range)).map(toSnapshot),
  )
}

export async function getSnapshot(db: Queries, accountId: string, vmId: string, id: string): Promise<Snapshot> {
  await requireVm(db, accountId, vmId)
  return toSnapshot(await requireSnapshot(db, vmId, id))
}

export async function updateSnapshot(tx: Tx, accountId: string, vmId: string, id: string, change: UpdateSnapshot): Promise<Snapshot> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, description, labels')
  await requireVm(tx, accountId, vmId)
  const row = await sql.lockSnapshot(tx, vmId, id)
  if (!row) throw notFound('Snapshot')
  return toSnapshot(await sql.describeSnapshot(tx, { ...row, ...change }))
}

async function requireSnapshot(db: Queries, vmId: string, id: string): Promise<sql.SnapshotRow> {
  const row = await sql.findSnapshot(db, vmId, id)
  if (!row) throw notFound('Snapshot')
  return row
}

const MAKES_IMAGES_FROM = 'snapshots:restore'

/** Whoever makes an image from it reads it. */
export async function requireSnapshotAsSource(tx: Tx, who: Principal, id: string): Promise<sql.SnapshotRow> {
  if (!who.scopes.has(MAKES_IMAGES_FROM)) throw apiError('missing_scope', `This token lacks the required scope: ${MAKES_IMAGES_FROM}`)
  const row = await sql.findOwnSnapshot(tx, who.accountId, id)
  if (!row) throw notFound('Snapshot')
  if ((await requireVm(tx, who.accountId, row.vm_id)).shelved_at !== null) throw apiError('invalid_state', SHELVED)
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
      const need = { copy: { gib: 0, storedOn: null }, diskGiB: vm.disk_gib }
      return startRestore(tx, deps, vm, restoreFromSnapshot, { runId: newId(), copyId: id, templateId: os_template_id, ...need }, start)
    },
  })

/** Snapshots are stored beside the disk, on a host that is lost. */
export async function failAllSnapshots(tx: Tx, vmId: string): Promise<CountedCopy[]> {
  await sql.markAllFailed(tx, vmId)
  return releaseAllSnapshots(tx, { id: vmId })
}

/** Before the VM's row is deleted, which deletes those of its snapshots. */
export async function releaseAllSnapshots(tx: Tx, { id }: { id: string }): Promise<CountedCopy[]> {
  const copies = await sql.uncountOfVm(tx, id)
  await releaseCopies(tx, copies)
  return copies
}

export async function releaseSnapshots(tx: Tx, ids: string[]): Promise<CountedCopy[]> {
  const copies = await sql.uncountSnapshots(tx, ids)
  await releaseCopies(tx, copies)
  return copies
}

/** Allowed in every VM state except UNMANAGED: removing a snapshot does not touch the disk beside it. */
export const removeSnapshot = (tx: Tx, deps: Deps, who: Principal, vmId: string, id: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: null,
    label: 'SNAPSHOT_DELETE',
    find: () => requireSnapshot(tx, vmId, id),
    act: async (vm, start) => {
      if (vm.status === 'UNMANAGED')
        throw apiError('invalid_state', 'VM is UNMANAGED: its snapshots cannot be deleted until the operator adopts it again')
      if (vm.shelved_at !== null) throw apiError('invalid_state', SHELVED)
      await sql.setStatus(tx, id, 'DELETING')
      return start(deleteSnapshot, { vmId, snapshotId: id })
    },
  })
