// Peerings connect the routers of two networks of an account in a region.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { findOverlappingPool } from '../hosts/service.ts'
import type { NetworkPeering } from './schema.ts'
import * as sql from './sql.ts'
import { lockForRouting, markNetworkChanged, requireNetwork } from './state.ts'
import { requireAnnounceable } from './routing.ts'
import { toPeering } from './view.ts'

export async function listPeerings(db: Queries, accountId: string, networkId: string): Promise<NetworkPeering[]> {
  await requireNetwork(db, accountId, networkId)
  return (await sql.listPeers(db, networkId)).map(toPeering)
}

export async function getPeering(db: Queries, accountId: string, networkId: string, id: string): Promise<NetworkPeering> {
  const peering = (await listPeerings(db, accountId, networkId)).find((each) => each.id === id)
  if (!peering) throw notFound('Peering')
  return peering
}

export async function createPeering(tx: Tx, now: Date, accountId: string, networkId: string, peerId: string): Promise<NetworkPeering> {
  const [network, peer] = await lockForRouting(tx, accountId, networkId, peerId)
  if ((await sql.listPeers(tx, networkId)).some((each) => each.network_id === peerId))
    throw apiError('already_exists', `The networks ${network.name} and ${peer.name} are peers already`)
  for (const { name, cidr, gateway } of [network, peer]) {
    const pool = await findOverlappingPool(tx, cidr)
    if (pool)
      throw apiError(
        'networks_overlap',
        `The network ${name} (${cidr}) overlaps public addresses of this service (${pool.cidr}): it can have no peers`,
      )
    if (gateway === null)
      throw apiError('incompatible', `The network ${name} has no gateway, so nothing routes in it: create one with a gateway`)
  }
  if (networkId === peerId) throw apiError('incompatible', `The network ${network.name} cannot be its own peer: choose another network`)
  if (network.region_id !== peer.region_id)
    throw apiError('region_mismatch', `The networks ${network.name} and ${peer.name} are in different regions: peers are in the same`)
  const place = { account_id: accountId, region_id: network.region_id }
  await sql.insertPeering(tx, { id: newId(), network_id: networkId, peer_id: peerId, ...place, created_at: now })
  for (const each of [network, peer]) {
    await requireAnnounceable(tx, each)
    await markNetworkChanged(tx, now, each.id)
  }
  return toPeering((await sql.listPeers(tx, networkId)).find((each) => each.network_id === peerId)!)
}

export async function deletePeering(tx: Tx, now: Date, accountId: string, networkId: string, id: string): Promise<{ id: string }> {
  await lockForRouting(tx, accountId, networkId)
  const peering = (await sql.listPeers(tx, networkId)).find((each) => each.id === id)
  if (!peering) throw notFound('Peering')
  await endPeerings(tx, now, [peering])
  await markNetworkChanged(tx, now, networkId)
  return { id }
}

/** Of a network that is locked with its peers. Those are told. */
export async function endPeerings(tx: Tx, now: Date, peerings: sql.PeerRow[]): Promise<void> {
  await sql.deletePeerings(
    tx,
    peerings.map(({ id }) => id),
  )
  for (const { network_id } of peerings) await markNetworkChanged(tx, now, network_id)
}
