// A copy of a running VM, by a push backup job of its QEMU. It holds the state at the start of the job, when the guest's filesystems are
// frozen if it has an agent.
//
// Two processes may make the same copy: a domain has one job at a time, so one of them starts it and both wait for it. Neither removes the
// target meanwhile, because the job of the other would go on writing to the replaced file.
import { constants } from 'node:os'
import { type Domain, ErrorCode, hasCode, type Volume } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError, isDriverError } from '../../driver.ts'
import { removeCheckpoint } from './checkpoints.ts'
import { withFilesystemsFrozen } from './fsfreeze.ts'
import { awaitJob, awaitNoJob, beginJob, copyRemovedError, OWN_DISK, type CopyRequest, stopJob } from './backup-job.ts'
import { getMachine, type MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { describeVolume, findVolume, waitUntilComplete, isComplete, removeVolume, tryCreate, type NewVolume } from '../storage/volumes.ts'
import { hasText, remoteErrorOf } from '../core/errors.ts'
import { CLEANUP_TIMEOUT_MS, PEER_TIMEOUT_MS, pollUntil } from '../core/poll.ts'

export async function runPushBackup(context: HostContext, request: CopyRequest, machine: MachineState, signal: AbortSignal): Promise<void> {
  const volume = await prepareTarget(context, request, machine.domain, signal)
  try {
    while (!(await tryOnce(context, request, machine, volume, signal))) await requireOn(context, request.vmId, machine.domain, signal)
  } catch (error) {
    if (isDriverError(error, 'aborted', 'no_space')) await abortCopy(context, request, machine.domain, volume, error)
    else if (!(await findVolume(context, request.name, signal))) throw copyRemovedError(context, request.name)
    throw error
  }
}

/** False when another process that waited for the same job aborted it. */
async function tryOnce(
  context: HostContext,
  request: CopyRequest,
  machine: MachineState,
  volume: Volume,
  signal: AbortSignal,
): Promise<boolean> {
  await begin(context, request, machine, volume, signal)
  if (await isComplete(context, request.name, signal)) return true
  if (await awaitJob(context, machine.domain, volume.key, signal)) return true
  if (await findVolume(context, request.name, signal)) return false
  throw copyRemovedError(context, request.name)
}

/** Aborts the job. The incomplete volume stays: the next attempt reuses it, or `removeCopy` deletes it. */
async function abortCopy(context: HostContext, { name }: CopyRequest, domain: Domain, volume: Volume, error: DriverError): Promise<void> {
  const signal = AbortSignal.timeout(CLEANUP_TIMEOUT_MS)
  try {
    await stopJob(context, domain, volume.key, signal)
    if (error.kind === 'no_space') await removeVolume(context, name, signal)
  } catch (failure) {
    context.log.warn({ hostId: context.hostId, volume: name, err: failure }, 'aborting backup job failed')
  }
}

/** The job of a VM that went off has ended with it. */
async function requireOn(context: HostContext, vmId: string, { id }: Domain, signal: AbortSignal): Promise<void> {
  const { isOn, domain } = await getMachine(context, vmId, signal)
  if (!isOn || domain.id !== id) throw new DriverError('transient', `Machine ${vmId} went off while it was being copied`)
}

/** Reuses the volume of a dead process, because a job overwrites all of it; unless its size or backing differs. A volume that
 *  another process is creating has neither yet, so it gets time before it is replaced. */
async function prepareTarget(context: HostContext, request: CopyRequest, domain: Domain, signal: AbortSignal): Promise<Volume> {
  const { name, disk = OWN_DISK, increment } = request
  const { capacity } = await context.call(`measure ${domain.name}`, signal, (host) => host.domains.getBlockInfo({ domain, disk }))
  const spec = { capacityBytes: Number(capacity), backing: increment?.backing }
  const create = (): Promise<Volume | undefined> => tryCreate(context, newTarget(name, spec), signal)
  const find = async (): Promise<Volume | undefined> => {
    const found = await findVolume(context, name, signal)
    if (found) return (await matchesSpec(context, found, spec, signal)) ? found : undefined
    return increment?.isRemote ? withPlaceholderBacking(context, increment.backing, spec, create, signal) : create()
  }
  for (;;) {
    const target = await pollUntil(context, `wait for ${name}`, signal, find, { timeoutMs: PEER_TIMEOUT_MS })
    if (target) return target
    await removeVolume(context, name, signal)
  }
}

interface TargetSpec {
  capacityBytes: number
  backing: string | undefined
}

/** The backing file is a relative name, so that a chain can be transferred to another host. */
const newTarget = (name: string, { capacityBytes, backing }: TargetSpec): NewVolume => ({
  name,
  format: 'qcow2',
  capacityBytes,
  ...(backing !== undefined && { backing }),
})

/** libvirt creates a layer only on an existing volume, although QEMU does not read the backing file while it writes the changes. */
async function withPlaceholderBacking<T>(
  context: HostContext,
  name: string,
  { capacityBytes }: TargetSpec,
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

async function matchesSpec(
  context: HostContext,
  volume: Volume,
  { capacityBytes, backing }: TargetSpec,
  signal: AbortSignal,
): Promise<boolean> {
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

/** Starts the job, unless another process has made the copy meanwhile. libvirt keeps the checkpoint of a job that was interrupted. */
async function begin(
  context: HostContext,
  request: CopyRequest,
  machine: MachineState,
  volume: Volume,
  signal: AbortSignal,
): Promise<void> {
  while (!(await tryBegin(context, request, machine, volume, signal))) {
    await awaitNoJob(context, machine.domain, signal)
    if (await waitUntilComplete(context, request.name, signal)) return
    if (request.checkpoint) await removeCheckpoint(context, machine, request.checkpoint, signal)
  }
}

/** False while another job runs, or the checkpoint exists. Retries while the target is not ready. */
function tryBegin(
  context: HostContext,
  request: CopyRequest,
  machine: MachineState,
  volume: Volume,
  signal: AbortSignal,
): Promise<boolean> {
  const waitedMs = stopwatch()
  return pollUntil(context, `wait for ${request.name}`, signal, () =>
    context
      .call(`copy ${machine.domain.name}`, signal, (host) =>
        withFilesystemsFrozen(context, machine, async (isFrozen) => {
          const hasBegun = await beginJob(host, machine.domain, request, volume.key)
          if (hasBegun) request.onBegun?.(isFrozen)
          return hasBegun
        }),
      )
      .catch((error: unknown) => {
        if (!isTargetNotReady(error) || waitedMs() > PEER_TIMEOUT_MS) throw error
        return undefined
      }),
  )
}
