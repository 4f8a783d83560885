// A list with everything around it: filters in the URL, sorting, columns, CSV of all that match, and what is done with those that are ticked.
import { Button } from '@mantine/core'
import type { Page as Listed } from '@berth/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { listMessages as w } from '../words/words.ts'
import { Empty } from './AsyncState.tsx'
import { ColumnChooser, useColumns } from './ColumnChooser.tsx'
import { CsvButton } from './CsvButton.tsx'
import type { IconName } from './Icon.tsx'
import { ListTools, SortSelect } from './ListTools.tsx'
import { Card } from './Page.tsx'
import { Paged } from './PagedTable.tsx'
import { usePaging, type ListSearch } from './paging.ts'
import { useSelection, type Selection } from './selection.ts'
import { SelectionBar, type SelectionAction } from './SelectionBar.tsx'
import { sortRows, useSorting } from './sorting.ts'
import { Table, type Column } from './Table.tsx'

export interface ListFilters {
  /** What they are called in the URL. */
  names: readonly (keyof ListSearch)[]
  fields: ReactNode
}

export interface ListParts<Row> {
  /** Of the chosen columns, and of the CSV file. */
  list: string
  of: UseQueryResult<Pick<Listed<Row>, 'items' | 'pagination'>>
  columns: Column<Row>[]
  filters?: ListFilters
  /** By `sort` in the URL. Otherwise a list of one page is sorted here, by columns that have a value. */
  isSortedByApi?: boolean
  /** All that match, for the CSV file. */
  all?: () => AsyncIterable<Row>
  /** What can be done with those that are ticked, which are on the page. */
  bulk?: (rows: Row[], selection: Selection) => SelectionAction[]
}

interface Props<Row> extends ListParts<Row> {
  caption: string
  icon: IconName
  empty: ReactNode
}

const NO_FILTERS: ListFilters = { names: [], fields: null }

export function ListCard<Row extends { id: string; name?: string | null }>(props: Props<Row>) {
  const { list, caption, icon, of, filters = NO_FILTERS, isSortedByApi = false, all, bulk, empty } = props
  const { search, filter } = usePaging()
  const sorting = useSorting()
  const columns = useColumns(list, props.columns)
  const selection = useSelection(JSON.stringify(search))
  const isFiltered = filters.names.some((name) => search[name] !== undefined)
  const isSorted = isSortedByApi || of.data?.pagination.totalPages === 1
  const tools = (
    <>
      {isSorted && <SortSelect columns={columns.all} sorting={sorting} />}
      <ColumnChooser columns={columns} />
      {all && <CsvButton fileName={`${list}.csv`} columns={columns.all} rows={all} />}
    </>
  )
  const noMatch = (
    <Empty
      icon={icon}
      title={w.noMatch}
      about={w.noMatchAbout}
      action={
        <Button variant="default" onClick={() => filter(Object.fromEntries(filters.names.map((name) => [name, undefined])))}>
          {w.clearFilters}
        </Button>
      }
    />
  )
  const chosen = (of.data?.items ?? []).filter(({ id }) => selection.ids.has(id))
  return (
    <Card flush>
      {(isFiltered || of.data?.pagination.total !== 0) && (
        <ListTools filters={filters.names} tools={tools}>
          {filters.fields}
        </ListTools>
      )}
      {bulk && <SelectionBar selection={selection} actions={bulk(chosen, selection)} />}
      <Paged of={of} empty={isFiltered ? noMatch : empty}>
        {(rows) => (
          <Table
            caption={caption}
            columns={columns.shown}
            rows={isSortedByApi ? rows : sortRows(rows, props.columns, isSorted ? sorting.sort : undefined)}
            rowKey={({ id }) => id}
            nameOf={({ id, name }) => name ?? id}
            sorting={isSorted ? sorting : undefined}
            selection={bulk && selection}
          />
        )}
      </Paged>
    </Card>
  )
}
