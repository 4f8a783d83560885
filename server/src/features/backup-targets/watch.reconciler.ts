// Reports what object lock keeps of what was deleted.
import { reconciler } from '../deps.ts'
import { lockedByTarget } from './sql.ts'

export const watchBackupTargets = reconciler('backup_targets.watch', '5m', async ({ db, metrics }) => {
  metrics.backupTargetLocked.reset()
  for (const { region_slug, bytes } of await lockedByTarget(db)) metrics.backupTargetLocked.set({ region: region_slug }, Number(bytes))
})
