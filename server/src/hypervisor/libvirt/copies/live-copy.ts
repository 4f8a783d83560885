// A copy of a machine that is on, by a backup job of its own QEMU. It shows the moment the job began, at which the guest's file systems
// stood still where it has an agent.
//
// Two processes may ask for the same copy: a domain takes one job only, so one of them begins it and both wait for it. Nothing is removed
// on that way, or the job of the one could go on writing to a file that the other has replaced.
import { constants } from 'node:os'
import { type Domain, ErrorCode, hasCode, type Volume } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError, isDriverError } from '../../driver.ts'
import { removeCheckpoint } from './checkpoints.ts'
import { withFilesystemsFrozen } from './fsfreeze.ts'
import { awaitJob, awaitNoJob, beginJob, copyRemovedError, type CopyRequest, stopJob } from './backup-job.ts'
import { getMachine, type MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { describeVolume, findVolume, waitUntilComplete, isComplete, removeVolume, tryCreate, type NewVolume } from '../storage/volumes.ts'
import { hasText, remoteErrorOf } from '../core/errors.ts'
import { CLEANUP_TIMEOUT_MS, PEER_TIMEOUT_MS, pollUntil } from '../core/poll.ts'

export async function runPushBackup(context: HostContext, copying: CopyRequest, machine: MachineState, signal: AbortSignal): Promise<void> {
  const volume = await prepareTarget(context, copying, machine.domain, signal)
  try {
    while (!(await tryOnce(context, copying, machine, volume, signal))) await requireOn(context, copying.vmId, machine.domain, signal)
  } catch (error) {
    if (isDriverError(error, 'aborted', 'no_space')) await abortCopy(context, copying, machine.domain, volume, error)
    else if (!(await findVolume(context, copying.name, signal))) throw copyRemovedError(context, copying.name)
    throw error
  }
}

/** False when somebody who waited for the same job gave up, and took the job with him. */
async function tryOnce(
  context: HostContext,
  copying: CopyRequest,
  machine: MachineState,
  volume: Volume,
  signal: AbortSignal,
): Promise<boolean> {
  await begin(context, copying, machine, volume, signal)
  if (await isComplete(context, copying.name, signal)) return true
  if (await awaitJob(context, machine.domain, volume.key, signal)) return true
  if (await findVolume(context, copying.name, signal)) return false
  throw copyRemovedError(context, copying.name)
}

/** What is left of it counts as half made, and is used or removed when it is asked for or taken back. */
async function abortCopy(context: HostContext, { name }: CopyRequest, domain: Domain, volume: Volume, error: DriverError): Promise<void> {
  const signal = AbortSignal.timeout(CLEANUP_TIMEOUT_MS)
  try {
    await stopJob(context, domain, volume.key, signal)
    if (error.kind === 'no_space') await removeVolume(context, name, signal)
  } catch (failure) {
    context.log.warn({ hostId: context.hostId, volume: name, err: failure }, 'aborting backup job failed')
  }
}

/** The job of a machine that went down ended with it. */
async function requireOn(context: HostContext, vmId: string, { id }: Domain, signal: AbortSignal): Promise<void> {
  const { isOn, domain } = await getMachine(context, vmId, signal)
  if (!isOn || domain.id !== id) throw new DriverError('transient', `Machine ${vmId} went down while it was being copied`)
}

/** Reuses the volume of a dead process, because a job writes every part of it anew; unless its size or backing differs. A volume that
 *  another process is creating has neither yet, so it gets time before it is replaced. */
async function prepareTarget(context: HostContext, { name, increment }: CopyRequest, domain: Domain, signal: AbortSignal): Promise<Volume> {
  const { capacity } = await context.call(`measure ${domain.name}`, signal, (host) => host.domains.getBlockInfo({ domain, disk: 'vda' }))
  const shape = { capacityBytes: Number(capacity), backing: increment?.backing }
  const create = (): Promise<Volume | undefined> => tryCreate(context, newTarget(name, shape), signal)
  const find = async (): Promise<Volume | undefined> => {
    const found = await findVolume(context, name, signal)
    if (found) return (await hasShape(context, found, shape, signal)) ? found : undefined
    return increment?.isRemote ? withPlaceholderBacking(context, increment.backing, shape, create, signal) : create()
  }
  for (;;) {
    const target = await pollUntil(context, `wait for ${name}`, signal, find, { timeoutMs: PEER_TIMEOUT_MS })
    if (target) return target
    await removeVolume(context, name, signal)
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
async function withPlaceholderBacking<T>(
  context: HostContext,
  name: string,
  { capacityBytes }: Shape,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  await tryCreate(context, { name, format: 'qcow2', capacityBytes }, signal)
  try {
    return await work()
  } finally {
    await removeVolume(context, name, signal)
  }
}

async function hasShape(context: HostContext, volume: Volume, { capacityBytes, backing }: Shape, signal: AbortSignal): Promise<boolean> {
  const xml = await describeVolume(context, volume, signal).catch((error: unknown) => {
    if (!isDriverError(error, 'not_found')) throw error
  })
  const path = xml?.find('backingStore/path')?.text.trim()
  return Number(xml?.find('capacity')?.text) === capacityBytes && path?.slice(path.lastIndexOf('/') + 1) === backing
}

/** The target is still being created by another process, or has just been replaced by one. */
const isTargetNotReady = (error: unknown): boolean => {
  const remote = remoteErrorOf(error)
  const isMissing = remote?.errno === constants.errno.ENOENT || hasCode(remote, ErrorCode.noStorageVolume)
  return isMissing || hasText(error, 'imageNotReady')
}

/** Starts the job, unless another process has made the copy meanwhile. The daemon keeps the checkpoint of a job that was cut off. */
async function begin(
  context: HostContext,
  copying: CopyRequest,
  machine: MachineState,
  volume: Volume,
  signal: AbortSignal,
): Promise<void> {
  while (!(await tryBegin(context, copying, machine, volume, signal))) {
    await awaitNoJob(context, machine.domain, signal)
    if (await waitUntilComplete(context, copying.name, signal)) return
    if (copying.checkpoint) await removeCheckpoint(context, machine, copying.checkpoint, signal)
  }
}

/** False while another job runs, or the checkpoint exists. Retries while the target is not ready. */
function tryBegin(
  context: HostContext,
  copying: CopyRequest,
  machine: MachineState,
  volume: Volume,
  signal: AbortSignal,
): Promise<boolean> {
  const waitedMs = stopwatch()
  return pollUntil(context, `wait for ${copying.name}`, signal, () =>
    context
      .call(`copy ${machine.domain.name}`, signal, (host) =>
        withFilesystemsFrozen(context, machine, () => beginJob(host, machine.domain, copying, volume.key)),
      )
      .catch((error: unknown) => {
        if (!isTargetNotReady(error) || waitedMs() > PEER_TIMEOUT_MS) throw error
        return undefined
      }),
  )
}
