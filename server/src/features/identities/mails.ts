// Tells people of their ways in. Queued in the transaction of the change.
import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import * as sql from './sql.ts'

/** Reconciler that sends the mails. */
export const SEND = 'identities.mail'

interface IdentityMail {
  kind: sql.MailRow['kind']
  userId: string
  providerTitle: string
  label: string
  /** URL of the dashboard. */
  base: string
}

export async function queueMail(tx: Tx, now: Date, { kind, userId, providerTitle, label, base }: IdentityMail): Promise<void> {
  const mail = { id: newId(), user_id: userId, kind, provider_title: providerTitle, label, link_base: base }
  await sql.insertMail(tx, { ...mail, attempts: 0, due_at: now, created_at: now })
  await triggerReconciler(tx, SEND)
}
