// The types of all rows, from the catalog of a migrated database. `npm run db:types` writes them to src/schema/rows.gen.ts.
import pg from 'pg'
import { Describer } from './describe.ts'

/** How kernel/database/db.ts reads each type of PostgreSQL. Arrays of int8 are left as text by node-postgres. */
export const TYPES: Record<string, string> = {
  bool: 'boolean',
  bytea: 'Buffer',
  cidr: 'string',
  date: 'Date',
  float4: 'number',
  float8: 'number',
  inet: 'string',
  int2: 'number',
  int4: 'number',
  int8: 'bigint',
  json: 'unknown',
  jsonb: 'unknown',
  macaddr: 'string',
  name: 'string',
  numeric: 'string',
  text: 'string',
  timestamptz: 'Date',
  uuid: 'string',
}

/** What columns of these names hold, in every table. */
const JSON_COLUMNS: Record<string, string> = { labels: 'Record<string, string>' }

interface CatalogColumn {
  relation: string
  isView: boolean
  column: string
  type: string
  checks: string[]
}

const HEADER = `// The rows of all tables and views. Generated from the migrations by \`npm run db:types\`: do not edit.
// A column that a check constraint limits to a list is typed as that list. jsonb is unknown here, but for labels: who reads it says what it holds.

/** A row of this table or view. */
export type Row<Name extends keyof Tables> = Tables[Name]

export interface Tables {
`

export async function rowTypes(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<CatalogColumn>(`
    select case nspname when 'public' then '' else nspname || '.' end || relname as relation, relkind = 'v' as "isView", attname as column,
      case when e.oid is null then t.typname else e.typname || '[]' end as type,
      array(select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and contype = 'c' and conkey = array[attnum]) as checks
    from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace join pg_type t on t.oid = atttypid
      left join pg_type e on e.typarray = t.oid
    where attnum > 0 and not attisdropped and relkind in ('r', 'p', 'v') and not relispartition and nspname in ('public', 'simulated')
      and relname <> 'schema_migrations'
    order by nspname, relname, attnum`)
  await client.end()
  const relations = Map.groupBy(rows, ({ relation }) => relation)
  const describer = await Describer.open(url)
  const lists = new Map(rows.map((row) => [`${row.relation}.${row.column}`, listOf(row.checks)]))
  let text = HEADER
  for (const [relation, columns] of relations) {
    const described = await describer.describe(`select ${columns.map(({ column }) => `"${column}"`).join(', ')} from ${relation}`)
    text += `  ${keyOf(relation)}: {\n`
    columns.forEach(({ column, type }, i) => {
      const { nullable, source } = described[i]!
      const isJson = TYPES[type] === 'unknown'
      text += `    ${column}: ${(source && lists.get(source)) ?? JSON_COLUMNS[column] ?? typeText(type)}${nullable === false || isJson ? '' : ' | null'}\n`
    })
    text += '  }\n'
  }
  await describer.close()
  const lines = [...relations].map(([relation, columns]) => `  ${keyOf(relation)}: '${columns.map(({ column }) => column).join(', ')}',\n`)
  return `${text}}\n\n/** For \`allColumns\`. */\nexport const COLUMNS: Record<keyof Tables, string> = {\n${lines.join('')}}\n`
}

const keyOf = (relation: string): string => (/\W/.test(relation) ? `'${relation}'` : relation)

function typeText(type: string): string {
  const text = TYPES[type.replace('[]', '')]
  if (!text) throw new Error(`No type is known for ${type}: add it to TYPES`)
  return type.endsWith('[]') ? `${type === 'int8[]' ? 'string' : text}[]` : text
}

/** `CHECK ((status = ANY (ARRAY['A'::text, 'B'::text])))` */
function listOf(checks: string[]): string | undefined {
  for (const check of checks) {
    const list = /^CHECK \(\(\w+ = ANY \(ARRAY\[(.*)\]\)\)\)$/.exec(check)?.[1]
    if (list) return [...list.matchAll(/'([^']*)'::text/g)].map(([, value]) => `'${value}'`).join(' | ')
  }
  return undefined
}
