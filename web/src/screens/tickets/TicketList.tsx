import { Button, Textarea, TextInput } from '@mantine/core'
import type { Query, Ticket } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { ticketsQuery } from '../../queries/account.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { ticketMessages as w } from '../../words/words.ts'

const COLUMNS: Column<Ticket>[] = [
  {
    head: w.subject,
    truncate: ({ subject }) => subject,
    cell: ({ id, subject }) => (
      <TextLink to="/tickets/$ticketId" params={{ ticketId: id }}>
        {subject}
      </TextLink>
    ),
  },
  { head: w.status, cell: ({ status }) => <Status tone={toneOf(status)}>{w.statuses[status]}</Status> },
  { head: w.replies, cell: ({ replyCount }) => replyCount, right: true },
  { head: w.updated, cell: ({ updatedAt }) => <Time at={updatedAt} as="ago" />, right: true },
]

export default function TicketList() {
  const [creates, setCreates] = useState(false)
  const { search } = usePaging()
  const status = search.status && search.status in w.statuses ? (search.status as Query<'listTickets'>['status']) : undefined
  const tickets = useQuery(ticketsQuery({ page: search.page, limit: search.limit, status }))
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreates(true)}>
      {w.create}
    </Button>
  )
  const actions = (
    <>
      <StatusFilter label={w.filter} status={status} choices={w.statuses} />
      {create}
    </>
  )
  return (
    <Page title={w.title} about={w.about} actions={actions}>
      <Card flush>
        <PagedTable
          of={tickets}
          caption={w.title}
          columns={COLUMNS}
          empty={<Empty icon="buoy" title={w.emptyTitle} about={status ? w.noneWith : w.emptyAbout} action={create} />}
        />
      </Card>
      {creates && <NewTicket onClose={() => setCreates(false)} />}
    </Page>
  )
}

function NewTicket({ onClose }: { onClose: () => void }) {
  const [subject, setSubject] = useState('')
  const [body, setBody] = useState('')
  const navigate = useNavigate()
  const create = useWrite(() => berth.tickets.create({ subject, body }), {
    inForm: true,
    invalidates: ['tickets'],
    successMessage: w.created,
    onDone: ({ id }) => navigate({ to: '/tickets/$ticketId', params: { ticketId: id } }),
  })
  return (
    <Dialog title={w.create} onClose={onClose} size="lg">
      <Form onSubmit={() => create.mutate()} busy={create.isPending} error={create.error} submit={w.create} onCancel={onClose}>
        <TextInput
          label={w.subject}
          value={subject}
          onChange={(event) => setSubject(event.currentTarget.value)}
          error={fieldError(create.error, 'subject')}
          maxLength={200}
          data-autofocus
        />
        <Textarea
          label={w.body}
          description={w.bodyHint}
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
          error={fieldError(create.error, 'body')}
          rows={8}
        />
      </Form>
    </Dialog>
  )
}
