import type { Query, Ticket } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'
import { given } from '../../options.ts'

export const list = verb<{ status?: Query<'listTickets'>['status'] }>({
  name: 'list',
  about: 'list your tickets',
  options: [['--status <status>', 'OPEN, ANSWERED or CLOSED']],
  example: 'ticket list --status ANSWERED',
  run: async ({ berth }, { status }) =>
    rows(
      await berth.tickets.list(given({ status })).all(),
      {
        ID: (each: Ticket) => each.id,
        SUBJECT: (each) => each.subject,
        STATUS: (each) => each.status,
        REPLIES: (each) => each.replyCount,
        UPDATED: (each) => time(each.updatedAt),
      },
      'There is no ticket: berth ticket create --help',
    ),
})
