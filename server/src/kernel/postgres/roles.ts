// The database belongs to a role without the rights of a superuser, who can run programs and read files by SQL. A database of an older
// version belongs to the superuser: it and all it contains are handed over once.
import pg from 'pg'
import { DATABASE_USER } from './cluster.ts'

/** Must be called under the folder's lock. */
export async function ensureOwnedDatabase(serverUrl: string, databaseUrl: string, name: string): Promise<void> {
  const owner = await withClient(serverUrl, async (client) => {
    const { rowCount: hasRole } = await client.query('select from pg_roles where rolname = $1', [DATABASE_USER])
    if (!hasRole) await client.query(`create role ${DATABASE_USER} login`)
    const { rows } = await client.query<{ owner: string }>('select pg_get_userbyid(datdba) as owner from pg_database where datname = $1', [
      name,
    ])
    if (rows.length === 0) await client.query(`create database ${pg.escapeIdentifier(name)} owner ${DATABASE_USER}`)
    return rows[0]?.owner ?? DATABASE_USER
  })
  if (owner !== DATABASE_USER) await withClient(databaseUrl, (client) => handOver(client, name))
}

/** In one transaction, the database itself last: its owner says whether all was handed over. */
async function handOver(client: pg.Client, name: string): Promise<void> {
  await client.query('begin')
  const { rows } = await client.query<{ statement: string }>(OWNED_BY_SUPERUSER, [DATABASE_USER])
  for (const { statement } of rows) await client.query(statement)
  await client.query(`alter database ${pg.escapeIdentifier(name)} owner to ${DATABASE_USER}`)
  await client.query('commit')
}

/** Without what belongs to an extension, and without what follows its table: indexes, row types, sequences of columns. */
const OWNED_BY_SUPERUSER = `
  with ours as (select oid, nspname from pg_namespace where nspname <> 'information_schema' and nspname not like 'pg\\_%'),
  extensions as (select classid, objid from pg_depend where deptype = 'e'),
  owned (statement) as (
    select format('alter schema %I owner to %I', nspname, $1::text) from ours
    union all
    select format('alter %s %I.%I owner to %I',
             case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end, nspname, relname, $1::text)
      from pg_class c join ours on ours.oid = relnamespace
     where relkind in ('r', 'p', 'v', 'm', 'S') and (1259, c.oid) not in (select classid, objid from extensions)
       and not (relkind = 'S' and exists (select from pg_depend d where d.classid = 1259 and d.objid = c.oid and d.deptype in ('a', 'i')))
    union all
    select format('alter routine %s owner to %I', p.oid::regprocedure, $1::text)
      from pg_proc p join ours on ours.oid = pronamespace where (1255, p.oid) not in (select classid, objid from extensions)
    union all
    select format('alter type %I.%I owner to %I', nspname, typname, $1::text)
      from pg_type t join ours on ours.oid = typnamespace
     where typtype in ('e', 'd', 'r') and (1247, t.oid) not in (select classid, objid from extensions))
  select statement from owned`

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return work(client).finally(() => client.end())
}
