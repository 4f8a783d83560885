// What every request says about itself.
import { VERSION } from '../version.ts'
import type { Handler } from './handler.ts'

/** Failures are asked for in the form that holds the code, the request's id and the fields; in a browser headers may be out of sight. */
const ACCEPT = 'application/json, application/problem+json'

export const identify =
  (token: string): Handler =>
  (next) =>
  (request) => {
    request.headers.set('x-api-key', token)
    request.headers.set('user-agent', `berth-sdk/${VERSION}`)
    if (!request.headers.has('accept')) request.headers.set('accept', ACCEPT)
    if (request.body !== undefined) request.headers.set('content-type', 'application/json')
    return next(request)
  }

/** Outside of the retries: the key is the same in all of them, so the effect is one. */
export const nameWrites: Handler = (next) => (request) => {
  if (request.method !== 'GET' && request.idempotencyKey !== null)
    request.headers.set('idempotency-key', request.idempotencyKey ?? newKey())
  return next(request)
}

/** Not randomUUID: browsers have that on secure pages only. */
const newKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
