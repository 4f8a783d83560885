// Steps that move a machine to another host. Its room at the destination is reserved before they begin, and that on the host the VM leaves is released
// when it runs there. Until then the row is of the old host, and any failure returns the machine to it, unless it has arrived and the old host is away.
import { setTimeout as pause } from 'node:timers/promises'
import { isDriverError, type Driver } from '../../../hypervisor/driver.ts'
import { migrateMachine, returnMachine, type Move, type Returned } from '../../../hypervisor/migrate.ts'
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { stepsOf } from '../../../workflow/run-store.ts'
import { StepError, type StepContext } from '../../../workflow/workflow-builder.ts'
import type { Deps } from '../../deps.ts'
import { releaseCapacity, type Size } from '../../hosts/capacity.ts'
import { cpuSetOf, getHost } from '../../hosts/service.ts'
import { createPortState, resumePorts } from '../../ports/service.ts'
import { moveVolumes } from '../../storage/service.ts'
import { runBeforePowerOff } from '../model/hooks.ts'
import { getVmRow, machineSpec, withSize } from '../model/machine-spec.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import { ensurePorts, isPlaced } from '../model/ports.ts'
import * as sql from '../model/sql.ts'
import { mayWriteOn, moveStaleNics, recordStaleMachine } from '../model/stale-machines.ts'
import type { VmInput } from '../steps.ts'

/** Of every workflow with these steps: statements find open moves by it. */
export interface MoveInput extends VmInput {
  sourceId: string
  destinationId: string
  isOn: boolean
  miBPerSecond: number | null
  /** Reserved at the destination; older runs have none. The VM may change or be gone while a cancelled run is undone. */
  size?: Size
}

/** Reconcilers that wait for moves to end: one empties hosts, one suspends VMs. */
export const DRAIN = 'fleet.drain'
export const ENFORCE_SUSPENSION = 'vms.enforce_suspension'

type Context = Pick<StepContext<Deps, MoveInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

/** Of a guest at the end of a migration. */
const DOWNTIME_MS = 500

/** The spec is that of the old host until the row has changed, and the same but for it. */
async function describeMove(
  { deps, input }: Context,
  direction: 'there' | 'back',
  sent = { bytes: 0 },
): Promise<Omit<Move, 'from' | 'to'>> {
  const vm = await getVmRow(deps.db, input.vmId)
  const spec = await machineSpec(deps, { ...vm, host_id: input.sourceId })
  const target = await getHost(deps.db, direction === 'there' ? input.destinationId : input.sourceId)
  const onProgress: Move['onProgress'] = (progress) => {
    sent.bytes = Math.max(sent.bytes, progress.totalBytes)
    deps.log.debug({ vmId: vm.id, ...progress }, 'migration progressed')
  }
  const { cpus } = withSize({ ...spec, cpus: await cpuSetOf(deps.db, target.id, vm.id, vm.dedicated_cpu) }, {})
  return { spec, uri: target.uri, cpus, isOn: input.isOn, downtimeMs: DOWNTIME_MS, miBPerSecond: input.miBPerSecond, onProgress }
}

/** And what is in its drive. */
export async function uploadTemplate({ deps, input, signal }: Context): Promise<void> {
  const { template, storageId, iso } = await machineSpec(deps, await getVmRow(deps.db, input.vmId))
  const there = await deps.hypervisors.get(input.destinationId)
  if (storageId === null) await there.ensureTemplate(template, signal)
  if (iso) await there.ensureIso(iso, signal)
}

/** Of `run`: how much was to be sent. Of `undo` the rest; older runs have `isLeft` alone. */
export interface Outcome extends Partial<Returned> {
  bytes?: number
  /** The VM was on its new host before. */
  isSettled?: boolean
}

export async function moveMachine(context: Context): Promise<Outcome> {
  const { deps, input, signal } = context
  const [from, to] = [await deps.hypervisors.get(input.sourceId), await deps.hypervisors.get(input.destinationId)]
  const sent = { bytes: 0 }
  const move = { ...(await describeMove(context, 'there', sent)), from, to }
  const isMetered = input.isOn && (await isOn(from, input.vmId, signal))
  const meter = (): Promise<void> => runBeforePowerOff(deps, input.vmId, from, signal)
  if (isMetered) await meter()
  const moved = migrateMachine(move, signal)
  await (isMetered ? repeatUntil(moved, meter) : moved)
  return sent
}

const METER_MS = 2_000

/** Its interfaces count from zero on the other host, where they may be metered at once. What those here have counted is gone with them. */
async function repeatUntil(moved: Promise<void>, meter: () => Promise<void>): Promise<void> {
  const isOver = moved.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([isOver, pause(METER_MS, false, { ref: false })]))) await meter()
  await moved
}

async function isOn(driver: Driver, vmId: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await driver.findMachine(vmId, signal))?.power === 'running'
  } catch (error) {
    if (isDriverError(error, 'unreachable')) return false
    throw error
  }
}

/** From here on the VM is on its new host. What it left is removed by the step `clean up`, or by the reconciler of stale machines. */
export async function settle(tx: Tx, now: Date, { vmId, sourceId, destinationId }: MoveInput): Promise<void> {
  const vm = await getVmRow(tx, vmId)
  await sql.setHost(tx, now, vmId, destinationId)
  await moveVolumes(tx, now, vmId, sourceId, destinationId)
  await moveStaleNics(tx, vmId, sourceId, destinationId)
  await createPortState(tx, vmId, destinationId, vm.account_id)
  await resumePorts(tx, vmId)
  await recordStaleMachine(tx, now, vmId, sourceId)
  await releaseCapacity(tx, sourceId, sizeOnHost(vm, sizeOf(vm)))
}

/** The VM is on its new host. */
export const isSaved = async (db: Queries, runId: string): Promise<boolean> =>
  (await stepsOf(db, [runId])).some(({ name, status }) => name === 'move' && status === 'COMPLETED')

/** A run that is cancelled afterwards leaves the VM where it is. */
export async function returnIfUnsettled(context: Context): Promise<Outcome> {
  const { deps, input, runId, signal } = context
  if (await isSaved(deps.db, runId)) return { isSettled: true }
  const vm = await sql.vmById(deps.db, input.vmId)
  // Deleted or restored elsewhere since the run was cancelled.
  if (vm?.host_id !== input.sourceId) return { isLeft: vm?.host_id !== input.destinationId }
  const [from, to] = [await openUnlessLost(deps, input.sourceId), await openDestination(context, vm)]
  if (!to && (await mayWriteOn(deps.db, vm.id, input.destinationId)))
    throw new StepError('unreachable', 'Its destination was destroyed, and nothing keeps that from writing to its disk or volumes', {
      retry: true,
    })
  const returned = await returnMachine({ ...(await describeMove(context, 'back')), from, to }, signal)
  return to ? returned : { ...returned, isLeft: true }
}

/**
 * Null where it is destroyed, and where a fence keeps it from the VM's disk. What it has of a VM whose disk is in a storage backend is removed once it
 * was fenced: a guest that has lost its disk cannot be moved back.
 */
async function openDestination({ deps, input, signal }: Context, { id, storage_id }: sql.VmDetails): Promise<Driver | null> {
  const to = await openUnlessLost(deps, input.destinationId)
  const { fenced_at } = await getHost(deps.db, input.destinationId)
  if (!to || fenced_at === null || storage_id === null) return to
  if (!(await mayWriteOn(deps.db, id, input.destinationId))) return null
  await to.ensurePurgedKeepBackups(id, signal)
  return to
}

const openUnlessLost = async ({ db, hypervisors }: Deps, hostId: string): Promise<Driver | null> =>
  (await getHost(db, hostId)).lost_at === null ? hypervisors.get(hostId) : null

/** On both hosts, where the machine stays at the destination: there they were before it, and the source, which does not answer or was destroyed, confirms nothing. */
export async function returnPorts({ deps, input, signal }: Context, hasArrived: boolean): Promise<void> {
  const vm = await sql.vmById(deps.db, input.vmId)
  if (vm && isPlaced(vm)) await ensurePorts(deps, vm, signal, { sourceOnly: !hasArrived, unconfirmed: hasArrived })
}

export const subtract = (from: Size, size: Size): Size => ({
  ...from,
  vcpu: from.vcpu - size.vcpu,
  ramMiB: from.ramMiB - size.ramMiB,
  diskGiB: from.diskGiB - size.diskGiB,
})

export const add = (size: Size, more: Size): Size => ({
  ...more,
  vcpu: size.vcpu + more.vcpu,
  ramMiB: size.ramMiB + more.ramMiB,
  diskGiB: size.diskGiB + more.diskGiB,
})
