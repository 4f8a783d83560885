// Backs the control plane up to each backup target that is to have it, once a day, and reports how old the last one is.
import { findTarget } from '../backup-targets/service.ts'
import { reconciler } from '../deps.ts'
import { ageMsOf, backUpControlPlane, dueTargets, listControlPlaneBackups } from './service.ts'

const TIMEOUT_MS = 30 * 60_000

export const dailyControlPlaneBackups = reconciler('control_plane.backup', '5m', async (deps, stopping = new AbortController().signal) => {
  const { db, clock, log, metrics } = deps
  for (const targetId of await dueTargets(db, clock.now())) {
    const target = await findTarget(db, targetId)
    if (!target) continue
    try {
      const { id, addedBytes, removed } = await backUpControlPlane(
        deps,
        target,
        AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
      )
      log.info({ targetId, backupId: id, addedBytes, removed }, 'control plane backed up')
    } catch (error) {
      log.error({ err: error, targetId }, 'backing up control plane failed; will retry')
    }
  }
  metrics.controlPlaneBackupAge.reset()
  for (const row of await listControlPlaneBackups(db))
    if (row.keep_days !== null) metrics.controlPlaneBackupAge.set({ region: row.region_slug }, ageMsOf(row, clock.now()) / 1000)
})
