// Verifies the signature of a webhook request (https://www.standardwebhooks.com). The signature covers the bytes of the body: pass the raw body,
// not a parsed and re-serialised one.
import { WebhookVerificationError } from './errors.ts'
import type { WebhookEvent } from './webhook-event.ts'

export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /** Largest accepted difference between webhook-timestamp and now, for clock skew and late deliveries. Default: 300. */
  toleranceSeconds?: number
  /** Default: the current time. */
  now?: Date
}

type Key = Parameters<typeof crypto.subtle.verify>[1]

const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 300

/** Returns the event or throws WebhookVerificationError. After a secret rotation the header holds several signatures: one must match. */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = [
    requireHeader(headers, 'webhook-id'),
    requireHeader(headers, 'webhook-timestamp'),
    requireHeader(headers, 'webhook-signature'),
  ]
  requireRecent(timestamp, options)
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  if (!(await anySignatureMatches(signatures, await importKey(secret), signedBytes(id, timestamp, body))))
    throw new WebhookVerificationError('No signature matches: the secret is wrong, or the body was modified')
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}

function requireRecent(timestamp: string, { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: VerifyOptions): void {
  const age = now.getTime() / 1_000 - (/^\d+$/.test(timestamp) ? Number(timestamp) : NaN)
  if (Math.abs(age) <= toleranceSeconds) return
  if (Number.isNaN(age)) throw new WebhookVerificationError('The header webhook-timestamp is not a Unix timestamp')
  throw new WebhookVerificationError(
    age > 0 ? 'The message is too old: it may be a replay' : 'The message is from the future: check the clock of this machine',
  )
}

function importKey(secret: string): Promise<Key> {
  const bytes = decodeBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (!bytes || bytes.length === 0) throw new TypeError('secret must be the secret of the webhook subscription, whsec_…')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Checks every signature with WebCrypto's constant-time comparison, so that timing reveals nothing about the right one. */
async function anySignatureMatches(signatures: string, key: Key, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const candidates = signatures
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => decodeBase64(each.slice('v1,'.length)))
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

function decodeBase64(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null // not base64, so not a signature
  }
}
