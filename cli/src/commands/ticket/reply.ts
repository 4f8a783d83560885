import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { textOrFile } from '../../options.ts'

export const reply = verb({
  name: 'reply',
  about: 'write into a ticket; as text, @file, or - for stdin',
  args: '<ticket> <body>',
  example: 'ticket reply "No address" "It has one now"',
  async run(call, _, ticket: string, body: string) {
    const made = await call.berth.tickets.reply(await call.id('ticket', ticket), textOrFile(body))
    return said(made, made.id, `Support reads it`)
  },
})
