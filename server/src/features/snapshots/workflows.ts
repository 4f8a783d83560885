import { deleteSnapshot } from './delete.workflow.ts'
import { restoreFromSnapshot } from './restore.workflow.ts'
import { takeSnapshot } from './create.workflow.ts'

export const snapshotWorkflows = [takeSnapshot, restoreFromSnapshot, deleteSnapshot]
