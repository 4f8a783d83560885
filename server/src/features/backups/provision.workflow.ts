// Makes a VM from a backup of another: its host gets the backup as one of the new VM's own, makes the disk from it, and removes it. The
// instance id of the seed is the new VM's, so the guest configures itself as a new one: hostname, keys, password and addresses.
import { storeAsBackup } from '../../hypervisor/store-as-backup.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import {
  awaitReadyOrEnd,
  driverForVm,
  driverForVmId,
  getVmRow,
  provisionWorkflow,
  purge,
  recordVmEvent,
  type ProvisionInput,
} from '../vms/service.ts'
import { readOrMark } from './damage.ts'
import { findById, VM_FROM_BACKUP } from './sql.ts'
import { openBackupDisk } from './transfer.ts'
import { toBackup } from './view.ts'

interface Input extends ProvisionInput {
  backupId: string
}

type Context = StepContext<Deps, Input, unknown>

export const provisionFromBackup = provisionWorkflow<Input>({
  begun: workflow<Input>(VM_FROM_BACKUP, { deadline: '5h', queue: 'restores' }).step('fetch', {
    timeout: '2h',
    run: fetchBackup,
    undo: purge,
  }),
  source: ({ backupId }) => ({ from: 'backup', backupId }),
  diskTimeout: '2h',
  afterDisk: deleteFetched,
  ready: awaitReadyOrEnd,
  onCreated: async (tx, { deps, input, runId }) => {
    const backup = await findById(tx, input.backupId)
    if (backup) await recordVmEvent(tx, deps, input.vmId, 'backup.restored', { actionId: runId }, { backup: toBackup(backup) })
  },
})

async function fetchBackup(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { vmId, backupId } = input
  const vm = await getVmRow(deps.db, vmId)
  const place = { vmId, backupId, storageId: vm.storage_id }
  const driver = await driverForVm(deps, vm)
  await readOrMark(context, backupId, () => storeAsBackup(driver, place, () => openBackupDisk(deps, backupId, signal), signal))
}

async function deleteFetched({ deps, input: { vmId, backupId }, signal }: Context): Promise<void> {
  await (await driverForVmId(deps, vmId)).ensureBackupOffloaded(vmId, { backupId, keepCheckpoint: false }, signal)
}
