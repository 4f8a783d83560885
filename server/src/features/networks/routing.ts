// Routes of a network's router to ranges behind one of its machines. The port of that machine lets it send from the range and receive for it.
import { announcedRanges, canAnnounce } from '../../hypervisor/network-controller.ts'
import { contains, formatCidr, lastAddress, overlap, parseAddress, parseCidr, type Cidr } from '../../kernel/cidr.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { markPortsDirty } from '../ports/service.ts'
import { networkSpec } from './attachments.ts'
import { refusePublicOverlap } from './cidr-policy.ts'
import type { CreateRoute, NetworkRoute } from './schema.ts'
import * as sql from './sql.ts'
import { lockForRouting, markNetworkChanged, requireNetwork } from './state.ts'
import { toRoute } from './view.ts'

const MAX_ROUTES = 50

/** Of a machine itself, of a link, of routers outside (shared address space), of groups and of nobody. */
const RESERVED = ['0.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'].map((text) => parseCidr(text)!)

export async function listRoutes(db: Queries, accountId: string, networkId: string): Promise<NetworkRoute[]> {
  await requireNetwork(db, accountId, networkId)
  return (await sql.listRoutes(db, networkId)).map(toRoute)
}

export async function getRoute(db: Queries, accountId: string, networkId: string, id: string): Promise<NetworkRoute> {
  const route = (await listRoutes(db, accountId, networkId)).find((each) => each.id === id)
  if (!route) throw notFound('Route')
  return route
}

export async function createRoute(tx: Tx, now: Date, accountId: string, networkId: string, input: CreateRoute): Promise<NetworkRoute> {
  const [network] = await lockForRouting(tx, accountId, networkId)
  const routes = await sql.listRoutes(tx, networkId)
  const destination = parseCidr(input.destination)!
  await refuseTaken(tx, network, routes, formatCidr(destination))
  refuseUnusable(network, destination, input.nextHop)
  if (routes.length >= MAX_ROUTES)
    throw apiError('quota_exceeded', `A network can have at most ${MAX_ROUTES} routes: delete one, or merge some`)
  const row = { id: newId(), network_id: networkId, destination: formatCidr(destination), next_hop: input.nextHop, created_at: now }
  await sql.insertRoute(tx, row)
  await requireAnnounceable(tx, network)
  await changed(tx, now, row)
  return toRoute(row)
}

export async function deleteRoute(tx: Tx, now: Date, accountId: string, networkId: string, id: string): Promise<{ id: string }> {
  await lockForRouting(tx, accountId, networkId)
  const row = await sql.deleteRoute(tx, networkId, id)
  if (!row) throw notFound('Route')
  await changed(tx, now, row)
  return { id }
}

async function changed(tx: Tx, now: Date, { network_id, next_hop }: sql.RouteRow): Promise<void> {
  await markNetworkChanged(tx, now, network_id)
  await markPortsDirty(tx, await sql.vmsAt(tx, network_id, next_hop))
}

async function refuseTaken(tx: Tx, network: sql.NetworkRow, routes: sql.RouteRow[], destination: string): Promise<void> {
  if (routes.some((route) => route.destination === destination))
    throw apiError('already_exists', `The network ${network.name} has a route to ${destination} already: delete it first`)
  const own = await sql.findOverlap(tx, network.account_id, network.region_id, destination)
  if (own)
    throw apiError('networks_overlap', `${destination} overlaps your network ${own.name} (${own.cidr}): choose a range outside of it`)
  await refusePublicOverlap(tx, destination)
}

function refuseUnusable({ name, cidr, gateway }: sql.NetworkRow, destination: Cidr, nextHop: string): void {
  if (gateway === null)
    throw apiError('incompatible', `The network ${name} has no gateway, so nothing routes in it: create one with a gateway`)
  const reserved = RESERVED.find((range) => overlap(range, destination))
  if (reserved) throw apiError('incompatible', `${formatCidr(destination)} cannot be routed: ${formatCidr(reserved)} is reserved`)
  const range = parseCidr(cidr)!
  const address = parseAddress(nextHop)!
  if (!contains(range, address)) throw apiError('incompatible', `The next hop ${nextHop} does not lie in ${cidr}`)
  if (address === range.base || address === lastAddress(range) || nextHop === gateway)
    throw apiError('incompatible', `The next hop ${nextHop} is no machine's: it is the gateway, or the first or last address of ${cidr}`)
}

/** Guests would learn none of its routes. */
export async function requireAnnounceable(tx: Tx, network: sql.NetworkRow): Promise<void> {
  if (network.enable_dhcp && !canAnnounce(announcedRanges(await networkSpec(tx, network))))
    throw apiError(
      'quota_exceeded',
      `DHCP cannot announce more routes in the network ${network.name}: delete one, or merge some into a shorter prefix`,
    )
}
