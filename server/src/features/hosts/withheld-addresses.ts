// What of the pools no VM ever gets: gateways, and addresses of hosts and other machines on the same network (`--except`).
import { sql, type Queries } from '../../kernel/database/db.ts'
import { formatIpRange, mergeRanges, parseIpRange } from '../../kernel/ip-range.ts'
import type { Row } from '../../schema/rows.gen.ts'

type Pool = Pick<Row<'address_pools'>, 'id' | 'cidr' | 'gateway'>

/** By the id of a pool. It is decided when the pool is added, and a pool may have a million addresses to look through. */
const known = new Map<string, string[]>()

export async function withheldRanges(db: Queries, pools: readonly Pool[]): Promise<string[]> {
  for (const pool of pools) if (!known.has(pool.id)) known.set(pool.id, await readWithheld(db, pool))
  return pools.flatMap(({ id }) => known.get(id)!)
}

async function readWithheld(db: Queries, { id, cidr, gateway }: Pool): Promise<string[]> {
  const except = await db.many<{ range: string }>(
    cidr.includes(':')
      ? sql`select range::text from ipv6_ranges where pool_id = ${id} and available_at = 'infinity'`
      : sql`select host(address) as range from free_addresses where pool_id = ${id} and available_at = 'infinity'`,
  )
  const ranges = [gateway, ...except.map(({ range }) => range)].map((text) => parseIpRange(text)!)
  return mergeRanges(cidr.includes(':') ? 6 : 4, ranges).map(formatIpRange)
}
