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
import { operatorWords } from '../../messages/operator.ts'
import { ticketWords } from '../../messages/tickets.ts'

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
  const { search } = usePaging()
  const status = search.status && search.status in ticketWords.statuses ? search.status : undefined
  const tickets = useQuery(staffTicketsQuery({ status, page: search.page, limit: search.limit }))
  const choose = <StatusFilter label={ticketWords.filter} status={status} choices={ticketWords.statuses} />
  return (
    <Page title={w.title} about={w.about} actions={choose}>
      <Card flush>
        <PagedTable of={tickets} caption={w.title} columns={COLUMNS} empty={<Empty icon="buoy" title={w.empty} about={w.emptyAbout} />} />
      </Card>
    </Page>
  )
}
