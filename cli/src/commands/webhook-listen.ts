import { createHmac, randomBytes } from 'node:crypto'
import { WEBHOOK_EVENTS, type Event } from '@berth/sdk'
import { verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { seconds, time } from '../format.ts'
import { words } from '../options.ts'
import { harmless, harmlessJson, paintOn, type Paint } from '../style.ts'

// Tries out a receiver that the server could not reach: events come by the stream, and go to the receiver signed as the server signs.
const PREFIX = 'whsec_'
const ANSWER_WITHIN_MS = 15_000

interface Options {
  forward?: string
  event?: string[]
  secret?: string
  after?: string
}

export const listenToEvents = verb<Options>({
  name: 'listen',
  about: 'pass events on to a program of yours as they happen, signed like webhooks; with -o json a line of JSON each',
  options: [
    ['--forward <url>', 'where your program listens (required)'],
    ['--event <name...>', 'all ten unless given'],
    ['--secret <secret>', 'whsec_… to sign with; a new one is made and shown unless given'],
    ['--after <cursor>', 'also what happened since: 0 is everything'],
  ],
  example: 'webhook listen --forward http://127.0.0.1:3000/hook',
  async run(call, { forward, event, secret = `${PREFIX}${randomBytes(32).toString('base64')}`, after, output }) {
    if (!forward || !URL.canParse(forward)) throw wrongUsage('Say where to: --forward http://127.0.0.1:3000/hook')
    if (!secret.startsWith(PREFIX)) throw wrongUsage('--secret must be the secret of a webhook, whsec_…')
    const wanted = new Set<string>(words(event) ?? WEBHOOK_EVENTS)
    call.note(`Passing events on to ${forward}. Ctrl-C ends it.`)
    call.note(`They are signed with ${secret}`)
    const paint = paintOn(call.io.stdout, call.io.env)
    for await (const each of call.berth.events.stream({ after, onReconnect: ({ message }) => call.note(message) })) {
      if (!wanted.has(each.type)) continue
      const attempt = await deliver(forward, secret, each)
      if (output === 'json') call.io.stdout.write(`${harmlessJson({ ...each, ...attempt })}\n`)
      else call.io.stdout.write(`${output === 'name' ? harmless(each.id) : lineOf(each, attempt, paint)}\n`)
    }
  },
})

/** Called as in the delivery log of webhooks. */
interface Attempt {
  responseStatus: number | null
  error: string | null
  latencyMs: number
}

function lineOf({ timestamp, type, id }: Event, { responseStatus, error, latencyMs }: Attempt, paint: Paint): string {
  const good = responseStatus !== null && responseStatus >= 200 && responseStatus < 300
  const outcome = paint(good ? 'green' : 'red', harmless(error ?? String(responseStatus)))
  return [time(timestamp), harmless(type).padEnd(24), outcome, seconds(latencyMs), harmless(id)].join('  ')
}

async function deliver(url: string, secret: string, { id, type, timestamp, data }: Event): Promise<Attempt> {
  const body = JSON.stringify({ id, type, timestamp, data })
  const began = performance.now()
  const end = (responseStatus: number | null, error: string | null): Attempt => ({
    responseStatus,
    error,
    latencyMs: Math.round(performance.now() - began),
  })
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const response = await fetch(url, { method: 'POST', headers: signed(id, secret, body), body, redirect: 'manual', signal })
    await response.body?.cancel()
    return end(response.status, null)
  } catch (error) {
    const { message, cause } = error as Error
    return end(null, cause instanceof Error && cause.message ? cause.message : message)
  }
}

function signed(id: string, secret: string, body: string): Record<string, string> {
  const sentAt = Math.floor(Date.now() / 1000)
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'Berth-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': `v1,${signature}`,
  }
}
