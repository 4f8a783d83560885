// The public API through the SDK, authenticated by the session cookie instead of a token.
import { Berth } from '@berth/sdk'
import { accountHeaders } from './account.ts'
import { noteServerTime } from './server-time.ts'

const PUBLIC = '/api/public/v1'
const SESSION = '/api/dashboard/v1'

const withSession: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers)
  headers.delete('x-api-key')
  headers.delete('user-agent')
  for (const [name, value] of Object.entries(accountHeaders())) headers.set(name, value)
  const response = await fetch((input as string).replace(PUBLIC, SESSION), { ...init, headers, credentials: 'same-origin' })
  noteServerTime(response)
  return response
}

/** Two retries: after that, users prefer an error message to waiting. */
export const berth = new Berth({ baseUrl: location.origin, token: 'session', fetch: withSession, maxRetries: 2 })
