// What only a person does: sign-in, API keys, the operator area. The same envelope and errors as the public API.
import { ApiError, NetworkError, type FieldError, type Page } from '@berth/sdk'

interface Envelope {
  success: boolean
  data?: unknown
  pagination?: Page<unknown>['pagination']
  detail?: string
  error?: string
  code?: string
  requestId?: string
  errors?: FieldError[]
}

type Query = Record<string, string | number | boolean | undefined>

const PAUSE_MS = 500
const BASE = '/api/dashboard'

/** What only reads is asked once more when no answer came: laptops change networks. */
async function send(method: string, path: string, body?: unknown): Promise<Envelope> {
  const once = (): Promise<Envelope> => sendOnce(method, path, body)
  return once().catch((error: unknown) => {
    if (method !== 'GET' || !(error instanceof NetworkError)) throw error
    return new Promise((resolve) => setTimeout(resolve, PAUSE_MS)).then(once)
  })
}

async function sendOnce(method: string, path: string, body?: unknown): Promise<Envelope> {
  const headers: Record<string, string> = { accept: 'application/json, application/problem+json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init = { method, headers, credentials: 'same-origin', ...(body !== undefined && { body: JSON.stringify(body) }) } as const
  const response = await fetch(`${BASE}${path}`, init).catch((cause: unknown) => {
    throw new NetworkError(String(cause), { cause })
  })
  const answer = (await response.json().catch(() => ({}))) as Envelope
  if (response.ok && answer.success) return answer
  throw toError(response, answer)
}

function toError({ status, statusText, headers }: Response, answer: Envelope): ApiError<string> {
  const retryAfter = headers.get('retry-after')
  return new ApiError<string>(answer.detail ?? answer.error ?? `${status} ${statusText}`, {
    status,
    code: answer.code ?? headers.get('x-error-code') ?? 'unknown',
    requestId: answer.requestId ?? headers.get('x-request-id'),
    fields: answer.errors ?? [],
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
  })
}

export async function ask<T>(method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T> {
  return (await send(method, path, body)).data as T
}

export async function askPage<T>(path: string, query: Query = {}): Promise<Page<T>> {
  const { data, pagination } = await send('GET', `${path}${searchOf(query)}`)
  const items = data as T[]
  return { items, pagination: pagination ?? { page: 1, limit: items.length, total: items.length, totalPages: 1 } }
}

function searchOf(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}
