// A table that is one on wide screens and a list of cards on narrow ones: nothing ever scrolls sideways.
import type { ReactNode } from 'react'
import css from './table.module.css'

export interface Column<Row> {
  head: string
  cell: (row: Row) => ReactNode
  /** Numbers stand at the right. */
  right?: boolean
  /** The heading is there for those who hear the table. */
  quiet?: boolean
  shrink?: boolean
}

interface Props<Row> {
  /** What the table holds, for those who hear it. */
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
          {columns.map(({ head, right, quiet, shrink }) => (
            <th key={head} scope="col" data-right={right} data-shrink={shrink}>
              <span className={quiet ? 'hidden' : undefined}>{head}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ head, cell, right, quiet }) => (
              <td key={head} data-right={right} data-label={quiet ? undefined : head}>
                <div className={css['cell']}>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
