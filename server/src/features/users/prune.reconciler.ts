import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import * as sql from './sql.ts'

/** Retention of IP addresses from which a user has signed in. */
const KEEP_ADDRESSES = '90d'

export const pruneUsers = reconciler('users.prune', '1h', async ({ db, clock }) => {
  const now = clock.now()
  await sql.dropOldLinks(db, now)
  await sql.dropOldAddresses(db, subtractDuration(now, KEEP_ADDRESSES))
})
