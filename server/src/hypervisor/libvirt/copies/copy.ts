// Copies of a disk, of machines that are on or off.
import { ensureThawed } from './fsfreeze.ts'
import { copyRemovedError, type CopyRequest, stopJob } from './backup-job.ts'
import { findMachine, type MachineState } from '../domain/lookup.ts'
import { findReader } from '../domain/reader-domain.ts'
import { runPushBackup } from './live-copy.ts'
import { copyOffline } from './offline-copy.ts'
import type { HostContext } from '../core/host-context.ts'
import { findVolume, markComplete, removeVolume, clearCompleteMark } from '../storage/volumes.ts'

/** The volume is there and whole. `cancelled` when somebody removed it meanwhile. */
export async function makeCopy(context: HostContext, copying: CopyRequest, machine: MachineState, signal: AbortSignal): Promise<void> {
  const { name } = copying
  await ensureThawed(context, machine)
  if (machine.isOn) await runPushBackup(context, copying, machine, signal)
  else await copyOffline(context, copying, machine, signal)
  await completeCopy(context, name, signal)
}

/** All its bytes are there, unless somebody removed it meanwhile: then no mark is left of it. */
export async function completeCopy(context: HostContext, name: string, signal: AbortSignal): Promise<void> {
  await markComplete(context, name, signal)
  if (await findVolume(context, name, signal)) return
  await clearCompleteMark(context, name, signal)
  throw copyRemovedError(context, name)
}

/** Stops the making of it in whatever process. */
export async function removeCopy(context: HostContext, vmId: string, name: string, signal: AbortSignal): Promise<void> {
  await clearCompleteMark(context, name, signal)
  const volume = await findVolume(context, name, signal)
  const machine = volume && (await findMachine(context, vmId, signal))
  if (machine) await ensureThawed(context, machine)
  const copier = volume && (machine?.isOn ? machine.domain : await findReader(context, vmId, signal))
  if (copier) await stopJob(context, copier, volume.key, signal)
  await removeVolume(context, name, signal)
}

/** The length of the file, which does not change any more. */
export async function fileBytes(
  { call }: HostContext,
  volume: { pool: string; name: string; key: string },
  signal: AbortSignal,
): Promise<number> {
  const info = await call(`measure ${volume.name}`, signal, (host) => host.volumes.getInfo({ volume, flags: ['physical'] }))
  return Number(info.allocation)
}
