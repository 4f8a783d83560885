// One operation of the API, declared once: what routes it, validates its requests, types what its handler returns and documents it.
import type { FastifyRequest, HTTPMethods } from 'fastify'
import type { ErrorCode } from '../../kernel/errors.ts'
import type { Principal } from './principal.ts'
import { envelope, pagedEnvelope, Type, type Static, type TObject, type TProperties, type TSchema } from './schema.ts'

export interface Deprecation {
  /** Since when, as an ISO 8601 date. */
  since: string
  /** From when it may be gone. */
  sunset?: string
  /** What says what to use instead. */
  link?: string
}

/** `Deprecation` of RFC 9745 and `Sunset` of RFC 8594. */
export const deprecationHeaders = ({ since, sunset, link }: Deprecation): Record<string, string> => ({
  deprecation: `@${Date.parse(since) / 1000}`,
  ...(sunset && { sunset: new Date(sunset).toUTCString() }),
  ...(link && { link: `<${link}>; rel="deprecation"` }),
})

export interface OperationSpec<
  P extends TProperties,
  Q extends TProperties,
  B extends TSchema,
  Data extends TSchema,
  DryRunData extends TSchema,
> {
  operationId: string
  summary: string
  tag: string
  /** The scope a token needs; null = any valid token. */
  scope: string | null
  /** Concerns the signed-in user alone, whatever the account: it needs none, and is recorded in all of them. */
  isPersonal?: true
  /** The business of whoever pays: refused in a project. */
  isOfPayer?: true
  /** Set when the operation should be used no more: clients are told in headers and in the OpenAPI document. */
  deprecated?: Deprecation
  /** A person must have given the password not long ago. A token proves itself each time. */
  requiresReauth?: true
  /** Personal, and yet open to an operator who has signed in to the account of a customer. */
  duringVisit?: true
  /** For sessions and secrets: a stored answer would outlive them, and a replay would check and end nothing. */
  ignoresIdempotencyKey?: true
  /** Its stored answer is given again to the same token or user alone, and to no other of the account. */
  answersSecret?: true
  /** Its caller can log in to a machine then: closed to an operator who has signed in to the account of a customer. */
  givesLogin?: true
  params?: P
  query?: Q
  body?: B
  /** A body may be left out although the operation knows fields for it. */
  optionalBody?: boolean
  /** The success status; 200 unless given. A write may answer others it lists here. */
  status?: number | number[]
  /** Of every status it lists; for a list with pages, of one item. */
  data: Data
  /** What a dry run returns, with 200. Whoever declares it has `dryRun` in the query. */
  dryRunData?: DryRunData
  /** What it can refuse beyond what every operation can, for the documentation. */
  errorCodes?: ErrorCode[]
}

export type AnySpec = OperationSpec<TProperties, TProperties, TSchema, TSchema, TSchema>

export interface Operation extends AnySpec {
  method: HTTPMethods
  path: string
  paged: boolean
}

export interface Context<P extends TProperties, Q extends TProperties, B extends TSchema> {
  principal: Principal
  params: { [K in keyof P]: string }
  query: Static<TObject<Q>>
  body: Static<B>
  request: FastifyRequest
}

export function contextOf<P extends TProperties, Q extends TProperties, B extends TSchema>(request: FastifyRequest): Context<P, Q, B> {
  const { principal, query } = request
  return { principal, params: possibleIds(request.params as object), query, body: bodyOf(request), request } as Context<P, Q, B>
}

export const takesIdempotencyKey = ({ method, ignoresIdempotencyKey }: Pick<Operation, 'method' | 'ignoresIdempotencyKey'>): boolean =>
  method !== 'GET' && !ignoresIdempotencyKey

/** No body means the same as an empty one. */
export const bodyOf = (request: FastifyRequest): unknown => request.body ?? {}

/** What could not be an id at all is looked up as '', so that it reads exactly like an unknown one. */
function possibleIds(params: object): Record<string, string> {
  const possible: Record<string, string> = {}
  for (const [name, value] of Object.entries(params as Record<string, string>)) possible[name] = POSSIBLE_ID.test(value) ? value : ''
  return possible
}

const POSSIBLE_ID = /^[\x21-\x7e]{1,64}$/

const NO_BODY = Type.Object({}, { additionalProperties: false, optionalBody: true })

export function bodySchema({ body, optionalBody }: AnySpec): TSchema {
  if (!body) return NO_BODY
  return optionalBody ? { ...body, optionalBody: true } : body
}

export const statusesOf = ({ status = 200 }: Pick<AnySpec, 'status'>): number[] => [status].flat()

/** Every success this operation can answer: status and the schema of the whole body. */
export function responsesOf(spec: AnySpec, paged: boolean): [number, TSchema][] {
  const { data, dryRunData } = spec
  if (paged) return [[200, pagedEnvelope(data)]]
  const responses = new Map(statusesOf(spec).map((status) => [status, data]))
  if (dryRunData) responses.set(200, responses.has(200) ? Type.Union([data, dryRunData]) : dryRunData)
  return [...responses].map(([status, shape]) => [status, envelope(shape)])
}
