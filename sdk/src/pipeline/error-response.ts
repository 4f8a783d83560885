// Turns error responses into ApiError.
import { ApiError, type FieldError, type NoCapacity } from '../errors.ts'
import type { ErrorCode } from '../generated/openapi.ts'
import type { ApiRequest, Handler } from './handler.ts'

interface Problem {
  detail?: string
  code?: ErrorCode
  requestId?: string
  errors?: FieldError[]
  missing?: string[]
  alternatives?: NoCapacity['alternatives']
  /** Where the response is not problem+json. */
  error?: string
}

export const throwErrorResponses: Handler = (next) => async (request) => {
  const response = await next(request)
  if (response.ok) return response
  throw toError(request, response, await parseObject<Problem>(response))
}

function toError({ method, url }: ApiRequest, { status, statusText, headers, type }: Response, problem: Problem): ApiError {
  const code = problem.code ?? (headers.get('x-error-code') as ErrorCode | null) ?? 'unknown'
  const message = problem.detail ?? problem.error ?? unexpectedResponse(`${method} ${url}`, status, statusText, headers, type)
  return new ApiError(message, {
    status,
    code,
    requestId: problem.requestId ?? headers.get('x-request-id'),
    fields: problem.errors ?? [],
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after')),
    noCapacity: problem.missing && problem.alternatives ? { missing: problem.missing, alternatives: problem.alternatives } : null,
  })
}

function unexpectedResponse(request: string, status: number, statusText: string, headers: Headers, type: Response['type']): string {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return `${request} is redirected (${headers.get('location') ?? 'no location'}). Set baseUrl to the final URL`
  return `${request} returned ${`${status} ${statusText}`.trim()}, not from Berth. Check baseUrl and the proxies in front of the server`
}

/** Parses the body as a JSON object; returns an empty one for anything else, such as the HTML page of a proxy. */
export async function parseObject<T extends object>(response: Response): Promise<Partial<T>> {
  const text = await response.text()
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

/** Retry-After is either seconds or a date. */
function parseRetryAfter(retryAfter: string | null): number | null {
  if (retryAfter === null) return null
  const seconds = Number(retryAfter)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1_000)
}
