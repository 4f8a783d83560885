import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useWrite } from '../../api/client.ts'
import { operatorRequest, staffTicketQuery, type StaffTicketDetails } from '../../api/operator.ts'
import { TextLink } from '../../ui/links.tsx'
import { Page, Row } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { operatorMessages, ticketMessages as w } from '../../words/words.ts'
import { Conversation } from '../tickets/Conversation.tsx'
import { ReplyForm } from '../tickets/ReplyForm.tsx'

export default function StaffTicket() {
  const { ticketId = '' } = useParams({ strict: false })
  const ticket = useQuery(staffTicketQuery(ticketId))
  return (
    <Loaded isPage of={ticket}>
      {(data) => <TicketView ticket={data} />}
    </Loaded>
  )
}

function TicketView({ ticket }: { ticket: StaffTicketDetails }) {
  const invalidates = ['operator', 'tickets']
  const close = useWrite(() => operatorRequest('POST', `/tickets/${ticket.id}/close`), { invalidates, successMessage: w.closed })
  const about = (
    <Row gap={16}>
      <Status tone={toneOf(ticket.status)}>{w.statuses[ticket.status]}</Status>
      <TextLink to="/operator/accounts/$accountId" params={{ accountId: ticket.accountId }}>
        {ticket.email}
      </TextLink>
    </Row>
  )
  const end = ticket.status !== 'CLOSED' && (
    <Button variant="default" loading={close.isPending} onClick={() => close.mutate()}>
      {w.close}
    </Button>
  )
  return (
    <Page
      narrow
      title={ticket.subject}
      about={about}
      above={<TextLink to="/operator/tickets">{operatorMessages.tickets.back}</TextLink>}
      actions={end}
    >
      <Conversation ticket={ticket} reader="staff" />
      <ReplyForm
        send={(body) => operatorRequest('POST', `/tickets/${ticket.id}/replies`, { body, close: false })}
        invalidates={invalidates}
      />
    </Page>
  )
}
