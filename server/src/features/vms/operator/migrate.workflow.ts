// The workflow of a migration. Its room at the destination is reserved before it begins, and that on the host the VM leaves is released when it runs
// there. Until then the row is of the old host, and any failure returns the machine to it, unless it has arrived and the old host is away.
import { isDriverError, type Driver } from '../../../hypervisor/driver.ts'
import { migrateMachine, returnMachine, type Move, type Returned } from '../../../hypervisor/migrate.ts'
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import { stepsOf } from '../../../workflow/run-store.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity, type Size } from '../../hosts/capacity.ts'
import { cpuSetOf, getHost } from '../../hosts/service.ts'
import { createPortState, markPortsApplied, markPortsDirty, resumePorts } from '../../ports/service.ts'
import { moveVolumes } from '../../storage/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { runBeforePowerOff } from '../model/hooks.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import { ensurePorts, isPlaced } from '../model/ports.ts'
import * as sql from '../model/sql.ts'
import { clearStaleMachine, moveStaleNics, recordStaleMachine } from '../model/stale-machines.ts'
import { applyPorts, awaitReady, boot, powerOff, READY_STEP, savePorts, SHUTDOWN_GRACE_MS, startMachine, type VmInput } from '../steps.ts'

export interface MigrateInput extends VmInput {
  sourceId: string
  destinationId: string
  isOn: boolean
  miBPerSecond: number | null
  /** Reserved at the destination; older runs have none. The VM may change or be gone while a cancelled run is undone. */
  size?: Size
  /** It runs, is stopped for the move, and started again. `isOn` is of the move. */
  restarts?: boolean
}

/** Reconcilers that wait for migrations to end: one empties hosts, one suspends VMs. */
export const DRAIN = 'fleet.drain'
export const ENFORCE_SUSPENSION = 'vms.enforce_suspension'

type Context = Pick<StepContext<Deps, MigrateInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

/** Of a guest at the end of a migration. */
const DOWNTIME_MS = 500

/** The spec is that of the old host until the row has changed, and the same but for it. */
async function describeMove(
  { deps, input }: Context,
  direction: 'there' | 'back',
  sent = { bytes: 0 },
): Promise<Omit<Move, 'from' | 'to'>> {
  const vm = await getVmRow(deps.db, input.vmId)
  const spec = await machineSpec(deps.db, { ...vm, host_id: input.sourceId })
  const target = await getHost(deps.db, direction === 'there' ? input.destinationId : input.sourceId)
  const onProgress: Move['onProgress'] = (progress) => {
    sent.bytes = Math.max(sent.bytes, progress.totalBytes)
    deps.log.debug({ vmId: vm.id, ...progress }, 'migration progressed')
  }
  const cpus = await cpuSetOf(deps.db, target.id, vm.id, vm.dedicated_cpu)
  return { spec, uri: target.uri, cpus, isOn: input.isOn, downtimeMs: DOWNTIME_MS, miBPerSecond: input.miBPerSecond, onProgress }
}

async function uploadTemplate({ deps, input, signal }: Context): Promise<void> {
  const { template, storageId } = await machineSpec(deps.db, await getVmRow(deps.db, input.vmId))
  if (storageId === null) await (await deps.hypervisors.get(input.destinationId)).ensureTemplate(template, signal)
}

/** Of `run`: how much was to be sent. Of `undo` the rest; older runs have `isLeft` alone. */
interface Outcome extends Partial<Returned> {
  bytes?: number
  /** The VM was on its new host before. */
  isSettled?: boolean
}

async function moveMachine(context: Context): Promise<Outcome> {
  const { deps, input, signal } = context
  const [from, to] = [await deps.hypervisors.get(input.sourceId), await deps.hypervisors.get(input.destinationId)]
  // Its interfaces count from zero on the other host.
  if (input.isOn && (await isOn(from, input.vmId, signal))) await runBeforePowerOff(deps, input.vmId, from, signal)
  const sent = { bytes: 0 }
  await migrateMachine({ ...(await describeMove(context, 'there', sent)), from, to }, signal)
  return sent
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
async function settle(tx: Tx, now: Date, { vmId, sourceId, destinationId }: MigrateInput): Promise<void> {
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
async function returnIfUnsettled(context: Context): Promise<Outcome> {
  const { deps, input, runId, signal } = context
  if (await isSaved(deps.db, runId)) return { isSettled: true }
  const vm = await sql.vmById(deps.db, input.vmId)
  // Deleted or restored elsewhere since the run was cancelled.
  if (vm?.host_id !== input.sourceId) return { isLeft: vm?.host_id !== input.destinationId }
  const [from, to] = [await openUnlessLost(deps, input.sourceId), await openUnlessLost(deps, input.destinationId)]
  return returnMachine({ ...(await describeMove(context, 'back')), from, to }, signal)
}

const openUnlessLost = async ({ db, hypervisors }: Deps, hostId: string): Promise<Driver | null> =>
  (await getHost(db, hostId)).lost_at === null ? hypervisors.get(hostId) : null

/** On both hosts, where the machine stays at the destination. */
async function returnPorts({ deps, input, signal }: Context, hasArrived: boolean): Promise<void> {
  const vm = await sql.vmById(deps.db, input.vmId)
  if (vm && isPlaced(vm)) await ensurePorts(deps, vm, signal, { sourceOnly: !hasArrived })
}

/** A machine that was stopped for the move runs again, wherever that left it. */
async function startAgain(context: Context & { results: unknown }): Promise<void> {
  const { deps, input } = context
  const vm = await sql.vmById(deps.db, input.vmId)
  if (!input.restarts || !vm) return
  const { hasArrived } = (context.results as { move?: Outcome }).move ?? {}
  const hostId = hasArrived ? input.destinationId : vm.host_id!
  await startMachine(context, hostId, await machineSpec(deps.db, { ...vm, host_id: hostId }))
}

export const migrateVm = workflow<MigrateInput>('vm.migrate', { deadline: '6h', queue: 'migrations' })
  .step('power off', {
    timeout: '3m',
    run: async (context) => {
      if (context.input.restarts) await powerOff(context, SHUTDOWN_GRACE_MS)
      return context.input.restarts ?? false
    },
    undo: startAgain,
  })
  .step('filter', {
    run: applyPorts,
    save: savePorts,
    undo: (context) => returnPorts(context, (context.results as { move?: Outcome }).move?.hasArrived ?? false),
  })
  .step('template', { timeout: '30m', run: uploadTemplate })
  .step('move', {
    timeout: '6h',
    tries: 10,
    run: moveMachine,
    save: (tx, { input, now }) => settle(tx, now, input),
    undo: returnIfUnsettled,
  })
  .step('ports', {
    optional: true,
    run: applyPorts,
    save: (tx, { input, results, now }) => markPortsApplied(tx, now, input.vmId, results.ports.version),
  })
  .step('boot', {
    optional: true,
    run: async (context) => {
      if (!context.input.restarts) return null
      await applyPorts(context)
      await boot(context)
      return true
    },
  })
  .step('ready', {
    optional: true,
    timeout: READY_STEP,
    run: async (context) => (context.results.boot ? awaitReady(context) : null),
  })
  .step('clean up', {
    optional: true,
    run: async ({ deps, input, signal }) => (await deps.hypervisors.get(input.sourceId)).ensurePurgedKeepBackups(input.vmId, signal),
    save: (tx, { input }) => clearStaleMachine(tx, input.vmId, input.sourceId),
  })
  .onSuccess(async (tx, { deps, input: { vmId, restarts }, results: { boot: isBooted, ready }, runId, now }) => {
    if (restarts && !isBooted) {
      const reason = 'It was stopped to be moved to another host, and could not be started there: start it'
      await sql.setStatus(tx, now, vmId, { status: 'STOPPED', reason, readiness: 'booting', desiredRunning: false })
    } else if (restarts) await sql.setStatus(tx, now, vmId, { status: 'RUNNING', ...(ready ?? { readiness: 'booting' }) })
    await recordVmEvent(tx, deps, vmId, 'vm.migrated', { actionId: runId })
    if (restarts) await recordVmEvent(tx, deps, vmId, isBooted ? 'vm.restarted' : 'vm.stopped', { actionId: runId, reason: 'migration' })
    await triggerReconciler(tx, DRAIN)
  })
  .onFailure(async (tx, { deps, runId, input, results, now, cleanupFailed }) => {
    const { vmId, sourceId, destinationId } = input
    await triggerReconciler(tx, DRAIN)
    await triggerReconciler(tx, ENFORCE_SUSPENSION)
    const { isSettled, hasArrived, isLeft } = results.move ?? {}
    if (isSettled) return
    const vm = await sql.lockVmById(tx, vmId)
    const size = vm && sizeOnHost(vm, sizeOf(vm))
    if (hasArrived && vm?.host_id === sourceId) {
      await settle(tx, now, input)
      await releaseCapacity(tx, destinationId, subtract(input.size ?? size!, size!)) // it may have been upgraded meanwhile
      return recordVmEvent(tx, deps, vmId, 'vm.migrated', { actionId: runId })
    }
    if (vm && results['power off']) await recordVmEvent(tx, deps, vmId, 'vm.restarted', { actionId: runId, reason: 'migration' })
    await markPortsDirty(tx, [vmId]) // a change of them meanwhile may have bound them to both hosts again
    if (isLeft || hasArrived || cleanupFailed) await recordStaleMachine(tx, now, vmId, destinationId)
    const reserved = input.size ?? size
    if (reserved) await releaseCapacity(tx, destinationId, reserved)
  })

const subtract = (from: Size, size: Size): Size => ({
  ...from,
  vcpu: from.vcpu - size.vcpu,
  ramMiB: from.ramMiB - size.ramMiB,
  diskGiB: from.diskGiB - size.diskGiB,
})
