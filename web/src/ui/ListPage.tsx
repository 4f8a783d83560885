// A page that is a list of resources: the button that makes one, the list with its tools, and what is shown where there is none.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { commonMessages, listMessages } from '../words/words.ts'
import { Empty } from './AsyncState.tsx'
import { Icon, type IconName } from './Icon.tsx'
import { LabelFilter } from './Labels.tsx'
import { ListCard, type ListFilters, type ListParts } from './ListCard.tsx'
import { SearchField } from './ListTools.tsx'
import { Page } from './Page.tsx'
import type { ListSearch } from './paging.ts'
import { RowMenu, type MenuItem } from './RowMenu.tsx'
import type { Column } from './Table.tsx'
import { Time } from './Time.tsx'

interface Props<Row> extends ListParts<Row> {
  words: { title: string; about: string; emptyTitle: string; emptyAbout: string }
  icon: IconName
  create: { label: string; onClick: () => void }
  /** Beside the button that makes one. */
  more?: ReactNode
  /** The dialog that is open. */
  children?: ReactNode
}

export function ListPage<Row extends { id: string; name: string }>({ words, icon, create, more, children, ...list }: Props<Row>) {
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
      <ListCard
        {...list}
        caption={words.title}
        icon={icon}
        empty={<Empty icon={icon} title={words.emptyTitle} about={words.emptyAbout} action={button} />}
      />
      {children}
    </Page>
  )
}

export const LABELS: ListFilters = { names: ['labels'], fields: <LabelFilter /> }

/** By name and labels, as most lists are. `more`: fields between them, with what they are called in the URL. */
export const nameFilters = (more: ReactNode = null, ...names: (keyof ListSearch)[]): ListFilters => ({
  names: ['q', 'labels', ...names],
  fields: (
    <>
      <SearchField label={listMessages.searchName} placeholder={listMessages.searchNameHint} />
      {more}
      <LabelFilter />
    </>
  ),
})

/** By which a list is sorted without a choice: newest first. */
export const createdColumn = <Row extends { createdAt: string }>(optional: 'shown' | 'hidden' = 'hidden'): Column<Row> => ({
  head: commonMessages.created,
  sort: 'createdAt',
  optional,
  right: true,
  value: ({ createdAt }) => createdAt,
  text: ({ createdAt }) => createdAt,
  cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
})

/** The last column: what can be done with a row. */
export const rowActions = <Row extends { name: string }>(itemsOf: (row: Row) => MenuItem[]): Column<Row> => ({
  head: commonMessages.actions,
  quiet: true,
  shrink: true,
  right: true,
  cell: (row) => <RowMenu name={row.name} items={itemsOf(row)} />,
})
