// The only place where an exception becomes an HTTP response.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ERROR_CATALOG, apiError, ApiError, type ErrorCode } from '../../kernel/errors.ts'

const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_json', 'The body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_json', 'The body does not have the announced length'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The body must be sent as Content-Type: application/json'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than 256 KiB'],
}

// PostgreSQL is unreachable, unresponsive or shutting down. The transaction was rolled back, or its outcome is protected by the
// Idempotency-Key.
const DATABASE_AWAY = /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|57P0[123]|08\d\d\d|53300)$/
const AWAY_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|PostgreSQL did not respond/

export function toApiError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError) return error
  const { code = '', message = '', statusCode = 500 } = error as Partial<FastifyError>
  const known = FRAMEWORK[code]
  if (known) return apiError(...known)
  if (statusCode < 500) return apiError('malformed_request', 'The request could not be read: it was cut off or is not valid HTTP')
  if (DATABASE_AWAY.test(code) || AWAY_MESSAGE.test(message)) {
    return apiError(
      'service_unavailable',
      'The database cannot be reached at the moment: try again in a few seconds, with the same Idempotency-Key',
    )
  }
  return apiError('internal_error', `Something went wrong on our side. Quote request ${requestId} to support`)
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = toApiError(error, request.id)
  logError(failure, error, request)
  reply.code(failure.status).header('x-error-code', failure.code)
  if (failure.retryAfterSeconds !== null) reply.header('retry-after', failure.retryAfterSeconds)
  if (!/application\/problem\+json/.test(request.headers.accept ?? '')) return reply.send({ success: false, error: failure.message })
  return reply.type('application/problem+json').send(problem(failure, request.id))
}

/** An API error (no capacity, host busy) is no failure. Only unexpected errors are logged with a stack. */
function logError(failure: ApiError, error: unknown, request: FastifyRequest): void {
  if (failure.status < 500) return
  const fields = { requestId: request.id, code: failure.code }
  if (failure.code === 'internal_error') request.log.error({ ...fields, err: error }, 'request failed')
  else if (failure === error) request.log.info({ ...fields, reason: failure.message }, 'request refused')
  else request.log.warn({ ...fields, reason: (error as Error).message }, 'request refused: database unavailable')
}

/** RFC 9457, when the client accepts it. */
const problem = (failure: ApiError, requestId: string): string =>
  JSON.stringify({
    ...failure.details,
    type: `/docs/errors#${failure.code}`,
    title: ERROR_CATALOG[failure.code].title,
    status: failure.status,
    detail: failure.message,
    code: failure.code,
    requestId,
    errors: failure.fields,
  })
