// Names of the backup reconcilers, for callers that trigger them.
import type { Queries } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { PROVE } from '../hosts/service.ts'

export const DAILY = 'backups.daily'
export const REMOVE = 'backups.purge'
export const REMOVE_IN_TARGETS = 'backups.purge_targets'

/** On hosts and in targets. A proof of what is deleted is stopped. */
export async function triggerRemoval(tx: Queries): Promise<void> {
  await triggerReconciler(tx, REMOVE)
  await triggerReconciler(tx, REMOVE_IN_TARGETS)
  await triggerReconciler(tx, PROVE)
}
