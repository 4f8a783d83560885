// Tells whether a webhook really comes from the server, by https://www.standardwebhooks.com. The signature covers the bytes of the body: pass
// it on as it came, before anything has parsed it.
import { WebhookVerificationError } from './errors.ts'
import type { WebhookEvent } from './webhook-event.ts'

export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /** How far the sender's clock may be from ours, and how late a message may come; 300 unless given. */
  toleranceSeconds?: number
  /** Unless given, the time of this machine. */
  now?: Date
}

type Key = Parameters<typeof crypto.subtle.verify>[1]

const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 300

/** Answers the event, or throws a WebhookVerificationError. The header may hold several signatures, as after a change of the secret: one must fit. */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = [
    headerOf(headers, 'webhook-id'),
    headerOf(headers, 'webhook-timestamp'),
    headerOf(headers, 'webhook-signature'),
  ]
  requireTimely(timestamp, options)
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  if (!(await fits(signatures, await keyOf(secret), signedBytes(id, timestamp, body))))
    throw new WebhookVerificationError('No signature fits: it was not sent with this secret, or its body was changed on the way')
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}

function requireTimely(timestamp: string, { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: VerifyOptions): void {
  const age = now.getTime() / 1_000 - (/^\d+$/.test(timestamp) ? Number(timestamp) : NaN)
  if (Math.abs(age) <= toleranceSeconds) return
  if (Number.isNaN(age)) throw new WebhookVerificationError('The header webhook-timestamp is no time')
  throw new WebhookVerificationError(
    age > 0
      ? 'The message is too old: it may be an earlier one that somebody repeats'
      : 'The message is from the future: is the clock right?',
  )
}

function keyOf(secret: string): Promise<Key> {
  const bytes = bytesOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (!bytes || bytes.length === 0) throw new TypeError('secret must be the secret of the webhook subscription, whsec_…')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Every signature is looked at, each in constant time by the runtime's own comparison: how long it takes tells nothing about the right one. */
async function fits(signatures: string, key: Key, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const candidates = signatures
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => bytesOf(each.slice('v1,'.length)))
    .filter((each) => each !== null)
  const verdicts = await Promise.all(candidates.map((each) => crypto.subtle.verify('HMAC', key, each, signed)))
  return verdicts.includes(true)
}

function signedBytes(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  return signed
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null // not base64, so not a signature either
  }
}
