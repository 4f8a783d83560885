// The machine of a resize: its sizes before and after, and its growth while it runs.
import { isDriverError, type Driver, type MachineSpec } from '../../../hypervisor/driver.ts'
import { StepError, type StepContext } from '../../../workflow/workflow-builder.ts'
import type { Deps } from '../../deps.ts'
import type { Size } from '../../hosts/capacity.ts'
import { machineSpec, withSize } from '../model/machine-spec.ts'
import type * as sql from '../model/sql.ts'
import { applySpec, saveRoom, vmAndDriver, type VmInput } from '../steps.ts'

type Stored = 'customPriceCents' | 'periodPriceCents' | 'diskIops' | 'diskMiBPerSecond' | 'bandwidthWithheldBytes'

/** JSON-compatible: stored in the workflow journal. */
export interface ShapeBefore extends Omit<sql.VmSize, Stored> {
  // Missing in the journal of a run that an older release started.
  bandwidthWithheldBytes?: string
  diskIops?: number | null
  diskMiBPerSecond?: number | null
  customPriceCents: string | null
  periodPriceCents: string
  dailyBackupPaidUntil: string | null
  network10gPaidUntil: string | null
}

export interface Traffic extends Omit<sql.VmTraffic, 'bandwidthWithheldBytes'> {
  bandwidthWithheldBytes: string
  /** Of a VM that is metered until then: what it had used at the request. */
  usedBytes?: string
}

export interface ResizeInput extends VmInput {
  wasRunning: boolean
  before: ShapeBefore
  /** By how much each part grows, reserved from the beginning. */
  more: Size
  chargedCents: string
  // Missing in the journal of a run that an older release started.
  kind?: 'upgrade' | 'resize'
  /** The machine in the end. */
  to?: sql.MachineSize
  /** Its traffic and speed in the end, where these are not as in the meantime. */
  traffic?: Traffic
  /** Whether a machine that runs is stopped for it. */
  restarts?: boolean
  refundCents?: string
  /** For the ledger. */
  name?: string
}

/** The row is as large as the larger size in each part. */
export const finalSize = ({ to }: ResizeInput): { vcpu?: number; ramMiB?: number } => (to ? { vcpu: to.vcpu, ramMiB: to.ramMiB } : {})
export const finalSizeOnOldDisk = (input: ResizeInput) => ({ ...finalSize(input), diskGiB: input.before.diskGiB })

export interface Disk {
  diskGiB: number
}
type Context = StepContext<Deps, ResizeInput, unknown>

export async function specBefore(context: Context): Promise<MachineSpec> {
  const { vm } = await vmAndDriver(context)
  const { vcpu, ramMiB, diskGiB, diskIops = null, diskMiBPerSecond = null } = context.input.before
  const diskLimits = { iops: diskIops, miBPerSecond: diskMiBPerSecond }
  return withSize(await machineSpec(context.deps, vm), { vcpu, ramMiB, diskGiB, diskLimits })
}

export const defineAsBefore = async (context: Context): Promise<Disk> =>
  (await vmAndDriver(context)).driver.ensureDefined(await specBefore(context), context.signal)

/** Of vCPUs and RAM that a running machine got. */
export interface Plugged {
  /** Why its guest does not use all of it: it has it, and pays for it. Refunded, it would be a way to compute for nothing. */
  guestReason: string | null
  /** Of `undo`: it has its new size nevertheless. */
  isKept: boolean
}

export const changesCompute = ({ before, to }: ResizeInput): boolean =>
  to !== undefined && (to.vcpu !== before.vcpu || to.ramMiB !== before.ramMiB)

/** A guest that works answers at once. */
const AGENT_TIMEOUT_MS = 20_000

export async function plug(context: Context): Promise<Plugged> {
  const { input, signal } = context
  const { vm, driver } = await vmAndDriver(context)
  const machine = await driver.findMachine(vm.id, signal)
  const isSmaller = machine !== null && (machine.vcpu < input.to!.vcpu || machine.ramMiB < input.to!.ramMiB)
  if (machine?.power === 'running' && isSmaller) await requireAgent(driver, vm.id, signal)
  const { guestReason } = await driver.ensureLiveSize(await specAfter(context), signal)
  await saveRoom(context, driver)
  await applySpec(context, finalSizeOnOldDisk(input))
  return { guestReason, isKept: false }
}

const specAfter = async (context: Context): Promise<MachineSpec> => {
  const { vm } = await vmAndDriver(context)
  return withSize(await machineSpec(context.deps, vm), finalSize(context.input))
}

/** Before it gets anything. */
async function requireAgent(driver: Driver, vmId: string, signal: AbortSignal): Promise<void> {
  await driver.ensureReady(vmId, { timeoutMs: AGENT_TIMEOUT_MS }, signal).catch((error: unknown) => {
    if (!isDriverError(error, 'guest_failed')) throw error
    const advice = 'The guest agent does not answer, so the VM cannot grow while it runs. Stop it, resize it, and start it.'
    throw new StepError('guest_failed', advice, { retry: false, cause: error })
  })
}

/** What a guest does not give back is sold, and then all of it: the machine has one of both sizes. */
export async function unplug(context: Context): Promise<Plugged> {
  const { vm, driver } = await vmAndDriver(context)
  const before = await specBefore(context)
  const { vcpu, ramMiB } = await driver.ensureLiveSize(before, context.signal)
  // Its guest may have taken minutes, in which the operator may have given CPUs to others.
  await driver.ensureCpus(vm.id, (await specBefore(context)).cpus, context.signal)
  await saveRoom(context, driver)
  if (vcpu === before.vcpu && ramMiB === before.ramMiB) {
    await defineAsBefore(context)
    return { guestReason: null, isKept: false }
  }
  const { guestReason } = await driver.ensureLiveSize(await specAfter(context), context.signal)
  await saveRoom(context, driver)
  await applySpec(context, finalSize(context.input))
  return { guestReason, isKept: true }
}
