// Undoes rules that nobody confirmed in time, each in a transaction of its own, whichever worker is alive then. Forgets what can no longer be
// undone.
import { ApiError } from '../../kernel/errors.ts'
import { reconciler } from '../deps.ts'
import { noteFailedUndo, undoUnconfirmedRules } from './rules.ts'
import * as sql from './sql.ts'

export const undoUnconfirmed = reconciler('firewalls.undo', '5s', async (deps) => {
  const { db, clock, log } = deps
  for (const firewall of await sql.listDueUndos(db, clock.now()))
    try {
      await db.tx((tx) => undoUnconfirmedRules(tx, deps, firewall.account_id, firewall.id))
    } catch (error) {
      log.error({ err: error, firewallId: firewall.id }, 'undoing unconfirmed firewall rules failed')
      const reason = error instanceof ApiError ? error.code : 'internal_error'
      // Or it would keep the others from their undo.
      await db
        .tx((tx) => noteFailedUndo(tx, deps, firewall, reason))
        .catch((cause: unknown) => log.error({ err: cause, firewallId: firewall.id }, 'postponing the undo of firewall rules failed'))
    }
  await sql.deleteUndosUntil(db, clock.now())
})
