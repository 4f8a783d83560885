// The OpenAPI 3.1 document, built from the declared operations. A schema with a `title` becomes a named component; our own keywords are
// removed.
import { ERROR_CATALOG, type ErrorCode } from '../../kernel/errors.ts'
import { type Operation, responsesOf, takesIdempotencyKey } from '../api/operation.ts'
import type { TProperties, TSchema } from '../api/schema.ts'
import { isOptional } from '../api/type-builder.ts'

const ABOUT =
  `Every request carries an API token in \`x-api-key\`. Success is \`{ success: true, data }\`, failure \`{ success: false, error }\`; \`X-Error-Code\`
names the [reason](/docs/errors), \`X-Request-Id\` the request. A write repeated with the same \`Idempotency-Key\` within 24 hours has one effect and
the same answer. A token has 600 requests a minute unless agreed otherwise. [Guides](/docs/guides) tell how to use it.`.replaceAll(
    '\n',
    ' ',
  )

export interface Audience {
  title: string
  about: string
  /** The security scheme. */
  securitySchemes: Json
}

const PUBLIC_API: Audience = {
  title: 'Berth public API',
  about: ABOUT,
  securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API token' } },
}

export const DASHBOARD: Audience = {
  title: 'Berth dashboard API',
  about: 'What the dashboard speaks to. It may change with every version: programs use the public API.',
  securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-berth', description: 'A session; `berth` over plain http' } },
}

/** A request that we send to a customer's server. */
export interface WebhookMessage {
  name: string
  summary: string
  body: TSchema
}

interface DocumentOptions {
  audience?: Audience
  webhooks?: WebhookMessage[]
}

export function openApiDocument(
  prefix: string,
  operations: Operation[],
  { audience: { title, about, securitySchemes: proof } = PUBLIC_API, webhooks = [] }: DocumentOptions = {},
): Json {
  const known: Known = { schemas: { Error: ERROR }, responses: {} }
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation, known) }
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1.0.0', description: about, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: prefix }],
    security: Object.keys(proof).map((name) => ({ [name]: [] })),
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    ...(webhooks.length > 0 && { webhooks: Object.fromEntries(webhooks.map((each) => [each.name, describeWebhook(each, known)])) }),
    components: {
      securitySchemes: proof,
      headers: HEADERS,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, ...(webhooks.length > 0 && WEBHOOK_HEADERS) },
      ...known,
    },
  }
}

const describeWebhook = ({ name, summary, body }: WebhookMessage, { schemas }: Known): Json => ({
  post: {
    operationId: `on.${name}`,
    summary,
    security: [],
    parameters: Object.keys(WEBHOOK_HEADERS).map((each) => ({ $ref: `#/components/parameters/${each}` })),
    requestBody: { required: true, content: jsonContent(documentSchema(body, schemas, 'out')) },
    responses: { '2XX': { description: 'Delivered. Any other answer is a failure, and the same message is sent again later' } },
  },
})

interface Known {
  schemas: Components
  responses: Components
}

function describeOperation(operation: Operation, { schemas, responses }: Known): Json {
  const { operationId, summary, tag, scope, params, query, body, optionalBody, paged, deprecated } = operation
  const takesKey = takesIdempotencyKey(operation)
  const parameters = [
    ...parametersOf('path', params, schemas),
    ...parametersOf('query', query, schemas),
    ...(takesKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ]
  const successes = responsesOf(operation, paged).map(([status, schema]) => [
    status,
    success(status, takesKey, documentSchema(schema, schemas, 'out')),
  ])
  return {
    operationId,
    summary,
    description: scope ? `Needs the scope \`${scope}\`.` : 'Needs no particular scope.',
    tags: [tag],
    ...(deprecated && { deprecated: true, 'x-deprecated-since': deprecated.since, 'x-sunset': deprecated.sunset ?? null }),
    'x-scope': scope,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !optionalBody, content: jsonContent(documentSchema(body, schemas, 'in')) } }),
    responses: { ...Object.fromEntries(successes), ...errorResponses(operation, responses) },
  }
}

const parametersOf = (place: 'path' | 'query', properties: TProperties = {}, schemas: Components): Json[] =>
  Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = documentSchema(property, schemas, 'in')
    const required = place === 'path' || !(isOptional(property) || 'default' in property)
    return {
      name,
      in: place,
      required,
      ...(description !== undefined && { description }),
      schema: place === 'path' ? { type: 'string' } : schema,
    }
  })

const jsonContent = (schema: unknown): Json => ({ 'application/json': { schema } })

const SUCCESS: Record<number, string> = { 200: 'OK', 201: 'Created', 202: 'Accepted: the action is under way' }

const success = (status: number, takesKey: boolean, schema: unknown): Json => ({
  description: SUCCESS[status] ?? 'OK',
  headers: headersNamed([...ALWAYS, ...(status === 202 ? ['Location'] : []), ...(takesKey ? ['Idempotent-Replayed'] : [])]),
  content: jsonContent(schema),
})

/** Errors that every operation of this kind can return, and its own. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const { method, scope, isOfPayer, params, query, body, errorCodes: refuses = [] } = operation
  const takesKey = takesIdempotencyKey(operation)
  const codes: (ErrorCode | false | undefined)[] = [
    (method !== 'GET' || query !== undefined) && 'validation_failed',
    body && 'invalid_json',
    'unauthorized',
    scope !== null && 'missing_scope',
    isOfPayer && 'in_project',
    params && 'not_found',
    takesKey && 'idempotency_in_progress',
    body && 'payload_too_large',
    body && 'unsupported_media_type',
    takesKey && 'idempotency_key_reused',
    takesKey && 'too_many_idempotency_keys',
    refuses.includes('insufficient_funds') && 'budget_exceeded',
    'rate_limited',
    'internal_error',
    'service_unavailable',
    ...refuses,
  ]
  return [...new Set(codes.filter((code) => typeof code === 'string'))]
}

function errorResponses(operation: Operation, responses: Components): Json {
  const byStatus = Object.groupBy(errorCodesOf(operation), (code) => ERROR_CATALOG[code].status)
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group]) => {
      const name = group.join('.')
      responses[name] = failure(Number(status), group)
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

const failure = (status: number, codes: ErrorCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOG[code].title}`).join('; '),
  headers: headersNamed([...ALWAYS, 'X-Error-Code', ...(status === 429 ? ['Retry-After'] : [])]),
  content: jsonContent({ $ref: '#/components/schemas/Error' }),
})

const ALWAYS = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

const headersNamed = (names: string[]): Json => Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const header = (type: string, description: string): Json => ({ description, schema: { type } })

const HEADERS: Json = {
  'X-Request-Id': header('string', 'Names this request in our logs: quote it to support'),
  'X-RateLimit-Limit': header('integer', 'Requests allowed in the current window'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in the current window'),
  'X-RateLimit-Reset': header('integer', 'Seconds until the window resets'),
  'Retry-After': header('integer', 'Seconds to wait'),
  Location: header('string', 'Where the action can be read'),
  'Idempotent-Replayed': header('string', '`true` when this is the stored answer of an earlier request with the same key'),
  'X-Error-Code': { description: 'The reason as a word', schema: { type: 'string', enum: Object.keys(ERROR_CATALOG) } },
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the request safe to repeat: any visible ASCII text of your choice, new for every intention',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
}

const webhookHeader = (name: string, type: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type },
})

const WEBHOOK_HEADERS: Json = {
  WebhookId: webhookHeader('webhook-id', 'string', 'The same on every attempt: detect duplicates by it'),
  WebhookTimestamp: webhookHeader('webhook-timestamp', 'integer', 'When this attempt was sent, in seconds since 1970'),
  WebhookSignature: webhookHeader('webhook-signature', 'string', 'Standard Webhooks: `v1,` and a signature in base64, one or several'),
}

const ERROR: Json = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', description: 'What happened, why, and what to do next' },
  },
}

export type Json = Record<string, unknown>
export type Components = Record<string, Json>

/** Responses may gain fields, so `additionalProperties: false` is documented for requests only. */
export type Direction = 'in' | 'out'

const OWN_KEYWORDS = new Set(['rule', 'optionalBody', 'title'])

export function documentSchema(schema: TSchema, components: Components, direction: Direction): Json {
  const { title } = schema as { title?: string }
  const plain = withoutOwnKeywords(schema as Json, components, direction)
  if (!title) return plain
  const known = components[title]
  if (known && JSON.stringify(known) !== JSON.stringify(plain)) throw new Error(`BUG: there are two different schemas titled ${title}`)
  components[title] = plain
  return { $ref: `#/components/schemas/${title}` }
}

function withoutOwnKeywords(schema: Json, components: Components, direction: Direction): Json {
  const leftOut = (key: string): boolean =>
    OWN_KEYWORDS.has(key) || key.startsWith('~') || (key === 'additionalProperties' && schema[key] === false && direction === 'out')
  const entries = Object.entries(schema).filter(([key]) => !leftOut(key))
  const inner = (each: unknown): unknown => (isSchema(each) ? documentSchema(each, components, direction) : each)
  const copy = Object.fromEntries(entries.map(([key, value]) => [key, copyKeyword(key, value, inner)]))
  const { rule } = schema
  return rule && !schema['description'] ? { ...copy, description: rule } : copy
}

function copyKeyword(key: string, value: unknown, inner: (each: unknown) => unknown): unknown {
  if (key === 'properties') return Object.fromEntries(Object.entries(value as Json).map(([name, each]) => [name, inner(each)]))
  if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') return (value as unknown[]).map(inner)
  if (key === 'items' || key === 'additionalProperties' || key === 'propertyNames') return inner(value)
  return value
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null
