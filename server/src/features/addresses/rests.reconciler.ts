// Ends the rest of released addresses: early once every host that may have had them confirms that it has not, and for the quota when it is over.
import { reconciler, type Deps } from '../deps.ts'
import { endRests } from './service.ts'
import { accountsWithRestsOver, confirmReleases } from './sql.ts'

export const endAddressRests = reconciler('addresses.rests', '5s', async ({ db, clock }: Deps) => {
  const now = clock.now()
  await db.tx((tx) => confirmReleases(tx, now))
  for (const { id } of await accountsWithRestsOver(db, now)) await db.tx((tx) => endRests(tx, now, id))
})
