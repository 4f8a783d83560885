// Keeps the public network of every region as its pools and settings say: at start, when a pool is added, and after a change by hand. Logs
// what the network controllers report about themselves.
import { keyedReconciler, type Deps } from '../deps.ts'
import { callController } from './host-call.ts'
import { APPLY_PUBLIC, publicNetworkSpec } from './public-addresses.ts'
import { regionsWithHosts } from './sql.ts'

export const applyPublicNetworks = keyedReconciler(APPLY_PUBLIC, '60s', {
  busy: ({ db }) => regionsWithHosts(db),
  runOnce: async (deps: Deps, regionId, stopping) => {
    const network = await publicNetworkSpec(deps, regionId)
    await callController(deps, regionId, stopping, async (controller, signal) => {
      await controller.ensurePublicNetwork(network, signal)
      const { problems } = await controller.health(signal)
      if (problems.length > 0) deps.log.warn({ regionId, problems }, 'network controller health check reported problems')
    })
  },
})
