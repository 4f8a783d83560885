// Makes a VM from a backup of another: its host gets the backup as one of the new VM's own, makes the disk from it, and removes it. The
// instance id of the seed is the new VM's, so the guest configures itself as a new one: hostname, keys, password and addresses.
import type { DiskContent } from '../../hypervisor/extent.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import { awaitReady, driverForVmId, provisionWorkflow, purge, recordVmEvent, type ProvisionInput } from '../vms/service.ts'
import { chainOf, findById, VM_FROM_BACKUP } from './sql.ts'
import { readFromTarget, storeAsBackup } from './target.ts'
import { readFromHost } from './transfer.ts'
import { toBackup } from './view.ts'

interface Input extends ProvisionInput {
  backupId: string
}

type Context = StepContext<Deps, Input, unknown>

export const provisionFromBackup = provisionWorkflow<Input>({
  begun: workflow<Input>(VM_FROM_BACKUP, { deadline: '5h' }).step('fetch', { timeout: '2h', run: fetchBackup, undo: purge }),
  source: ({ backupId }) => ({ from: 'backup', backupId }),
  diskTimeout: '2h',
  afterDisk: deleteFetched,
  ready: awaitReady,
  onCreated: async (tx, { deps, input, runId }) => {
    const backup = await findById(tx, input.backupId)
    if (backup) await recordVmEvent(tx, deps, input.vmId, 'backup.restored', { actionId: runId }, { backup: toBackup(backup) })
  },
})

async function fetchBackup({ deps, input: { vmId, backupId }, signal }: Context): Promise<void> {
  const open = () => openBackupDisk(deps, backupId, signal)
  await storeAsBackup(await driverForVmId(deps, vmId), vmId, backupId, open, signal)
}

/** The disk as it was at the backup, wherever that is. */
export async function openBackupDisk(deps: Deps, backupId: string, signal: AbortSignal): Promise<DiskContent> {
  const chain = await chainOf(deps.db, backupId)
  const backup = chain.at(-1)
  if (!backup) throw new StepError('backup_gone', 'The backup was deleted with its VM.', { retry: false })
  return backup.target_id === null ? readFromHost(deps, chain, signal) : readFromTarget(deps, backup, signal)
}

async function deleteFetched({ deps, input: { vmId, backupId }, signal }: Context): Promise<void> {
  await (await driverForVmId(deps, vmId)).ensureBackupOffloaded(vmId, backupId, signal)
}
