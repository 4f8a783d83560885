// What a receiver gets: Standard Webhooks, so that a published library checks it in any language.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { Outbound } from '../../kernel/net/outbound-http.ts'
import type { HttpExchange } from '../../kernel/net/outbound-http.ts'
import type { Vault } from '../../kernel/crypto.ts'

const PREFIX = 'whsec_'

export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`

const contextOf = (webhookId: string): string => `webhook:${webhookId}`

export const sealSecret = (vault: Vault, webhookId: string, secret: string): Buffer => vault.seal(secret, contextOf(webhookId))

/** The secret in use, and for a while the one before it. */
export const openSecrets = (
  vault: Vault,
  { webhookId, secret, previous }: { webhookId: string; secret: Buffer; previous: Buffer | null },
): string[] => [secret, previous].filter((sealed) => sealed !== null).map((sealed) => vault.open(sealed, contextOf(webhookId)))

export interface Message {
  /** The same on every retry: by it a receiver recognises what it has had already. */
  id: string
  url: string
  secrets: string[]
  /** The same bytes on every retry. */
  body: string
  sentAt: Date
}

/** `data` is JSON already: it goes out as it was stored. */
export const bodyOf = (event: { id: string; type: string; happenedAt: Date; data: string }): string =>
  `{"id":${JSON.stringify(event.id)},"type":${JSON.stringify(event.type)},"timestamp":"${event.happenedAt.toISOString()}","data":${event.data}}`

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** One signature for each secret: a receiver is content when one of them fits. */
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
  /** Why the receiver has not taken it, or null. */
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
