// Backups between the VM's host and the backup target of its region. Bytes go through this process, and lie nowhere unencrypted but on the
// host.
import { BackupTargetError, isTargetError } from '../../backup-target/errors.ts'
import type { DiskContent } from '../../hypervisor/extent.ts'
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

/** What was sent so far is deleted by the purge. So is what ends the upload, where the target does not answer: the VM is not kept busy for it. */
export async function discardUpload({ deps, input, signal }: Upload, targetId: string): Promise<void> {
  try {
    const { repository } = await openRepository(deps, targetId, input.vmId, signal)
    await repository.discard(input.backupId, signal)
  } catch (error) {
    if (!isTargetError(error) || signal.aborted) throw error
    deps.log.warn({ err: error, targetId, backupId: input.backupId }, 'upload is discarded later')
  }
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
