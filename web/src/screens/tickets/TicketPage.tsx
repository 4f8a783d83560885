import type { TicketWithReplies } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { berth } from '../../api/berth.ts'
import { ticketQuery } from '../../queries/account.ts'
import { TextLink } from '../../ui/links.tsx'
import { Page } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status, toneOf } from '../../ui/Status.tsx'
import { ticketMessages as w } from '../../words/words.ts'
import { Conversation } from './Conversation.tsx'
import { ReplyForm } from './ReplyForm.tsx'

export default function TicketPage() {
  const { ticketId = '' } = useParams({ strict: false })
  const ticket = useQuery(ticketQuery(ticketId))
  return (
    <Loaded isPage of={ticket}>
      {(data) => <TicketView ticket={data} />}
    </Loaded>
  )
}

function TicketView({ ticket }: { ticket: TicketWithReplies }) {
  const about = <Status tone={toneOf(ticket.status)}>{w.statuses[ticket.status]}</Status>
  return (
    <Page narrow title={ticket.subject} about={about} above={<TextLink to="/tickets">{w.back}</TextLink>}>
      <Conversation ticket={ticket} reader="customer" />
      <ReplyForm
        send={(body) => berth.tickets.reply(ticket.id, body)}
        invalidates={['tickets']}
        about={ticket.status === 'CLOSED' ? w.reopens : undefined}
      />
    </Page>
  )
}
