// A hook of the event log: it queues the email in the event's transaction, so it exists if and only if the event does.
import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { UnnumberedEvent } from '../events/service.ts'
import { isNotified } from './event-mails.ts'
import { insertMail } from './sql.ts'

/** Of what a customer can have happen as often as they like. Webhooks and the event log have the others. */
const MOST_PER_HOUR: Record<string, number> = { 'alert.fired': 20, 'alert.resolved': 20 }

export const SEND = 'emails.send'

export async function queueMail(tx: Tx, event: UnnumberedEvent): Promise<void> {
  if (isNotified(event.type, event.data))
    await Promise.all([insertMail(tx, newId(), event, MOST_PER_HOUR[event.type] ?? null), triggerReconciler(tx, SEND)])
}
