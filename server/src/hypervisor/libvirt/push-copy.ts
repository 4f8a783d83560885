// A copy of a machine that is on, by a backup job of its own QEMU. It shows the moment the job began, at which the guest's file systems
// stood still where it has an agent.
//
// Two processes may ask for the same copy: a domain takes one job only, so one of them begins it and both wait for it. Nothing is removed
// on that way, or the job of the one could go on writing to a file that the other has replaced.
import { ErrorCode, hasCode, type Domain, type Host, type Volume } from '@berth/libvirt'
import { DriverError, isDriverError } from '../driver.ts'
import { beginJob, type Copying } from './backup-job.ts'
import { whileFrozen } from './freeze.ts'
import { awaitJob, awaitNoJob, stopJob } from './jobs.ts'
import { getMachine, type MachineState } from './machine-state.ts'
import { POOL } from './names.ts'
import type { Session } from './session.ts'
import { describeVolume, findVolume, isWhole, removeVolume, volumeXml } from './volumes.ts'

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

/** Takes what a dead process left, because a job writes every part of it anew; unless it has another shape. */
async function prepareTarget(session: Session, { name, increment }: Copying, domain: Domain, signal: AbortSignal): Promise<Volume> {
  const { capacity } = await session.call(`measure ${domain.name}`, signal, (host) => host.domains.getBlockInfo({ domain, disk: 'vda' }))
  const shape = { capacityBytes: Number(capacity), backing: increment?.backing }
  const left = await findVolume(session, name, signal)
  if (left && (await hasShape(session, left, shape, signal))) return left
  if (left) await removeVolume(session, name, signal)
  return session.call(`create ${name}`, signal, (host) => createOrTake(host, name, shape))
}

interface Shape {
  capacityBytes: number
  backing: string | undefined
}

/** Relative to the copy itself, so that a chain can be carried to another host. */
async function createOrTake(host: Host, name: string, { capacityBytes, backing }: Shape): Promise<Volume> {
  const pool = await host.pools.lookupByName({ name: POOL })
  const { xml } = volumeXml({ name, format: 'qcow2', capacityBytes, ...(backing && { backing }) })
  return host.volumes.create({ pool, xml }).catch((error: unknown) => {
    if (!hasCode(error, ErrorCode.volumeExists)) throw error
    return host.volumes.lookupByName({ pool, name }) // another process makes the same
  })
}

async function hasShape(session: Session, volume: Volume, { capacityBytes, backing }: Shape, signal: AbortSignal): Promise<boolean> {
  const xml = await describeVolume(session, volume, signal)
  const path = xml.find('backingStore/path')?.text.trim()
  return Number(xml.find('capacity')?.text) === capacityBytes && path?.slice(path.lastIndexOf('/') + 1) === backing
}

/** Begins the job, unless another process just has. */
async function begin(session: Session, copying: Copying, machine: MachineState, volume: Volume, signal: AbortSignal): Promise<void> {
  const isBegun = (): Promise<boolean> =>
    session.call(`copy ${machine.domain.name}`, signal, (host) =>
      whileFrozen(session, host, machine, () => beginJob(host, machine.domain, copying, volume.key)),
    )
  while (!(await isBegun())) {
    await awaitNoJob(session, machine.domain, signal)
    if (await isWhole(session, copying.name, signal)) return
  }
}
