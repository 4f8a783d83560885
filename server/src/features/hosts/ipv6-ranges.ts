// IPv6 ranges of VMs: one address of a pool from /64 on, a /64 of a larger pool. They are chosen at random, because a pool has too many to list
// the free ones; the primary key of `ipv6_ranges` keeps them unique.
import { randomBytes } from 'node:crypto'
import { addDuration } from '../../kernel/clock.ts'
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { formatIpRange, parseIp, parseIpRange, rangesOverlap, type IpRange } from '../../kernel/ip-range.ts'
import { noCapacityError } from '../../kernel/no-capacity.ts'
import type { RegionRow } from '../catalog/service.ts'
import { clearReverseName } from '../reverse-names/service.ts'
import { isIpv6, type PoolRow } from './public-addresses.ts'

export interface TakenRange {
  address: string
  /** The /64 around the address; null where the VM has the address alone. */
  prefix: string | null
  poolId: string
}

const PREFIX_BITS = 64
const ADDRESS_BITS = 128

const RANDOM_TRIES = 16
/** To find one that is not withheld, for each of them. */
const CHEAP_TRIES = 256
/** A pool of up to 2 to the power of this many ranges is searched for a free one when chance finds none. */
const SEARCHED_BITS = 16

/** From one of the pools of a host. Null where none is of IPv6. */
export async function allocateIpv6(tx: Tx, now: Date, pools: PoolRow[], regionSlug: string): Promise<TakenRange | null> {
  const taken = await tryIpv6(tx, now, pools)
  if (taken === 'full')
    throw noCapacityError(`No public IPv6 address is free in ${regionSlug}: try again in a few minutes, or ask support`, ['ipv6_address'])
  return taken
}

/** Null also where its pools are full. */
export async function findIpv6(tx: Tx, now: Date, pools: PoolRow[]): Promise<TakenRange | null> {
  const taken = await tryIpv6(tx, now, pools)
  return taken === 'full' ? null : taken
}

async function tryIpv6(tx: Tx, now: Date, all: PoolRow[]): Promise<TakenRange | 'full' | null> {
  const pools = all.filter(isIpv6)
  for (const pool of pools) {
    const taken = await takeFrom(tx, now, pool)
    if (taken) return taken
  }
  return pools.length === 0 ? null : 'full'
}

async function takeFrom(tx: Tx, now: Date, pool: PoolRow): Promise<TakenRange | null> {
  const cidr = parseIpRange(pool.cidr)!
  const prefix = rangePrefixOf(cidr)
  const bits = prefix - cidr.prefix
  const withheld = (
    await tx.many<{ range: string }>(sql`select range from ipv6_ranges where pool_id = ${pool.id} and available_at = 'infinity'`)
  ).map(({ range }) => parseIpRange(range)!)
  const notForVms = [parseIp(pool.gateway)!, ...withheld]
  const rangeAt = (index: bigint): IpRange => ({ family: 6, base: cidr.base + (index << BigInt(ADDRESS_BITS - prefix)), prefix })
  /** The first one holds the anycast address of routers, or is the network that routers are likely in. */
  const isUsable = (index: bigint): boolean => index > 0n && !notForVms.some((each) => rangesOverlap(rangeAt(index), each))
  const take = async (index: bigint): Promise<TakenRange | null> =>
    (await insertRange(tx, now, pool.id, formatIpRange(rangeAt(index)))) ? toTaken(pool.id, rangeAt(index)) : null

  for (let i = 0; i < RANDOM_TRIES; i++) {
    const index = usableIndex(bits, isUsable)
    const taken = index === null ? null : await take(index)
    if (taken) return taken
  }
  if (bits > SEARCHED_BITS) return null
  const used = new Set(
    (
      await tx.many<{ range: string }>(
        sql`select range from ipv6_ranges where pool_id = ${pool.id} and (available_at is null or available_at > ${now})`,
      )
    ).map(({ range }) => formatIpRange(parseIpRange(range)!)),
  )
  for (let index = 1n; index < 1n << BigInt(bits); index++) {
    if (!isUsable(index) || used.has(formatIpRange(rangeAt(index)))) continue
    const taken = await take(index)
    if (taken) return taken
  }
  return null
}

/** Of what one VM gets of a pool. */
const rangePrefixOf = ({ prefix }: IpRange): number => (prefix < PREFIX_BITS ? PREFIX_BITS : ADDRESS_BITS)

/** Null where chance finds none, because nearly all of the pool is withheld. */
function usableIndex(bits: number, isUsable: (index: bigint) => boolean): bigint | null {
  for (let i = 0; i < CHEAP_TRIES; i++) {
    const index = randomBelow(bits)
    if (isUsable(index)) return index
  }
  return null
}

const randomBelow = (bits: number): bigint => BigInt(`0x${randomBytes(16).toString('hex')}`) & ((1n << BigInt(bits)) - 1n)

const toTaken = (poolId: string, range: IpRange): TakenRange =>
  range.prefix === ADDRESS_BITS
    ? { address: formatIpRange(range), prefix: null, poolId }
    : { address: formatIpRange({ ...range, base: range.base + 1n, prefix: ADDRESS_BITS }), prefix: formatIpRange(range), poolId }

/** False when another VM has it, or had it until a moment ago. */
const insertRange = async (tx: Tx, now: Date, poolId: string, range: string): Promise<boolean> =>
  (await tx.run(sql`
    insert into ipv6_ranges as r (range, pool_id) values (${range}, ${poolId})
    on conflict (range) do update set available_at = null where r.available_at <= ${now}`)) > 0

const rangeOf = ({ address, prefix }: Pick<TakenRange, 'address' | 'prefix'>): string => prefix ?? address

/** `rest`: as for IPv4, stale traffic does not reach another customer. Forgets ranges whose rest is over: they are free without a row. */
export async function releaseIpv6(tx: Tx, now: Date, taken: Pick<TakenRange, 'address' | 'prefix'>, rest: string): Promise<void> {
  await tx.run(sql`update ipv6_ranges set available_at = ${addDuration(now, rest)} where range = ${rangeOf(taken)}`)
  await clearReverseName(tx, now, taken.address)
  await tx.run(sql`
    delete from ipv6_ranges where range in (
      select range from ipv6_ranges where available_at <= ${now} order by available_at limit 100 for update skip locked)`)
}

/** Allocates a released range again for its previous owner during the cooldown. */
export async function reclaimIpv6(tx: Tx, taken: Pick<TakenRange, 'address' | 'prefix'>): Promise<void> {
  const reclaimed = await tx.run(
    sql`update ipv6_ranges set available_at = null where range = ${rangeOf(taken)} and available_at is not null`,
  )
  if (reclaimed === 0) throw new Error(`BUG: ${rangeOf(taken)} was given away while it rested`)
}

/** Of all hosts of the region: a pool of one host has its region too. */
export async function requireIpv6(db: Queries, region: RegionRow): Promise<void> {
  if (!(await db.maybe(sql`select from address_pools where region_id = ${region.id} and family(cidr) = 6 limit 1`)))
    throw apiError(
      'unavailable',
      `Region ${region.slug} has no IPv6 addresses, so a VM there needs a public IPv4 address: leave publicIpv4 out`,
    )
}

/** Ids of the hosts of a region that a pool of IPv6 serves. */
export async function hostsWithIpv6(db: Queries, regionId: string): Promise<Set<string>> {
  const rows = await db.many<{ id: string }>(sql`
    select h.id from hosts h where h.region_id = ${regionId} and exists (
      select from address_pools p where family(p.cidr) = 6 and (p.host_id = h.id or (p.host_id is null and p.region_id = h.region_id)))`)
  return new Set(rows.map(({ id }) => id))
}
