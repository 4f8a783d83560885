import type { Event } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined, SELECTOR, selectorOf } from '../options.ts'
import { escapeJson, paintOn, sanitizeTerminal, type Paint } from '../style.ts'

const renderEvent = (event: Event, paint: Paint): string =>
  `${paint('dim', time(event.timestamp))}  ${sanitizeTerminal([event.cursor.padStart(5), event.type.padEnd(24), describeSubject(event.data)].join('  ')).trimEnd()}`

interface Named {
  name: string
}

interface EventSubject {
  vm?: Named | null
  alert?: Named
  snapshot?: Named | undefined
  backup?: Named | undefined
  volume?: Named
  image?: Named
  address?: Named
  token?: Named
  member?: { email: string }
  project?: Named
  firewall?: Named
  ticket?: { subject: string }
  maintenance?: { startsAt: string; text: string }
  transaction?: { description: string } | null
  reason?: string | null
}

const announcement = ({ maintenance: of }: EventSubject): string | undefined => of && `${time(of.startsAt)}: ${of.text}`

function describeSubject(data: EventSubject): string {
  const named = data.volume ?? data.image ?? data.address ?? data.token ?? data.project ?? data.firewall
  const copy = data.snapshot ?? data.backup
  const ofVm = data.vm ? [data.vm, ...(copy ? [copy] : [])].map(({ name }) => name).join('/') : undefined
  const subject = data.alert
    ? [data.alert.name, ofVm].filter(Boolean).join(': ')
    : (ofVm ?? named?.name ?? data.member?.email ?? data.ticket?.subject ?? announcement(data) ?? data.transaction?.description ?? '')
  return data.reason ? `${subject} (${data.reason})` : subject
}

const tail = defineCommand<{ after?: string; selector?: string }>({
  name: 'tail',
  description: 'stream events as they happen; -o json prints one JSON object per line',
  options: [['--after <cursor>', 'start after this cursor; 0 replays all events'], SELECTOR],
  example: 'event tail -o json | jq .type',
  async run(ctx, { after, output, ...options }) {
    const { stdout, env } = ctx.io
    const paint = paintOn(stdout, env)
    for await (const each of ctx.berth.events.stream({
      after,
      ...selectorOf(options),
      onReconnect: ({ message }) => ctx.printNote(message),
    })) {
      if (output === 'json') stdout.write(`${escapeJson(each)}\n`)
      else stdout.write(`${output === 'name' ? sanitizeTerminal(each.id) : renderEvent(each, paint)}\n`)
    }
  },
})

const list = defineCommand<{ after?: string; selector?: string }>({
  name: 'list',
  description: 'list events, oldest first',
  options: [['--after <cursor>', 'only events after this cursor'], SELECTOR],
  limits: true,
  example: 'event list --after 42 --limit 20',
  async run(ctx, { after, limit, ...options }) {
    const filter = { after, ...selectorOf(options) }
    const events: Event[] = limit === undefined ? [] : await ctx.berth.events.page(omitUndefined({ ...filter, limit }))
    if (limit === undefined) for await (const each of ctx.berth.events.list(omitUndefined(filter))) events.push(each)
    else if (events.length === limit) ctx.printNote(`There may be more: --after ${events.at(-1)!.cursor}`)
    return {
      data: events,
      names: events.map(({ id }) => id),
      text: (paint) => events.map((each) => renderEvent(each, paint)).join('\n'),
      ...(events.length === 0 && { hint: 'No events yet' }),
    }
  },
})

export const event = group('event', 'account events', [tail, list])
