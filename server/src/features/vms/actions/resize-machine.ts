// The machine of a resize: its sizes before and after, and its growth while it runs.
import { isDriverError, type Driver, type MachineSpec } from '../../../hypervisor/driver.ts'
import { StepError, type StepContext } from '../../../workflow/workflow-builder.ts'
import type { Deps } from '../../deps.ts'
import type { Size } from '../../hosts/capacity.ts'
import { machineSpec, withSize } from '../model/machine-spec.ts'
import type * as sql from '../model/sql.ts'
import { applySpec, vmAndDriver, type VmInput } from '../steps.ts'

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
  /** Whether a machine that runs is stopped for it. */
  restarts?: boolean
  refundCents?: string
  /** For the ledger. */
  name?: string
}

/** The row is as large as the larger size in each part. */
export const finalSize = ({ to }: ResizeInput): { vcpu?: number; ramMiB?: number } => (to ? { vcpu: to.vcpu, ramMiB: to.ramMiB } : {})

type Context = StepContext<Deps, ResizeInput, unknown>

export async function specBefore(context: Context): Promise<MachineSpec> {
  const { vm } = await vmAndDriver(context)
  const { vcpu, ramMiB, diskGiB, diskIops = null, diskMiBPerSecond = null } = context.input.before
  const diskLimits = { iops: diskIops, miBPerSecond: diskMiBPerSecond }
  return withSize(await machineSpec(context.deps.db, vm), { vcpu, ramMiB, diskGiB, diskLimits })
}

export const defineAsBefore = async (context: Context): Promise<{ diskGiB: number }> =>
  (await vmAndDriver(context)).driver.ensureDefined(await specBefore(context), context.signal)

/** Of a machine that runs. */
export interface Grown {
  diskGiB: number
  // Missing in the journal of a run that an older release started.
  guestReason?: string | null
  /** Of `undo`: it has its new size nevertheless. */
  isKept?: boolean
}

const changesCompute = ({ before, to }: ResizeInput): boolean =>
  to !== undefined && (to.vcpu !== before.vcpu || to.ramMiB !== before.ramMiB)

/** A guest that works answers at once. */
const AGENT_TIMEOUT_MS = 20_000

/** Why the guest does not use all that it got: it has it, and pays for it. Refunded, it would be a way to compute for nothing. */
export async function growLive(context: Context): Promise<string | null> {
  const { input, signal } = context
  if (!changesCompute(input)) return null
  const { vm, driver } = await vmAndDriver(context)
  const machine = await driver.findMachine(vm.id, signal)
  const isSmaller = machine !== null && (machine.vcpu < input.to!.vcpu || machine.ramMiB < input.to!.ramMiB)
  if (machine?.power === 'running' && isSmaller) await requireAgent(driver, vm.id, signal)
  const spec = withSize(await machineSpec(context.deps.db, vm), finalSize(input))
  return (await driver.ensureLiveSize(spec, signal)).guestReason
}

/** Before it gets anything. */
async function requireAgent(driver: Driver, vmId: string, signal: AbortSignal): Promise<void> {
  await driver.ensureReady(vmId, { timeoutMs: AGENT_TIMEOUT_MS }, signal).catch((error: unknown) => {
    if (!isDriverError(error, 'guest_failed')) throw error
    const advice = 'The guest agent does not answer, so the VM cannot grow while it runs. Stop it, resize it, and start it.'
    throw new StepError('guest_failed', advice, { retry: false, cause: error })
  })
}

/** What a guest does not give back is sold, and then all of it: the machine has one of both sizes. So is a disk that has grown, which never shrinks. */
export async function ungrow(context: Context): Promise<Grown> {
  const { input, signal } = context
  const { vm, driver } = await vmAndDriver(context)
  const before = await specBefore(context)
  const { vcpu, ramMiB } = changesCompute(input) ? await driver.ensureLiveSize(before, signal) : before
  if (vcpu === before.vcpu && ramMiB === before.ramMiB) {
    const measured = await defineAsBefore(context)
    if (measured.diskGiB <= before.diskGiB) return measured
  }
  const after = withSize(await machineSpec(context.deps.db, vm), finalSize(input))
  const guestReason = changesCompute(input) ? (await driver.ensureLiveSize(after, signal)).guestReason : null
  return { ...(await applySpec(context, finalSize(input))), guestReason, isKept: true }
}
