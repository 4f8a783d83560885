// Undoes rules that nobody confirmed in time, each in a transaction of its own, whichever worker is alive then. Forgets what can no longer be
// undone.
import { ApiError } from '../../kernel/errors.ts'
import { reconciler } from '../deps.ts'
import { undoRules } from './rules.ts'
import * as sql from './sql.ts'

export const undoUnconfirmed = reconciler('firewalls.undo', '5s', async (deps) => {
  const { db, clock, log } = deps
  for (const { id, account_id } of await sql.listUnconfirmed(db, clock.now()))
    try {
      await db.tx(async (tx) => {
        // Confirmed, undone or deleted meanwhile.
        if (!(await sql.lockFirewall(tx, account_id, id))) return
        const undo = await sql.findUndo(tx, id)
        if (undo?.confirm_by && undo.confirm_by <= clock.now()) await undoRules(tx, deps, account_id, id, 'UNCONFIRMED')
      })
    } catch (error) {
      // Another firewall that was bound since leaves its VM no room for the rules before.
      if (error instanceof ApiError) await sql.clearDueConfirmation(db, id, clock.now())
      log.error({ err: error, firewallId: id }, 'undoing unconfirmed firewall rules failed')
    }
  await sql.deleteUndosUntil(db, clock.now())
})
