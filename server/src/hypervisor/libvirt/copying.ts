// Copies of a disk, of machines that are on or off.
import type { Copying } from './backup-job.ts'
import { ensureThawed } from './freeze.ts'
import { stopJob } from './jobs.ts'
import { findMachine, type MachineState } from './machine-state.ts'
import { pushCopy, takenBack } from './push-copy.ts'
import { copyAtRest, findReader } from './rest-copy.ts'
import type { Session } from './session.ts'
import { findVolume, markWhole, removeVolume, unmark } from './volumes.ts'

/** The volume is there and whole. `cancelled` when somebody removed it meanwhile. */
export async function makeCopy(session: Session, copying: Copying, machine: MachineState, signal: AbortSignal): Promise<void> {
  const { name } = copying
  await ensureThawed(session, machine)
  if (machine.isOn) await pushCopy(session, copying, machine, signal)
  else await copyAtRest(session, copying, machine, signal)
  await completeCopy(session, name, signal)
}

/** All its bytes are there, unless somebody removed it meanwhile: then no mark is left of it. */
export async function completeCopy(session: Session, name: string, signal: AbortSignal): Promise<void> {
  await markWhole(session, name, signal)
  if (await findVolume(session, name, signal)) return
  await unmark(session, name, signal)
  throw takenBack(session, name)
}

/** Stops the making of it in whatever process. */
export async function removeCopy(session: Session, vmId: string, name: string, signal: AbortSignal): Promise<void> {
  await unmark(session, name, signal)
  const volume = await findVolume(session, name, signal)
  const machine = volume && (await findMachine(session, vmId, signal))
  if (machine) await ensureThawed(session, machine)
  const copier = volume && (machine?.isOn ? machine.domain : await findReader(session, vmId, signal))
  if (copier) await stopJob(session, copier, volume.key, signal)
  await removeVolume(session, name, signal)
}

/** The length of the file, which does not change any more. */
export async function fileBytes(
  { call }: Session,
  volume: { pool: string; name: string; key: string },
  signal: AbortSignal,
): Promise<number> {
  const info = await call(`measure ${volume.name}`, signal, (host) => host.volumes.getInfo({ volume, flags: ['physical'] }))
  return Number(info.allocation)
}
