// The catalog of API errors. One entry defines the HTTP status, the documentation and the SDK's type. A message says what happened, why,
// and what to do next; it never contains SQL, a stack or another customer's data.

export const ERROR_CATALOG = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  malformed_request: { status: 400, title: 'The bytes received are not a valid HTTP request' },
  validation_failed: { status: 400, title: 'A field is missing, unknown or out of its limits' },
  unauthorized: { status: 401, title: 'The API token is missing, invalid, expired or revoked' },
  wrong_credentials: { status: 401, title: 'The e-mail address or the password is wrong' },
  wrong_totp: { status: 401, title: 'The code of the second factor is wrong, or was used already' },
  insufficient_funds: { status: 402, title: 'The wallet does not hold enough money' },
  budget_exceeded: { status: 402, title: 'A budget does not cover this' },
  missing_scope: { status: 403, title: 'The token, or the role of the member, lacks the scope this request needs' },
  account_required: { status: 403, title: 'The account to work in must be one of those of the person' },
  in_project: { status: 403, title: 'Only the account that pays for the project may do this' },
  two_factor_required: { status: 403, title: 'The account requires two-factor authentication' },
  origin_not_allowed: { status: 403, title: 'A page of another site may not do this' },
  https_required: { status: 403, title: 'A password may not be sent in the clear' },
  operator_only: { status: 403, title: 'Only an operator may do this' },
  reauthentication_required: { status: 403, title: 'The password must be given again first' },
  identity_refused: { status: 403, title: 'An identity provider did not prove who signs in, or signs in nobody here' },
  sign_up_closed: { status: 403, title: 'New accounts are made by the operator only' },
  not_found: { status: 404, title: 'There is no such resource in this account' },
  method_not_allowed: { status: 405, title: 'This path does not answer to this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  busy: { status: 409, title: 'Another action is running on this resource' },
  invalid_state: { status: 409, title: 'The resource is not in a state that allows this' },
  version_conflict: { status: 409, title: 'The resource was changed since the version that the request is based on' },
  protected: { status: 409, title: 'The resource is protected against this' },
  in_use: { status: 409, title: 'The resource is still in use' },
  already_exists: { status: 409, title: 'Such a resource exists already' },
  networks_overlap: { status: 409, title: 'The address range overlaps another network' },
  networks_lost: { status: 409, title: 'Private networks were lost with their host; no longer sent' },
  idempotency_in_progress: { status: 409, title: 'A request with this Idempotency-Key is still being processed' },
  link_gone: { status: 410, title: 'The link was used, has expired or never was one' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be application/json' },
  idempotency_key_reused: { status: 422, title: 'This Idempotency-Key was used for a different request' },
  too_many_idempotency_keys: { status: 422, title: 'The account has used too many Idempotency-Keys in 24 hours' },
  plan_not_larger: { status: 422, title: 'The new plan is not larger than the current one' },
  unavailable: { status: 422, title: 'The chosen plan, template or region is not available' },
  incompatible: { status: 422, title: 'The choices do not fit together' },
  quota_exceeded: { status: 422, title: 'A limit of the account is reached' },
  region_mismatch: { status: 422, title: 'The resources are not in the same place' },
  url_not_allowed: { status: 422, title: 'This URL may not be called' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  no_capacity: { status: 503, title: 'No host has room for this' },
  service_unavailable: { status: 503, title: 'The service cannot answer at the moment' },
} as const

export type ErrorCode = keyof typeof ERROR_CATALOG

export interface FieldError {
  field: string
  message: string
}

/** An error that the caller may read. Any other error is a bug or an outage and becomes internal_error or service_unavailable. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly fields: FieldError[]
  /** When a retry is worthwhile. */
  readonly retryAfterSeconds: number | null
  /** Further members of the problem details (RFC 9457). */
  readonly details: Record<string, unknown>

  constructor(
    code: ErrorCode,
    message: string,
    fields: FieldError[] = [],
    retryAfterSeconds: number | null = null,
    details: Record<string, unknown> = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.fields = fields
    this.retryAfterSeconds = retryAfterSeconds
    this.details = details
  }

  get status(): number {
    return ERROR_CATALOG[this.code].status
  }
}

export const apiError = (code: ErrorCode, message: string): ApiError => new ApiError(code, message)

export const invalid = (message: string, field?: string): ApiError =>
  new ApiError('validation_failed', `Validation failed: ${message}`, field ? [{ field, message }] : [])

/** An id of another account gives the same error as an unknown one. */
export const notFound = (thing: string): ApiError => new ApiError('not_found', `${thing} not found`)

export const unauthorized = (message: string): ApiError => new ApiError('unauthorized', message)
