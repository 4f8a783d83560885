// Backups: a full one holds the complete disk, an incremental one the changes since its parent, as a qcow2 layer on the parent. That of a disk
// in a storage backend is a snapshot there.
import type { Volume } from '@berth/libvirt'
import {
  DriverError,
  isDriverError,
  type BackupMade,
  type BackupRequest,
  type Consistency,
  type SnapshotsAndBackups,
} from '../../driver.ts'
import type { RbdPool } from '../../rbd/pool.ts'
import { copyRemovedError, type CopyRequest, type Increment } from './backup-job.ts'
import { deleteStaleCheckpoints, hasCheckpoint, removeCheckpoint } from './checkpoints.ts'
import { fileBytes, makeCopy, removeCopy } from './copy.ts'
import { ensureThawed, withFilesystemsFrozen } from './fsfreeze.ts'
import { remoteErrorOf } from '../core/errors.ts'
import { findMachine, getMachine, type MachineState } from '../domain/lookup.ts'
import { backupName, STORAGE_POOL, readVolumeName } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { findPool } from '../storage/backends.ts'
import { clearCompleteMark, describeVolume, findComplete, isComplete, markComplete, parentOf, removeVolume } from '../storage/volumes.ts'

export function backupMethods(
  context: HostContext,
): Pick<SnapshotsAndBackups, 'ensureBackup' | 'ensureNoBackup' | 'ensureBackupOffloaded'> {
  return {
    ensureBackup: (vmId, request, signal) =>
      context.exclusive(`copy:${vmId}`, signal, async () => {
        const pool = await findPool(context, vmId, signal)
        if (pool) return backUpInPool(context, pool, vmId, request, signal)
        const name = backupName(vmId, request.backupId)
        const consistency = (await isComplete(context, name, signal)) ? 'CRASH' : await makeBackup(context, vmId, request, signal)
        const volume = await findComplete(context, name, signal)
        if (!volume) throw copyRemovedError(context, name)
        const parentId = parentOf(await describeVolume(context, volume, signal))
        return { sizeBytes: await fileBytes(context, volume, signal), parentId, consistency }
      }),

    ensureNoBackup: async (vmId, backupId, signal) => {
      const name = backupName(vmId, backupId)
      await requireNoChildren(context, vmId, backupId, signal)
      const wasComplete = await isComplete(context, name, signal)
      await clearCompleteMark(context, name, signal)
      // Re-checked after the marker is cleared: creation of an incremental backup re-checks the marker. Either side detects the race.
      await requireNoChildren(context, vmId, backupId, signal).catch(async (error: unknown) => {
        if (wasComplete) await markComplete(context, name, signal)
        throw error
      })
      await removeCopy(context, vmId, name, signal)
      const machine = await findMachine(context, vmId, signal)
      if (machine) await removeCheckpoint(context, machine, backupId, signal)
      await (await findPool(context, vmId, signal))?.ensureNoBackup(vmId, backupId, signal)
    },

    ensureBackupOffloaded: async (vmId, { backupId, keepCheckpoint }, signal) => {
      const pool = await findPool(context, vmId, signal)
      if (pool) return pool.ensureBackupOffloaded(vmId, backupId, keepCheckpoint, signal)
      await removeCopy(context, vmId, backupName(vmId, backupId), signal)
      const machine = keepCheckpoint ? undefined : await findMachine(context, vmId, signal)
      if (machine) await removeCheckpoint(context, machine, backupId, signal)
    },
  }
}

async function backUpInPool(
  context: HostContext,
  pool: RbdPool,
  vmId: string,
  request: BackupRequest,
  signal: AbortSignal,
): Promise<BackupMade> {
  const machine = await getMachine(context, vmId, signal)
  await ensureThawed(context, machine)
  let consistency: Consistency = 'CRASH'
  if (!(await pool.findBackup(vmId, request.backupId, signal)))
    await withFilesystemsFrozen(context, machine, async (isFrozen) => {
      await pool.ensureBackup({ vmId, generation: machine.metadata.generation }, request, signal)
      if (isFrozen || !machine.isOn) consistency = 'FILESYSTEM'
    })
  const made = await pool.findBackup(vmId, request.backupId, signal)
  if (!made) throw copyRemovedError(context, backupName(vmId, request.backupId))
  const { allocated } = await pool.listChanges(made, signal)
  return { sizeBytes: allocated.reduce((sum, { length }) => sum + length, 0), parentId: made.parentId, consistency }
}

async function makeBackup(context: HostContext, vmId: string, request: BackupRequest, signal: AbortSignal): Promise<Consistency> {
  const machine = await getMachine(context, vmId, signal)
  let isFrozen = false
  const full: CopyRequest = {
    vmId,
    name: backupName(vmId, request.backupId),
    checkpoint: machine.isOn ? request.backupId : undefined,
    onBegun: (frozen) => void (isFrozen = frozen),
  }
  if (!machine.isOn) {
    await makeCopy(context, full, machine, signal)
    return 'FILESYSTEM'
  }
  await deleteStaleCheckpoints(context, machine, signal)
  const increment = await incrementOn(context, machine, vmId, request, signal)
  try {
    await makeCopy(context, { ...full, increment }, machine, signal)
  } catch (error) {
    if (!increment || !isRejected(error)) throw error
    // After a crash of QEMU the dirty bitmap is inconsistent.
    context.log.warn({ hostId: context.hostId, vmId, err: error }, 'incremental backup rejected; falling back to full')
    await removeVolume(context, full.name, signal)
    await removeCheckpoint(context, machine, request.parentId ?? '', signal)
    await makeCopy(context, full, machine, signal)
  }
  return isFrozen ? 'FILESYSTEM' : 'CRASH'
}

const isRejected = (error: unknown): boolean => remoteErrorOf(error) !== undefined && !isDriverError(error, 'no_space')

async function incrementOn(
  context: HostContext,
  machine: MachineState,
  vmId: string,
  { parentId, parentIsRemote = false }: BackupRequest,
  signal: AbortSignal,
): Promise<Increment | undefined> {
  if (!parentId || !(await hasCheckpoint(context, machine, parentId, signal))) return undefined
  const backing = backupName(vmId, parentId)
  return parentIsRemote || (await isComplete(context, backing, signal)) ? { backing, since: parentId, isRemote: parentIsRemote } : undefined
}

async function requireNoChildren(context: HostContext, vmId: string, backupId: string, signal: AbortSignal): Promise<void> {
  for (const volume of await backupsOf(context, vmId, signal))
    if (parentOf(await describeVolume(context, volume, signal)) === backupId)
      throw new DriverError('in_use', `Another backup of ${vmId} is a layer on backup ${backupId}`)
}

const backupsOf = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<Volume[]> =>
  call(`list backups of ${vmId}`, signal, async (host) => {
    const volumes = await host.pools.listAllVolumes({ pool: await host.pools.lookupByName({ name: STORAGE_POOL }) })
    return volumes.filter(({ name }) => {
      const { kind, vmId: owner } = readVolumeName(name)
      return kind === 'backup' && owner === vmId
    })
  })
