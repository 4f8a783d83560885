// One page of a paginated list with its pager, or an empty state.
import type { Page } from '@berth/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import { Pager } from './Pager.tsx'
import type { ListSearch } from './paging.ts'
import { Loaded } from './AsyncState.tsx'
import { sortRows, useSorting } from './sorting.ts'
import { Table, type Column } from './Table.tsx'

interface PagedProps<Row> {
  of: UseQueryResult<Pick<Page<Row>, 'items' | 'pagination'>>
  lines?: number
  empty: ReactNode
  children: (rows: Row[]) => ReactNode
}

export const Paged = <Row,>({ of, lines, empty, children }: PagedProps<Row>) => (
  <Loaded of={of} lines={lines}>
    {({ items, pagination }) => {
      if (items.length === 0) return pagination.total === 0 ? empty : <LastPage number={pagination.totalPages} />
      return (
        <>
          {children(items)}
          <Pager pagination={pagination} />
        </>
      )
    }}
  </Loaded>
)

/** Rendered for a page past the end, for example after its only row was deleted; redirects to the last page. */
function LastPage({ number }: { number: number }) {
  const navigate = useNavigate()
  useEffect(() => {
    void navigate({ to: '.', search: (now: ListSearch) => ({ ...now, page: number }), replace: true })
  }, [navigate, number])
  return null
}

interface TableProps<Row> extends Omit<PagedProps<Row>, 'children'> {
  caption: string
  columns: Column<Row>[]
}

/** A list of one page is sorted here, by columns that have a value; of another one the API has the order. */
export function PagedTable<Row extends { id: string }>({ caption, columns, ...page }: TableProps<Row>) {
  const sorting = useSorting()
  const isWhole = page.of.data?.pagination.totalPages === 1
  return (
    <Paged {...page}>
      {(rows) => (
        <Table
          caption={caption}
          columns={columns}
          rows={isWhole ? sortRows(rows, columns, sorting.sort) : rows}
          rowKey={({ id }) => id}
          sorting={isWhole ? sorting : undefined}
        />
      )}
    </Paged>
  )
}
