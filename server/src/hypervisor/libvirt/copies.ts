import type { Copies } from '../driver.ts'
import { backupCopyVerbs } from './backup-copies.ts'
import { backupVerbs } from './backups.ts'
import type { Session } from './session.ts'
import { snapshotVerbs } from './snapshots.ts'

export const copies = (session: Session): Copies => ({ ...snapshotVerbs(session), ...backupVerbs(session), ...backupCopyVerbs(session) })
