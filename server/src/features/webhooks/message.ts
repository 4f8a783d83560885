// The message format is Standard Webhooks, so that published libraries in any language can verify it.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { Outbound } from '../../kernel/net/outbound-http.ts'
import type { HttpExchange } from '../../kernel/net/outbound-http.ts'
import type { Vault } from '../../kernel/crypto.ts'

const PREFIX = 'whsec_'

export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`

const contextOf = (webhookId: string): string => `webhook:${webhookId}`

export const sealSecret = (vault: Vault, webhookId: string, secret: string): Buffer => vault.seal(secret, contextOf(webhookId))

/** The current secret, and after a rotation the previous one until the overlap ends. */
export const openSecrets = (
  vault: Vault,
  { webhookId, secret, previous }: { webhookId: string; secret: Buffer; previous: Buffer | null },
): string[] => [secret, previous].filter((sealed) => sealed !== null).map((sealed) => vault.open(sealed, contextOf(webhookId)))

export interface Message {
  /** The same on every retry, so that a receiver can detect duplicates. */
  id: string
  url: string
  secrets: string[]
  /** The same bytes on every retry. */
  body: string
  sentAt: Date
}

/** `data` is already JSON and is sent as stored. */
export const bodyOf = (event: { id: string; type: string; happenedAt: Date; data: string }): string =>
  `{"id":${JSON.stringify(event.id)},"type":${JSON.stringify(event.type)},"timestamp":"${event.happenedAt.toISOString()}","data":${event.data}}`

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** One signature per secret: a receiver accepts any valid one. */
export const signatureOf = ({ id, secrets, body, sentAt }: Message): string =>
  secrets
    .map((secret) => createSecretKey(secret.slice(PREFIX.length), 'base64'))
    .map(
      (key) =>
        `v1,${createHmac('sha256', key)
          .update(`${id}.${seconds(sentAt)}.${body}`)
          .digest('base64')}`,
    )
    .join(' ')

export const headersOf = (id: string, sentAt: Date, signature: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'Berth-Webhooks/1',
  'webhook-id': id,
  'webhook-timestamp': String(seconds(sentAt)),
  'webhook-signature': signature,
})

export interface Sent extends HttpExchange {
  signature: string
  /** Why the receiver did not accept the message, or null. */
  problem: string | null
}

export async function send(outbound: Outbound, message: Message, signal?: AbortSignal): Promise<Sent> {
  const signature = signatureOf(message)
  const exchanged = await outbound.post(message.url, headersOf(message.id, message.sentAt, signature), message.body, signal)
  return { ...exchanged, signature, problem: exchanged.error ?? problemWith(exchanged.status!) }
}

function problemWith(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `the receiver answered ${status}: redirects are not followed, so give the final URL`
  return status === 410 ? 'the receiver answered 410: it wants no more events' : `the receiver answered ${status}: only 2xx means delivered`
}
