// A table on wide screens, a list of cards on narrow ones, so that no page scrolls horizontally.
import { Checkbox } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'
import { listMessages as w } from '../words/words.ts'
import { Icon } from './Icon.tsx'
import { isChosen, type Selection } from './selection.ts'
import { directionOf, nextSort, type Sorting } from './sorting.ts'
import css from './table.module.css'

export interface Column<Row> {
  head: string
  cell: (row: Row) => ReactNode
  /** Right-aligned, for numbers. */
  right?: boolean
  /** Hides the heading visually; screen readers still read it. */
  quiet?: boolean
  shrink?: boolean
  /** Takes the room that the others leave; for one column that truncates. */
  grow?: boolean
  /** Names and other text without a limit: one line that ends in an ellipsis, with the whole text, which this returns, on hover. */
  truncate?: (row: Row) => string
  /** What its heading sorts by: the name in the URL, and of the API's parameter. */
  sort?: string
  /** Sorts in the browser, where the whole list is there. */
  value?: (row: Row) => string | number | null
  /** Can be hidden; `hidden` is so until it is chosen. */
  optional?: 'shown' | 'hidden'
  /** In a CSV file; columns without it are left out. */
  text?: (row: Row) => string
}

export interface TableParts {
  sorting?: Sorting | undefined
  selection?: Selection | undefined
}

interface Props<Row> extends TableParts {
  /** Read by screen readers. */
  caption: string
  columns: Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** For the checkbox of a row. */
  nameOf?: (row: Row) => string
}

export function Table<Row>({ caption, columns, rows, rowKey, nameOf = rowKey, sorting, selection }: Props<Row>) {
  return (
    <table className={css['table']} data-selects={selection && true}>
      <caption className="hidden">{caption}</caption>
      <thead>
        <HeadRow columns={columns} sorting={sorting} selection={selection} ids={rows.map(rowKey)} />
      </thead>
      <tbody>
        {rows.map((row) => (
          <BodyRow key={rowKey(row)} columns={columns} row={row} id={rowKey(row)} name={nameOf(row)} selection={selection} />
        ))}
      </tbody>
    </table>
  )
}

interface HeadProps<Row> extends TableParts {
  columns: Column<Row>[]
  /** Of the rows that are there. */
  ids: string[]
  index?: number
}

export const HeadRow = <Row,>({ columns, sorting, selection, ids, index }: HeadProps<Row>) => (
  <tr aria-rowindex={index}>
    {selection && (
      <th scope="col" data-check>
        <Checkbox
          size="xs"
          aria-label={w.selectAll}
          checked={isChosen(selection, ids) === 'all'}
          indeterminate={isChosen(selection, ids) === 'some'}
          onChange={(event) => selection.choose(ids, event.currentTarget.checked)}
        />
      </th>
    )}
    {columns.map((column) => (
      <HeadCell key={column.head} column={column} sorting={column.sort === undefined ? undefined : sorting} />
    ))}
  </tr>
)

const ORDERS = { ascending: 'ascending', descending: 'descending', none: 'none' } as const

function HeadCell<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { head, right, quiet, shrink, grow, truncate, sort } = column
  const parts = { scope: 'col', 'data-right': right, 'data-shrink': shrink, 'data-grow': grow, 'data-truncate': truncate && true } as const
  if (!sorting || sort === undefined)
    return (
      <th {...parts}>
        <span className={quiet ? 'hidden' : undefined}>{head}</span>
      </th>
    )
  const direction = directionOf(sorting.sort, sort)
  return (
    <th {...parts} aria-sort={ORDERS[direction]}>
      <button
        type="button"
        className={css['sort']}
        data-active={direction !== 'none'}
        onClick={() => sorting.onSort(nextSort(sorting.sort, sort))}
      >
        {head}
        <Icon name={direction === 'descending' ? 'down' : 'up'} size={12} />
      </button>
    </th>
  )
}

interface RowProps<Row> {
  columns: Column<Row>[]
  row: Row
  id: string
  name: string
  selection?: Selection | undefined
  index?: number
  style?: CSSProperties
}

export function BodyRow<Row>({ columns, row, id, name, selection, index, style }: RowProps<Row>) {
  const chosen = selection?.ids.has(id) ?? false
  return (
    <tr aria-rowindex={index} style={style} data-chosen={chosen || undefined}>
      {selection && (
        <td data-check>
          <Checkbox
            size="xs"
            aria-label={w.select(name)}
            checked={chosen}
            onChange={(event) => selection.choose([id], event.currentTarget.checked)}
          />
        </td>
      )}
      {columns.map(({ head, cell, right, quiet, truncate }) => (
        <td key={head} data-right={right} data-truncate={truncate && true} data-label={quiet ? undefined : head}>
          <div className={css['cell']} title={truncate?.(row)}>
            {cell(row)}
          </div>
        </td>
      ))}
    </tr>
  )
}
