import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { textOrFile } from '../../options.ts'

export const create = verb({
  name: 'create',
  about: 'ask support; the question as text, @file, or - for stdin',
  args: '<subject> <body>',
  example: 'ticket create "No address" "web-1 has none since this morning"',
  async run({ berth }, _, subject: string, body: string) {
    const made = await berth.tickets.create({ subject, body: textOrFile(body) })
    return said(made, made.id, `Ticket ${made.id} is open. To read answers: berth ticket get ${made.id}`)
  },
})
