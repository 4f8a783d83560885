import { reconciler } from '../deps.ts'
import { idleSince } from './session-lifecycle.ts'
import { dropOver } from './sql.ts'

export const pruneSessions = reconciler('sessions.prune', '10m', ({ db, clock }) => dropOver(db, clock.now(), idleSince(clock.now())))
