// The tables, partitions, sequences and foreign keys of a database.
import type pg from 'pg'

export interface Table {
  name: string
  columns: string[]
}

export interface Partition {
  name: string
  parent: string
  bound: string
}

export interface Sequence {
  name: string
  value: string | null
}

const OURS = `n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_%'`

export async function isEmpty(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(`
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'S', 'v', 'm') and ${OURS} limit 1`)
  return rowCount === 0
}

/** Tables to dump: not unlogged ones, nor those in `except`. Partitions are dumped through their parent. */
export async function listTables(client: pg.Client, except: Exceptions): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select format('%I.%I', n.nspname, c.relname) as name,
            array_agg(quote_ident(a.attname) order by a.attnum) filter (where a.attgenerated = '') as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p' and ${OURS}
        and n.nspname <> all ($1) and c.relname <> all ($2) group by 1 order by 1`,
    [except.schemas, except.tables],
  )
  return rows
}

export interface Exceptions {
  schemas: string[]
  tables: string[]
  /** Whose triggers fill the excepted tables. Other triggers rest while a dump is loaded, which has what they did. */
  filledFrom?: string[]
}

/** With triggers of ours that rest while a dump is loaded. */
export async function listTriggered(client: pg.Client, except: Exceptions): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct format('%I.%I', n.nspname, c.relname) as name
       from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
      where not t.tgisinternal and t.tgparentid = 0 and ${OURS} and n.nspname <> all ($1) and c.relname <> all ($2)`,
    [except.schemas, except.filledFrom ?? []],
  )
  return rows.map(({ name }) => name)
}

export async function listPartitions(client: pg.Client): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(`
    select c.oid::regclass::text as name, i.inhparent::regclass::text as parent, pg_get_expr(c.relpartbound, c.oid) as bound
      from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_namespace n on n.oid = c.relnamespace
     where c.relispartition and c.relkind = 'r' and n.nspname = 'public' order by 1`)
  return rows
}

export async function listPartitionedTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'p' and n.nspname = 'public'`)
  return rows.map(({ name }) => name)
}

/** Names sort by time. */
export const partitionName = (table: string, from: Date): string => `${table}_${from.toISOString().replaceAll(/\D/g, '').slice(0, 12)}`

export async function listSequences(client: pg.Client, except: Exceptions): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences
      where schemaname <> all ($1) order by 1`,
    [except.schemas],
  )
  return rows
}

export interface Constraint {
  relation: string
  name: string
  definition: string
}

/** Foreign keys are dropped while loading, because tables refer to each other in both directions. */
export async function listForeignKeys(client: pg.Client): Promise<Constraint[]> {
  const { rows } = await client.query<Constraint>(`
    select conrelid::regclass::text as relation, quote_ident(conname) as name, pg_get_constraintdef(k.oid) as definition
      from pg_constraint k join pg_namespace n on n.oid = k.connamespace where contype = 'f' and conparentid = 0 and ${OURS}`)
  return rows
}
