import { createBackupWorkflow } from './create.workflow.ts'
import { proveBackup } from './prove.workflow.ts'
import { provisionFromBackup } from './provision.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'

export const backupWorkflows = [createBackupWorkflow, restoreFromBackup, provisionFromBackup, proveBackup]
