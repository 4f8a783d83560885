import { findPendingUpgrade } from '../../database.ts'
import { ageMsOf, isOverdue, listControlPlaneBackups } from '../../features/control-plane-backups/service.ts'
import { systemClock } from '../../kernel/clock.ts'
import { ok, warning } from './check.ts'
import { databaseCheck } from './database.ts'

export const controlPlaneBackups = databaseCheck('backups of the control plane', async (db) => {
  const now = systemClock.now()
  const rows = (await findPendingUpgrade(db)) ? [] : (await listControlPlaneBackups(db)).filter(({ keep_days }) => keep_days !== null)
  const hoursOf = (row: (typeof rows)[number]): string => `${Math.floor(ageMsOf(row, now) / 3_600_000)} h`
  const late = rows.filter((row) => isOverdue(row, now))
  if (late.length > 0)
    return warning(
      `backups of the control plane: ${late.map((row) => `the last in the target of ${row.region_slug} is ${row.done_at ? `${hoursOf(row)} old` : 'still missing'}${row.error ? ` (${row.error})` : ''}`).join(', ')}`,
      'npx berthd backup --target shows what is wrong; a worker has to be running for the daily ones',
    )
  if (rows.length === 0)
    return ok('no daily backups of the control plane in a backup target: npx berthd backup-target set --control-plane-days 14')
  return ok(
    `backups of the control plane: ${rows.map((row) => `${row.region_slug}, ${row.done_at ? `${hoursOf(row)} ago` : 'the first is due'}`).join('; ')}`,
  )
})
