// The operations that turn the rows of one object into the wanted ones.
import { isDeepStrictEqual } from 'node:util'
import { operationsOn, type Operation, type Ref, type Value } from '@berth/ovsdb'
import { DriverError } from '../errors.ts'
import { ID, nameOf, type OwnRow, type Place, type ReplicaIndex } from './replica.ts'
import { ROOTS, type Container, type Northbound, type OwnTable } from './tables.ts'

/** A row of this object, or of another. */
export interface RowName {
  object?: string
  key: string
}

type Columns<T extends OwnTable> = {
  [C in Exclude<keyof Northbound[T], 'external_ids'>]?:
    | Northbound[T][C]
    | (C extends 'dhcpv4_options' | 'ha_chassis_group' | 'copp' ? RowName : C extends 'bands' ? RowName[] : never)
}

export type WantedRow = {
  [T in OwnTable]: {
    table: T
    /** Unique among the rows of the object. */
    key: string
    columns: Columns<T>
    /** Our ids that belong to it, beside its name. */
    ids?: Record<string, string>
    /** What contains it. It is taken out of everything else. */
    in?: readonly (RowName & { column: string })[]
  }
}[OwnTable]

/** WantedRow types the columns; here they are values of any table. */
const { insert, update, mutate, remove, wait } = operationsOn<Record<OwnTable, Record<string, Value>>>()

/** Names are unique in a transaction, which may have the operations of several plans. */
let lastRow = 0

/** Rows that a transaction inserts, by their names. */
export type Inserted = Map<string, { table: OwnTable; uuid: Ref }>

/** Empty when nothing differs. `not_found` if a row of another object is missing. What an earlier plan of the same transaction has `inserted`
 *  is there. */
export function planChange(index: ReplicaIndex, object: string, wanted: readonly WantedRow[], inserted: Inserted = new Map()): Operation[] {
  const present = index.rowsOf(object)
  const rows = wanted.filter(({ key }) => !inserted.has(nameOf(object, key)))
  for (const { key, table } of rows)
    if (present.get(key)?.table !== table) inserted.set(nameOf(object, key), { table, uuid: { ref: `row${++lastRow}` } })

  const resolve = ({ object: owner = object, key }: RowName): { table: OwnTable; uuid: string | Ref } => {
    const name = nameOf(owner, key)
    const found = inserted.get(name) ?? index.find(owner, key)
    if (!found) throw new DriverError('not_found', `OVN's northbound database has no ${name}, which ${object} needs`)
    return found
  }
  const resolved = (value: unknown): Value =>
    (isRowName(value) ? resolve(value).uuid : Array.isArray(value) ? value.map(resolved) : value) as Value
  const columnsOf = ({ columns }: WantedRow): Record<string, Value> =>
    Object.fromEntries(Object.entries(columns).map(([column, value]) => [column, resolved(value)]))

  const guards: Operation[] = []
  const changes: Operation[] = []
  for (const row of rows) {
    const fresh = inserted.get(nameOf(object, row.key))?.uuid.ref
    const found = present.get(row.key)
    const columns = columnsOf(row)
    const name = { [ID]: nameOf(object, row.key) }
    const external_ids = { ...name, ...row.ids }
    if (fresh) {
      // Another process may have made it meanwhile.
      guards.push(wait(row.table, [['external_ids', 'includes', name]], '==', [], { columns: ['external_ids'] }))
      changes.push(insert(row.table, { ...columns, external_ids }, fresh))
    } else {
      const differing = Object.entries({ ...columns, external_ids }).filter(([column, value]) => !isSame(found!.columns[column], value))
      if (differing.length > 0) changes.push(update(row.table, [['_uuid', '==', found!.uuid]], Object.fromEntries(differing)))
    }
    const placed = placing(row, fresh ? undefined : found, resolve, index)
    guards.push(...placed.guards)
    changes.push(...placed.changes)
  }
  const unwanted = [...present].filter(([key, { table }]) => !wanted.some((each) => each.key === key && each.table === table))
  for (const [, row] of unwanted) changes.push(...removal(row, index))
  return [...guards, ...changes]
}

/** Puts the row into what shall contain it, and takes it out of the rest. A port must not miss a filter that was removed meanwhile. */
function placing(
  row: WantedRow,
  found: OwnRow | undefined,
  resolve: (name: RowName) => { table: OwnTable; uuid: string | Ref },
  index: ReplicaIndex,
): { guards: Operation[]; changes: Operation[] } {
  const places = (row.in ?? []).map(({ column, ...name }) => ({ column, ...resolve(name) }))
  const present = found ? index.placesOf(found.uuid) : []
  const child = found ? found.uuid : resolve({ key: row.key }).uuid
  const missing = places.filter(({ uuid, column }) => !present.some((each) => each.uuid === uuid && each.column === column))
  const extra = present.filter((each) => !places.some(({ uuid, column }) => each.uuid === uuid && each.column === column))
  return {
    guards: missing.flatMap(({ table, uuid }) => (typeof uuid === 'string' ? [exists(table, uuid)] : [])),
    changes: [
      ...missing.map(({ table, uuid, column }) => change(table as Container, uuid, column, 'insert', child)),
      ...extra.map(({ table, uuid, column }) => change(table, uuid, column, 'delete', child)),
    ],
  }
}

const exists = (table: OwnTable, uuid: string): Operation =>
  wait(table, [['_uuid', '==', uuid]], '==', [{ _uuid: uuid }], { columns: ['_uuid'] })

/** Removes the object if these columns of `key` contain nothing but rows of the object itself; null if they do. */
export function planRemoval(index: ReplicaIndex, object: string, key: string, columns: readonly string[]): Operation[] | null {
  const container = index.find(object, key)
  if (!container) return []
  const own = new Set([...index.rowsOf(object).values()].map(({ uuid }) => uuid))
  const contents = Object.fromEntries(columns.map((column) => [column, container.columns[column] as string[]]))
  if (Object.values(contents).some((rows) => rows.some((each) => !own.has(each)))) return null
  const isUnchanged = wait(container.table, [['_uuid', '==', container.uuid]], '==', [contents], { columns: [...columns] })
  return [isUnchanged, ...planChange(index, object, [])]
}

const change = (table: Container, uuid: string | Ref, column: string, mutator: 'insert' | 'delete', child: string | Ref): Operation =>
  mutate(table, [['_uuid', '==', uuid]], [[column, mutator, [child]]])

/** Rows that are no roots go with what contains them. */
function* removal({ table, uuid }: OwnRow, index: ReplicaIndex): Iterable<Operation> {
  for (const { table: container, uuid: owner, column } of index.placesOf(uuid) as Place[])
    yield change(container, owner, column, 'delete', uuid)
  if (ROOTS.has(table)) yield remove(table, [['_uuid', '==', uuid]])
}

const isRowName = (value: unknown): value is RowName =>
  typeof value === 'object' && value !== null && 'key' in value && !Array.isArray(value)

/** Sets have no order. */
const isSame = (present: unknown, wanted: unknown): boolean =>
  Array.isArray(present) && Array.isArray(wanted)
    ? present.length === wanted.length && isDeepStrictEqual(new Set(present), new Set(wanted))
    : isDeepStrictEqual(present, wanted)
