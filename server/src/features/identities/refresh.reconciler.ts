// What providers say of themselves may change. While one does not answer, or says what cannot be used, what it said before is used.
import { reconciler } from '../deps.ts'
import { discover } from './provider-metadata.ts'
import * as sql from './sql.ts'

export const refreshProviders = reconciler('identity-providers.refresh', '1h', async ({ db, clock, log }) => {
  for (const { id, name, issuer } of await sql.listProviders(db)) {
    try {
      await sql.setMetadata(db, id, await discover(issuer), clock.now())
    } catch (error) {
      log.warn({ err: error, provider: name }, 'discovery of identity provider failed; its earlier answer is used')
      await sql.setDiscoveryError(db, id, (error as Error).message.slice(0, 500))
    }
  }
})

export const pruneFlows = reconciler('identity-flows.prune', '10m', ({ db, clock }) => sql.dropOldFlows(db, clock.now()))
