// Backups between the VM's host and the backup target of its region. Bytes go through this process, and lie nowhere unencrypted but on the
// host.
import { BackupTargetError } from '../../backup-target/errors.ts'
import type { Driver } from '../../hypervisor/driver.ts'
import type { DiskContent, Extent } from '../../hypervisor/extent.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import type { Deps } from '../deps.ts'
import { openRepository, scheduleSweep } from '../backup-targets/service.ts'
import { driverForVmId } from '../vms/service.ts'
import type { BackupRow } from './sql.ts'

type Upload = Pick<StepContext<Deps, { vmId: string; backupId: string }, unknown>, 'deps' | 'input' | 'signal'>

/** Repeated after an interruption it sends only what is missing. */
export async function uploadBackup({ deps, input, signal }: Upload, targetId: string, parentId: string | null) {
  const { vmId, backupId } = input
  const { repository, lockDays } = await openRepository(deps, targetId, vmId, signal)
  const driver = await driverForVmId(deps, vmId)
  const { sizeBytes, extents } = await driver.readBackupExtents(vmId, backupId, signal)
  const { addedBytes, checksum } = await repository.upload({ backupId, parentId, sizeBytes, extents, lockDays }, signal)
  return { sizeBytes: addedBytes, checksum }
}

/** What was sent so far is deleted by the purge. */
export async function discardUpload({ deps, input, signal }: Upload, targetId: string): Promise<void> {
  const { repository } = await openRepository(deps, targetId, input.vmId, signal)
  await repository.discard(input.backupId, signal)
  await scheduleSweep(deps.db, targetId, input.vmId, deps.clock.now())
}

/** The disk as it was at the backup. */
export async function readFromTarget(
  deps: Deps,
  { id, vm_id, target_id, checksum }: Pick<BackupRow, 'id' | 'vm_id' | 'target_id' | 'checksum'>,
  signal: AbortSignal,
): Promise<DiskContent> {
  const { repository } = await openRepository(deps, target_id!, vm_id, signal)
  const found = await repository.read(id, signal)
  if (found.checksum !== checksum) throw new BackupTargetError('damaged', `Backup ${id} in the target is not the one that was stored`)
  return found
}

/** Stores a disk as a full backup of the VM, where its disk is to be. */
export async function storeAsBackup(
  here: Driver,
  { vmId, ...backup }: { vmId: string; backupId: string; storageId: string | null },
  open: () => Promise<DiskContent>,
  signal: AbortSignal,
): Promise<void> {
  let failure: unknown
  const noteFailure = (error: unknown): never => {
    throw (failure = error)
  }
  const openWatched = async (): Promise<DiskContent> => {
    const content = await open().catch(noteFailure)
    return { ...content, extents: watched(content.extents, noteFailure) }
  }
  try {
    await here.ensureBackupFromExtents(vmId, backup, openWatched, signal)
  } catch (error) {
    throw failure ?? error // the driver takes a failure of the source for one of the host
  }
}

async function* watched(extents: AsyncIterable<Extent>, noteFailure: (error: unknown) => never): AsyncGenerator<Extent> {
  try {
    yield* extents
  } catch (error) {
    noteFailure(error)
  }
}
