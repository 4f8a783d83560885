import { nudge } from '../../workflow/reconcile.ts'
import { restoreWorkflow } from '../vms/service.ts'
import { REMOVE } from './names.ts'
import { endRestoring } from './sql.ts'
import { toBackup } from './view.ts'

export const restoreFromBackup = restoreWorkflow({
  thing: 'backup',
  source: (backupId) => ({ from: 'backup', backupId }),
  release: async (tx, backupId) => {
    await nudge(tx, REMOVE) // it may have been deleted meanwhile
    return toBackup(await endRestoring(tx, backupId))
  },
})
