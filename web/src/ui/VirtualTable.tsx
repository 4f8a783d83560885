// A list of thousands of rows as one table: only those in view are drawn, and their pages are fetched as one scrolls. Screen readers are told how
// many there are and the number of each; the region scrolls by arrow keys, Page Up, Page Down, Home and End.
import type { Page } from '@berth/sdk'
import { useQueries, type UseQueryOptions } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react'
import { listMessages as w } from '../words/words.ts'
import { BodyRow, HeadRow, type Column, type TableParts } from './Table.tsx'
import css from './table.module.css'
import { pagesOf, windowOf } from './virtual.ts'

export const VIRTUAL_PAGE = 100
const ROW_HEIGHT = 64

interface Props<Row> extends TableParts {
  caption: string
  columns: Column<Row>[]
  total: number
  pageQuery: (page: number) => UseQueryOptions<Page<Row>, Error, Page<Row>, readonly unknown[]>
  rowKey: (row: Row) => string
  nameOf: (row: Row) => string
  /** Told of the rows that are in view. */
  onRows?: (rows: Row[]) => void
}

export function VirtualTable<Row>({ caption, columns, total, pageQuery, rowKey, nameOf, onRows, sorting, selection }: Props<Row>) {
  const box = useRef<HTMLElement>(null)
  const [scrolled, setScrolled] = useState({ scrollTop: 0, height: 800 })
  const view = windowOf({ ...scrolled, rowHeight: ROW_HEIGHT, total })
  const pages = pagesOf(view, VIRTUAL_PAGE)
  const results = useQueries({ queries: pages.map(pageQuery) })
  const rowAt = (index: number): Row | undefined => {
    const page = Math.floor(index / VIRTUAL_PAGE) + 1
    return results[pages.indexOf(page)]?.data?.items[index - (page - 1) * VIRTUAL_PAGE]
  }
  const indexes = Array.from({ length: Math.max(0, view.end - view.first) }, (_, offset) => view.first + offset)
  const shown = indexes.flatMap((index) => rowAt(index) ?? [])
  const keys = shown.map(rowKey).join()
  useEffect(() => onRows?.(shown), [keys]) // oxlint-disable-line react/exhaustive-deps -- the keys say whether they are others
  useKeptFocus(box, view.first)
  useEffect(() => {
    const element = box.current!
    const measure = (): void => setScrolled({ scrollTop: element.scrollTop, height: element.clientHeight })
    measure()
    const resize = new ResizeObserver(measure)
    resize.observe(element)
    return () => resize.disconnect()
  }, [])
  const width = columns.length + (selection ? 1 : 0)
  return (
    <section
      ref={box}
      className={css['virtual']}
      aria-label={w.scrolls(caption)}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls by keys
      tabIndex={0}
      onScroll={({ currentTarget }) => setScrolled({ scrollTop: currentTarget.scrollTop, height: currentTarget.clientHeight })}
    >
      <table className={css['table']} aria-rowcount={total + 1} data-selects={selection && true}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <HeadRow columns={columns} sorting={sorting} selection={selection} ids={shown.map(rowKey)} index={1} />
        </thead>
        <tbody>
          <Spacer rows={view.first} width={width} />
          {indexes.map((index) => {
            const row = rowAt(index)
            if (!row) return <Waiting key={index} index={index + 2} width={width} />
            const id = rowKey(row)
            const style = { height: ROW_HEIGHT }
            return (
              <BodyRow
                key={id}
                columns={columns}
                row={row}
                id={id}
                name={nameOf(row)}
                selection={selection}
                index={index + 2}
                style={style}
              />
            )
          })}
          <Spacer rows={total - view.end} width={width} />
        </tbody>
      </table>
    </section>
  )
}

const Spacer = ({ rows, width }: { rows: number; width: number }) =>
  rows <= 0 ? null : (
    <tr aria-hidden="true" style={{ height: rows * ROW_HEIGHT }} className={css['spacer']}>
      <td colSpan={width} aria-hidden="true" />
    </tr>
  )

const Waiting = ({ index, width }: { index: number; width: number }) => (
  <tr aria-rowindex={index} style={{ height: ROW_HEIGHT }} aria-busy="true">
    <td colSpan={width} className="muted">
      …
    </td>
  </tr>
)

/** A row that has the focus and is scrolled out of view hands it to the region, so that the keys go on working. */
function useKeptFocus(box: RefObject<HTMLElement | null>, first: number): void {
  const hadFocus = useRef(false)
  useLayoutEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) box.current?.focus({ preventScroll: true })
    hadFocus.current = box.current?.contains(document.activeElement) ?? false
  }, [box, first])
  useEffect(() => {
    const note = (): void => {
      hadFocus.current = box.current?.contains(document.activeElement) ?? false
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [box])
}
