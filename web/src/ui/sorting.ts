// Which column a list is sorted by, in the URL as the API has it: `name`, or `-name` for descending.
import { locale } from '../words/language.ts'
import { usePaging } from './paging.ts'

export interface Sorting {
  sort: string | undefined
  onSort: (sort: string | undefined) => void
}

interface Sortable<Row> {
  sort?: string
  value?: (row: Row) => string | number | null
}

type Direction = 'ascending' | 'descending' | 'none'

export const directionOf = (sort: string | undefined, field: string): Direction =>
  sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : 'none'

/** Up, down, and then as it was. */
export const nextSort = (sort: string | undefined, field: string): string | undefined =>
  sort === field ? `-${field}` : sort === `-${field}` ? undefined : field

export function useSorting(): Sorting {
  const { search, filter } = usePaging()
  return { sort: search.sort, onSort: (sort) => filter({ sort }) }
}

const compare = (a: string | number | null, b: string | number | null): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1 // what is unknown comes last
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), locale, { numeric: true, sensitivity: 'base' })
}

/** By the column that `sort` names; rows of one value stay in their order. */
export function sortRows<Row>(rows: readonly Row[], columns: readonly Sortable<Row>[], sort: string | undefined): Row[] {
  const column = columns.find((each) => each.value && each.sort !== undefined && directionOf(sort, each.sort) !== 'none')
  if (!column) return [...rows]
  const { value } = column
  const sign = directionOf(sort, column.sort!) === 'descending' ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [value!(one), value!(other)]
    return a === null || b === null ? compare(a, b) : sign * compare(a, b)
  })
}
