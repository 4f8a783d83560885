// The operations that turn the rows of one object into the wanted ones.
import { isDeepStrictEqual } from 'node:util'
import { operationsOn, type Operation, type Ref, type Value } from '@berth/ovsdb'
import { DriverError } from '../errors.ts'
import { ID, nameOf, type OwnRow, type ReplicaIndex } from './replica.ts'
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

  const isInFresh = ({ in: places = [] }: WantedRow): boolean =>
    places.length > 0 && places.every(({ object: owner, key }) => owner === undefined && inserted.has(nameOf(object, key)))

  const guards: Operation[] = []
  const changes: Operation[] = []
  const placed = new Placements()
  for (const row of rows) {
    const fresh = inserted.get(nameOf(object, row.key))?.uuid.ref
    const found = present.get(row.key)
    const columns = columnsOf(row)
    const name = { [ID]: nameOf(object, row.key) }
    const external_ids = { ...name, ...row.ids }
    if (fresh) {
      // Another process may have made it meanwhile, and with it what is in it. The server compares each guard with every row of the table.
      if (!isInFresh(row)) guards.push(wait(row.table, [['external_ids', 'includes', name]], '==', [], { columns: ['external_ids'] }))
      changes.push(insert(row.table, { ...columns, external_ids }, fresh))
    } else {
      const differing = Object.entries({ ...columns, external_ids }).filter(([column, value]) => !isSame(found!.columns[column], value))
      if (differing.length > 0) changes.push(update(row.table, [['_uuid', '==', found!.uuid]], Object.fromEntries(differing)))
    }
    placed.add(row, fresh ? undefined : found, resolve, index)
  }
  const tables = new Map<string, OwnTable>(wanted.map(({ key, table }) => [key, table]))
  const unwanted = [...present].flatMap(([key, row]) => (tables.get(key) === row.table ? [] : [row]))
  const removed = new Set(unwanted.filter(({ table }) => ROOTS.has(table)).map(({ uuid }) => uuid))
  for (const { uuid } of unwanted)
    for (const place of index.placesOf(uuid)) if (!removed.has(place.uuid)) placed.note(place, 'delete', uuid)
  const removals = unwanted.filter(({ uuid }) => removed.has(uuid)).map(({ table, uuid }) => remove(table, [['_uuid', '==', uuid]]))
  return [...guards, ...placed.guards(), ...changes, ...placed.changes(), ...removals]
}

interface Target {
  table: Container
  uuid: string | Ref
  column: string
}

/** What is put into rows and taken out of them: one operation for each column, however many rows that are. */
class Placements {
  private readonly columns = new Map<string, Target & { mutator: 'insert' | 'delete'; children: (string | Ref)[] }>()

  /** Puts the row into what shall contain it, and takes it out of the rest. */
  add(
    row: WantedRow,
    found: OwnRow | undefined,
    resolve: (name: RowName) => { table: OwnTable; uuid: string | Ref },
    index: ReplicaIndex,
  ): void {
    const places = (row.in ?? []).map(({ column, ...name }) => ({ column, ...resolve(name) }) as Target)
    const present = found ? index.placesOf(found.uuid) : []
    const child = found ? found.uuid : resolve({ key: row.key }).uuid
    const isAmong = (list: readonly Target[], { uuid, column }: Target): boolean =>
      list.some((each) => each.uuid === uuid && each.column === column)
    for (const place of places) if (!isAmong(present, place)) this.note(place, 'insert', child)
    for (const place of present) if (!isAmong(places, place)) this.note(place, 'delete', child)
  }

  note({ table, uuid, column }: Target, mutator: 'insert' | 'delete', child: string | Ref): void {
    const key = JSON.stringify([uuid, column, mutator])
    const noted = this.columns.get(key) ?? { table, uuid, column, mutator, children: [] }
    noted.children.push(child)
    this.columns.set(key, noted)
  }

  /** A port must not miss a filter that was removed meanwhile. */
  *guards(): Iterable<Operation> {
    for (const { table, uuid, mutator } of this.columns.values())
      if (mutator === 'insert' && typeof uuid === 'string')
        yield wait(table, [['_uuid', '==', uuid]], '==', [{ _uuid: uuid }], { columns: ['_uuid'] })
  }

  *changes(): Iterable<Operation> {
    for (const { table, uuid, column, mutator, children } of this.columns.values())
      yield mutate(table, [['_uuid', '==', uuid]], [[column, mutator, children]])
  }
}

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

const isRowName = (value: unknown): value is RowName =>
  typeof value === 'object' && value !== null && 'key' in value && !Array.isArray(value)

/** Sets have no order. */
const isSame = (present: unknown, wanted: unknown): boolean =>
  Array.isArray(present) && Array.isArray(wanted)
    ? present.length === wanted.length && isDeepStrictEqual(new Set(present), new Set(wanted))
    : isDeepStrictEqual(present, wanted)
