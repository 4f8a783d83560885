// POST /vms/{id}/unshelve. The transaction reserves a place among the hosts that serve the VM's addresses, and charges the rest of the period; the workflow
// brings the disk there and starts the VM if it ran when it was shelved. On failure it is shelved as before, and the charge refunded.
import { BackupTargetError } from '../../../backup-target/errors.ts'
import { DryRunResult } from '../../../http/api/api.ts'
import type { Principal } from '../../../http/api/principal.ts'
import type { DiskContent } from '../../../hypervisor/extent.ts'
import { storeAsBackup } from '../../../hypervisor/store-as-backup.ts'
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { EndContext, StepContext, WorkflowBuilder } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { discardShelvedDisks, findShelvedDisk, openRepository, type ShelvedDiskRow } from '../../backup-targets/service.ts'
import { getRegion, getTemplateById } from '../../catalog/service.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity } from '../../hosts/capacity.ts'
import { createPortState, pausePorts } from '../../ports/service.ts'
import { charge, type Quote, refund, requireFunds, toQuote } from '../../wallet/service.ts'
import { unshelveTerms } from '../billing/shelving.ts'
import { requirePaidPeriod } from '../model/allowed-actions.ts'
import { recordVmEvent } from '../model/events.ts'
import { requireNoMachineElsewhere, requireNothingUndone, requireShelvingPlace, startAction } from '../model/guards.ts'
import { notifyResized } from '../model/hooks.ts'
import { machineSpec } from '../model/machine-spec.ts'
import { reallocatePlacement, sizeOf, sizeOnHost } from '../model/placement.ts'
import { releaseFetchedRoom, releaseRestoreRoom } from '../model/restore-room.ts'
import * as sql from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import { wishesOf } from '../recovery/wishes.ts'
import * as steps from '../steps.ts'
import { ON_SHELF } from './power.ts'

/** JSON-compatible: stored in the workflow journal. */
interface PoolInput extends steps.VmInput {
  isOn: boolean
  chargedCents: string
  before: { generation: number; periodPriceCents: string; bandwidthWithheldBytes: string }
}

interface Input extends PoolInput {
  diskId: string
}

type Context<I = Input> = Pick<StepContext<Deps, I, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

export const unshelve = (tx: Tx, deps: Deps, who: Principal, vmId: string, dryRun = false): Promise<ActionStarted | DryRunResult<Quote>> =>
  startAction(tx, deps, who, vmId, {
    verb: 'unshelve',
    label: 'UNSHELVE',
    act: async (vm, start) => {
      const { currency } = deps.config
      const now = deps.clock.now()
      requirePaidPeriod(vm, now)
      await requireNothingUndone(tx, vm)
      await requireNoMachineElsewhere(tx, vm)
      const terms = await unshelveTerms(tx, now, vm)
      await requireFunds(tx, now, vm.account_id, terms.chargeCents, currency)
      const runId = newId()
      const disk = vm.storage_id === null ? await getShelvedDisk(tx, vmId) : null
      if (disk) await requireShelvingPlace(tx, vm.account_id)
      const hostId = await placeAgain(tx, now, vm, runId)
      const generation = disk ? await sql.nextGeneration(tx, vmId) : vm.generation
      await sql.setOffShelf(tx, now, vmId, { ...terms, hostId, generation })
      await sql.takeVolumesTo(tx, now, vmId, hostId)
      await createPortState(tx, vmId, hostId, vm.account_id)
      await notifyResized(tx, deps, vmId)
      const input = {
        vmId,
        isOn: vm.desired_running,
        chargedCents: terms.chargeCents.toString(),
        before: {
          generation: vm.generation,
          periodPriceCents: vm.period_price_cents.toString(),
          bandwidthWithheldBytes: vm.bandwidth_withheld_bytes.toString(),
        },
      }
      const started = await (disk ? start(unshelveVm, { ...input, diskId: disk.id }, runId) : start(unshelveInPool, input, runId))
      const description = `${vm.name} is unshelved for the rest of the period`
      const entry = { type: 'VM_UNSHELVE', description, referenceType: 'VM', referenceId: vmId, currency } as const
      const { balance_after_cents: balanceAfter } = await charge(tx, now, vm.account_id, terms.chargeCents, entry)
      if (!dryRun) return started
      return new DryRunResult(
        toQuote(tx, currency, { charge: terms.chargeCents, monthly: terms.monthly + vm.copies_price_cents, balanceAfter }),
      )
    },
  })

async function getShelvedDisk(db: Queries, vmId: string): Promise<ShelvedDiskRow> {
  const disk = await findShelvedDisk(db, vmId)
  if (!disk) throw new Error(`BUG: shelved VM ${vmId} has no disk`)
  return disk
}

/** With the addresses it has: another host may not serve them. */
async function placeAgain(tx: Tx, now: Date, vm: sql.VmDetails, runId: string): Promise<string> {
  const among = await sql.hostsForShelved(tx, vm)
  if (among.size === 0 && (await sql.isServed(tx, vm)))
    throw apiError('no_capacity', 'The host that serves the addresses of this VM is not ready to have it again: try again in a minute')
  if (among.size === 0)
    throw apiError(
      'no_capacity',
      `No host of ${vm.region_slug} serves the addresses of this VM any more: open a ticket, or create a VM from one of its backups`,
    )
  const wishes = { ...(await wishesOf(tx, vm, await getTemplateById(tx, vm.os_template_id))), isSpeedOptional: false }
  const copy = vm.storage_id === null ? { runId, gib: vm.disk_gib, storedOn: null } : undefined
  const place = await reallocatePlacement(tx, now, await getRegion(tx, vm.region_id), vm, wishes, copy, among)
  return place.host_id
}

export const unshelveVm = ended(
  workflow<Input>('vm.unshelve', { deadline: '5h', queue: 'restores' })
    .step('fetch', { timeout: '2h', run: fetchDisk, undo: removeWithCopy })
    .step('networks', { run: steps.prepareNetworks })
    .step('filter', { run: steps.applyPorts, save: steps.savePorts, undo: steps.removePorts })
    .step('disk', { timeout: '2h', run: makeDisk, save: releaseFetchedRoom }),
)

/** The disk is in its storage backend. */
export const unshelveInPool = ended(
  workflow<PoolInput>('vm.unshelve_in_pool', { deadline: '30m' })
    .step('networks', { run: steps.prepareNetworks, undo: removeFromHost })
    .step('filter', { run: steps.applyPorts, save: steps.savePorts, undo: steps.removePorts }),
)

function ended<I extends PoolInput, R extends object>(begun: WorkflowBuilder<Deps, I, R>) {
  return begun
    .step('boot', { run: async (context) => void (await (context.input.isOn ? steps.boot(context) : steps.applySpec(context))) })
    .step('ready', {
      ...steps.READY_STEP,
      run: async (context): Promise<steps.Ready | null> => (context.input.isOn ? steps.awaitReadyOrEnd(context) : null),
    })
    .onSuccess(async (tx, { deps, input: { vmId }, results: { ready }, runId, now }) => {
      await releaseRestoreRoom(tx, runId)
      await sql.markUnshelved(tx, vmId)
      await sql.setStatus(tx, now, vmId, ready ? { status: 'RUNNING', ...ready } : { status: 'STOPPED', readiness: 'booting' })
      await discardShelvedDisks(tx, now, vmId)
      await recordVmEvent(tx, deps, vmId, 'vm.unshelved', { actionId: runId })
      if (ready) await recordVmEvent(tx, deps, vmId, 'vm.started', { actionId: runId })
    })
    .onFailure(returnToShelf)
}

async function returnToShelf(
  tx: Tx,
  { deps, input: { vmId, before, chargedCents }, error, cleanupFailed, runId, now }: EndContext<Deps, PoolInput, unknown>,
): Promise<void> {
  const vm = await sql.lockVmById(tx, vmId)
  if (!vm) return releaseRestoreRoom(tx, runId) // deleted since it was cancelled, with its place
  const hostId = vm.host_id!
  await pausePorts(tx, vmId)
  await releaseRestoreRoom(tx, runId)
  await releaseCapacity(tx, hostId, sizeOnHost(vm, sizeOf(vm)))
  await sql.setOffShelf(tx, now, vmId, {
    hostId: null,
    generation: before.generation,
    periodPriceCents: BigInt(before.periodPriceCents),
    bandwidthWithheldBytes: BigInt(before.bandwidthWithheldBytes),
  })
  await notifyResized(tx, deps, vmId)
  if (cleanupFailed) await recordStaleMachine(tx, now, vmId, hostId, true)
  const reason = `It could not be unshelved: ${error?.userMessage ?? 'it was cancelled'}`
  await sql.setStatus(tx, now, vmId, { status: 'STOPPED', reason: `${ON_SHELF}. ${reason}`, readiness: 'booting' })
  await recordVmEvent(tx, deps, vmId, 'vm.unshelve_failed', { actionId: runId, reason })
  await refund(tx, now, vm.account_id, BigInt(chargedCents), {
    type: 'VM_REFUND',
    description: `${vm.name} could not be unshelved`,
    referenceType: 'VM',
    referenceId: vmId,
  })
}

async function fetchDisk(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { vmId, diskId } = input
  const { driver } = await steps.vmAndDriver(context)
  await storeAsBackup(driver, { vmId, backupId: diskId, storageId: null }, () => openShelvedDisk(deps, vmId, signal), signal)
}

async function openShelvedDisk(deps: Deps, vmId: string, signal: AbortSignal): Promise<DiskContent> {
  const disk = await getShelvedDisk(deps.db, vmId)
  const { repository } = await openRepository(deps, disk.target_id, vmId, signal)
  const found = await repository.read(disk.id, signal)
  if (found.checksum !== disk.checksum)
    throw new BackupTargetError('damaged', `The disk of VM ${vmId} in the target is not the one that was stored`)
  return found
}

async function makeDisk(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { vmId, diskId } = input
  const { vm, driver } = await steps.vmAndDriver(context)
  await driver.ensureDisk(await machineSpec(deps, vm), { from: 'backup', backupId: diskId }, signal)
  await driver.ensureBackupOffloaded(vmId, { backupId: diskId, keepCheckpoint: false }, signal)
}

/** Backups of the VM that the host stores stay there, and its disk stays in a storage backend. */
async function removeFromHost(context: Context<PoolInput>): Promise<void> {
  const { vm, driver } = await steps.vmAndDriver(context)
  await driver.ensurePurgedKeepBackups(vm.id, context.signal)
}

async function removeWithCopy(context: Context): Promise<void> {
  await removeFromHost(context)
  const { vm, driver } = await steps.vmAndDriver(context)
  await driver.ensureNoBackup(vm.id, context.input.diskId, context.signal)
}
