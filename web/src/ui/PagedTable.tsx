// A page of a list: its rows and the way to the other pages, or what to do when there are none.
import type { Page } from '@berth/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Pager } from './Pager.tsx'
import { Loaded } from './States.tsx'
import { Table, type Column } from './Table.tsx'

interface Props<Row> {
  of: UseQueryResult<Pick<Page<Row>, 'items' | 'pagination'>>
  caption: string
  columns: Column<Row>[]
  empty: ReactNode
}

export const PagedTable = <Row extends { id: string }>({ of, caption, columns, empty }: Props<Row>) => (
  <Loaded of={of}>
    {({ items, pagination }) =>
      items.length === 0 ? (
        empty
      ) : (
        <>
          <Table caption={caption} columns={columns} rows={items} rowKey={({ id }) => id} />
          <Pager pagination={pagination} />
        </>
      )
    }
  </Loaded>
)
