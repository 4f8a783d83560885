// Turns every answer that is no success into an error that says why.
import { ApiError, type FieldError } from '../errors.ts'
import type { ErrorCode } from '../generated/schemas.ts'
import type { ApiRequest, Handler } from './handler.ts'

interface Problem {
  detail?: string
  code?: ErrorCode
  requestId?: string
  errors?: FieldError[]
  /** In answers of servers that do not know the form above. */
  error?: string
}

export const throwRefusals: Handler = (next) => async (request) => {
  const response = await next(request)
  if (response.ok) return response
  throw toError(request, response, await objectOf<Problem>(response))
}

function toError({ method, url }: ApiRequest, { status, statusText, headers, type }: Response, problem: Problem): ApiError {
  const code = problem.code ?? (headers.get('x-error-code') as ErrorCode | null) ?? 'unknown'
  const sentence = problem.detail ?? problem.error ?? strangeAnswer(`${method} ${url}`, status, statusText, headers, type)
  return new ApiError(sentence, {
    status,
    code,
    requestId: problem.requestId ?? headers.get('x-request-id'),
    fields: problem.errors ?? [],
    retryAfterSeconds: secondsUntil(headers.get('retry-after')),
  })
}

function strangeAnswer(request: string, status: number, statusText: string, headers: Headers, type: Response['type']): string {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return `${request} leads elsewhere (${headers.get('location') ?? 'a redirect'}): give the final address as baseUrl`
  return `${request} was answered with ${`${status} ${statusText}`.trim()}, and not by Berth: is something between here and the server, or baseUrl wrong?`
}

/** An answer's object; an empty one where it is something else, such as the page of a proxy. */
export async function objectOf<T extends object>(response: Response): Promise<Partial<T>> {
  const text = await response.text()
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

/** Seconds or a date: proxies send either. */
function secondsUntil(retryAfter: string | null): number | null {
  if (retryAfter === null) return null
  const seconds = Number(retryAfter)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1_000)
}
