// What PostgreSQL says that a statement answers, without running it: names, types and, as far as it can be told, whether a value may be
// null. A column is nullable when its table allows null or when its table is on the optional side of an outer join; the plan shows both,
// through views too, and a join that a condition makes strict shows as an inner one. Of other expressions nothing is said.
import pg from 'pg'

export interface Column {
  name: string
  /** Such as `int8` or `text[]`. */
  type: string
  /** The column of a table that the value comes from, such as `hosts.name`, behind all views. */
  source: string | undefined
  /** Undefined: PostgreSQL does not tell. */
  nullable: boolean | undefined
}

interface Field {
  name: string
  tableID: number
  columnID: number
  dataTypeID: number
}

interface Plan {
  'Node Type': string
  'Join Type'?: string
  Output?: string[]
  Plans?: Plan[]
  Alias?: string
  Schema?: string
  'Relation Name'?: string
  Strategy?: string
  'Parent Relationship'?: string
}

export class Describer {
  readonly #client: pg.Client
  readonly #types = new Map<number, string>()
  readonly #columns = new Map<string, string>()
  readonly #nullable = new Map<string, boolean>()

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Describer> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const describer = new Describer(client)
    await describer.refresh()
    return describer
  }

  close = (): Promise<void> => this.#client.end()

  /** For what later statements need, such as temporary tables. */
  async run(text: string): Promise<void> {
    await this.#client.query(text)
    await this.refresh()
  }

  async refresh(): Promise<void> {
    const types = await this.#client.query<{ oid: number; name: string }>(`
      select t.oid::int, case when e.oid is null then t.typname else e.typname || '[]' end as name
      from pg_type t left join pg_type e on e.typarray = t.oid`)
    for (const { oid, name } of types.rows) this.#types.set(oid, name)
    const columns = await this.#client.query<{ key: string; relation: string; column: string; nullable: boolean }>(`
      select attrelid::int || '.' || attnum as key, case nspname when 'public' then '' else nspname || '.' end || relname as relation,
        attname as column, not attnotnull as nullable
      from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
      where attnum > 0 and not attisdropped and relkind in ('r', 'p', 'v') and nspname not in ('pg_catalog', 'information_schema')`)
    for (const { key, relation, column, nullable } of columns.rows) {
      this.#columns.set(key, `${relation}.${column}`)
      this.#nullable.set(`${relation.replace(/^pg_temp\w*\./, '')}.${column}`, nullable)
    }
  }

  async describe(text: string): Promise<Column[]> {
    const fields = await describeFields(this.#client, text)
    if (fields.length === 0) return []
    const outputs = await this.#outputs(text)
    return fields.map(({ name, dataTypeID, tableID, columnID }, i) => {
      const type = this.#types.get(dataTypeID) ?? `type ${dataTypeID}`
      const source = outputs.columns[i]?.source ?? this.#columns.get(`${tableID}.${columnID}`)
      const known = source === undefined || outputs.hasOuterJoin ? undefined : this.#nullable.get(source)
      return { name, type, source, nullable: outputs.columns[i]?.nullable ?? known }
    })
  }

  async #outputs(text: string): Promise<{ columns: Pick<Column, 'source' | 'nullable'>[]; hasOuterJoin: boolean }> {
    const { rows } = await this.#client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (verbose, generic_plan, costs off, format json) ${text}`,
    )
    const plan = rows[0]!['QUERY PLAN'][0].Plan
    const scans = new Map<string, string>()
    const optional = new Set<string>()
    const visit = (node: Plan, isOptional: boolean): void => {
      const relation = node['Relation Name']
      if (relation && node.Alias) {
        const schema = node.Schema && node.Schema !== 'public' && !node.Schema.startsWith('pg_temp') ? `${node.Schema}.` : ''
        scans.set(node.Alias, `${schema}${relation}`)
      }
      if (isOptional && node.Alias) optional.add(node.Alias)
      for (const child of node.Plans ?? []) {
        const side = child['Parent Relationship']
        const join = node['Join Type']
        visit(child, isOptional || join === 'Full' || (join === 'Left' && side === 'Inner') || (join === 'Right' && side === 'Outer'))
      }
    }
    visit(plan, false)
    const isOneRow = plan['Node Type'] === 'Aggregate' && plan.Strategy === 'Plain'
    const columns = (plan.Output ?? []).map((expression) => {
      const column = /^(?:"?(\w+)"?\.)?"?(\w+)"?$/.exec(expression)
      if (!column) return { source: undefined, nullable: nullabilityOf(expression, isOneRow) }
      const alias = column[1] ?? (scans.size === 1 ? [...scans.keys()][0]! : '')
      const relation = scans.get(alias)
      const source = relation === undefined ? undefined : `${relation}.${column[2]}`
      return { source, nullable: optional.has(alias) ? true : source === undefined ? undefined : this.#nullable.get(source) }
    })
    return { columns, hasOuterJoin: optional.size > 0 }
  }
}

/** `isOneRow`: of an aggregation without groups, where most aggregates are null when there are no rows. */
function nullabilityOf(expression: string, isOneRow: boolean): boolean | undefined {
  if (/^COALESCE\(.*, \(?('[^']*'|-?\d+|true|false)\)?(::\w+)?\)$/.test(expression) || expression.startsWith('count(')) return false
  return isOneRow && /^(max|min|sum|avg|array_agg|string_agg|json_agg|jsonb_agg)\(/.test(expression) ? true : undefined
}

/** Parse and Describe of the extended protocol. */
function describeFields(client: pg.Client, text: string): Promise<Field[]> {
  return new Promise((resolve, reject) => {
    let fields: Field[] = []
    const submittable = {
      submit(connection: { parse(q: object): void; describe(m: object): void; sync(): void }) {
        connection.parse({ text, name: '', types: [] })
        connection.describe({ type: 'S', name: '' })
        connection.sync()
      },
      handleRowDescription: (message: { fields: Field[] }) => void (fields = message.fields),
      handleError: reject,
      handleReadyForQuery: () => resolve(fields),
    }
    client.query(submittable as unknown as pg.Submittable)
  })
}
