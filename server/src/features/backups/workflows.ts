import { createBackupWorkflow } from './create.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'

export const backupWorkflows = [createBackupWorkflow, restoreFromBackup]
