// Recreates networks that were removed on the host by hand. Networks on the host that Berth does not know are only reported.
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { APPLY } from './service.ts'
import * as sql from './sql.ts'

export const watchNetworks = keyedReconciler('networks.drift', '45s', {
  busy: async ({ db }) => (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id),
  runOnce: compareHost,
})

async function compareHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, log } = deps
  const present: string[] = []
  const error = await callHost(deps, hostId, stopping, async (driver, signal) => {
    for await (const { networkId } of driver.listNetworks(signal)) present.push(networkId)
  })
  if (error) return
  const unknown = await sql.unknownOf(db, present)
  if (unknown.length > 0) log.warn({ hostId, networkIds: unknown }, 'unknown networks on host; manual removal required')
  const missing = await sql.markMissing(db, hostId, present)
  if (missing.length === 0) return
  log.warn({ hostId, networkIds: missing.map((row) => row.id) }, 'networks missing on host; recreating')
  await triggerReconciler(db, APPLY)
}
