// Headers of every request.
import { VERSION } from '../version.ts'
import type { Handler } from './handler.ts'

/** problem+json carries code, request id and fields in the body: in browsers, CORS may hide the headers that carry them otherwise. */
const ACCEPT = 'application/json, application/problem+json'

export const addHeaders =
  (token: string): Handler =>
  (next) =>
  (request) => {
    request.headers.set('x-api-key', token)
    request.headers.set('user-agent', `berth-sdk/${VERSION}`)
    if (!request.headers.has('accept')) request.headers.set('accept', ACCEPT)
    if (request.body !== undefined) request.headers.set('content-type', 'application/json')
    return next(request)
  }

/** Outside of `retry`, so that all attempts carry the same key and the write takes effect once. */
export const addIdempotencyKey: Handler = (next) => (request) => {
  if (request.method !== 'GET' && request.idempotencyKey !== null)
    request.headers.set('idempotency-key', request.idempotencyKey ?? randomKey())
  return next(request)
}

/** Not randomUUID, which browsers offer in secure contexts only. */
const randomKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
