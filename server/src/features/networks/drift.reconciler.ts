// Compares the networks of a region's controller with the database: those that are missing are made again, those that no row knows are
// removed.
import { keyedReconciler, type Deps } from '../deps.ts'
import { callController, regionsWithHosts } from '../hosts/service.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { APPLY } from './service.ts'
import * as sql from './sql.ts'

export const watchNetworks = keyedReconciler('networks.drift', '45s', {
  busy: ({ db }) => regionsWithHosts(db),
  runOnce: compareRegion,
})

async function compareRegion(deps: Deps, regionId: string, stopping: AbortSignal): Promise<void> {
  const { db, log } = deps
  const present: string[] = []
  const error = await callController(deps, regionId, stopping, async (controller, signal) => {
    for await (const { networkId } of controller.listNetworks(signal)) present.push(networkId)
  })
  if (error) return
  const missing = await sql.markMissing(db, regionId, present)
  if (missing.length > 0) {
    log.warn({ regionId, networkIds: missing.map((row) => row.id) }, 'networks missing in region; recreating')
    await triggerReconciler(db, APPLY)
  }
  for (const networkId of await sql.unknownOf(db, regionId, present)) {
    const failed = await callController(deps, regionId, stopping, (controller, signal) => controller.ensureNoNetwork(networkId, signal))
    if (!failed) log.warn({ regionId, networkId }, 'unknown network removed from region')
  }
}
