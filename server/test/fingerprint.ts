// A fingerprint of the database per table, to show that nothing was written: how many rows it has, and which transactions wrote them. Tables that
// reads may update are excluded.
import { sql, type Queries } from '../src/kernel/database/db.ts'

const TOUCHED_BY_LOOKING = new Set([
  'public.api_tokens',
  'public.counters',
  'public.audit_log', // a denied request changes nothing else
  'pgboss.version',
  'pgboss.queue',
  'pgboss.bam',
  'pgboss.warning',
])

export async function fingerprint(db: Queries): Promise<Record<string, string>> {
  const tables = await db.many<{ name: string }>(sql`
    select schemaname || '.' || tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1`)
  const watched = tables.map(({ name }) => name).filter((name) => !TOUCHED_BY_LOOKING.has(name))
  const parts = watched.map((name) => `select '${name}' as name, concat(count(*), ' by ', sum(xmin::text::bigint)) as writes from ${name}`)
  const { rows } = (await db.raw(parts.join(' union all '), [])) as { rows: { name: string; writes: string }[] }
  return Object.fromEntries(rows.map(({ name, writes }) => [name, writes]))
}
