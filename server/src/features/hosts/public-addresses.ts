// Public addresses: pools, allocation and release.
import { randomInt } from 'node:crypto'
import { contains, formatAddress, formatCidr, lastAddress, overlap, parseAddress, parseCidr } from '../../kernel/cidr.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { invalid, apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { formatIpRange, parseIp, parseIpRange, rangeContains } from '../../kernel/ip-range.ts'
import { noCapacityError } from '../../kernel/no-capacity.ts'
import type { PublicNetworkSpec } from '../../hypervisor/network-controller.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { payingTogether, releaseQuota } from '../accounts/service.ts'
import type { CatalogPool } from '../catalog/seed.ts'
import { getRegion, type RegionRow } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { clearReverseName } from '../reverse-names/service.ts'
import { findHost, listHostsIn, type HostRow } from './sql.ts'
import { counted } from '../../kernel/counted.ts'
import { withheldRanges } from './withheld-addresses.ts'

export type PoolRow = Row<'address_pools'>

export interface TakenAddress {
  address: string
  poolId: string
}

export interface NewPool {
  regionId: string
  hostId: string | null
  cidr: string
  gateway: string
  /** Addresses and ranges in it that VMs never get: of hosts and routers on the same network. */
  except?: string[] | undefined
  dns?: string[] | undefined
}

/** Of Cloudflare and Quad9. */
export const RESOLVERS = { ipv4: ['1.1.1.1', '9.9.9.9'], ipv6: ['2606:4700:4700::1111', '2620:fe::fe'] }

export const APPLY_PUBLIC = 'hosts.public_network'

/** Addresses that private networks with SNAT have outside; the first is the gateway's. */
export const SNAT_RANGE = parseCidr('100.64.0.0/16')!
export const SNAT_GATEWAY = formatAddress(SNAT_RANGE.base + 1)

/** What public interfaces of the region may reach. */
export async function publicNetworkSpec(
  { db, config }: Pick<Deps, 'config'> & { db: Queries },
  regionId: string,
): Promise<PublicNetworkSpec> {
  const pools = await db.many<PoolRow>(
    sql`select ${allColumns('address_pools')} from address_pools where region_id = ${regionId} order by cidr`,
  )
  const hosts = await listHostsIn(db, regionId)
  return {
    ranges: pools.map(({ cidr }) => cidr),
    withheld: await withheldRanges(db, pools),
    allowed: config.guestAllowedRanges,
    gateways: hosts.map(({ hostname }) => hostname),
  }
}

/** Every address of an IPv4 range is added as free, except network, broadcast and gateway. Those of IPv6 are not listed (ipv6-ranges.ts). */
export async function addPool(tx: Tx, now: Date, pool: NewPool): Promise<string> {
  const cidr = isIpv6(pool) ? checkedIpv6(pool) : checkedIpv4(pool)
  const except = checkedExcept(pool)
  if (await findOverlappingPool(tx, cidr)) throw apiError('already_exists', `The range ${pool.cidr} overlaps a pool that exists already`)
  const id = newId()
  await tx.run(sql`
    insert into address_pools (id, region_id, host_id, cidr, gateway, dns, created_at)
    values (${id}, ${pool.regionId}, ${pool.hostId}, ${cidr}, ${pool.gateway}, ${pool.dns ?? RESOLVERS[isIpv6(pool) ? 'ipv6' : 'ipv4']}, ${now})`)
  if (!isIpv6(pool)) await addFreeAddresses(tx, now, id, pool)
  if (except.length > 0) await (isIpv6(pool) ? withholdIpv6 : withhold)(tx, id, except)
  await triggerReconciler(tx, APPLY_PUBLIC)
  return id
}

function checkedIpv4(pool: NewPool): string {
  const cidr = parseCidr(pool.cidr)
  const gateway = parseAddress(pool.gateway)
  if (!cidr || cidr.prefix < 12 || cidr.prefix > 30)
    throw invalid(`"${pool.cidr}" is not a range from /12 to /30 such as 10.77.0.0/16`, 'cidr')
  if (gateway === null || !contains(cidr, gateway))
    throw invalid(`the gateway ${pool.gateway} does not lie in ${formatCidr(cidr)}`, 'gateway')
  if (overlap(SNAT_RANGE, cidr))
    throw apiError(
      'networks_overlap',
      `The range ${pool.cidr} overlaps ${formatCidr(SNAT_RANGE)}, which private networks are seen as outside`,
    )
  return formatCidr(cidr)
}

/** Link-local, multicast and mapped addresses are no machine's own. */
const NO_POOL = ['::/8', 'fe80::/10', 'ff00::/8'].map((range) => parseIpRange(range)!)

/** The gateway lies in the range, because guests have all of it on link. */
function checkedIpv6(pool: NewPool): string {
  const cidr = parseIpRange(pool.cidr)
  const gateway = parseIp(pool.gateway)
  if (!cidr || cidr.prefix < 16 || cidr.prefix > 124 || NO_POOL.some((range) => rangeContains(range, cidr)))
    throw invalid(`"${pool.cidr}" is not a range from /16 to /124 such as 2001:db8:1::/48`, 'cidr')
  const range = formatIpRange(cidr)
  if (!gateway || !rangeContains(cidr, gateway) || gateway.base === cidr.base)
    throw invalid(`the gateway ${pool.gateway} is no address of a router in ${range}`, 'gateway')
  return range
}

function checkedExcept({ cidr, except = [] }: NewPool): string[] {
  const pool = parseIpRange(cidr)!
  return except.map((text) => {
    const range = parseIpRange(text)
    if (!range || !rangeContains(pool, range)) throw invalid(`"${text}" is no address or range in ${formatIpRange(pool)}`, 'except')
    return formatIpRange(range)
  })
}

/** They rest for ever, and still count as addresses of the pool. */
const withhold = (tx: Tx, poolId: string, ranges: string[]): Promise<number> =>
  tx.run(sql`update free_addresses set available_at = 'infinity' where pool_id = ${poolId} and address <<= any(${ranges}::inet[])`)

/** As ranges of their own size, which no VM gets a part of. */
const withholdIpv6 = (tx: Tx, poolId: string, ranges: string[]): Promise<number> =>
  tx.run(sql`
    insert into ipv6_ranges (range, pool_id, available_at) select distinct r.range, ${poolId}, 'infinity'::timestamptz
    from unnest(${ranges}::cidr[]) as r(range)`)

async function addFreeAddresses(tx: Tx, now: Date, poolId: string, pool: NewPool): Promise<void> {
  const cidr = parseCidr(pool.cidr)!
  await tx.run(sql`
    insert into free_addresses (address, pool_id, available_at)
    select host(${formatAddress(cidr.base)}::inet + n)::inet, ${poolId}, ${now} from generate_series(1, ${lastAddress(cidr) - cidr.base - 1}::int) n
    where ${formatAddress(cidr.base)}::inet + n <> ${pool.gateway}::inet`)
}

export const findOverlappingPool = (db: Queries, cidr: string) =>
  db.maybe<{ cidr: string }>(sql`select cidr from address_pools where cidr && ${cidr}::inet order by cidr limit 1`)

export interface ListedPool extends PoolRow {
  region_slug: string
  host_name: string | null
  /** Null for IPv6, whose free addresses nobody counts. */
  free: bigint | null
  /** Released ones that nobody gets yet. */
  resting: bigint | null
}

export const listPools = (db: Queries, now: Date) =>
  db.many<ListedPool>(sql`
    select ${allColumns('address_pools', 'p')}, r.slug as region_slug, h.name as host_name,
      case when family(p.cidr) = 4 then c.free end as free, case when family(p.cidr) = 4 then c.resting end as resting
    from address_pools p join regions r on r.id = p.region_id left join hosts h on h.id = p.host_id
      cross join lateral (
        select count(*) filter (where f.available_at <= ${now} and f.account_id is null) as free,
          count(*) filter (where f.available_at > ${now} or f.account_id is not null) as resting
        from free_addresses f where f.pool_id = p.id and f.available_at < 'infinity') c
    order by p.cidr`)

export const listRanges = (db: Queries) =>
  db.many<Pick<PoolRow, 'host_id' | 'cidr'>>(sql`select host_id, cidr from address_pools order by cidr`)

/** Only one that nothing has an address of. The lock keeps allocations away: each of them refers to the row of its pool. */
export async function removePool(tx: Tx, range: string): Promise<void> {
  const cidr = parseIpRange(range)
  const pool =
    cidr && (await tx.maybe<{ id: string }>(sql`select id from address_pools where cidr = ${formatIpRange(cidr)}::cidr for update`))
  if (!pool) throw notFound(`IP pool ${range}`)
  const { vms, addresses } = await tx.one<{ vms: bigint; addresses: bigint }>(sql`
    select (select count(*) from vms where address_pool_id = ${pool.id} or ipv6_pool_id = ${pool.id}) as vms,
      (select count(*) from addresses where pool_id = ${pool.id}) as addresses`)
  if (vms > 0n || addresses > 0n)
    throw apiError(
      'in_use',
      `The range ${range} is used by ${counted(vms, 'VM')} and ${counted(addresses, 'reserved address', 'reserved addresses')}: delete them first`,
    )
  await deleteFreeAddresses(tx, sql`${pool.id}`)
  await tx.run(sql`delete from ipv6_ranges where pool_id = ${pool.id}`)
  await tx.run(sql`delete from address_pools where id = ${pool.id}`)
  await triggerReconciler(tx, APPLY_PUBLIC)
}

/** Those that rest count no longer against the quotas of their former owners. */
async function deleteFreeAddresses(tx: Tx, poolIds: Sql): Promise<void> {
  await tx.run(sql`delete from unconfirmed_releases where address in (select address from free_addresses where pool_id in (${poolIds}))`)
  const gone = await tx.many<{ account_id: string | null; count: bigint }>(sql`
    with gone as (delete from free_addresses where pool_id in (${poolIds}) returning account_id)
    select account_id, count(*) from gone group by 1 order by 1`)
  for (const { account_id, count } of gone) if (account_id !== null) await releaseQuota(tx, account_id, 'addresses', count)
}

/** Deletes the pools of a deleted host with all their addresses. */
export async function dropPoolsOf(tx: Tx, hostId: string): Promise<void> {
  await deleteFreeAddresses(tx, sql`select id from address_pools where host_id = ${hostId}`)
  await tx.run(sql`delete from ipv6_ranges where pool_id in (select id from address_pools where host_id = ${hostId})`)
  await tx.run(sql`delete from address_pools where host_id = ${hostId}`)
  await triggerReconciler(tx, APPLY_PUBLIC)
}

export const getPool = (db: Queries, id: string) =>
  db.one<PoolRow>(sql`select ${allColumns('address_pools')} from address_pools where id = ${id}`)

export const servesHost = (pool: PoolRow, host: HostRow): boolean =>
  pool.host_id === null ? pool.region_id === host.region_id : pool.host_id === host.id

/** The first public address of the VM, floating ones included, that the host does not serve; null: it serves all. */
export async function findUnservedAddress(
  db: Queries,
  vm: { id: string; address_pool_id: string | null; ip_address: string | null; ipv6_pool_id: string | null; ipv6_address: string | null },
  host: HostRow,
): Promise<string | null> {
  const floating = await db.many<{ address: string; pool_id: string }>(
    sql`select host(address) as address, pool_id from addresses where vm_id = ${vm.id} order by addresses.address`,
  )
  const own = [
    { address: vm.ip_address, pool_id: vm.address_pool_id },
    { address: vm.ipv6_address, pool_id: vm.ipv6_pool_id },
  ]
  for (const { address, pool_id } of [...own, ...floating])
    if (address !== null && pool_id !== null && !servesHost(await getPool(db, pool_id), host)) return address
  return null
}

/** Of both families. */
export const poolsFor = (db: Queries, host: HostRow) =>
  db.many<PoolRow>(sql`
    select ${allColumns('address_pools')} from address_pools
    where host_id = ${host.id} or (host_id is null and region_id = ${host.region_id}) order by cidr`)

export const isIpv6 = ({ cidr }: Pick<PoolRow, 'cidr'>): boolean => cidr.includes(':')

/** Which hosts of the region have an IPv4 address to give now. */
export async function readFreeAddresses(db: Queries, now: Date, regionId: string): Promise<(host: Pick<HostRow, 'id'>) => boolean> {
  const pools = await db.many<Pick<PoolRow, 'host_id'>>(sql`
    select p.host_id from address_pools p where family(p.cidr) = 4 and p.region_id = ${regionId}
      and exists (select from free_addresses f where f.pool_id = p.id and case when f.account_id is null then f.available_at end <= ${now})`)
  return ({ id }) => pools.some(({ host_id }) => host_id === null || host_id === id)
}

/** Allocates an IPv4 address from one of the pools of a host. */
export async function allocatePublicIp(tx: Tx, now: Date, pools: PoolRow[], regionSlug: string): Promise<TakenAddress> {
  const taken = await takeFromAny(
    tx,
    now,
    pools.filter((pool) => !isIpv6(pool)),
  )
  if (taken) return taken
  throw noCapacityError(`No public address is free in ${regionSlug}: try again in a few minutes, or ask support`, ['address'])
}

const firstOf = (pool: PoolRow): string => formatAddress(parseCidr(pool.cidr)!.base)

function randomStart(pool: PoolRow): string {
  const cidr = parseCidr(pool.cidr)!
  return formatAddress(cidr.base + randomInt(lastAddress(cidr) - cidr.base + 1))
}

/** The first free address from a random start: concurrent allocations land far apart and do not wait for each other's row locks. Before the
 *  table is analyzed, PostgreSQL takes `account_id is null` for rare and sorts the whole pool: hence one condition. */
async function takeFrom(tx: Tx, now: Date, pool: PoolRow, start: string): Promise<string | null> {
  const row = await tx.maybe<{ address: string }>(sql`
    delete from free_addresses where address = (
      select address from free_addresses
      where pool_id = ${pool.id} and case when account_id is null then available_at end <= ${now} and address >= ${start}::inet
      order by pool_id, address limit 1 for update skip locked)
    returning host(address) as address`)
  return row?.address ?? null
}

/** Allocates one that may move between hosts, from a pool of the region itself. */
export async function allocateFloatingAddress(tx: Tx, now: Date, { id, slug }: Pick<RegionRow, 'id' | 'slug'>): Promise<TakenAddress> {
  const all = await tx.many<PoolRow>(
    sql`select ${allColumns('address_pools')} from address_pools where host_id is null and family(cidr) = 4 order by id`,
  )
  const pools = all.filter(({ region_id }) => region_id === id)
  if (pools.length === 0) {
    const advice = all.length === 0 ? 'ask support' : 'choose another region, or ask support'
    throw apiError('unavailable', `Region ${slug} has no addresses that can move between VMs: ${advice}`)
  }
  const taken = await takeFromAny(tx, now, pools)
  if (!taken) throw noCapacityError(`No public address is free in ${slug}: try again in a few minutes, or ask support`, ['address'])
  return taken
}

async function takeFromAny(tx: Tx, now: Date, pools: PoolRow[]): Promise<TakenAddress | undefined> {
  for (const pool of pools) {
    const address = (await takeFrom(tx, now, pool, randomStart(pool))) ?? (await takeFrom(tx, now, pool, firstOf(pool)))
    if (address) return { address, poolId: pool.id }
  }
  return undefined
}

export const CONFIGURE_GUESTS = 'addresses.guests'

/** Those that the VM's port has beside its own. One that another port may still have is not among them yet. */
export const floatingAddressesOf = async (db: Queries, vmId: string): Promise<string[]> =>
  (await floatingAddressesOfVms(db, [vmId])).map(({ address }) => address)

export const floatingAddressesOfVms = (db: Queries, vmIds: readonly string[]) =>
  db.many<{ vm_id: string | null; address: string }>(sql`
    select vm_id, host(address) as address from addresses where vm_id = any(${vmIds}::text[]) and releasing_vm_id is null order by addresses.address`)

/** Call it when a guest has booted: it has lost the floating addresses that it was told of while it ran. */
export async function markGuestAddressesDue(db: Queries, now: Date, vmId: string): Promise<void> {
  const marked = await db.run(sql`
    update addresses set guest_state = 'PENDING', guest_reason = null, guest_due_at = ${now}, updated_at = ${now} where vm_id = ${vmId}`)
  if (marked > 0) await triggerReconciler(db, CONFIGURE_GUESTS)
}

export const RELEASED_REST = '10m'
/** The machine may still run on an unreachable host and answer at its addresses. */
export const LEFT_REST = '24h'

type RestCount = Partial<Pick<Row<'free_addresses'>, 'account_id' | 'vm_account_id'>>

/**
 * `rest`: cooldown before the address is allocated again, so that stale traffic and caches do not reach another customer. Until then it
 * counts against the quota of addresses of `account_id`, or beside the VMs of `vm_account_id`.
 */
export async function releasePublicIp(
  tx: Tx,
  now: Date,
  taken: TakenAddress,
  rest: string,
  { account_id = null, vm_account_id = null }: RestCount = {},
): Promise<void> {
  await tx.run(sql`
    insert into free_addresses (address, pool_id, available_at, account_id, vm_account_id)
    values (${taken.address}, ${taken.poolId}, ${addDuration(now, rest)}, ${account_id}, ${vm_account_id})`)
  await clearReverseName(tx, now, taken.address)
}

export const restsOfVms = (db: Queries, now: Date, accountId: string) =>
  db.one<{ count: bigint; firstUntil: Date | null }>(sql`
    select count(*), min(available_at) as "firstUntil" from free_addresses where vm_account_id in ${payingTogether(sql`${accountId}`)} and available_at > ${now}`)

/** Allocates a released address again for its previous owner during the cooldown. */
export async function reclaimPublicIp(tx: Tx, { address, poolId }: TakenAddress): Promise<void> {
  const taken = await tx.run(sql`delete from free_addresses where address = ${address} and pool_id = ${poolId}`)
  if (taken === 0) throw new Error(`BUG: ${address} was given away while it rested`)
}

/** `real`: tells whether a host is registered with a range of its own. */
export async function seedIpPools(tx: Tx, now: Date, pools: CatalogPool[], real: (host: string) => boolean): Promise<void> {
  for (const pool of pools) {
    const region = await getRegion(tx, pool.region)
    const host = pool.host === undefined ? undefined : await findHost(tx, pool.host)
    if (pool.host !== undefined && (!host || (host.driver === 'libvirt' && real(pool.host)))) continue
    const known = await tx.many<{ cidr: string }>(sql`select cidr from address_pools`)
    const wanted = parseIpRange(pool.cidr)
    if (!wanted) throw invalid(`the catalog's pool ${pool.cidr} is not a range`, 'pools')
    if (known.some(({ cidr }) => rangeContains(parseIpRange(cidr)!, wanted))) continue
    await addPool(tx, now, { regionId: region.id, hostId: host?.id ?? null, cidr: pool.cidr, gateway: pool.gateway, dns: pool.dns })
  }
}
