import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import * as sql from './sql.ts'

/** Ended ones are counted for the limits of mails. */
const KEEP = '30d'

export const pruneInvitations = reconciler('invitations.prune', '1h', ({ db, clock }) =>
  sql.dropOld(db, subtractDuration(clock.now(), KEEP)),
)
