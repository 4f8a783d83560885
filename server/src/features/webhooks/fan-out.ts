// A hook of the event log: it inserts the deliveries in the event's transaction, so they exist if and only if the event does.
import type { Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { UnnumberedEvent } from '../events/service.ts'
import { insertDeliveries } from './delivery-queue.sql.ts'

export const DELIVER = 'webhooks.deliver'

export async function fanOut(tx: Tx, event: UnnumberedEvent): Promise<void> {
  if ((await insertDeliveries(tx, event)) > 0) await triggerReconciler(tx, DELIVER)
}
