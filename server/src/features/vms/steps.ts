// Steps shared by VM workflows. Each is idempotent: a run may repeat it after a crash.
import { DriverError, isDriverError, type Driver, type MachineSpec, type Readiness, type StopReason } from '../../hypervisor/driver.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { StepError, type StepContext } from '../../workflow/workflow-builder.ts'
import type { Deps } from '../deps.ts'
import { getHost } from '../hosts/service.ts'
import { markPortsApplied, quiescePorts, versionForBoot } from '../ports/service.ts'
import { fencedSentence } from './model/guards.ts'
import { markGuestDue } from './model/guest-turns.ts'
import { runBeforePowerOff } from './model/hooks.ts'
import { findIso, setIsoActive } from './model/iso.ts'
import { driverForVm, getVmRow, machineSpec, withSize } from './model/machine-spec.ts'
import { ensureNetworks, ensureNoPorts, ensurePorts } from './model/ports.ts'
import { setRoom, type VmDetails } from './model/sql.ts'
import { MAY_RUN_ELSEWHERE, mayRunElsewhere } from './model/stale-machines.ts'
import { markInitializationDue, type UserDataChange } from './model/user-data.ts'

export interface VmInput {
  vmId: string
}

export type Context = Pick<StepContext<Deps, VmInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

export const SHUTDOWN_GRACE_MS = 60_000
/** A guest takes minutes to boot where its CPU is emulated. */
const READY_TIMEOUT_MS = 600_000
/** Whatever the guest does: a step that runs out of time is repeated, and undone at last. */
const READY_LIMIT_MS = 630_000
export const READY_STEP = { timeout: '11m', waitsForGuest: true }
/** Old workers, which would make the disk without it, know no such step. Nobody asks the guest before its VM is RUNNING. */
export const USER_DATA_STEP = {
  when: ({ hasUserData }: UserDataChange) => hasUserData !== undefined,
  save: (tx: Tx, { input, runId, now }: { input: VmInput; runId: string; now: Date }) => markInitializationDue(tx, now, input.vmId, runId),
}
/** Longer than the grace. */
export const STOP_STEP = { timeout: '3m', waitsForGuest: true }

export async function vmAndDriver({ deps, input }: Context): Promise<{ vm: VmDetails; driver: Driver }> {
  const vm = await getVmRow(deps.db, input.vmId)
  return { vm, driver: await driverForVm(deps, vm) }
}

export const prepareNetworks = async ({ deps, input, signal }: Context): Promise<void> =>
  ensureNetworks(deps, await getVmRow(deps.db, input.vmId), signal)

/** Of the step `filter`: the journal keeps the name, because an open run is resumed by it. */
export async function applyPorts({ deps, input, signal }: Context): Promise<{ version: number | null }> {
  const version = await versionForBoot(deps.db, deps.clock.now(), input.vmId)
  await ensurePorts(deps, await getVmRow(deps.db, input.vmId), signal)
  return { version }
}

export const savePorts = (
  tx: Tx,
  { input, results, now }: { input: VmInput; results: { filter: { version: number | null } }; now: Date },
) => markPortsApplied(tx, now, input.vmId, results.filter.version)

/** Whatever starts a machine of a VM does it by this: a host that was fenced starts none before it is cleaned, and no host one that may run elsewhere. */
export async function startMachine(context: Pick<Context, 'deps' | 'signal'>, hostId: string, spec: MachineSpec): Promise<void> {
  const { deps, signal } = context
  const host = await getHost(deps.db, hostId)
  if (host.fenced_at !== null) throw new StepError('unreachable', fencedSentence(host), { retry: true })
  if (await mayRunElsewhere(deps.db, spec.vmId, hostId)) throw new StepError('unreachable', MAY_RUN_ELSEWHERE, { retry: true })
  const driver = await deps.hypervisors.get(hostId)
  await driver.ensureRunning(spec, signal)
  await saveRoom({ ...context, input: spec }, driver)
}

/** A machine that was started has new room, and the ISO image of its VM; one that got RAM has a slot less. */
export async function saveRoom({ deps, input: { vmId }, signal }: Omit<Context, 'runId'>, driver: Driver): Promise<void> {
  const machine = await driver.findMachine(vmId, signal)
  await setRoom(deps.db, vmId, machine?.room ?? null)
  await setIsoActive(deps.db, vmId, machine?.isoId ?? null)
}

/** Of a machine that is not, or not yet, as large as its row, in rescue as its row, or has the ISO image of its row. */
type OtherSize = Partial<Pick<MachineSpec, 'vcpu' | 'ramMiB' | 'diskGiB' | 'rescue' | 'iso'>>

export async function boot(context: Context, size: OtherSize = {}): Promise<void> {
  const { vm, spec } = await specWithDisk(context)
  await startMachine(context, vm.host_id!, withSize(spec, size))
}

/** A machine that runs gets its limits and a larger disk live, and must have the other parts already. */
export async function applySpec(context: Context, size: OtherSize = {}): Promise<{ diskGiB: number }> {
  const { spec, driver } = await specWithDisk(context)
  return driver.ensureDefined(withSize(spec, size), context.signal)
}

/** A host that has never had the VM gets what it needs beside a disk in a storage backend: the one before it may have been lost. */
async function specWithDisk(context: Context): Promise<{ vm: VmDetails; spec: MachineSpec; driver: Driver }> {
  const found = await specOf(context)
  const { spec, driver } = found
  if (spec.storageId !== null) await driver.ensureDisk(spec, { from: 'pool' }, context.signal)
  return found
}

async function specOf(context: Context): Promise<{ vm: VmDetails; spec: MachineSpec; driver: Driver }> {
  const { vm, driver } = await vmAndDriver(context)
  return { vm, spec: await machineSpec(context.deps, vm), driver }
}

export const DISK_GONE = 'Its host no longer has the disk of this VM: rebuild it, restore a backup, or delete it'

/** Asked when something that its machine needs was not found. */
export async function isDiskGone(context: Context): Promise<boolean> {
  const { vm, spec, driver } = await specOf(context)
  if (spec.storageId !== null)
    return driver.ensureDisk(spec, { from: 'pool' }, context.signal).then(
      () => false,
      (error: unknown) => {
        if (!isDriverError(error, 'not_found')) throw error
        return true
      },
    )
  for await (const { kind, vmId, generation, complete } of driver.listVolumes(context.signal))
    if (kind === 'disk' && vmId === vm.id && generation === vm.generation && complete) return false
  return true
}

export interface Ready {
  readiness: 'booting' | 'reachable'
  reason: string | null
}

/** To the owner of a VM whose own system does not boot. */
export const RESCUE_ADVICE = 'start it in rescue to mend its disk'

export const startsFromIso = (name: string): string => `It starts from ISO image ${name} while that is attached: look at its console`

/** What is on an ISO image need not have an agent. A silent agent does not fail a guest that worked before: its owner may have removed the agent. */
export async function awaitReady(context: Context, size: OtherSize = {}, limitMs = READY_LIMIT_MS): Promise<Ready> {
  const { vm, driver } = await vmAndDriver(context)
  const iso = await findIso(context.deps.db, vm.id)
  if (iso?.active) return { readiness: 'booting', reason: startsFromIso(iso.name) }
  try {
    const readiness = await waitUntilReady(context, vm.id, driver, size, limitMs)
    await markGuestDue(context.deps, vm.id)
    return { readiness, reason: null }
  } catch (error) {
    if (!isDriverError(error, 'guest_failed')) throw error
    const machine = await driver.findMachine(vm.id, context.signal)
    const advice = vm.in_rescue ? '' : `, or ${RESCUE_ADVICE}`
    if (machine?.power === 'running')
      return { readiness: 'booting', reason: `It runs, but its guest agent does not answer: look at its console${advice}` }
    throw vm.in_rescue
      ? error
      : new DriverError('guest_failed', error.message, { cause: error, userMessage: `${error.userMessage} Look at its console${advice}.` })
  }
}

/**
 * The same for what is paid for: a guest that its owner has made and that ends itself has had its machine. Undone and refunded, it would be a way
 * to compute for nothing. That it is off is seen by the reconciler of power.
 */
export async function awaitReadyOrEnd(
  context: Context,
  size: OtherSize = {},
  ends: readonly StopReason[] = ['guest', 'crash'],
  limitMs = READY_LIMIT_MS,
): Promise<Ready> {
  try {
    return await awaitReady(context, size, limitMs)
  } catch (error) {
    if (!isDriverError(error, 'guest_failed')) throw error
    const { vm, driver } = await vmAndDriver(context)
    const stopReason = (await driver.findMachine(vm.id, context.signal))?.stopReason
    if (!stopReason || !ends.includes(stopReason)) throw error
    return {
      readiness: 'booting',
      reason: `Its guest switched itself off while it booted: look at its console, and start it again, or ${RESCUE_ADVICE}`,
    }
  }
}

/** For a system of ours: a guest whose agent never answers has failed to provision, or to come up in rescue. */
export async function requireReady(context: Context, size: OtherSize = {}): Promise<Ready> {
  const { vm, driver } = await vmAndDriver(context)
  const readiness = await waitUntilReady(context, vm.id, driver, size)
  await markGuestDue(context.deps, vm.id)
  return { readiness, reason: null }
}

/** A machine whose QEMU crashed while its guest booted is started once more. */
async function waitUntilReady(
  context: Context,
  vmId: string,
  driver: Driver,
  size: OtherSize = {},
  limitMs = READY_LIMIT_MS,
): Promise<Readiness> {
  const limit = AbortSignal.timeout(limitMs)
  const signal = AbortSignal.any([context.signal, limit])
  const wait = async (): Promise<Readiness> => {
    try {
      return (await driver.ensureReady(vmId, { timeoutMs: READY_TIMEOUT_MS }, signal)).readiness
    } catch (error) {
      if (context.signal.aborted || !limit.aborted || !isDriverError(error, 'aborted')) throw error
      const userMessage = 'The VM was started, but its operating system did not boot.'
      throw new DriverError('guest_failed', `Machine ${vmId} was not ready within ${limitMs} ms`, { cause: error, userMessage })
    }
  }
  try {
    return await wait()
  } catch (error) {
    if (!isDriverError(error, 'guest_failed') || (await driver.findMachine(vmId, context.signal))?.stopReason !== 'crash') throw error
    context.deps.log.warn({ err: error, vmId }, 'QEMU crashed while the guest booted; starting it again')
    await boot(context, size)
    return wait()
  }
}

/** A shelved VM is on no host. */
export async function powerOff(context: Context, graceMs: number): Promise<void> {
  if ((await getVmRow(context.deps.db, context.input.vmId)).host_id === null) return
  const { vm, driver } = await vmAndDriver(context)
  await runBeforePowerOff(context.deps, vm.id, driver, context.signal)
  await driver.ensureStopped(vm.id, { graceMs }, context.signal)
}

/** Purges the VM's machine and volumes from its host, and then its ports. */
export async function purge(context: Context): Promise<void> {
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensurePurged(vm.id, context.signal)
  await removePorts(context)
}

export async function removePorts({ deps, input, signal }: Context): Promise<void> {
  await quiescePorts(deps, input.vmId, signal) // otherwise a concurrent run of the reconciler could create them again
  await ensureNoPorts(deps, await getVmRow(deps.db, input.vmId), signal)
}
