// Client of the dashboard API (sign-in, API keys, operator area), with the envelope and errors of the public API.
import { ApiError, NetworkError, type FieldError, type Page } from '@berth/sdk'
import { language } from '../words/language.ts'
import { accountHeaders } from './account.ts'

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

const RETRY_DELAY_MS = 500
const BASE = '/api/dashboard'

/** Retries reads once after a network error, because laptops change networks. */
async function send(method: string, path: string, body?: unknown): Promise<Envelope> {
  const once = (): Promise<Envelope> => fetchEnvelope(method, path, body)
  return once().catch((error: unknown) => {
    if (method !== 'GET' || !(error instanceof NetworkError)) throw error
    return new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS)).then(once)
  })
}

async function fetchEnvelope(method: string, path: string, body?: unknown): Promise<Envelope> {
  const accept = { accept: 'application/json, application/problem+json', 'accept-language': language }
  const headers: Record<string, string> = { ...accept, ...accountHeaders() }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init = { method, headers, credentials: 'same-origin', ...(body !== undefined && { body: JSON.stringify(body) }) } as const
  const response = await fetch(`${BASE}${path}`, init).catch((cause: unknown) => {
    throw new NetworkError(`No response to ${method} ${path}`, { cause })
  })
  const envelope = (await response.json().catch(() => ({}))) as Envelope
  if (response.ok && envelope.success) return envelope
  throw toApiError(response, envelope)
}

function toApiError({ status, statusText, headers }: Response, envelope: Envelope): ApiError<string> {
  const retryAfter = headers.get('retry-after')
  return new ApiError<string>(envelope.detail ?? envelope.error ?? `${status} ${statusText}`, {
    status,
    code: envelope.code ?? headers.get('x-error-code') ?? 'unknown',
    requestId: envelope.requestId ?? headers.get('x-request-id'),
    fields: envelope.errors ?? [],
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
  })
}

export async function apiRequest<T>(method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T> {
  return (await send(method, path, body)).data as T
}

export async function apiRequestPage<T>(path: string, query: Query = {}): Promise<Pick<Page<T>, 'items' | 'pagination'>> {
  const { data, pagination } = await send('GET', `${path}${queryString(query)}`)
  const items = data as T[]
  return { items, pagination: pagination ?? { page: 1, limit: items.length, total: items.length, totalPages: 1 } }
}

function queryString(query: Query): string {
  const present = Object.entries(query).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined)
  return present.length === 0 ? '' : `?${new URLSearchParams(present.map(([name, value]) => [name, String(value)])).toString()}`
}
