import type { TicketReply, TicketWithReplies } from '@berth/sdk'
import { Time } from '../../ui/Time.tsx'
import { ticketMessages as w } from '../../words/words.ts'
import css from './tickets.module.css'

interface Props {
  ticket: Pick<TicketWithReplies, 'body' | 'createdAt' | 'replies'>
  /** Whose view: the own messages are labelled “You”. */
  reader: TicketReply['author']
}

export function Conversation({ ticket, reader }: Props) {
  const first: TicketReply = { id: '', author: 'customer', body: ticket.body, createdAt: ticket.createdAt }
  const nameOf = (author: TicketReply['author']): string => (author === reader ? w.you : author === 'staff' ? w.staff : w.customer)
  return (
    <ol className={css['talk']}>
      {[first, ...ticket.replies].map((reply) => (
        <li key={reply.id} className={css['message']} data-author={reply.author}>
          <div className={css['from']}>
            <strong>{nameOf(reply.author)}</strong>
            <span className="muted">
              <Time at={reply.createdAt} />
            </span>
          </div>
          <p className={css['body']}>{reply.body}</p>
        </li>
      ))}
    </ol>
  )
}
