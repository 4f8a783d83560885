import { workflow } from '../deps.ts'
import { failAllSnapshots } from '../snapshots/service.ts'
import { restoreWorkflow, type RestoreInput } from '../vms/service.ts'
import { readOrMark } from './damage.ts'
import { deleteFetchedChain, fetchChain } from './transfer.ts'
import { triggerRemoval } from './reconciler-names.ts'
import { endRestoring } from './sql.ts'
import { toBackup } from './view.ts'

export const restoreFromBackup = restoreWorkflow({
  name: 'backup.restore',
  source: (backupId) => ({ from: 'backup', backupId }),
  begun: (name) =>
    workflow<RestoreInput>(name, { deadline: '5h', queue: 'restores' }).step('fetch', {
      timeout: '2h',
      run: (context) => readOrMark(context, context.input.copyId, () => fetchChain(context)),
      undo: deleteFetchedChain,
    }),
  afterDisk: deleteFetchedChain,
  onMoved: failAllSnapshots,
  release: async (tx, backupId) => {
    await triggerRemoval(tx) // the backup may have been deleted during the restore
    return { backup: toBackup(await endRestoring(tx, backupId)) }
  },
})
