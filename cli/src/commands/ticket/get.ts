import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'
import { harmlessLines } from '../../style.ts'

export const get = verb({
  name: 'get',
  about: 'show a ticket with its replies',
  args: '<ticket>',
  example: 'ticket get "No address"',
  async run(call, _, ticket: string) {
    const found = await call.berth.tickets.get(await call.id('ticket', ticket))
    const head = record(found, { Subject: (each) => each.subject, Id: (each) => each.id, Status: (each) => each.status })
    const said = [{ author: 'customer', createdAt: found.createdAt, body: found.body }, ...found.replies]
    const lines = said.map(({ author, createdAt, body }) => harmlessLines(`\n${author}, ${time(createdAt)}:\n${body}`))
    return { ...head, names: [found.id], text: (paint) => [head.text(paint), ...lines].join('\n') }
  },
})
