// The workflow of a migration.
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import { type Deps, workflow } from '../../deps.ts'
import { releaseCapacity } from '../../hosts/capacity.ts'
import { markPortsApplied, markPortsDirty } from '../../ports/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { machineSpec } from '../model/machine-spec.ts'
import { sizeOf, sizeOnHost } from '../model/placement.ts'
import * as sql from '../model/sql.ts'
import { clearStaleMachine, recordStaleMachine } from '../model/stale-machines.ts'
import {
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
import { applyPorts, awaitReady, boot, powerOff, READY_STEP, savePorts, SHUTDOWN_GRACE_MS, startMachine, STOP_STEP } from '../steps.ts'

interface MigrateInput extends MoveInput {
  /** It runs, is stopped for the move, and started again. `isOn` is of the move. */
  restarts?: boolean
}

type Context = Pick<StepContext<Deps, MigrateInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

/** A machine that was stopped for the move runs again, wherever that left it. */
async function startAgain(context: Context & { results: unknown }): Promise<void> {
  const { deps, input } = context
  const vm = await sql.vmById(deps.db, input.vmId)
  if (!input.restarts || !vm) return
  const { hasArrived } = (context.results as { move?: Outcome }).move ?? {}
  const hostId = hasArrived ? input.destinationId : vm.host_id!
  await startMachine(context, hostId, await machineSpec(deps, { ...vm, host_id: hostId }))
}

export const migrateVm = workflow<MigrateInput>('vm.migrate', { deadline: '6h', queue: 'migrations' })
  .step('power off', {
    ...STOP_STEP,
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
    mustBeUndone: true,
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
    ...READY_STEP,
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
    if (isLeft || hasArrived || cleanupFailed) await recordStaleMachine(tx, now, vmId, destinationId, cleanupFailed)
    const reserved = input.size ?? size
    if (reserved) await releaseCapacity(tx, destinationId, reserved)
  })
