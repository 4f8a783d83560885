// The desired state of networks: who may change it, and how the reconciler hears of it.
import type { NetworkController } from '../../hypervisor/network-controller.ts'
import type { Db, Queries, Tx } from '../../kernel/database/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { attachedNetworks, networkSpec } from './attachments.ts'
import { markRoutesOfNetworkDue } from './guest-routing.ts'
import * as sql from './sql.ts'

export const APPLY = 'networks.apply'

/** The account's networks in the given order, deduplicated and locked, so that none is deleted while a VM is being attached. */
export async function requireNetworks(tx: Tx, accountId: string, ids: string[]): Promise<sql.NetworkRow[]> {
  if (ids.length === 0) return []
  const rows = new Map((await sql.lockNetworks(tx, accountId, ids)).map((row) => [row.id, row]))
  return [...new Set(ids)].map((id) => {
    const row = rows.get(id)
    if (!row) throw notFound('Network')
    return row
  })
}

export async function requireNetwork(db: Queries, accountId: string, id: string): Promise<sql.NetworkRow> {
  const row = await sql.findNetwork(db, accountId, id)
  if (!row) throw notFound('Network')
  return row
}

/** The network, then the other one if given. Locked with their peers and the region, so that no network comes to be, or gets another peer,
 *  in a range that is about to be routed. */
export async function lockForRouting(tx: Tx, accountId: string, id: string, otherId = id): Promise<[sql.NetworkRow, sql.NetworkRow]> {
  await sql.lockRegion(tx, (await requireNetwork(tx, accountId, id)).region_id)
  const peers = (await sql.listPeers(tx, id)).map((peer) => peer.network_id)
  const rows = await requireNetworks(tx, accountId, [id, otherId, ...peers])
  return [rows[0]!, rows.find((row) => row.id === otherId)!]
}

export async function markNetworkChanged(tx: Tx, now: Date, id: string): Promise<void> {
  await sql.markChanged(tx, id, now)
  await triggerReconciler(tx, APPLY)
  await markRoutesOfNetworkDue(tx, now, [id])
}

/** For workflows, which hold no claim: the reconciler may have applied a newer state before such a call ended. */
export async function ensureAttachedNetworks(db: Db, controller: NetworkController, vmId: string, signal: AbortSignal): Promise<void> {
  for (const row of await attachedNetworks(db, vmId)) {
    await controller.ensureNetwork(await networkSpec(db, row), signal)
    if (await sql.markOutdated(db, row)) await triggerReconciler(db, APPLY)
  }
}
