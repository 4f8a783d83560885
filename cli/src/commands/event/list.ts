import type { Event } from '@berth/sdk'
import { verb } from '../../command.ts'
import { given } from '../../options.ts'
import { lineOf } from './line.ts'

export const list = verb<{ after?: string }>({
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
