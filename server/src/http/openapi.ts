// The OpenAPI 3.1 document, made from the operations as they are declared. A schema with a `title` becomes a named component.
import { CATALOGUE } from '../kernel/errors.ts'
import { responsesOf, type Operation } from './operation.ts'
import type { TSchema } from './schema.ts'

type Json = Record<string, unknown>

const ERROR_STATUSES = [400, 401, 403, 404, 429]

export function openApiDocument(prefix: string, version: string, operations: Operation[]): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, components) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Berth public API', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: prefix }],
    security: [{ apiKey: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API token: vmk_…' } },
      headers: rateLimitHeaders(),
      responses: { Error: errorResponse() },
      schemas: components,
    },
  }
}

function describe(operation: Operation, components: Json): Json {
  const { operationId, summary, tag, scope, params, query, body, optionalBody, method } = operation
  const parameters = [
    ...Object.keys(params ?? {}).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query ?? {}).map(([name, schema]) => ({ name, in: 'query', required: false, schema: named(schema, components) })),
    ...(method === 'GET'
      ? []
      : [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', minLength: 1, maxLength: 255 } }]),
  ]
  return {
    operationId,
    summary,
    tags: [tag],
    ...(scope && { 'x-scope': scope, description: `Needs the scope \`${scope}\`.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !optionalBody, content: jsonContent(named(body, components)) } }),
    responses: {
      ...Object.fromEntries(
        responsesOf(operation, operation.paged).map(([status, schema]) => [status, success(status, named(schema, components))]),
      ),
      ...Object.fromEntries(ERROR_STATUSES.map((status) => [status, { $ref: '#/components/responses/Error' }])),
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

const jsonContent = (schema: unknown): Json => ({ 'application/json': { schema } })

const success = (status: number, schema: unknown): Json => ({
  description: status === 202 ? 'Accepted: the action is under way' : status === 201 ? 'Created' : 'OK',
  headers: Object.fromEntries(Object.keys(rateLimitHeaders()).map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: jsonContent(schema),
})

const rateLimitHeaders = (): Json => ({
  'X-RateLimit-Limit': { description: 'Requests allowed in the current window', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in the current window', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Seconds until the window resets', schema: { type: 'integer' } },
})

const errorResponse = (): Json => ({
  description: 'Refused. `X-Error-Code` names the reason, `Retry-After` is there on 429',
  headers: { 'X-Error-Code': { schema: { type: 'string', enum: Object.keys(CATALOGUE) } }, 'X-Request-Id': { schema: { type: 'string' } } },
  content: jsonContent({
    type: 'object',
    required: ['success', 'error'],
    properties: { success: { const: false }, error: { type: 'string', description: 'What happened, why, and what to do next' } },
  }),
})

/** Copies a schema for the document: named parts become references, words of our own are left out. */
function named(schema: TSchema, components: Json): unknown {
  const { title } = schema as { title?: string }
  if (!title) return plain(schema, components)
  components[title] ??= plain(schema, components)
  return { $ref: `#/components/schemas/${title}` }
}

const OUR_WORDS = new Set(['rule', 'optionalBody', 'title'])

function plain(value: unknown, components: Json): unknown {
  if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? named(each, components) : each) as unknown)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => !OUR_WORDS.has(key) && !key.startsWith('~'))
  return Object.fromEntries(entries.map(([key, each]) => [key, isSchema(each) ? named(each, components) : plain(each, components)]))
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && !Array.isArray(value)
