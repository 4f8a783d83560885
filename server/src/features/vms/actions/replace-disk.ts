// Creates a new disk generation from a template, snapshot or backup. The old disk is kept until the guest is ready on the new one.
import { isDriverError, type DiskSource, type MachineSpec } from '../../../hypervisor/driver.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import type { WorkflowBuilder, StepContext } from '../../../workflow/workflow-builder.ts'
import { getTemplateById } from '../../catalog/service.ts'
import { workflow, type Deps } from '../../deps.ts'
import { floatingAddressesOf } from '../../hosts/public-addresses.ts'
import { openPasswordHash } from '../model/guest-password.ts'
import { getVmRow, machineSpec } from '../model/machine-spec.ts'
import type { PreviousPlacement } from '../model/placement.ts'
import { controllerForVm } from '../model/ports.ts'
import { releaseFetchedRoom } from '../model/restore-room.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import { dropEarlierUserData, type UserDataChange } from '../model/user-data.ts'
import type { VmStatus } from '../schema.ts'
import * as sql from '../model/sql.ts'
import {
  applyPorts,
  awaitReady,
  SHUTDOWN_GRACE_MS,
  powerOff,
  prepareNetworks,
  READY_STEP,
  savePorts,
  startMachine,
  vmAndDriver,
  type Ready,
  type VmInput,
  STOP_STEP,
  USER_DATA_STEP,
} from '../steps.ts'

export interface NewDiskInput extends VmInput, UserDataChange {
  statusBefore: VmStatus
  generationBefore: number
  generation: number
  /** Template of the new disk. */
  templateId: string
  /** Encrypted; cloud-init applies it on a fresh disk only. */
  passwordHash: string | null
  /** Set when the VM's host is lost and the workflow runs on another host. */
  placeBefore?: PreviousPlacement | null
  /** The VM was off when its host was destroyed, and stays so. */
  staysOff?: boolean
}

type Context = Pick<StepContext<Deps, NewDiskInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

export interface NewDiskParts<I extends NewDiskInput> {
  source: (input: I) => DiskSource
  /** Steps that run before the VM is stopped. */
  begun?: WorkflowBuilder<Deps, I, {}>
  /** Removes what the disk was made from. */
  afterDisk?: (context: StepContext<Deps, I, unknown>) => Promise<void>
}

export const replaceDiskWorkflow = <I extends NewDiskInput>(name: string, { source, begun, afterDisk }: NewDiskParts<I>) =>
  (begun ?? workflow<I>(name, { deadline: '2h' }))
    .step('stop', { ...STOP_STEP, run: (context) => powerOff(context, SHUTDOWN_GRACE_MS), undo: returnToOldDisk })
    .step('networks', { run: prepareNetworks })
    .step('filter', { run: movePorts, save: savePorts })
    .step('disk', {
      timeout: '2h',
      run: async (context) => {
        await makeDisk(context, source(context.input))
        await afterDisk?.(context)
      },
      ...(afterDisk && { save: releaseFetchedRoom }),
      undo: dropNewDisk,
    })
    .step('boot', { run: bootNewDisk, undo: returnToOldDisk })
    .step('user data', USER_DATA_STEP)
    .step('ready', {
      ...READY_STEP,
      run: async (context): Promise<Ready> => (context.input.staysOff ? { readiness: 'booting', reason: null } : awaitReady(context)),
      save: (tx, { input, now }) => commitNewDisk(tx, now, input),
    })
    .step('clean up', {
      run: async (context) => {
        await dropOldDisk(context)
        await removeOldPublicPort(context)
      },
      optional: true,
    })

/** Its floating addresses are of the new public interface from here on: no two ports may have one. */
async function movePorts(context: Context): Promise<{ version: number | null }> {
  if ((await floatingAddressesOf(context.deps.db, context.input.vmId)).length > 0) await removeOldPublicPort(context)
  return applyPorts(context)
}

/** A VM of a destroyed host has kept its interface. */
async function removeOldPublicPort(context: Context): Promise<void> {
  const { placeBefore, vmId } = context.input
  if (placeBefore && placeBefore.mac !== (await getVmRow(context.deps.db, vmId)).mac) await removePublicPort(context, placeBefore.mac)
}

/** The row keeps describing the old disk until the guest is ready on the new one. */
async function newSpec({ deps, input }: Context): Promise<MachineSpec> {
  const vm = await getVmRow(deps.db, input.vmId)
  const template = await getTemplateById(deps.db, input.templateId)
  const installed = { os_template_id: template.id, default_user: template.default_user }
  return machineSpec(deps, { ...vm, ...installed, generation: input.generation }, openPasswordHash(deps, vm.id, input.passwordHash))
}

async function makeDisk(context: Context, source: DiskSource): Promise<void> {
  const { driver } = await vmAndDriver(context)
  await driver.ensureDisk(await newSpec(context), source, context.signal)
}

async function bootNewDisk(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  const spec = await newSpec(context)
  await (context.input.staysOff ? driver.ensureDefined(spec, context.signal) : startMachine(context, vm.host_id!, spec))
}

async function commitNewDisk(tx: Tx, now: Date, { vmId, generation, templateId, hasUserData }: NewDiskInput): Promise<void> {
  await sql.markProvisioned(tx, now, vmId, generation)
  if (hasUserData !== undefined) await dropEarlierUserData(tx, vmId, generation)
  await sql.setTemplate(tx, vmId, templateId)
}

async function dropNewDisk(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureNoDisk(vm.id, context.input.generation, context.signal)
}

/**
 * Restores the old disk and power state. A VM in ERROR may have no disk left to return to. An evacuated VM has its old disk on another
 * host, so its machine here is purged.
 */
async function returnToOldDisk(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { vm, driver } = await vmAndDriver(context)
  if (input.placeBefore) {
    await driver.ensurePurgedKeepBackups(vm.id, signal)
    return removePublicPort(context, vm.mac!)
  }
  await driver.ensureStopped(vm.id, { graceMs: 0 }, signal)
  const spec = await machineSpec(deps, vm)
  const returned = input.statusBefore === 'RUNNING' ? startMachine(context, vm.host_id!, spec) : driver.ensureDefined(spec, signal)
  await returned.catch((error: unknown) => {
    if (input.statusBefore !== 'ERROR' || !isDriverError(error, 'not_found')) throw error
  })
}

/** An evacuated VM has another public interface on each host; its private ones move with it. */
async function removePublicPort({ deps, input, signal }: Context, mac: string): Promise<void> {
  const controller = await controllerForVm(deps, await getVmRow(deps.db, input.vmId))
  await controller.ensureNoPort(mac, signal)
}

/** The VM already runs on the new disk. When removing the old disk fails, the orphan-volume reconciler removes it. */
async function dropOldDisk(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureNoDisk(vm.id, context.input.generationBefore, context.signal)
}

export async function finishOnNewDisk(tx: Tx, now: Date, input: NewDiskInput, ready: Ready): Promise<void> {
  if (input.statusBefore === 'SUSPENDED') return
  const status = input.staysOff ? 'STOPPED' : 'RUNNING'
  await sql.setStatus(tx, now, input.vmId, { status, ...ready, desiredRunning: !input.staysOff })
}

interface FailedOnDisk {
  reason: string
  /** The machine may still use the new disk. */
  cleanupFailed: boolean
}

export async function finishOnOldDisk(tx: Tx, now: Date, { vmId, statusBefore }: NewDiskInput, end: FailedOnDisk): Promise<void> {
  await sql.setStatus(tx, now, vmId, { status: statusBefore, reason: end.reason })
  if (end.cleanupFailed) await recordStaleMachine(tx, now, vmId, (await getVmRow(tx, vmId)).host_id!)
}
