import { verb } from '../../command.ts'
import { harmless, harmlessJson, paintOn } from '../../style.ts'
import { lineOf } from './line.ts'

export const tail = verb<{ after?: string }>({
  name: 'tail',
  about: 'what happens, as it happens; with -o json a line of JSON each',
  options: [['--after <cursor>', 'also what came after it: 0 is everything']],
  example: 'event tail -o json | jq .type',
  async run(call, { after, output }) {
    const { stdout, env } = call.io
    const paint = paintOn(stdout, env)
    for await (const each of call.berth.events.stream({ after, onReconnect: ({ message }) => call.note(message) })) {
      if (output === 'json') stdout.write(`${harmlessJson(each)}\n`)
      else stdout.write(`${output === 'name' ? harmless(each.id) : lineOf(each, paint)}\n`)
    }
  },
})
