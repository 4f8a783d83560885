// The workflow of an upgrade or resize, on the host of the VM or on another one. The machine is stopped, defined anew and started, unless it only
// grows, within the room that it was started with: that is done live. Its disk grows last of all that can be undone. Until the end quotas and capacity
// are those of the larger of both sizes in each part, so either outcome only releases.
import type { Tx } from '../../../kernel/database/db.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import type { EndContext, WorkflowBuilder } from '../../../workflow/workflow-builder.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity, type Size } from '../../hosts/capacity.ts'
import { markPortsDirty } from '../../ports/service.ts'
import { releaseStorage } from '../../storage/service.ts'
import { refund, refundable } from '../../wallet/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { notifyResized, resizeVm } from '../model/hooks.ts'
import { releaseVmQuotas, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { clearStaleMachine, recordStaleMachine } from '../model/stale-machines.ts'
import {
  add,
  DRAIN,
  ENFORCE_SUSPENSION,
  moveMachine,
  returnIfUnsettled,
  returnPorts,
  settle,
  subtract,
  uploadTemplate,
  type MoveInput,
  type Outcome,
} from '../move/steps.ts'
import {
  applyPorts,
  applySpec,
  awaitReadyOrEnd,
  boot,
  powerOff,
  prepareNetworks,
  type Ready,
  READY_STEP,
  savePorts,
  SHUTDOWN_GRACE_MS,
  startMachine,
  vmAndDriver,
  STOP_STEP,
} from '../steps.ts'
import {
  changesCompute,
  defineAsBefore,
  type Disk,
  finalSize,
  finalSizeOnOldDisk,
  plug,
  type Plugged,
  type ResizeInput,
  type ShapeBefore,
  specBefore,
  unplug,
} from './resize-machine.ts'

export interface ResizeElsewhereInput extends ResizeInput, MoveInput {}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))
const sizeBefore = ({ vcpu, ramMiB, diskGiB }: ShapeBefore): Size => ({ vcpu, ramMiB, diskGiB })
const isStopped = ({ wasRunning, restarts = true }: ResizeInput): boolean => wasRunning && restarts
const isLive = ({ wasRunning, restarts = true }: ResizeInput): boolean => wasRunning && !restarts
const isGrowing = ({ more }: ResizeInput): boolean => more.diskGiB > 0
const isPlugged = (input: ResizeInput): boolean => isLive(input) && changesCompute(input)

type Results = { move?: Outcome; ready?: Ready | null; grow?: Disk; plug?: Plugged }

type Progress = { input: ResizeInput; results: unknown; begun: string[] }

/** Its host did not answer any more, not even to measure the disk. */
const mayHaveGrown = ({ input, results, begun }: Progress): boolean =>
  isGrowing(input) && (results as Results).grow === undefined && begun.includes('grow')

/** A disk never shrinks: once it has grown nothing is undone, and the new size is sold. So it is where nobody knows: the machine gets the rest when its host is back. */
const hasGrown = (progress: Progress): boolean =>
  mayHaveGrown(progress) ||
  (isGrowing(progress.input) &&
    ((progress.results as Results).grow?.diskGiB ?? 0) >= progress.input.before.diskGiB + progress.input.more.diskGiB)

/** Measures the disk, too. */
async function takeBackGrowth(context: Parameters<typeof defineAsBefore>[0]): Promise<Disk> {
  const grow = await applySpec(context, finalSizeOnOldDisk(context.input))
  const isDone = hasGrown({ ...context, results: { grow } }) || isPlugged(context.input)
  return isLive(context.input) && !isDone ? defineAsBefore(context) : grow
}

const resizing = <I extends ResizeInput, R extends object>(builder: WorkflowBuilder<Deps, I, R>) =>
  builder
    .step('stop', {
      ...STOP_STEP,
      when: isStopped,
      run: (context) => powerOff(context, SHUTDOWN_GRACE_MS),
      undo: async (context) => {
        if (hasGrown(context)) return
        const { vm } = await vmAndDriver(context)
        await startMachine(context, vm.host_id!, await specBefore(context))
      },
    })
    .step('resize', {
      when: (input) => !isLive(input) || (!isGrowing(input) && !isPlugged(input)),
      run: async (context) => {
        if (!context.input.wasRunning) await powerOff(context, SHUTDOWN_GRACE_MS)
        await applySpec(context, finalSizeOnOldDisk(context.input))
      },
      undo: async (context) => {
        if (!hasGrown(context)) await defineAsBefore(context)
      },
    })
    .step('networks', { run: prepareNetworks })
    .step('filter', { run: applyPorts, save: savePorts })
    .step('boot', {
      when: isStopped,
      run: (context) => boot(context, finalSizeOnOldDisk(context.input)),
      undo: async (context) => {
        if (!hasGrown(context)) await powerOff(context, 0)
      },
    })
    .step('plug', {
      timeout: '5m',
      waitsForGuest: true,
      when: isPlugged,
      run: (context): Promise<Plugged> => plug(context),
      undo: async (context) => (hasGrown(context) ? undefined : unplug(context)),
    })
    // Only when the machine runs in its new size, and at once: an image that grows its file system when it boots still finds the larger disk.
    .step('grow', {
      when: isGrowing,
      run: (context): Promise<Disk> => applySpec(context, finalSize(context.input)),
      undo: (context) => takeBackGrowth(context),
    })
    .step('ready', {
      optional: true,
      ...READY_STEP,
      when: isStopped,
      run: (context): Promise<Ready> => awaitReadyOrEnd(context, finalSize(context.input)),
    })
    .onSuccess((tx, context) => complete(tx, context))
    .onFailure((tx, context) => (isSold(context) ? complete(tx, context) : takeBack(tx, context)))

const isSold = (context: Progress): boolean => hasGrown(context) || ((context.results as Results).plug?.isKept ?? false)

const AWAY = 'It has its new size, but its host stopped answering meanwhile: it gets what is missing when the host is back'

async function complete(tx: Tx, context: EndContext<Deps, ResizeInput, object>): Promise<void> {
  const { deps, input, results, runId, now } = context
  const { vmId, wasRunning, kind = 'upgrade', before, more, to, traffic } = input
  const vm = (await sql.lockVmById(tx, vmId))!
  if (to) await releaseRest(tx, now, vm, subtract(add(sizeBefore(before), more), to), to)
  if (traffic) {
    const meanwhile = traffic.usedBytes === undefined ? 0n : vm.bandwidth_used_bytes - BigInt(traffic.usedBytes)
    await sql.setTraffic(tx, now, vmId, { ...traffic, bandwidthWithheldBytes: BigInt(traffic.bandwidthWithheldBytes) + meanwhile })
    await notifyResized(tx, deps, vmId)
  }
  const ready = (results as Results).ready ?? (isStopped(input) ? { readiness: 'booting' as const } : null)
  const unused = (results as Results).plug?.guestReason ?? null
  const isUnknown = mayHaveGrown(context)
  if (isUnknown) await recordStaleMachine(tx, now, vmId, vm.host_id!)
  const reason = isUnknown ? AWAY : unused && `It has its new size, but ${unused}: restart it, or bring the rest online in the guest`
  await sql.setStatus(tx, now, vmId, { status: wasRunning ? 'RUNNING' : 'STOPPED', reason, ...ready })
  await recordVmEvent(tx, deps, vmId, kind === 'upgrade' ? 'vm.upgraded' : 'vm.resized', { actionId: runId })
  await triggerReconciler(tx, DRAIN)
  const most = await refundable(tx, vm.account_id, vmId)
  const owed = BigInt(input.refundCents ?? 0)
  const cents = owed < most ? owed : most
  const description = `Unused days after the resize of ${vm.name} to ${input.name ?? vm.plan_slug}`
  if (cents > 0n) await refund(tx, now, vm.account_id, cents, { type: 'VM_REFUND', description, referenceType: 'VM', referenceId: vmId })
}

/** What was kept in case that it fails. */
async function releaseRest(tx: Tx, now: Date, vm: sql.VmDetails, rest: Size, to: sql.MachineSize): Promise<void> {
  if (rest.vcpu === 0 && rest.ramMiB === 0) return
  await sql.setMachineSize(tx, now, vm.id, to)
  await releaseVmQuotas(tx, vm.account_id, rest, 0n)
  await releaseCapacity(tx, vm.host_id!, rest)
}

async function takeBack(tx: Tx, { deps, input, results, error, runId, now, cleanupFailed }: EndContext<Deps, ResizeInput, object>) {
  const vm = (await sql.lockVmById(tx, input.vmId))!
  const { before, more, kind = 'upgrade' } = input
  const price = {
    customPriceCents: before.customPriceCents === null ? null : BigInt(before.customPriceCents),
    periodPriceCents: BigInt(before.periodPriceCents),
  }
  await releaseVmQuotas(tx, vm.account_id, more, 0n)
  if (vm.storage_id !== null) await releaseStorage(tx, vm.storage_id, more.diskGiB)
  const { isSettled, ...outcome } = (results as Results).move ?? {}
  if (isElsewhere(input) && !isSettled) await leaveDestination(tx, now, vm, input, { ...outcome, cleanupFailed })
  else {
    await releaseCapacity(tx, vm.host_id!, sizeOnHost(vm, more))
    if (cleanupFailed) await recordStaleMachine(tx, now, vm.id, vm.host_id!)
  }
  const { diskIops = null, diskMiBPerSecond = null, bandwidthWithheldBytes = '0' } = before
  const withheld = { bandwidthWithheldBytes: BigInt(bandwidthWithheldBytes) }
  await resizeVm(tx, deps, vm.id, { ...before, ...price, ...withheld, diskIops, diskMiBPerSecond })
  await sql.setPaidAddOns(tx, vm.id, {
    daily_backup_paid_until: dateOf(before.dailyBackupPaidUntil),
    network_10g_paid_until: dateOf(before.network10gPaidUntil),
  })
  const reason = `The ${kind} failed and was taken back: ${error?.userMessage ?? 'it was cancelled'}`
  await sql.setStatus(tx, now, vm.id, { status: input.wasRunning ? 'RUNNING' : 'STOPPED', reason })
  await recordVmEvent(tx, deps, vm.id, kind === 'upgrade' ? 'vm.upgrade_failed' : 'vm.resize_failed', { actionId: runId, reason })
  await triggerReconciler(tx, DRAIN)
  await triggerReconciler(tx, ENFORCE_SUSPENSION)
  const entry = { type: 'VM_REFUND', description: `The ${kind} of ${vm.name} failed`, referenceType: 'VM', referenceId: vm.id } as const
  if (kind === 'upgrade' || BigInt(input.chargedCents) > 0n) await refund(tx, now, vm.account_id, BigInt(input.chargedCents), entry)
}

const isElsewhere = (input: ResizeInput): input is ResizeElsewhereInput => 'destinationId' in input

/** Of a VM that is still on the row of its old host, with its old size. */
async function leaveDestination(
  tx: Tx,
  now: Date,
  vm: sql.VmDetails,
  input: ResizeElsewhereInput,
  { hasArrived, isLeft, cleanupFailed }: Outcome & { cleanupFailed: boolean },
): Promise<void> {
  const { sourceId, destinationId, size, before } = input
  if (hasArrived && vm.host_id === sourceId) {
    await settle(tx, now, input)
    return releaseCapacity(tx, destinationId, subtract(size!, sizeOnHost(vm, sizeBefore(before))))
  }
  await markPortsDirty(tx, [vm.id]) // a change of them meanwhile may have bound them to both hosts again
  if (isLeft || hasArrived || cleanupFailed) await recordStaleMachine(tx, now, vm.id, destinationId, cleanupFailed)
  await releaseCapacity(tx, destinationId, size!)
}

/** Named before there was a resize: open runs are resumed by it. */
export const upgradeVm = resizing(workflow<ResizeInput>('vm.upgrade', { deadline: '20m' }))

export const RESIZE_ELSEWHERE = 'vm.resize_elsewhere'

/** Moved as it is, then resized. What fails after the move leaves it there. */
export const resizeElsewhere = resizing(
  workflow<ResizeElsewhereInput>(RESIZE_ELSEWHERE, { deadline: '6h', queue: 'moves' })
    .step('open ports', {
      run: applyPorts,
      save: (tx, { input, results, now }) => savePorts(tx, { input, results: { filter: results['open ports'] }, now }),
      undo: (context) => returnPorts(context, (context.results as { move?: Outcome }).move?.hasArrived ?? false),
    })
    .step('template', { timeout: '30m', run: uploadTemplate })
    .step('move', {
      timeout: '6h',
      tries: 10,
      run: moveMachine,
      save: async (tx, { input, now }) => {
        await settle(tx, now, input)
        await sql.setMachineSize(tx, now, input.vmId, { ...input.to!, ...add(sizeBefore(input.before), input.more) })
      },
      mustBeUndone: true,
      undo: returnIfUnsettled,
    }),
).step('clean up', {
  optional: true,
  run: async ({ deps, input, signal }) => (await deps.hypervisors.get(input.sourceId)).ensurePurgedKeepBackups(input.vmId, signal),
  save: (tx, { input }) => clearStaleMachine(tx, input.vmId, input.sourceId),
})
