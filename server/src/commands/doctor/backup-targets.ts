import { findPendingUpgrade } from '../../database.ts'
import { listTargets, tryTarget } from '../../features/backup-targets/service.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import { failure, ok, type Check } from './check.ts'
import { databaseCheck } from './database.ts'

const TRY_MS = 15_000

/** Each is used as backups would. */
export const backupTargets: Check = (config) =>
  databaseCheck('backup targets', async (db) => {
    const targets = (await findPendingUpgrade(db)) ? [] : await listTargets(db)
    if (targets.length === 0) return ok('no backup targets: backups are on hosts')
    const vault = await openVerifiedVault(db, config.masterKeyFile)
    const problems: string[] = []
    for (const target of targets)
      await tryTarget(vault, target, AbortSignal.timeout(TRY_MS)).catch((error: Error) =>
        problems.push(`${target.region_slug}: ${error.message}`),
      )
    if (problems.length === 0) return ok(`backup targets: ${targets.map((each) => `${each.region_slug} (${each.bucket})`).join(', ')}`)
    return failure(`backup targets: ${problems.join('; ')}`, 'check the server and its bucket, or npx berthd backup-target set --help')
  })(config)
