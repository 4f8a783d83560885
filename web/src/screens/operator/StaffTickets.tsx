import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { staffTicketsQuery, type StaffTicket } from '../../api/operator.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty, Loaded } from '../../ui/States.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonWords } from '../../words/common.ts'
import { operatorWords } from '../../words/operator.ts'
import { ticketWords } from '../../words/tickets.ts'

const w = operatorWords.tickets

const COLUMNS: Column<StaffTicket>[] = [
  {
    head: ticketWords.subject,
    cell: ({ id, subject }) => (
      <TextLink to="/operator/tickets/$ticketId" params={{ ticketId: id }}>
        {subject}
      </TextLink>
    ),
  },
  { head: ticketWords.account, cell: ({ email }) => email },
  { head: ticketWords.status, cell: ({ status }) => <Status tone={toneOf(status)}>{ticketWords.statuses[status]}</Status> },
  { head: ticketWords.replies, cell: ({ replyCount }) => replyCount, right: true },
  { head: ticketWords.updated, cell: ({ updatedAt }) => <Time at={updatedAt} as="ago" />, right: true },
]

export default function StaffTickets() {
  const { search, filter } = usePaging()
  const status = search.status && search.status in ticketWords.statuses ? search.status : undefined
  const tickets = useQuery(staffTicketsQuery({ status, page: search.page, limit: search.limit }))
  const choose = (
    <NativeSelect
      aria-label={ticketWords.filter}
      value={status ?? ''}
      onChange={(event) => filter({ status: event.currentTarget.value || undefined })}
      data={[{ value: '', label: commonWords.all }, ...Object.entries(ticketWords.statuses).map(([value, label]) => ({ value, label }))]}
    />
  )
  return (
    <Page title={w.title} about={w.about} actions={choose}>
      <Card flush>
        <Loaded of={tickets}>
          {({ items, pagination }) =>
            items.length === 0 ? (
              <Empty icon="buoy" title={w.empty} about={w.emptyAbout} />
            ) : (
              <>
                <Table caption={w.title} columns={COLUMNS} rows={items} rowKey={({ id }) => id} />
                <Pager pagination={pagination} />
              </>
            )
          }
        </Loaded>
      </Card>
    </Page>
  )
}
