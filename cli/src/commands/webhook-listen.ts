// Forwards events from the stream to a local endpoint, with the server's webhook signature. For endpoints that the server cannot reach.
import { createHmac, randomBytes } from 'node:crypto'
import { WEBHOOK_EVENTS, type Event } from '@berth/sdk'
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { seconds, time } from '../format.ts'
import { parseEventTypes } from '../options.ts'
import { escapeJson, paintOn, sanitizeTerminal, type Paint } from '../style.ts'

const SECRET_PREFIX = 'whsec_'
const RESPONSE_TIMEOUT_MS = 15_000

interface Options {
  forward?: string
  event?: string[]
  secret?: string
  after?: string
}

export const listenAndForward = defineCommand<Options>({
  name: 'listen',
  description: 'forward events to a local URL, signed like webhooks; -o json prints one JSON object per line',
  options: [
    ['--forward <url>', 'URL to forward to (required)'],
    ['--event <event...>', 'event types; default: all'],
    ['--secret <secret>', 'signing secret, whsec_…; default: a generated one'],
    ['--after <cursor>', 'start after this cursor; 0 replays all events'],
  ],
  example: 'webhook listen --forward http://127.0.0.1:3000/hook',
  async run(ctx, { forward, event, secret = `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`, after, output }) {
    if (!forward || !URL.canParse(forward)) throw usageError('--forward is required, such as --forward http://127.0.0.1:3000/hook')
    if (!secret.startsWith(SECRET_PREFIX)) throw usageError('--secret must be a webhook secret, whsec_…')
    const wanted = new Set(parseEventTypes(event) ?? WEBHOOK_EVENTS)
    ctx.printNote(`Forwarding events to ${forward}. Press Ctrl-C to stop.`)
    ctx.printNote(`Signing secret: ${secret}`)
    const paint = paintOn(ctx.io.stdout, ctx.io.env)
    for await (const each of ctx.berth.events.stream({ after, onReconnect: ({ message }) => ctx.printNote(message) })) {
      if (!wanted.has(each.type)) continue
      const attempt = await deliver(forward, secret, each)
      if (output === 'json') ctx.io.stdout.write(`${escapeJson({ ...each, ...attempt })}\n`)
      else ctx.io.stdout.write(`${output === 'name' ? sanitizeTerminal(each.id) : renderAttempt(each, attempt, paint)}\n`)
    }
  },
})

/** Fields are named as in the webhook delivery log. */
interface Attempt {
  responseStatus: number | null
  error: string | null
  latencyMs: number
}

function renderAttempt({ timestamp, type, id }: Event, { responseStatus, error, latencyMs }: Attempt, paint: Paint): string {
  const good = responseStatus !== null && responseStatus >= 200 && responseStatus < 300
  const outcome = paint(good ? 'green' : 'red', sanitizeTerminal(error ?? String(responseStatus)))
  return [time(timestamp), sanitizeTerminal(type).padEnd(24), outcome, seconds(latencyMs), sanitizeTerminal(id)].join('  ')
}

async function deliver(url: string, secret: string, { id, type, timestamp, data }: Event): Promise<Attempt> {
  const body = JSON.stringify({ id, type, timestamp, data })
  const startedMs = performance.now()
  const toAttempt = (responseStatus: number | null, error: string | null): Attempt => ({
    responseStatus,
    error,
    latencyMs: Math.round(performance.now() - startedMs),
  })
  try {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', headers: signatureHeaders(id, secret, body), body, redirect: 'manual', signal })
    await response.body?.cancel()
    return toAttempt(response.status, null)
  } catch (error) {
    const { message, cause } = error as Error
    return toAttempt(null, cause instanceof Error && cause.message ? cause.message : message)
  }
}

function signatureHeaders(id: string, secret: string, body: string): Record<string, string> {
  const sentAt = Math.floor(Date.now() / 1000)
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'Berth-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': `v1,${signature}`,
  }
}
