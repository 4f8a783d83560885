// Private networks. Each spans all hosts of its region. A request only writes the desired state; a reconciler applies it, so an unreachable
// network controller never fails a request. Lock order: region, network, then quota.
import { formatAddress, formatCidr, lastAddress, parseCidr } from '../../kernel/cidr.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Paged, PageRequest } from '../../http/api/schema.ts'
import { addressKey, numberKey, sortedPageOf, textKey, type Keys } from '../../http/api/sorted-list.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import { findRegion, getRegion, listRegions, type RegionRow } from '../catalog/service.ts'
import { findHost, listHosts, SNAT_RANGE } from '../hosts/service.ts'
import { chooseGateway, refusePublicOverlap, requireUsableCidr } from './cidr-policy.ts'
import type { CreateNetwork, Network, NetworkAttachment, NetworkQuery, RenameNetwork } from './schema.ts'
import * as sql from './sql.ts'
import { endPeerings } from './peerings.ts'
import { APPLY, lockForRouting } from './state.ts'
import { toNetwork } from './view.ts'

export * from './attachments.ts'
export * from './guest-routing.ts'
export * from './peerings.ts'
export * from './state.ts'
export * from './routing.ts'
export type { NetworkRow } from './sql.ts'

const QUOTA = 'networks'
/** VMs in a message. */
const NAMED = 10

export async function createNetwork(tx: Tx, now: Date, accountId: string, input: CreateNetwork): Promise<Network> {
  const { region, available } = await findPlace(tx, input.nodeId)
  const cidr = formatCidr(parseCidr(input.cidr)!)
  const usable = requireUsableCidr(cidr)
  await refuseOwnOverlap(tx, accountId, region.id, cidr)
  const { enableSnat = true, enableDhcp = true } = input
  const gateway = chooseGateway(usable, input.gateway ?? null, enableSnat || enableDhcp)
  if (!available) throw apiError('unavailable', 'This host or region takes no new networks at the moment: choose another one')
  await refusePublicOverlap(tx, cidr)
  await sql.lockRegion(tx, region.id)
  await refuseOwnOverlap(tx, accountId, region.id, cidr) // created while this one waited for the lock
  const snatAddress = enableSnat ? await allocateSnatAddress(tx, region) : null
  const switches = { enable_snat: enableSnat, snat_address: snatAddress, enable_dhcp: enableDhcp }
  const names = { id: newId(), account_id: accountId, region_id: region.id, name: input.name, labels: input.labels ?? {} }
  const row = await sql.insertNetwork(tx, { ...names, cidr, gateway, ...switches, created_at: now })
  await reserveQuota(tx, accountId, QUOTA, 1n)
  await triggerReconciler(tx, APPLY)
  return toNetwork(row, region)
}

export async function listAttachments(db: Queries, accountId: string, id: string): Promise<NetworkAttachment[]> {
  await getNetwork(db, accountId, id)
  return sql.listAttachments(db, id)
}

/** A node is given by its own id or its region's. It binds nothing: the network is on all hosts of the region. */
async function findPlace(tx: Tx, nodeId: string): Promise<{ region: RegionRow; available: boolean }> {
  const host = await findHost(tx, nodeId)
  const region = host ? await getRegion(tx, host.region_id) : await findRegion(tx, nodeId)
  if (!region) throw notFound('Node')
  const hosts = host ? [host] : (await listHosts(tx)).filter((each) => each.region_id === region.id)
  return { region, available: region.available && hosts.some(({ maintenance }) => !maintenance) }
}

async function refuseOwnOverlap(tx: Tx, accountId: string, regionId: string, cidr: string): Promise<void> {
  const other = await sql.findOverlap(tx, accountId, regionId, cidr)
  if (other) throw apiError('networks_overlap', `${cidr} overlaps your network ${other.name} (${other.cidr}): choose another range`)
  const route = await sql.findRouteInto(tx, accountId, regionId, cidr)
  if (route)
    throw apiError('networks_overlap', `${cidr} overlaps the route to ${route.destination} of your network ${route.name}: delete it first`)
}

async function allocateSnatAddress(tx: Tx, region: RegionRow): Promise<string> {
  const { base } = SNAT_RANGE
  const free = await sql.nextSnatAddress(tx, region.id, formatAddress(base + 2), formatAddress(lastAddress(SNAT_RANGE) - 1))
  if (!free) throw apiError('no_capacity', `No network with SNAT can be created in ${region.slug} any more: turn enableSnat off`)
  return free.address
}

const SORT_KEYS: Keys<Network, sql.NetworkField> = {
  name: textKey(({ name }) => name),
  cidr: addressKey(({ cidr }) => cidr),
  region: textKey(({ region }) => region.name),
  attachmentCount: numberKey(({ attachmentCount }) => attachmentCount),
}

export const listNetworks = (
  db: Queries,
  accountId: string,
  { sort, ...filter }: NetworkQuery,
  page: PageRequest,
): Promise<Paged<Network>> =>
  sortedPageOf(
    page,
    sort,
    SORT_KEYS,
    () => sql.countNetworks(db, accountId, filter),
    async (range) => {
      const regions = new Map((await listRegions(db)).map((region) => [region.id, region]))
      return (await sql.listNetworks(db, accountId, filter, range)).map((row) => toNetwork(row, regions.get(row.region_id)!))
    },
  )

export const findNetwork = sql.findNetwork

export const getNetwork = async (db: Queries, accountId: string, id: string): Promise<Network> =>
  found(db, await sql.findNetwork(db, accountId, id))

export async function renameNetwork(tx: Tx, now: Date, accountId: string, id: string, { name, labels }: RenameNetwork): Promise<Network> {
  if (name === undefined && labels === undefined) throw invalid('give at least one of name, labels')
  return found(tx, await sql.describeNetwork(tx, accountId, id, name ?? null, labels ?? null, now))
}

async function found(db: Queries, row: sql.CountedRow | undefined): Promise<Network> {
  if (!row) throw notFound('Network')
  return toNetwork(row, await getRegion(db, row.region_id))
}

/** Hidden from its owner at once; the row is deleted when the network was removed. */
export async function deleteNetwork(tx: Tx, now: Date, accountId: string, id: string): Promise<{ id: string }> {
  const [network] = await lockForRouting(tx, accountId, id)
  const attached = await sql.attachedNames(tx, id)
  if (attached.length > 0) {
    const names = attached.slice(0, NAMED)
    const more = attached.length > NAMED ? [`${attached.length - NAMED} more`] : []
    const who = [...names, ...more].join(', ')
    throw apiError('in_use', `The network ${network.name} is in use by ${who}: detach or delete them first`)
  }
  await endPeerings(tx, now, await sql.listPeers(tx, id))
  await sql.markDeleted(tx, id, now)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  await triggerReconciler(tx, APPLY)
  return { id }
}
