// Compares the networks of a region's controller with the database: those that are missing or outdated are applied again, those that no row
// knows are removed.
import type { ListedNetwork } from '../../hypervisor/network-controller.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callController, regionsWithHosts } from '../hosts/service.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { APPLY, markRoutesOfNetworkDue } from './service.ts'
import * as sql from './sql.ts'

export const watchNetworks = keyedReconciler('networks.drift', '45s', {
  busy: ({ db }) => regionsWithHosts(db),
  runOnce: compareRegion,
})

async function compareRegion(deps: Deps, regionId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const present: ListedNetwork[] = []
  const error = await callController(deps, regionId, stopping, async (controller, signal) => {
    for await (const network of controller.listNetworks(signal)) present.push(network)
  })
  if (error) return
  const wrong = await sql.markWrong(db, clock.now(), regionId, present)
  if (wrong.length > 0) {
    log.warn({ regionId, networkIds: wrong.map((row) => row.id) }, 'networks missing or outdated in region; reapplying')
    await triggerReconciler(db, APPLY)
    // What guests were told may be newer than a database that was restored from a backup, too.
    await markRoutesOfNetworkDue(
      db,
      clock.now(),
      wrong.map((row) => row.id),
    )
  }
  for (const networkId of await sql.unknownOf(
    db,
    regionId,
    present.map(({ networkId }) => networkId),
  )) {
    const failed = await callController(deps, regionId, stopping, (controller, signal) => controller.ensureNoNetwork(networkId, signal))
    if (!failed) log.warn({ regionId, networkId }, 'unknown network removed from region')
  }
}
