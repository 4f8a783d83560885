// Our rows of the northbound database as the monitor reports them, found by the object they belong to and by what contains them.
//
// Every row of ours carries `external_ids:berth = <object>#<key>`, such as `network/c123#switch`. Rows without it are not ours.
import { CONTAINERS, type Container, type OwnTable, type RowChange } from './tables.ts'

export interface OwnRow {
  table: OwnTable
  uuid: string
  columns: Record<string, unknown>
}

/** A column of a row that contains another. */
export interface Place {
  table: Container
  uuid: string
  column: string
}

export const ID = 'berth'

export const nameOf = (object: string, key: string): string => `${object}#${key}`

export class ReplicaIndex {
  private readonly objects = new Map<string, Map<string, OwnRow>>()
  private readonly owners = new Map<string, string>()
  private readonly places = new Map<string, Place[]>()

  apply(changes: readonly RowChange[]): void {
    for (const { table, uuid, before, after } of changes) {
      if (table === 'NB_Global') continue
      if (before) this.forget(table, uuid, before)
      if (after) this.record(table, uuid, after)
    }
  }

  /** By key. */
  rowsOf(object: string): ReadonlyMap<string, OwnRow> {
    return this.objects.get(object) ?? new Map()
  }

  find(object: string, key: string): OwnRow | undefined {
    return this.objects.get(object)?.get(key)
  }

  /** The rows that contain it. */
  placesOf(uuid: string): readonly Place[] {
    return this.places.get(uuid) ?? []
  }

  objectOf(uuid: string): string | undefined {
    return this.owners.get(uuid)
  }

  *objectNames(): Iterable<string> {
    yield* this.objects.keys()
  }

  private record(table: OwnTable, uuid: string, columns: Record<string, unknown>): void {
    const [object, key] = ownerOf(columns)
    if (object !== undefined) {
      this.owners.set(uuid, object)
      const rows = this.objects.get(object) ?? new Map<string, OwnRow>()
      // A second row of that name is a row that nobody wants, which the next change of the object removes.
      this.objects.set(object, rows.set(rows.has(key!) ? `${key}~${uuid}` : key!, { table, uuid, columns }))
    }
    for (const { place, child } of contentsOf(table, uuid, columns)) this.places.set(child, [...this.placesOf(child), place])
  }

  private forget(table: OwnTable, uuid: string, columns: Record<string, unknown>): void {
    const [object, key] = ownerOf(columns)
    const rows = object === undefined ? undefined : this.objects.get(object)
    this.owners.delete(uuid)
    for (const each of [key!, `${key}~${uuid}`]) if (rows?.get(each)?.uuid === uuid) rows.delete(each)
    if (rows?.size === 0) this.objects.delete(object!)
    for (const { place, child } of contentsOf(table, uuid, columns)) {
      const left = this.placesOf(child).filter((each) => each.uuid !== uuid || each.column !== place.column)
      if (left.length > 0) this.places.set(child, left)
      else this.places.delete(child)
    }
  }
}

function ownerOf({ external_ids }: Record<string, unknown>): [object?: string, key?: string] {
  const name = (external_ids as Record<string, string> | undefined)?.[ID]
  const at = name?.lastIndexOf('#') ?? -1
  return at < 0 ? [] : [name!.slice(0, at), name!.slice(at + 1)]
}

function* contentsOf(table: OwnTable, uuid: string, columns: Record<string, unknown>): Iterable<{ place: Place; child: string }> {
  if (!(table in CONTAINERS)) return
  for (const column of CONTAINERS[table as Container])
    for (const child of columns[column] as string[]) yield { place: { table: table as Container, uuid, column }, child }
}
