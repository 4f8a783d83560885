import { restoreWorkflow } from '../vms/service.ts'
import { setStatus } from './sql.ts'
import { toSnapshot } from './view.ts'

export const restoreFromSnapshot = restoreWorkflow({
  name: 'snapshot.restore',
  source: (snapshotId) => ({ from: 'snapshot', snapshotId }),
  release: async (tx, snapshotId) => ({ snapshot: toSnapshot(await setStatus(tx, snapshotId, 'AVAILABLE')) }),
})
