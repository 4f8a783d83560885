import { reconciler } from '../deps.ts'
import { idleSince } from './life.ts'
import { dropOver } from './sql.ts'

export const pruneSessions = reconciler('sessions.prune', '10m', ({ db, clock }) => dropOver(db, clock.now(), idleSince(clock.now())))
