// A page that is a list of resources: a filter by their labels, the button that makes one, the table, and what is shown where there is none.
import { Button } from '@mantine/core'
import type { Page as Listed } from '@berth/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { commonMessages, labelMessages } from '../words/words.ts'
import { Empty } from './AsyncState.tsx'
import { Icon, type IconName } from './Icon.tsx'
import { LabelFilter } from './Labels.tsx'
import { ListTools, SortSelect } from './ListTools.tsx'
import { Card, Page } from './Page.tsx'
import { PagedTable } from './PagedTable.tsx'
import { usePaging } from './paging.ts'
import { RowMenu, type MenuItem } from './RowMenu.tsx'
import { useSorting } from './sorting.ts'
import type { Column } from './Table.tsx'

interface Props<Row> {
  words: { title: string; about: string; emptyTitle: string; emptyAbout: string }
  icon: IconName
  create: { label: string; onClick: () => void }
  of: UseQueryResult<Pick<Listed<Row>, 'items' | 'pagination'>>
  columns: Column<Row>[]
  hasLabels?: boolean
  /** Beside the button that makes one. */
  more?: ReactNode
  /** The dialog that is open. */
  children?: ReactNode
}

const FILTERS = ['labels'] as const

export function ListPage<Row extends { id: string }>({ words, icon, create, of, columns, hasLabels = true, more, children }: Props<Row>) {
  const { search } = usePaging()
  const sorting = useSorting()
  const isFiltered = search.labels !== undefined
  const isWhole = of.data?.pagination.totalPages === 1
  const button = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={create.onClick}>
      {create.label}
    </Button>
  )
  return (
    <Page
      title={words.title}
      about={words.about}
      actions={
        <>
          {more}
          {button}
        </>
      }
    >
      <Card flush>
        {hasLabels && (isFiltered || of.data?.pagination.total !== 0) && (
          <ListTools filters={FILTERS} tools={isWhole && <SortSelect columns={columns} sorting={sorting} />}>
            <LabelFilter />
          </ListTools>
        )}
        <PagedTable
          of={of}
          caption={words.title}
          columns={columns}
          empty={
            isFiltered ? (
              <Empty icon={icon} title={labelMessages.noneTitle} about={labelMessages.noneAbout} />
            ) : (
              <Empty icon={icon} title={words.emptyTitle} about={words.emptyAbout} action={button} />
            )
          }
        />
      </Card>
      {children}
    </Page>
  )
}

/** The last column: what can be done with a row. */
export const rowActions = <Row extends { name: string }>(itemsOf: (row: Row) => MenuItem[]): Column<Row> => ({
  head: commonMessages.actions,
  quiet: true,
  shrink: true,
  right: true,
  cell: (row) => <RowMenu name={row.name} items={itemsOf(row)} />,
})
