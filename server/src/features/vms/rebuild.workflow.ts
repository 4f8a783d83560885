// A new generation of the disk, from a template, a snapshot or a backup. The old disk is kept until the new one has come up.
import type { DiskSource, MachineSpec } from '../../hypervisor/driver.ts'
import type { StepContext } from '../../workflow/define.ts'
import type { Deps } from '../deps.ts'
import { workflow } from '../deps.ts'
import { openHash } from './create.workflow.ts'
import { recordVmEvent } from './events.ts'
import { getVmRow, machineSpec } from './machine.ts'
import type { VmStatus } from './schema.ts'
import * as sql from './sql.ts'
import { applyFilter, awaitReady, GRACE_MS, powerOff, prepareNetworks, saveFilter, vmAndDriver, type Ready, type VmInput } from './steps.ts'

export interface RebuildInput extends VmInput {
  wasRunning: boolean
  statusBefore: VmStatus
  generation: number
  templateBefore: string
  passwordHash: string | null
}

type Context = Pick<StepContext<Deps, RebuildInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

/** The row keeps the old generation until the new one has come up. */
async function newSpec({ deps, input }: Context): Promise<MachineSpec> {
  const spec = await machineSpec(deps.db, await getVmRow(deps.db, input.vmId), openHash(deps, input.vmId, input.passwordHash))
  return { ...spec, generation: input.generation }
}

export async function makeDisk(context: Context, source: DiskSource): Promise<void> {
  const { driver } = await vmAndDriver(context)
  await driver.ensureDisk(await newSpec(context), source, context.signal)
}

export async function dropNewDisk(context: Context): Promise<void> {
  const { driver } = await vmAndDriver(context)
  await driver.ensureNoDisk(context.input.vmId, context.input.generation, context.signal)
}

export async function bootNewDisk(context: Context): Promise<void> {
  const { driver } = await vmAndDriver(context)
  await driver.ensureRunning(await newSpec(context), context.signal)
}

/** Back on the old disk, and in the power state before. */
export async function bootOldDisk(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureStopped(vm.id, { graceMs: 0 }, context.signal)
  const spec = await machineSpec(context.deps.db, vm)
  await (context.input.wasRunning ? driver.ensureRunning(spec, context.signal) : driver.ensureShape(spec, context.signal))
}

/** From here on the new disk is the VM's. */
export const keepNewDisk = (tx: Parameters<typeof sql.markProvisioned>[0], now: Date, input: RebuildInput) =>
  sql.markProvisioned(tx, now, input.vmId, input.generation)

/** The new disk is in use and the VM is well: an old one that cannot be removed now is found and removed by the volume sweep. */
export async function dropOldDisk(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureNoDisk(vm.id, context.input.generation - 1, context.signal)
}

export const rebuildVm = workflow<RebuildInput>('vm.rebuild', { deadline: '30m' })
  .step('stop', { timeout: '3m', run: (context) => powerOff(context, GRACE_MS), undo: bootOldDisk })
  .step('networks', { run: prepareNetworks })
  .step('filter', { run: applyFilter, save: saveFilter })
  .step('disk', { timeout: '10m', run: (context) => makeDisk(context, { from: 'template' }), undo: dropNewDisk })
  .step('boot', { run: bootNewDisk, undo: bootOldDisk })
  .step('ready', {
    timeout: '6m',
    run: (context): Promise<Ready> => awaitReady(context),
    save: (tx, { input, now }) => keepNewDisk(tx, now, input),
  })
  .step('clean up', { run: dropOldDisk, optional: true })
  .onSuccess(async (tx, { input, results, runId, now }) => {
    await sql.setStatus(tx, now, input.vmId, { status: 'RUNNING', ...results.ready, wantedOn: true })
    await recordVmEvent(tx, now, input.vmId, 'vm.rebuilt', { actionId: runId })
    await recordVmEvent(tx, now, input.vmId, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { input, error, runId, now }) => {
    await sql.setTemplate(tx, input.vmId, input.templateBefore)
    const reason = `The rebuild failed and the old disk was kept: ${error?.sentence ?? 'it was cancelled'}`
    await sql.setStatus(tx, now, input.vmId, { status: input.statusBefore, reason })
    await recordVmEvent(tx, now, input.vmId, 'vm.rebuild_failed', { actionId: runId, reason })
  })
