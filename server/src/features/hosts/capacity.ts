// Host capacity, reserved and released in the caller's transaction by one conditional statement each.
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { noCapacityError, type Missing } from '../../kernel/no-capacity.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { plansSoldIn, type RegionRow } from '../catalog/service.ts'
import { reserveImageInStorage } from '../storage/service.ts'
import { hostsWithIpv6 } from './ipv6-ranges.ts'
import { freeByNode, freeCpusIn, pinCpus, unpinCpus } from './cpus.ts'
import {
  aboveReserveGiB,
  copyGiBOn,
  chooseHosts,
  missingOf,
  noCapacity,
  rankHosts,
  type ForSale,
  type HostRanking,
  type ImageNeed,
  type Need,
} from './placement.ts'
import { listHostsIn, type HostRow } from './sql.ts'

export { copyGiBOn, type CopyNeed } from './placement.ts'

/** With `dedicatedFor`, the vCPUs are dedicated CPUs of this VM. */
export type Size = Pick<Need, 'vcpu' | 'ramMiB' | 'diskGiB' | 'dedicatedFor'>

/** Reserves capacity on the best host, of all or of those with these ids; when a concurrent caller has filled it in the meantime, tries the next one. */
export async function reserveCapacityInRegion(tx: Tx, region: RegionRow, need: Need, among?: ReadonlySet<string>): Promise<HostRow> {
  const isAsked = ({ id }: HostRow): boolean => among?.has(id) ?? true
  const [all, forSale] = await Promise.all([listHostsIn(tx, region.id), whatIsSoldIn(tx, region)])
  const hosts = all.filter((host) => isConnected(region, host) && isAsked(host))
  const { fitting, rejected, lacking } = await rankIn(tx, region, hosts, { ...need, forSale })
  for (const host of fitting) {
    if (await reserveWithImages(tx, host.id, need)) return host
    rejected.set('full', (rejected.get('full') ?? 0) + 1)
  }
  if (await freeProofRoom(tx, sql`h.region_id = ${region.id}`)) return reserveCapacityInRegion(tx, region, need, among)
  throw noCapacity(region.slug, need, hosts.length, { rejected, lacking })
}

/** A host was filled by somebody else after it was chosen. */
class HostFilledError extends Error {}

/** Books all of it, or nothing. */
async function reserveWithImages(tx: Tx, hostId: string, need: Need): Promise<boolean> {
  const reserve = (): Promise<boolean> => reserveCapacity(tx, hostId, need, copyGiBOn(hostId, need.copy))
  if (!need.images?.length) return reserve()
  try {
    return await tx.attempt(async () => {
      if (!(await reserve())) throw new HostFilledError()
      for (const { id, gib } of need.images!) if (!(await reserveImageOnHost(tx, id, hostId, gib))) throw new HostFilledError()
      return true
    })
  } catch (error) {
    if (error instanceof HostFilledError) return false
    throw error
  }
}

/**
 * For several VMs, or for none: the hosts in the order of the needs. They are chosen first and then booked in the order of their ids, so that those who book several do not
 * wait for each other in a circle. `onBooked` is told of each need.
 */
export async function reserveCapacitiesInRegion(
  tx: Tx,
  region: RegionRow,
  needs: readonly Need[],
  onBooked: (host: HostRow, index: number) => Promise<unknown>,
): Promise<HostRow[]> {
  for (;;) {
    const chosen = await chooseIn(tx, region, needs)
    const inOrder = chosen
      .map((host, index) => ({ host, index }))
      .toSorted((a, b) => (a.host.id < b.host.id ? -1 : a.host.id > b.host.id ? 1 : 0))
    try {
      return await tx.attempt(async () => {
        for (const { host, index } of inOrder) {
          const need = needs[index]!
          if (!(await reserveCapacity(tx, host.id, need, copyGiBOn(host.id, need.copy)))) throw new HostFilledError()
          await onBooked(host, index)
        }
        return chosen
      })
    } catch (error) {
      if (!(error instanceof HostFilledError)) throw error // each time somebody else has got room: it ends
    }
  }
}

async function chooseIn(tx: Tx, region: RegionRow, needs: readonly Need[]): Promise<HostRow[]> {
  const [all, forSale] = await Promise.all([listHostsIn(tx, region.id), whatIsSoldIn(tx, region)])
  const hosts = all.filter((host) => isConnected(region, host))
  const first = needs[0]!
  const facts = {
    ...(!first.publicIpv4 && { withIpv6: await hostsWithIpv6(tx, region.id) }),
    ...(first.dedicatedFor !== undefined && { freeCpus: await freeCpusIn(tx, hosts) }),
  }
  const chosen = chooseHosts(
    hosts,
    needs.map((need) => ({ ...need, forSale })),
    facts,
  )
  if (Array.isArray(chosen)) return chosen
  if (await freeProofRoom(tx, sql`h.region_id = ${region.id}`)) return chooseIn(tx, region, needs)
  throw noCapacity(region.slug, first, hosts.length, chosen, needs.length)
}

const whatIsSoldIn = async (db: Queries, region: RegionRow): Promise<ForSale> => {
  const plans = await plansSoldIn(db, region.slug)
  const [largest] = plans.filter((plan) => !plan.dedicated_cpu).toSorted((a, b) => b.ram_mib - a.ram_mib || b.vcpu - a.vcpu)
  return {
    ...(largest && {
      largest: { vcpu: largest.vcpu, ramMiB: largest.ram_mib, diskGiB: largest.storage === 'LOCAL' ? largest.disk_gib : 0 },
    }),
    traits: [...new Set(plans.flatMap(({ traits, dedicated_cpu }) => (dedicated_cpu ? [...traits, 'dedicated-cpu'] : traits)))],
  }
}

const rankIn = async (db: Queries, region: RegionRow, hosts: HostRow[], need: Need): Promise<HostRanking> =>
  rankHosts(hosts, need, {
    ...(!need.publicIpv4 && { withIpv6: await hostsWithIpv6(db, region.id) }),
    ...(need.dedicatedFor !== undefined && { freeCpus: await freeCpusIn(db, hosts) }),
  })

export interface RegionRoom {
  /** The hosts that have room now, in the order in which `reserveCapacityInRegion` tries them. */
  find(need: Need): HostRow[]
  /** Whether a host would do if nothing else were there. */
  couldTake(need: Need): boolean
  /** What no host there has, whatever else is on it; empty where `couldTake`. */
  neverThere(need: Need): Missing[]
}

/** As it is now, booking nothing. */
export async function readRoom(db: Queries, region: RegionRow): Promise<RegionRoom> {
  const hosts = (await listHostsIn(db, region.id)).filter((host) => isConnected(region, host))
  const [withIpv6, freeCpus, forSale, proofs] = await Promise.all([
    hostsWithIpv6(db, region.id),
    freeCpusIn(db, hosts),
    whatIsSoldIn(db, region),
    proofRoom(db, region.id),
  ])
  const facts = { withIpv6, freeCpus }
  const withoutProofs = proofs.length > 0 ? hosts.map((host) => proofs.filter(({ host_id }) => host_id === host.id).reduce(less, host)) : []
  const empty = hosts.map(emptied)
  const ever = { ...facts, freeCpus: new Map(hosts.map((host) => [host.id, freeByNode(host, new Set())])) }
  const rankEver = ({ rule: _, ...need }: Need) => rankHosts(empty, need, ever)
  return {
    find: (need) => {
      const { fitting } = rankHosts(hosts, { ...need, forSale }, facts)
      return fitting.length > 0 ? fitting : rankHosts(withoutProofs, { ...need, forSale }, facts).fitting
    },
    couldTake: (need) => rankEver(need).fitting.length > 0,
    neverThere: (need) => {
      const { fitting, rejected, lacking } = rankEver(need)
      return fitting.length > 0 ? [] : missingOf(rejected, lacking)
    },
  }
}

type Booked = Pick<Row<'backup_proofs'>, 'vcpu' | 'ram_mib' | 'disk_gib'>

/** What guests that prove backups have booked, and give way with. */
const proofRoom = (db: Queries, regionId: string) =>
  db.many<Booked & Pick<Row<'backup_proofs'>, 'host_id'>>(sql`
    select p.host_id, p.vcpu, p.ram_mib, p.disk_gib from backup_proofs p join hosts h on h.id = p.host_id where h.region_id = ${regionId} and p.vcpu > 0`)

const less = (host: HostRow, { vcpu, ram_mib, disk_gib }: Booked): HostRow => ({
  ...host,
  vcpu_used: host.vcpu_used - vcpu,
  ram_used_mib: host.ram_used_mib - ram_mib,
  disk_used_gib: host.disk_used_gib - disk_gib,
})

const emptied = (host: HostRow): HostRow => ({
  ...host,
  vcpu_used: 0,
  ram_used_mib: 0,
  disk_used_gib: 0,
  disk_free_gib: null,
  maintenance: false,
  unreachable_since: null,
})

/** Room on one of the preferred hosts, or on that with most of it. */
export async function reserveDiskInRegion(tx: Tx, region: RegionRow, gib: number, preferred: ReadonlySet<string>): Promise<string> {
  const hosts = (await listHostsIn(tx, region.id)).filter(
    (host) => isConnected(region, host) && !host.maintenance && !host.unreachable_since,
  )
  const rank = (host: HostRow): number => (preferred.has(host.id) ? 1e9 : 0) + aboveReserveGiB(host)
  for (const { id } of hosts.toSorted((a, b) => rank(b) - rank(a))) if (await reserveDisk(tx, [id], gib)) return id
  throw noCapacityError(`No host in ${region.slug} has room for ${gib} GiB of local storage: ${hosts.length} checked`, ['disk'])
}

/** The reconciler that starts and stops guests that prove backups. */
export const PROVE = 'backups.prove'

/**
 * Guests that prove backups give way to VMs: what they have booked is free at once, and the reconciler of proofs, which looks at what has
 * nothing booked, stops them. False where there are none.
 */
async function freeProofRoom(tx: Tx, which: Sql): Promise<boolean> {
  const freed = await tx.many<{ host_id: string; vcpu: number; ram_mib: number; disk_gib: number }>(sql`
    with held as (
      select p.id, p.host_id, p.vcpu, p.ram_mib, p.disk_gib from backup_proofs p join hosts h on h.id = p.host_id
      where ${which} and p.vcpu > 0 order by p.id for update of p)
    update backup_proofs p set vcpu = 0, ram_mib = 0, disk_gib = 0 from held where held.id = p.id
    returning held.host_id, held.vcpu, held.ram_mib, held.disk_gib`)
  for (const { host_id, vcpu, ram_mib, disk_gib } of freed.toSorted((a, b) => (a.host_id < b.host_id ? -1 : 1)))
    await releaseCapacity(tx, host_id, { vcpu, ramMiB: ram_mib, diskGiB: disk_gib })
  if (freed.length > 0) await triggerReconciler(tx, PROVE)
  return freed.length > 0
}

/** The network controller of a region connects either simulated hosts or real ones. */
const isConnected = (region: RegionRow, host: HostRow): boolean => (region.network_controller === null) === (host.driver === 'simulated')

/** False when the host has too little capacity left. `copyGiB`: on its disk for a time. */
export async function reserveCapacity(tx: Tx, hostId: string, size: Size, copyGiB = 0): Promise<boolean> {
  const vcpu = sharedVcpu(size)
  const booked = await tx.maybe<Pick<HostRow, 'id' | 'vcpu_total' | 'cpu_nodes' | 'dedicated_cpus'>>(sql`
    update hosts set vcpu_used = vcpu_used + ${vcpu}, ram_used_mib = ram_used_mib + ${size.ramMiB},
      disk_used_gib = disk_used_gib + ${size.diskGiB + copyGiB}
    where id = ${hostId} and (${vcpu} <= 0 or vcpu_used + ${vcpu} <= vcpu_sellable)
      and (${size.ramMiB} <= 0 or ram_used_mib + ${size.ramMiB} <= ram_sellable_mib) and (${size.diskGiB} <= 0 or ${hasDiskRoom(size.diskGiB)})
      and (${copyGiB} = 0 or ${hasRoomForATime(size.diskGiB + copyGiB)})
    returning id, vcpu_total, cpu_nodes, dedicated_cpus`)
  if (!booked) return false
  if (size.dedicatedFor === undefined || (await pinCpus(tx, booked, size.dedicatedFor, size.vcpu))) return true
  await releaseCapacity(tx, hostId, { vcpu: 0, ramMiB: size.ramMiB, diskGiB: size.diskGiB + copyGiB })
  return false
}

/** Dedicated ones are counted by their pins. */
const sharedVcpu = ({ vcpu, dedicatedFor }: Size): number => (dedicatedFor === undefined ? vcpu : 0)

/** The same rule as in placement.ts: below the reserve, booked or measured, nothing new is written. */
const hasDiskRoom = (gib: number): Sql => sql`
  disk_used_gib + ${gib} <= disk_total_gib - disk_reserve_gib and coalesce(disk_free_gib, disk_total_gib) >= disk_reserve_gib`

/**
 * What a restore takes for a time is taken from what is free above the reserve, and not only from what is for sale: a host that is sold out can
 * restore too. Of the space that is measured as free, other restores have booked some and not yet written it: `restore_rooms` is summed in the row, so that restores that
 * begin in the same instant see each other.
 */
const hasRoomForATime = (gib: number): Sql => sql`
  coalesce(disk_free_gib - disk_reserve_gib - disk_restoring_gib, disk_total_gib - disk_used_gib) >= ${gib}`

export async function releaseCapacity(tx: Tx, hostId: string, size: Size): Promise<void> {
  await tx.run(sql`
    update hosts set vcpu_used = vcpu_used - ${sharedVcpu(size)}, ram_used_mib = ram_used_mib - ${size.ramMiB}, disk_used_gib = disk_used_gib - ${size.diskGiB}
    where id = ${hostId}`)
  if (size.dedicatedFor !== undefined) await unpinCpus(tx, hostId, size.dedicatedFor, size.vcpu)
}

/** Room for a copy on each of the hosts. False when one has too little: the transaction must then be rolled back. */
export async function reserveDisk(tx: Tx, hostIds: string[], gib: number): Promise<boolean> {
  const reserved = inLockOrder(hostIds).map((id) =>
    tx.run(sql`update hosts set disk_used_gib = disk_used_gib + ${gib} where id = ${id} and ${hasDiskRoom(gib)}`),
  )
  return (await Promise.all(reserved)).every((rows) => rows > 0)
}

/** Guests that prove backups give way. False when the host has too little nevertheless. */
export async function reserveDiskForATime(tx: Tx, hostId: string, gib: number): Promise<boolean> {
  const book = async (): Promise<boolean> =>
    (await tx.run(sql`update hosts set disk_used_gib = disk_used_gib + ${gib} where id = ${hostId} and ${hasRoomForATime(gib)}`)) > 0
  return (await book()) || ((await freeProofRoom(tx, sql`h.id = ${hostId}`)) && book())
}

export async function releaseDisk(tx: Tx, gibByHost: Map<string, number>): Promise<void> {
  const release = (id: string) => tx.run(sql`update hosts set disk_used_gib = disk_used_gib - ${gibByHost.get(id)!} where id = ${id}`)
  await Promise.all(inLockOrder(gibByHost.keys()).map(release))
}

/** One statement for each: one that both locks and updates rows sees them as they were before its locks, and waits for those who wait for it. */
const inLockOrder = (hostIds: Iterable<string>): string[] => [...new Set(hostIds)].toSorted()

interface OwnImage {
  id: string
  account_id: string | null
  size_bytes: bigint
}

/**
 * Room for an image of an account where a VM from it has its disk, which is a layer on it, on a host, or a clone of it, in a storage backend; once,
 * until the image is removed from there. Templates of all are not counted.
 */
export async function reserveImageRoom(
  tx: Tx,
  { id, account_id, size_bytes }: OwnImage,
  { host_id: hostId, storage_id: storageId }: { host_id: string | null; storage_id: string | null },
): Promise<void> {
  if (account_id === null) return
  const gib = imageGiB(size_bytes)
  const isReserved =
    storageId !== null
      ? await reserveImageInStorage(tx, id, storageId, gib)
      : hostId === null || (await reserveImageOnHost(tx, id, hostId, gib))
  if (!isReserved)
    throw noCapacityError(
      `The ${storageId === null ? 'host' : 'replicated storage'} has no room for this image (${gib} GiB) at the moment: try again later`,
      [storageId === null ? 'disk' : 'replicated_storage'],
    )
}

const imageGiB = (bytes: bigint): number => Math.max(1, Math.ceil(Number(bytes) / 2 ** 30))

/** What hosts of these VMs must have: their own images, where their disks are on hosts, and the ISO images in their drives. */
export async function imageNeedsOf(db: Queries, vmIds: readonly string[]): Promise<Map<string, ImageNeed[]>> {
  const rows = await db.many<{ vm_id: string; id: string; size_bytes: bigint; on: string[] }>(sql`
    select n.vm_id, n.id, n.size_bytes, array(select r.host_id from image_rooms r where r.image_id = n.id and r.gib > 0) as on from (
      select v.id as vm_id, t.id, t.size_bytes from vms v join os_templates t on t.id = v.os_template_id
      where v.id = any(${vmIds}::text[]) and v.storage_id is null and t.account_id is not null
      union all select s.vm_id, i.id, i.size_bytes from vm_isos s join images i on i.id = s.image_id where s.vm_id = any(${vmIds}::text[])) n`)
  const needs = rows.map(({ vm_id, id, size_bytes, on }) => [vm_id, { id, gib: imageGiB(size_bytes), on: new Set(on) }] as const)
  return new Map([...Map.groupBy(needs, ([vmId]) => vmId)].map(([vmId, own]) => [vmId, own.map(([, need]) => need)]))
}

/** A row with no GiB is of a release that noted the hosts of VMs in storage backends too. */
async function reserveImageOnHost(tx: Tx, imageId: string, hostId: string, gib: number): Promise<boolean> {
  const isNew = await tx.run(sql`
    insert into image_rooms as r (image_id, host_id, gib) values (${imageId}, ${hostId}, ${gib})
    on conflict (image_id, host_id) do update set gib = excluded.gib where r.gib = 0`)
  return isNew === 0 || reserveDisk(tx, [hostId], gib)
}

/** The reconciler that removes images from hosts where no VM needs them, which returns their room. */
export const EVICT = 'images.evict'

export async function releaseImageRoom(tx: Tx, imageId: string, hostId: string): Promise<void> {
  const room = await tx.maybe<{ gib: number }>(
    sql`delete from image_rooms where image_id = ${imageId} and host_id = ${hostId} returning gib`,
  )
  if (room && room.gib > 0) await releaseDisk(tx, new Map([[hostId, room.gib]]))
}

/** Of a host that is deleted. */
export const releaseImageRoomsOf = (tx: Tx, hostId: string) => tx.run(sql`delete from image_rooms where host_id = ${hostId}`)

/** The hosts that may have the image. */
export const hostsOfImage = (db: Queries, imageId: string) =>
  db.many<{ host_id: string; is_removed: boolean }>(sql`
    select r.host_id, h.removed_at is not null as is_removed from image_rooms r join hosts h on h.id = r.host_id where r.image_id = ${imageId} order by 1`)

/** "More is sold than it may sell: 20 of 16 vCPU. Nothing new is placed on it"; null where that is not so. */
export function oversoldBy(host: HostRow): string | null {
  const over = [
    host.vcpu_used > host.vcpu_sellable ? `${host.vcpu_used} of ${host.vcpu_sellable} vCPU` : null,
    host.ram_used_mib > host.ram_sellable_mib ? `${host.ram_used_mib} of ${host.ram_sellable_mib} MiB` : null,
  ].filter((part) => part !== null)
  return over.length === 0 ? null : `More is sold than it may sell: ${over.join(', ')}. Nothing new is placed on it`
}

interface Capacity {
  used: number
  total: number
}

/** Sold and sellable, in the units of a VM's size. */
export const toCapacity = (row: HostRow): { vcpu: Capacity; ramMiB: Capacity; diskGiB: Capacity } => ({
  vcpu: { used: row.vcpu_used, total: row.vcpu_sellable },
  ramMiB: { used: row.ram_used_mib, total: row.ram_sellable_mib },
  diskGiB: { used: row.disk_used_gib, total: row.disk_total_gib },
})
