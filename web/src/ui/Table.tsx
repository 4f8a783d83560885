// A table on wide screens, a list of cards on narrow ones, so that no page scrolls horizontally.
import type { ReactNode } from 'react'
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
}

interface Props<Row> {
  /** Read by screen readers. */
  caption: string
  columns: Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
}

export function Table<Row>({ caption, columns, rows, rowKey }: Props<Row>) {
  return (
    <table className={css['table']}>
      <caption className="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, right, quiet, shrink, grow, truncate }) => (
            <th key={head} scope="col" data-right={right} data-shrink={shrink} data-grow={grow} data-truncate={truncate && true}>
              <span className={quiet ? 'hidden' : undefined}>{head}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ head, cell, right, quiet, truncate }) => (
              <td key={head} data-right={right} data-truncate={truncate && true} data-label={quiet ? undefined : head}>
                <div className={css['cell']} title={truncate?.(row)}>
                  {cell(row)}
                </div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
