// Whether a VM of a size would be placed in a region now. It asks the scheduler that places VMs, books nothing, and says of hosts no more than whether one fits.
import type { Queries } from '../../../kernel/database/db.ts'
import type { RegionRow } from '../../catalog/service.ts'
import { readFreeAddresses } from '../../hosts/public-addresses.ts'
import { readRoom, type HostRow, type Need, type RegionRoom } from '../../hosts/service.ts'
import { largestStorageRoom } from '../../storage/service.ts'
import type { PricedSize } from '../billing/pricing.ts'
import type { Wishes } from '../model/placement.ts'

export interface RegionState {
  region: RegionRow
  room: RegionRoom
  hasFreeAddress: (host: HostRow) => boolean
  /** Of the pools of replicated storage; null where there are none. */
  largestDiskGiB: number | null
}

export async function readRegionState(db: Queries, now: Date, region: RegionRow): Promise<RegionState> {
  const [room, hasFreeAddress, largestDiskGiB] = await Promise.all([
    readRoom(db, region),
    readFreeAddresses(db, now, region.id),
    largestStorageRoom(db, region),
  ])
  return { region, room, hasFreeAddress, largestDiskGiB }
}

export type Obstacle = 'region_closed' | 'not_offered' | 'never' | 'full' | 'no_address'

export const isOffered = ({ slug }: Pick<RegionRow, 'slug'>, { available, regionSlugs }: PricedSize): boolean =>
  available && (regionSlugs?.includes(slug) ?? true)

/** Null: `allocatePlacement` would find a place for it. */
export function findObstacle(
  { region, room, hasFreeAddress, largestDiskGiB }: RegionState,
  shape: PricedSize,
  where: Wishes,
  copy?: Need['copy'],
): Obstacle | null {
  if (!region.available) return 'region_closed'
  const isReplicated = shape.storage === 'REPLICATED'
  if (!isOffered(region, shape) || (isReplicated && largestDiskGiB === null)) return 'not_offered'
  const need = needOf(shape, where, copy)
  const [host] = room.find(need)
  if (!host || (isReplicated && largestDiskGiB! < shape.diskGiB)) return room.couldTake(need) ? 'full' : 'never'
  return where.publicIpv4 && !hasFreeAddress(host) ? 'no_address' : null
}

export const needOf = ({ vcpu, ramMiB, diskGiB, storage, dedicatedCpu, traits }: PricedSize, where: Wishes, copy?: Need['copy']): Need => ({
  ...where,
  vcpu,
  ramMiB,
  diskGiB: storage === 'LOCAL' ? diskGiB : 0,
  traits,
  ...(dedicatedCpu && { dedicatedFor: 'anyone' }),
  ...(copy && storage === 'LOCAL' && { copy }),
})
