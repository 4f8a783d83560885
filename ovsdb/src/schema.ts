// The schema of a database, as `get_schema` answers it, and its values in JavaScript:
//   integer, real        number              min 0, max 1    T | null
//   boolean, string      as they are         a set           T[]
//   uuid                 its text, or Ref    a map           Record<string, T>
import { ProtocolError, SchemaError } from './errors.ts'

export type Atom = string | number | boolean
/** A row that is inserted in the same transaction, by the name that its insert has. */
export interface Ref {
  ref: string
}
export type Value = Atom | Ref | null | readonly (Atom | Ref)[] | { readonly [key: string]: Atom | Ref }
export type Row = Record<string, Value>

type AtomType = 'integer' | 'real' | 'boolean' | 'string' | 'uuid'

export interface ColumnType {
  key: AtomType
  /** Of maps. */
  value: AtomType | null
  min: number
  max: number
}

export interface Schema {
  name: string
  version: string
  tables: Map<string, Map<string, ColumnType>>
}

const UUID: ColumnType = { key: 'uuid', value: null, min: 1, max: 1 }

export function parseSchema(json: unknown): Schema {
  try {
    const { name, version, tables } = json as {
      name: string
      version: string
      tables: Record<string, { columns: Record<string, { type: unknown }> }>
    }
    const parseColumns = (columns: Record<string, { type: unknown }>): Map<string, ColumnType> =>
      new Map([
        ['_uuid', UUID],
        ['_version', UUID],
        ...Object.entries(columns).map(([column, { type }]) => [column, parseType(type)] as const),
      ])
    return { name, version, tables: new Map(Object.entries(tables).map(([table, { columns }]) => [table, parseColumns(columns)])) }
  } catch (error) {
    throw new ProtocolError('the server sent a schema that cannot be read', error)
  }
}

function parseType(type: unknown): ColumnType {
  if (typeof type === 'string') return { key: type as AtomType, value: null, min: 1, max: 1 }
  const { key, value, min = 1, max = 1 } = type as { key: unknown; value?: unknown; min?: number; max?: number | 'unlimited' }
  const atom = (base: unknown): AtomType => (typeof base === 'string' ? base : (base as { type: string }).type) as AtomType
  return { key: atom(key), value: value === undefined ? null : atom(value), min, max: max === 'unlimited' ? Infinity : max }
}

export function columnsOf(schema: Schema, table: string): Map<string, ColumnType> {
  const columns = schema.tables.get(table)
  if (!columns) throw new SchemaError(`${schema.name} ${schema.version} has no table ${table}`)
  return columns
}

export function columnType(schema: Schema, table: string, column: string): ColumnType {
  const type = columnsOf(schema, table).get(column)
  if (!type) throw new SchemaError(`${table} of ${schema.name} ${schema.version} has no column ${column}`)
  return type
}

/** Whether changes of it arrive as the new value, and not as what to add and remove. */
export const isSingle = ({ value, max }: ColumnType): boolean => value === null && max === 1

export function encode(type: ColumnType, value: Value, what: string): unknown {
  const atom = (atomType: AtomType, each: unknown): unknown => {
    if (atomType === 'uuid') {
      if (typeof each === 'string') return ['uuid', each]
      if (typeof each === 'object' && each !== null && 'ref' in each) return ['named-uuid', each.ref]
    } else if (typeof each === JS_TYPES[atomType]) return each
    throw new SchemaError(`${what} takes ${atomType === 'uuid' ? 'UUIDs' : `values of type ${atomType}`}, not ${JSON.stringify(each)}`)
  }
  if (type.value !== null) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SchemaError(`${what} takes an object`)
    const key = (text: string): unknown => atom(type.key, type.key === 'integer' || type.key === 'real' ? Number(text) : text)
    return ['map', Object.entries(value as Record<string, unknown>).map(([name, each]) => [key(name), atom(type.value!, each)])]
  }
  if (value === null || Array.isArray(value)) {
    const list = (value ?? []) as unknown[]
    if (list.length < type.min || list.length > type.max) throw new SchemaError(`${what} takes ${range(type)}, not ${list.length}`)
    return ['set', list.map((each) => atom(type.key, each))]
  }
  return atom(type.key, value)
}

const JS_TYPES = { integer: 'number', real: 'number', boolean: 'boolean', string: 'string' } as const

const range = ({ min, max }: ColumnType): string =>
  min === max ? `${min} value${min === 1 ? '' : 's'}` : `${min} to ${max === Infinity ? 'any number of' : max} values`

export function decode(type: ColumnType, json: unknown): Value {
  if (type.value !== null) return Object.fromEntries(pairs(json).map(([key, value]) => [String(decodeAtom(key)), decodeAtom(value)]))
  // A set of one may come without its brackets.
  const list = isTagged(json, 'set') ? (json[1] as unknown[]).map(decodeAtom) : [decodeAtom(json)]
  return type.max === 1 ? (list[0] ?? null) : list
}

export function decodeRow(schema: Schema, table: string, json: unknown): Row {
  return Object.fromEntries(
    Object.entries(json as Record<string, unknown>).map(([column, value]) => [column, decode(columnType(schema, table, column), value)]),
  )
}

/** Applies a change: sets and maps arrive as the elements that differ. */
export function applyDiff(type: ColumnType, old: Value, json: unknown): Value {
  const diff = decode(type, json)
  if (isSingle(type)) return diff
  if (type.value === null) {
    const elements = new Set(old as Atom[])
    for (const each of diff as Atom[]) if (!elements.delete(each)) elements.add(each)
    return [...elements]
  }
  const map = { ...(old as Record<string, Atom>) }
  for (const [key, value] of Object.entries(diff as Record<string, Atom>)) {
    if (map[key] === value) delete map[key]
    else map[key] = value
  }
  return map
}

function pairs(json: unknown): [unknown, unknown][] {
  if (!isTagged(json, 'map')) throw new ProtocolError('the server sent a value that is not a map')
  return json[1] as [unknown, unknown][]
}

function decodeAtom(json: unknown): Atom {
  if (isTagged(json, 'uuid')) return json[1] as string
  if (typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean') return json
  throw new ProtocolError('the server sent a value of an unknown type')
}

const isTagged = (json: unknown, tag: string): json is [string, unknown] => Array.isArray(json) && json[0] === tag
