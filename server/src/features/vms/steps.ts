// Steps shared by VM workflows. Each is idempotent: a run may repeat it after a crash.
import { isDriverError, type Driver } from '../../hypervisor/driver.ts'
import type { Tx } from '../../kernel/database/db.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import type { Deps } from '../deps.ts'
import { filterForBoot, markFilterApplied, quiesceFilter } from '../firewalls/service.ts'
import { attachedNetworks, networkSpec } from '../networks/service.ts'
import { runBeforePowerOff } from './model/hooks.ts'
import { driverForVm, getVmRow, machineSpec } from './model/machine-spec.ts'
import type { VmDetails } from './model/sql.ts'

export interface VmInput {
  vmId: string
}

export type Context = Pick<StepContext<Deps, VmInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

export const SHUTDOWN_GRACE_MS = 60_000
/** A guest takes minutes to boot where its CPU is emulated. */
const READY_TIMEOUT_MS = 600_000
export const READY_STEP = '11m'

export async function vmAndDriver({ deps, input }: Context): Promise<{ vm: VmDetails; driver: Driver }> {
  const vm = await getVmRow(deps.db, input.vmId)
  return { vm, driver: await driverForVm(deps, vm) }
}

export async function prepareNetworks(context: Context): Promise<void> {
  const { driver } = await vmAndDriver(context)
  for (const network of await attachedNetworks(context.deps.db, context.input.vmId)) {
    await driver.ensureNetwork(networkSpec(network), context.signal)
  }
}

/** The filter is applied before the machine starts, so that it never runs unfiltered. */
export async function applyFilter(context: Context): Promise<{ version: number | null }> {
  const { driver } = await vmAndDriver(context)
  const { filter, version } = await filterForBoot(context.deps.db, context.deps.clock.now(), context.input.vmId)
  await driver.ensureFilter(context.input.vmId, filter, context.signal)
  return { version }
}

export const saveFilter = (
  tx: Tx,
  { input, results, now }: { input: VmInput; results: { filter: { version: number | null } }; now: Date },
) => markFilterApplied(tx, now, input.vmId, results.filter.version)

export async function boot(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureRunning(await machineSpec(context.deps.db, vm), context.signal)
}

/** The machine must be off. */
export async function applySpec(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureDefined(await machineSpec(context.deps.db, vm), context.signal)
}

export interface Ready {
  readiness: 'booting' | 'reachable'
  reason: string | null
}

/** A silent agent does not fail a guest that worked before: its owner may have removed the agent. */
export async function awaitReady(context: Context): Promise<Ready> {
  const { vm, driver } = await vmAndDriver(context)
  try {
    const { readiness } = await driver.ensureReady(vm.id, { timeoutMs: READY_TIMEOUT_MS }, context.signal)
    return { readiness, reason: null }
  } catch (error) {
    if (!isDriverError(error, 'guest_failed')) throw error
    const machine = await driver.findMachine(vm.id, context.signal)
    if (machine?.power !== 'running') throw error
    return { readiness: 'booting', reason: 'It runs, but its guest agent does not answer: look at its console' }
  }
}

/** For a create: a guest whose agent never answers has failed to provision. */
export async function requireReady(context: Context): Promise<Ready> {
  const { vm, driver } = await vmAndDriver(context)
  const { readiness } = await driver.ensureReady(vm.id, { timeoutMs: READY_TIMEOUT_MS }, context.signal)
  return { readiness, reason: null }
}

export async function powerOff(context: Context, graceMs: number): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await runBeforePowerOff(context.deps, vm.id, driver, context.signal)
  await driver.ensureStopped(vm.id, { graceMs }, context.signal)
}

/** Purges the VM's machine and volumes from its host. */
export async function purgeFromHost(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await quiesceFilter(context.deps, vm.id, context.signal) // otherwise a concurrent filter run could recreate the filter
  await driver.ensurePurged(vm.id, context.signal)
}
