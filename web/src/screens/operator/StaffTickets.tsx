import { useQuery } from '@tanstack/react-query'
import { staffTicketsQuery, type StaffTicket } from '../../api/operator.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { operatorMessages, ticketMessages } from '../../words/words.ts'

const w = operatorMessages.tickets

const COLUMNS: Column<StaffTicket>[] = [
  {
    head: ticketMessages.subject,
    truncate: ({ subject }) => subject,
    cell: ({ id, subject }) => (
      <TextLink to="/operator/tickets/$ticketId" params={{ ticketId: id }}>
        {subject}
      </TextLink>
    ),
  },
  { head: ticketMessages.account, truncate: ({ email }) => email, cell: ({ email }) => email },
  { head: ticketMessages.status, cell: ({ status }) => <Status tone={toneOf(status)}>{ticketMessages.statuses[status]}</Status> },
  { head: ticketMessages.replies, cell: ({ replyCount }) => replyCount, right: true },
  { head: ticketMessages.updated, cell: ({ updatedAt }) => <Time at={updatedAt} as="ago" />, right: true },
]

export default function StaffTickets() {
  const { search } = usePaging()
  const status = search.status && search.status in ticketMessages.statuses ? search.status : undefined
  const tickets = useQuery(staffTicketsQuery({ status, page: search.page, limit: search.limit }))
  const choose = <StatusFilter label={ticketMessages.filter} status={status} choices={ticketMessages.statuses} />
  return (
    <Page title={w.title} about={w.about} actions={choose}>
      <Card flush>
        <PagedTable of={tickets} caption={w.title} columns={COLUMNS} empty={<Empty icon="buoy" title={w.empty} about={w.emptyAbout} />} />
      </Card>
    </Page>
  )
}
