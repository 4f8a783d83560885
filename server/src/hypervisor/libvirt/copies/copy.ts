// Copies of the disk of a VM, running or off.
import { ensureThawed } from './fsfreeze.ts'
import { copyRemovedError, type CopyRequest, stopJob } from './backup-job.ts'
import { findMachine, type MachineState } from '../domain/lookup.ts'
import { findReader } from '../domain/reader-domain.ts'
import { runPushBackup } from './live-copy.ts'
import { copyOffline } from './offline-copy.ts'
import type { HostContext } from '../core/host-context.ts'
import { findVolume, markComplete, removeVolume, clearCompleteMark } from '../storage/volumes.ts'

/** Creates a complete volume. `cancelled` when another process removed it meanwhile. */
export async function makeCopy(context: HostContext, request: CopyRequest, machine: MachineState, signal: AbortSignal): Promise<void> {
  const { name } = request
  await ensureThawed(context, machine)
  if (machine.isOn) await runPushBackup(context, request, machine, signal)
  else await copyOffline(context, request, machine, signal)
  await completeCopy(context, name, signal)
}

/** Creates the marker, and deletes it again when the volume was removed meanwhile. */
export async function completeCopy(context: HostContext, name: string, signal: AbortSignal): Promise<void> {
  await markComplete(context, name, signal)
  if (await findVolume(context, name, signal)) return
  await clearCompleteMark(context, name, signal)
  throw copyRemovedError(context, name)
}

/** Also aborts the job of any process that is making it. */
export async function removeCopy(context: HostContext, vmId: string, name: string, signal: AbortSignal): Promise<void> {
  await clearCompleteMark(context, name, signal)
  const volume = await findVolume(context, name, signal)
  const machine = volume && (await findMachine(context, vmId, signal))
  if (machine) await ensureThawed(context, machine)
  const copier = volume && (machine?.isOn ? machine.domain : await findReader(context, vmId, signal))
  if (copier) await stopJob(context, copier, volume.key, signal)
  await removeVolume(context, name, signal)
}

/** File size of a complete copy. */
export async function fileBytes(
  { call }: HostContext,
  volume: { pool: string; name: string; key: string },
  signal: AbortSignal,
): Promise<number> {
  const info = await call(`measure ${volume.name}`, signal, (host) => host.volumes.getInfo({ volume, flags: ['physical'] }))
  return Number(info.allocation)
}
