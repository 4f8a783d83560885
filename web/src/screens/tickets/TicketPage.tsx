import { Textarea } from '@mantine/core'
import type { TicketWithReplies } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { ticketQuery } from '../../queries/account.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/States.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { ticketWords as w } from '../../words/tickets.ts'
import { Conversation } from './Conversation.tsx'

export default function TicketPage() {
  const { ticketId = '' } = useParams({ strict: false })
  const ticket = useQuery(ticketQuery(ticketId))
  return (
    <Loaded isPage of={ticket}>
      {(data) => <Shown ticket={data} />}
    </Loaded>
  )
}

function Shown({ ticket }: { ticket: TicketWithReplies }) {
  const [body, setBody] = useState('')
  const reply = useWrite(() => berth.tickets.reply(ticket.id, body), {
    inForm: true,
    changes: ['tickets'],
    says: w.sent,
    after: () => setBody(''),
  })
  const about = <Status tone={toneOf(ticket.status)}>{w.statuses[ticket.status]}</Status>
  return (
    <Page narrow title={ticket.subject} about={about} above={<TextLink to="/tickets">{w.back}</TextLink>}>
      <Conversation ticket={ticket} reader="customer" />
      <Card>
        <Form onSubmit={() => reply.mutate()} busy={reply.isPending} error={reply.error} submit={w.send} disabled={body === ''}>
          <Textarea
            label={w.reply}
            description={ticket.status === 'CLOSED' ? w.reopens : undefined}
            value={body}
            onChange={(event) => setBody(event.currentTarget.value)}
            error={fieldError(reply.error, 'body')}
            rows={5}
          />
        </Form>
      </Card>
    </Page>
  )
}
