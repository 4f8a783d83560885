import type { SnapshotsAndBackups } from '../driver.ts'
import { backupTransferMethods } from './backup-copies.ts'
import { backupMethods } from './backups.ts'
import type { HostContext } from './session.ts'
import { snapshotMethods } from './snapshots.ts'

export const copies = (context: HostContext): SnapshotsAndBackups => ({
  ...snapshotMethods(context),
  ...backupMethods(context),
  ...backupTransferMethods(context),
})
