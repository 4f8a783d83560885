// A copy of a machine that is on, by a backup job of its own QEMU. It shows the moment the job began, at which the guest's file systems
// stood still where it has an agent.
//
// Two processes may ask for the same copy: a domain takes one job only, so one of them begins it and both wait for it. Nothing is removed
// on that way, or the job of the one could go on writing to a file that the other has replaced.
import type { Domain, Volume } from '@berth/libvirt'
import { stopwatch } from '../../kernel/clock.ts'
import { DriverError, isDriverError } from '../driver.ts'
import { beginJob, type Copying } from './backup-job.ts'
import { removeCheckpoint } from './checkpoints.ts'
import { whileFrozen } from './freeze.ts'
import { awaitJob, awaitNoJob, stopJob } from './jobs.ts'
import { getMachine, type MachineState } from './machine-state.ts'
import type { Session } from './session.ts'
import { describeVolume, findVolume, isSoonWhole, isWhole, removeVolume, tryCreate, type NewVolume } from './volumes.ts'
import { pause } from './waiting.ts'

export const takenBack = ({ hostId }: Session, name: string): DriverError =>
  new DriverError('cancelled', `${name} was removed from host ${hostId} while it was being made`)

export async function pushCopy(session: Session, copying: Copying, machine: MachineState, signal: AbortSignal): Promise<void> {
  const volume = await prepareTarget(session, copying, machine.domain, signal)
  try {
    while (!(await tryOnce(session, copying, machine, volume, signal))) await requireOn(session, copying.vmId, machine.domain, signal)
  } catch (error) {
    if (isDriverError(error, 'aborted', 'no_space')) await giveUp(session, copying, machine.domain, volume, error)
    else if (!(await findVolume(session, copying.name, signal))) throw takenBack(session, copying.name)
    throw error
  }
}

/** False when somebody who waited for the same job gave up, and took the job with him. */
async function tryOnce(session: Session, copying: Copying, machine: MachineState, volume: Volume, signal: AbortSignal): Promise<boolean> {
  await begin(session, copying, machine, volume, signal)
  if (await isWhole(session, copying.name, signal)) return true
  if (await awaitJob(session, machine.domain, volume.key, signal)) return true
  if (await findVolume(session, copying.name, signal)) return false
  throw takenBack(session, copying.name)
}

const CLEAN_UP_MS = 30_000

/** What is left of it counts as half made, and is used or removed when it is asked for or taken back. */
async function giveUp(session: Session, { name }: Copying, domain: Domain, volume: Volume, error: DriverError): Promise<void> {
  const signal = AbortSignal.timeout(CLEAN_UP_MS)
  try {
    await stopJob(session, domain, volume.key, signal)
    if (error.kind === 'no_space') await removeVolume(session, name, signal)
  } catch (failure) {
    session.log.warn({ hostId: session.hostId, err: failure }, `what was begun of ${name} could not be stopped`)
  }
}

/** The job of a machine that went down ended with it. */
async function requireOn(session: Session, vmId: string, { id }: Domain, signal: AbortSignal): Promise<void> {
  const { isOn, domain } = await getMachine(session, vmId, signal)
  if (!isOn || domain.id !== id) throw new DriverError('transient', `Machine ${vmId} went down while it was being copied`)
}

const MOMENT_MS = 3_000
const LOOK_AGAIN_MS = 100

/** Takes what a dead process left, because a job writes every part of it anew; unless it has another shape. One that another process is
 *  making at this moment has no shape yet, so it gets time to take one. */
async function prepareTarget(session: Session, { name, increment }: Copying, domain: Domain, signal: AbortSignal): Promise<Volume> {
  const { capacity } = await session.call(`measure ${domain.name}`, signal, (host) => host.domains.getBlockInfo({ domain, disk: 'vda' }))
  const shape = { capacityBytes: Number(capacity), backing: increment?.backing }
  const make = (): Promise<Volume | undefined> => tryCreate(session, newTarget(name, shape), signal)
  for (const waitedMs = stopwatch(); ;) {
    const found = await findVolume(session, name, signal)
    const target = found ?? (await (increment?.isAway ? besideStandIn(session, increment.backing, shape, make, signal) : make()))
    if (target && (!found || (await hasShape(session, target, shape, signal)))) return target
    if (found && waitedMs() > MOMENT_MS) await removeVolume(session, name, signal)
    else await session.call(`wait for ${name}`, signal, () => pause(LOOK_AGAIN_MS, signal))
  }
}

interface Shape {
  capacityBytes: number
  backing: string | undefined
}

/** What it builds on is told relative to the copy itself, so that a chain can be carried to another host. */
const newTarget = (name: string, { capacityBytes, backing }: Shape): NewVolume => ({
  name,
  format: 'qcow2',
  capacityBytes,
  ...(backing !== undefined && { backing }),
})

/** libvirt makes a layer only on what lies here, although QEMU reads none of it while it writes what changed. */
async function besideStandIn<T>(
  session: Session,
  name: string,
  { capacityBytes }: Shape,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  await tryCreate(session, { name, format: 'qcow2', capacityBytes }, signal)
  try {
    return await work()
  } finally {
    await removeVolume(session, name, signal)
  }
}

async function hasShape(session: Session, volume: Volume, { capacityBytes, backing }: Shape, signal: AbortSignal): Promise<boolean> {
  const xml = await describeVolume(session, volume, signal).catch((error: unknown) => {
    if (!isDriverError(error, 'not_found')) throw error
  })
  const path = xml?.find('backingStore/path')?.text.trim()
  return Number(xml?.find('capacity')?.text) === capacityBytes && path?.slice(path.lastIndexOf('/') + 1) === backing
}

/** What QEMU and the daemon say of a file that another process has not finished making, or has just let go of. */
const IS_UNREADY = /failed to get .* lock|unable to stat|no storage vol|not in qcow2 format/i

/** Begins the job, unless another process just has. The daemon keeps the checkpoint of a job that was cut off. */
async function begin(session: Session, copying: Copying, machine: MachineState, volume: Volume, signal: AbortSignal): Promise<void> {
  const waitedMs = stopwatch()
  const isBegun = (): Promise<boolean> =>
    session
      .call(`copy ${machine.domain.name}`, signal, (host) =>
        whileFrozen(session, machine, () => beginJob(host, machine.domain, copying, volume.key)),
      )
      .catch(async (error: unknown) => {
        if (!isDriverError(error) || !IS_UNREADY.test(error.message) || waitedMs() > MOMENT_MS) throw error
        await session.call(`wait for ${copying.name}`, signal, () => pause(LOOK_AGAIN_MS, signal))
        return false
      })
  while (!(await isBegun())) {
    await awaitNoJob(session, machine.domain, signal)
    if (await isSoonWhole(session, copying.name, signal)) return
    if (copying.checkpoint) await removeCheckpoint(session, machine, copying.checkpoint, signal)
  }
}
