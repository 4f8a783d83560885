// A screen that consists of one table; most operator screens do.
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { IconName } from '../../ui/Icon.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { Table, type Column } from '../../ui/Table.tsx'

export interface ListMessages {
  title: string
  about: string
  empty: string
  emptyAbout: string
}

interface Props<Row> {
  messages: ListMessages
  icon: IconName
  of: UseQueryResult<Row[]>
  columns: Column<Row>[]
  rowKey: (row: Row) => string
  actions?: ReactNode
  children?: ReactNode
}

export function List<Row>({ messages, icon, of, columns, rowKey, actions, children }: Props<Row>) {
  return (
    <Page title={messages.title} about={messages.about} actions={actions}>
      <Card flush>
        <Loaded of={of}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty icon={icon} title={messages.empty} about={messages.emptyAbout} />
            ) : (
              <Table caption={messages.title} columns={columns} rows={rows} rowKey={rowKey} />
            )
          }
        </Loaded>
      </Card>
      {children}
    </Page>
  )
}
