// POST /vms/{id}/shelve. A disk on its host is copied beside itself, stored in the backup target of the region and read back from there; one in a
// storage backend stays where it is. The end of the run is one transaction: the VM leaves its host, whose capacity is free, and the rest of the period
// is credited. What the host still has of it is stale from then on, and removed. Whatever fails before is undone.
import { BackupTargetError } from '../../../backup-target/errors.ts'
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import type { EndContext, QueueName, StepContext } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import {
  discardShelvedDisks,
  ensureRepository,
  findTargetOfRegion,
  insertShelvedDisk,
  openRepository,
  setShelvedChecksum,
} from '../../backup-targets/service.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity } from '../../hosts/capacity.ts'
import { pausePorts, resumePorts } from '../../ports/service.ts'
import { balanceOf, type Quote, refund, toQuote } from '../../wallet/service.ts'
import { shelfTerms } from '../billing/shelving.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { requireNothingUndone, requireShelvingPlace, startAction } from '../model/guards.ts'
import { driverForVmId } from '../model/machine-spec.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import { releaseRestoreRoom, reserveRestoreRoom } from '../model/restore-room.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine, STALE_MACHINES } from '../model/stale-machines.ts'
import { applyPorts, boot, powerOff, removePorts, SHUTDOWN_GRACE_MS, STOP_STEP, type VmInput } from '../steps.ts'
import { ON_SHELF } from './power.ts'

interface PoolInput extends VmInput {
  wasRunning: boolean
}

interface Input extends PoolInput {
  disk: { id: string; targetId: string }
}

type Context = Pick<StepContext<Deps, Input, unknown>, 'deps' | 'input' | 'signal'>

interface Stored {
  store: { checksum: string }
}

export const shelve = (tx: Tx, deps: Deps, who: Principal, vmId: string, dryRun = false): Promise<ActionStarted | DryRunResult<Quote>> =>
  startAction(tx, deps, who, vmId, {
    verb: 'shelve',
    label: 'SHELVE',
    act: async (vm, start) => {
      const now = deps.clock.now()
      requirePaidPeriod(vm, now)
      await requireNothingUndone(tx, vm)
      await requireNothingBeside(tx, vm)
      const input = { vmId, wasRunning: vm.status === 'RUNNING' }
      const runId = newId()
      if (vm.storage_id === null) await requireShelvingPlace(tx, vm.account_id)
      const disk = vm.storage_id === null ? await reserveDiskInTarget(tx, now, vm, runId) : null
      if (!dryRun) return disk ? start(shelveVm, { ...input, disk }, runId) : start(shelveInPool, input, runId)
      const { creditCents, monthly } = await shelfTerms(tx, now, vm)
      const balanceAfter = (await balanceOf(tx, vm.account_id)) + creditCents
      return new DryRunResult(
        toQuote(tx, deps.config.currency, { charge: -creditCents, monthly: monthly + vm.copies_price_cents, balanceAfter }),
      )
    },
  })

/** And room for a copy on the host until it is there. */
async function reserveDiskInTarget(tx: Tx, now: Date, vm: sql.VmDetails, runId: string): Promise<Input['disk']> {
  const target = await findTargetOfRegion(tx, vm.region_id)
  if (!target)
    throw apiError(
      'unavailable',
      `Region ${vm.region_slug} has no backup target to keep the disk of a shelved VM in: ask the provider for one (as an operator: berthd backup-target add)`,
    )
  await ensureRepository(tx, now, target.id, vm)
  const id = newId()
  await insertShelvedDisk(tx, { id, vm_id: vm.id, target_id: target.id, created_at: now })
  await reserveRestoreRoom(tx, runId, vm, { copyGiB: vm.disk_gib, diskGiB: 0 }, 'Shelving this VM')
  return { id, targetId: target.id }
}

/** What is on the host beside the disk does not follow it. */
async function requireNothingBeside(tx: Tx, vm: sql.VmDetails): Promise<void> {
  const { snapshots, volumes } = await sql.countLocalFiles(tx, vm.id)
  if (volumes.length > 0)
    throw apiError('in_use', `The VM has volumes on the local storage of its host (${volumes.join(', ')}): detach them first`)
  if (snapshots > 0)
    throw apiError(
      'in_use',
      `The VM has ${snapshots === 1 ? 'a snapshot' : `${snapshots} snapshots`} on the local storage of its host, and these cannot follow its disk: delete them first. Backups are kept`,
    )
}

const begun = <I extends PoolInput>(name: string, options: { deadline: string; queue?: QueueName }) =>
  workflow<I>(name, options)
    .step('stop', {
      ...STOP_STEP,
      run: (context) => powerOff(context, SHUTDOWN_GRACE_MS),
      undo: async (context) => {
        if (context.input.wasRunning) await boot(context)
      },
    })
    .step('ports', { run: removePorts, undo: async (context) => void (await applyPorts(context)) })

export const shelveVm = begun<Input>('vm.shelve', { deadline: '8h', queue: 'restores' })
  .step('copy', {
    timeout: '2h',
    run: async ({ deps, input: { vmId, disk }, signal }) => {
      await (await driverForVmId(deps, vmId)).ensureBackup(vmId, { backupId: disk.id, parentId: null }, signal)
    },
    undo: deleteCopy,
  })
  .step('store', { timeout: '2h', run: storeDisk })
  .step('verify', { timeout: '2h', run: verifyDisk })
  .step('delete copy', { run: deleteCopy })
  .onSuccess(async (tx, context) => {
    await setShelvedChecksum(tx, context.input.disk.id, context.results.store.checksum)
    await leaveHost(tx, context)
  })
  .onFailure(stayOnHost)

/** The disk stays in its storage backend. Another host waits for no longer, where that of the VM is lost meanwhile. */
export const shelveInPool = begun<PoolInput>('vm.shelve_in_pool', { deadline: '15m' }).onSuccess(leaveHost).onFailure(stayOnHost)

async function deleteCopy({ deps, input: { vmId, disk }, signal }: Context): Promise<void> {
  await (await driverForVmId(deps, vmId)).ensureNoBackup(vmId, disk.id, signal)
}

/** Repeated after an interruption it sends only what is missing. Not locked: object lock would keep it after the VM is unshelved. */
async function storeDisk({ deps, input: { vmId, disk }, signal }: Context): Promise<Stored['store']> {
  const { repository } = await openRepository(deps, disk.targetId, vmId, signal)
  const { sizeBytes, extents } = await (await driverForVmId(deps, vmId)).readBackupExtents(vmId, disk.id, signal)
  const { checksum } = await repository.upload({ backupId: disk.id, parentId: null, sizeBytes, extents, lockDays: null }, signal)
  return { checksum }
}

/** Every chunk is read: the disk on the host is deleted next. */
async function verifyDisk({ deps, input: { vmId, disk }, results, signal }: StepContext<Deps, Input, Stored>): Promise<void> {
  const { repository } = await openRepository(deps, disk.targetId, vmId, signal)
  const { problems } = await repository.verify(disk.id, signal)
  const { checksum } = await repository.read(disk.id, signal)
  if (problems.length > 0 || checksum !== results.store.checksum)
    throw new BackupTargetError(
      'damaged',
      `The disk of VM ${vmId} is not in the target as it was sent: ${problems[0] ?? 'another content'}`,
    )
}

type End = EndContext<Deps, PoolInput, unknown>

/** Lock order: ports, hosts, event log, wallet. */
async function leaveHost(tx: Tx, { deps, input: { vmId }, runId, now }: End): Promise<void> {
  const vm = (await sql.lockVmById(tx, vmId))!
  const hostId = vm.host_id!
  await pausePorts(tx, vmId)
  await releaseRestoreRoom(tx, runId)
  await releaseCapacity(tx, hostId, sizeOnHost(vm, sizeOf(vm)))
  await sql.markShelved(tx, now, vmId)
  await sql.setStatus(tx, now, vmId, { status: 'STOPPED', reason: ON_SHELF, readiness: 'booting' })
  await recordStaleMachine(tx, now, vmId, hostId)
  await triggerReconciler(tx, STALE_MACHINES)
  await recordVmEvent(tx, deps, vmId, 'vm.shelved', { actionId: runId })
  const terms = await shelfTerms(tx, now, vm)
  await sql.setShelfTerms(tx, vmId, terms)
  if (terms.creditCents === 0n) return
  await refund(tx, now, vm.account_id, terms.creditCents, {
    type: 'VM_REFUND',
    description: `${vm.name} is shelved for the rest of the period`,
    referenceType: 'VM',
    referenceId: vmId,
  })
}

async function stayOnHost(tx: Tx, { deps, input, error, cleanupFailed, runId, now }: End): Promise<void> {
  const vm = await sql.lockVmById(tx, input.vmId)
  if (!vm) return releaseRestoreRoom(tx, runId) // deleted since it was cancelled
  await resumePorts(tx, vm.id)
  await releaseRestoreRoom(tx, runId)
  await discardShelvedDisks(tx, now, vm.id)
  if (cleanupFailed) await recordStaleMachine(tx, now, vm.id, vm.host_id!)
  const reason = `It could not be shelved, and is where it was: ${error?.userMessage ?? 'it was cancelled'}`
  await sql.setStatus(tx, now, vm.id, { status: input.wasRunning ? 'RUNNING' : 'STOPPED', reason })
  await recordVmEvent(tx, deps, vm.id, 'vm.shelve_failed', { actionId: runId, reason })
}
