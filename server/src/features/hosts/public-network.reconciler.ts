// Keeps the public network of every region as its pools and settings say: at start, when a pool is added, and after a change by hand.
import { keyedReconciler, type Deps } from '../deps.ts'
import { callController } from './host-call.ts'
import { APPLY_PUBLIC, publicNetworkSpec } from './public-addresses.ts'
import { regionsWithHosts } from './sql.ts'

export const applyPublicNetworks = keyedReconciler(APPLY_PUBLIC, '60s', {
  busy: ({ db }) => regionsWithHosts(db),
  runOnce: async (deps: Deps, regionId, stopping) => {
    const network = await publicNetworkSpec(deps, regionId)
    await callController(deps, regionId, stopping, (controller, signal) => controller.ensurePublicNetwork(network, signal))
  },
})
