import type { Event } from '@berth/sdk'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { given } from '../options.ts'
import { harmless, harmlessJson, paintOn, type Paint } from '../style.ts'

// Events as lines that read in order of time.
const lineOf = (event: Event, paint: Paint): string =>
  `${paint('dim', time(event.timestamp))}  ${harmless([event.cursor.padStart(5), event.type.padEnd(24), about(event.data)].join('  ')).trimEnd()}`

interface About {
  vm?: { name: string }
  ticket?: { subject: string }
  transaction?: { description: string } | null
  reason?: string | null
}

function about(data: About): string {
  const subject = data.vm?.name ?? data.ticket?.subject ?? data.transaction?.description ?? ''
  return data.reason ? `${subject} (${data.reason})` : subject
}

const tail = verb<{ after?: string }>({
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

const list = verb<{ after?: string }>({
  name: 'list',
  about: 'what has happened, the oldest first',
  options: [['--after <cursor>', 'only what came after it']],
  example: 'event list --after 42',
  async run({ berth }, { after }) {
    const events: Event[] = []
    for await (const each of berth.events.list(given({ after }))) events.push(each)
    return {
      data: events,
      names: events.map(({ id }) => id),
      text: (paint) => events.map((each) => lineOf(each, paint)).join('\n'),
      ...(events.length === 0 && { hint: 'Nothing has happened yet' }),
    }
  },
})

export const event = group('event', 'what has happened', [tail, list])
