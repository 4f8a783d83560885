// Backups: a full one holds the whole disk, an incremental one what changed since its parent, as a layer on the parent's file.
import { RefusedError, type Volume } from '@berth/libvirt'
import { DriverError, isDriverError, type BackupOrder, type Copies } from '../driver.ts'
import type { Copying, Increment } from './backup-job.ts'
import { forgetOldDisks, hasCheckpoint, removeCheckpoint } from './checkpoints.ts'
import { fileBytes, makeCopy, removeCopy } from './copying.ts'
import { parentOf } from './inventory.ts'
import { findMachine, getMachine, type MachineState } from './machine-state.ts'
import { backupName, POOL, readVolumeName } from './names.ts'
import { takenBack } from './push-copy.ts'
import type { Session } from './session.ts'
import { describeVolume, findWhole, isWhole, markWhole, removeVolume, unmark } from './volumes.ts'

export function backupVerbs(session: Session): Pick<Copies, 'ensureBackup' | 'ensureNoBackup' | 'ensureBackupAway'> {
  return {
    ensureBackup: (vmId, order, signal) =>
      session.alone(`copy:${vmId}`, signal, async () => {
        const name = backupName(vmId, order.backupId)
        if (!(await isWhole(session, name, signal))) await makeBackup(session, vmId, order, signal)
        const volume = await findWhole(session, name, signal)
        if (!volume) throw takenBack(session, name)
        return { sizeBytes: await fileBytes(session, volume, signal), parentId: parentOf(await describeVolume(session, volume, signal)) }
      }),

    ensureNoBackup: async (vmId, backupId, signal) => {
      const name = backupName(vmId, backupId)
      await refuseParent(session, vmId, backupId, signal)
      const wasWhole = await isWhole(session, name, signal)
      await unmark(session, name, signal)
      // Looked at again, because one may have begun to build on it: whoever does so looks for the mark once it has.
      await refuseParent(session, vmId, backupId, signal).catch(async (error: unknown) => {
        if (wasWhole) await markWhole(session, name, signal)
        throw error
      })
      await removeCopy(session, vmId, name, signal)
      const machine = await findMachine(session, vmId, signal)
      if (machine) await removeCheckpoint(session, machine, backupId, signal)
    },

    ensureBackupAway: (vmId, backupId, signal) => removeCopy(session, vmId, backupName(vmId, backupId), signal),
  }
}

async function makeBackup(session: Session, vmId: string, order: BackupOrder, signal: AbortSignal): Promise<void> {
  const machine = await getMachine(session, vmId, signal)
  const full: Copying = { vmId, name: backupName(vmId, order.backupId), checkpoint: machine.isOn ? order.backupId : undefined }
  if (!machine.isOn) return makeCopy(session, full, machine, signal)
  await forgetOldDisks(session, machine, signal)
  const increment = await incrementOn(session, machine, vmId, order, signal)
  try {
    await makeCopy(session, { ...full, increment }, machine, signal)
  } catch (error) {
    if (!increment || !isRefused(error)) throw error
    // After a crash of the guest's process the record of changes is of no use.
    session.log.warn({ hostId: session.hostId, vmId, said: String(error) }, 'an incremental backup is not possible, so a full one is made')
    await removeVolume(session, full.name, signal)
    await removeCheckpoint(session, machine, order.parentId ?? '', signal)
    await makeCopy(session, full, machine, signal)
  }
}

const isRefused = (error: unknown): boolean => isDriverError(error) && error.kind !== 'no_space' && error.cause instanceof RefusedError

async function incrementOn(
  session: Session,
  machine: MachineState,
  vmId: string,
  { parentId, parentIsAway = false }: BackupOrder,
  signal: AbortSignal,
): Promise<Increment | undefined> {
  if (!parentId || !(await hasCheckpoint(session, machine, parentId, signal))) return undefined
  const backing = backupName(vmId, parentId)
  return parentIsAway || (await isWhole(session, backing, signal)) ? { backing, since: parentId, isAway: parentIsAway } : undefined
}

async function refuseParent(session: Session, vmId: string, backupId: string, signal: AbortSignal): Promise<void> {
  for (const volume of await backupsOf(session, vmId, signal))
    if (parentOf(await describeVolume(session, volume, signal)) === backupId)
      throw new DriverError('in_use', `Another backup of ${vmId} builds on backup ${backupId}`)
}

const backupsOf = ({ call }: Session, vmId: string, signal: AbortSignal): Promise<Volume[]> =>
  call(`list backups of ${vmId}`, signal, async (host) => {
    const volumes = await host.pools.listAllVolumes({ pool: await host.pools.lookupByName({ name: POOL }) })
    return volumes.filter(({ name }) => {
      const { kind, vmId: owner } = readVolumeName(name)
      return kind === 'backup' && owner === vmId
    })
  })
