// Request validation. Bodies are not coerced, and unknown fields are rejected. Query values are strings, so declared integers and booleans
// are parsed; unknown ones are ignored. Messages come from the schema's `rule`, or else from here.
import { createRequire } from 'node:module'
import type { Ajv, ErrorObject } from 'ajv'
import type formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { ApiError, type FieldError } from '../../kernel/errors.ts'
import type { TProperties, TSchema } from '../api/schema.ts'

const options = { verbose: true, strict: false, useDefaults: true, validateSchema: false }
const [first, all] = [lazily(() => openAjv(false)), lazily(() => openAjv(true))]

/** A hundred files, loaded with the first request that needs validation. */
function openAjv(allErrors: boolean): Ajv {
  const require = createRequire(import.meta.url)
  const { Ajv: Validator } = require('ajv') as { Ajv: typeof Ajv }
  const { default: addFormats } = require('ajv-formats') as typeof formats
  return addFormats(new Validator({ ...options, allErrors }), ['date-time', 'uri', 'email', 'ipv4'])
}

type Schema = TSchema & { optionalBody?: boolean; properties?: TProperties }
type Values = Record<string, unknown>

export const validatorCompiler: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema) : queryValidator(schema)

/**
 * Returns the error, or null. Of a huge body only the first error is reported, because collecting all would take too long. Compiled on
 * first use, because compiling all operations would delay the start.
 */
function validatorOf(schema: Schema): (value: unknown) => ApiError | null {
  const decide = lazily(() => first().compile(schema))
  const explain = lazily(() => all().compile(schema))
  return (value) => {
    if (decide()(value)) return null
    const { errors } = isSmall(value) && !explain()(value) ? explain() : decide()
    return toValidationError(errors ?? [])
  }
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function isSmall(value: unknown): boolean {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen + waiting.length > 1_000) return false
    const next = waiting.pop()
    if (typeof next === 'object' && next !== null) waiting.push(...Object.values(next).slice(0, 1_001))
  }
  return true
}

function bodyValidator(schema: Schema) {
  const refusalOf = validatorOf(schema)
  return (body: unknown) => {
    if (body === null || body === undefined) return schema.optionalBody || { error: validationFailed([MISSING_BODY]) }
    const error = refusalOf(body) ?? unstorableError(body)
    return error === null || { error }
  }
}

const MISSING_BODY = { field: 'body', message: 'is required: send a JSON object' }

function queryValidator(schema: Schema) {
  const refusalOf = validatorOf(schema)
  const properties = Object.entries(schema.properties ?? {}).map(([name, { type }]: [string, { type?: string }]) => ({ name, type }))
  return (query: Values) => {
    for (const { name, type } of properties) {
      if (type === 'integer') query[name] = readInteger(query[name])
      if (type === 'boolean') query[name] = readBoolean(query[name])
    }
    const error = refusalOf(query) ?? unstorableError(Object.fromEntries(properties.map(({ name }) => [name, query[name]])))
    return error === null || { error }
  }
}

/** Clamped: a number beyond every limit need not be exact. */
function readInteger(text: unknown): unknown {
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) return text
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number(text), Number.MAX_SAFE_INTEGER))
}

const readBoolean = (text: unknown): unknown => (text === 'true' ? true : text === 'false' ? false : text)

function unstorableError(value: unknown): ApiError | null {
  const field = unstorable(value, '')
  return field === null ? null : validationFailed([{ field, message: 'must not hold NUL or broken Unicode characters' }])
}

/** PostgreSQL cannot store NUL or lone surrogates: returns the first field with one, or null. Validation has bounded the depth. */
function unstorable(value: unknown, path: string): string | null {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const found = unstorable(inner, path ? `${path}.${key}` : key)
    if (found !== null) return found
  }
  return null
}

export const toValidationError = (errors: ErrorObject[]): ApiError =>
  validationFailed(errors.slice(0, MAX_ERRORS_READ).filter(isOfGiven).map(describe))

/** Of what may be null or an object, and is an object that is wrong inside, that alone is said. */
const isOfGiven = ({ keyword, params, instancePath }: ErrorObject, _: number, all: ErrorObject[]): boolean =>
  !(keyword === 'anyOf' || (keyword === 'type' && params['type'] === 'null')) ||
  !all.some(
    ({ instancePath: inner, keyword: other }) => inner.startsWith(`${instancePath}/`) || (inner === instancePath && INNER.has(other)),
  )

/** Of an object, found at its own path. */
const INNER = new Set(['required', 'additionalProperties'])

const MAX_ERRORS_READ = 200
const MAX_NAME = 100

/** One message per field; the first few make up the error message. */
export function validationFailed(all: FieldError[]): ApiError {
  const seen = new Set<string>()
  const fields = all.filter(({ field }) => !seen.has(field) && seen.add(field))
  const shown = fields.slice(0, 5).map(({ field, message }) => `${field} ${message}`)
  return new ApiError('validation_failed', `Validation failed: ${shown.join('; ')}`, fields.slice(0, 50))
}

function describe(error: ErrorObject): FieldError {
  const { keyword, params, parentSchema } = error
  if (keyword === 'required') return { field: fieldOf(error, params['missingProperty']), message: 'is required' }
  if (keyword === 'additionalProperties') return { field: fieldOf(error, params['additionalProperty']), message: 'is not a known field' }
  return { field: fieldOf(error), message: (parentSchema as { rule?: string }).rule ?? defaultMessage(error) }
}

function fieldOf({ instancePath }: ErrorObject, name?: string): string {
  const path = instancePath.slice(1).replaceAll('/', '.')
  return ([path, name].filter(Boolean).join('.') || 'body').slice(0, MAX_NAME)
}

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function defaultMessage({ keyword, params, message, parentSchema }: ErrorObject): string {
  const { minLength = 0, maxLength, enum: choices = [] } = parentSchema as { minLength?: number; maxLength?: number; enum?: unknown[] }
  const limit = String(params['limit'])
  switch (keyword) {
    case 'type':
      return `must be ${[params['type'] as string]
        .flat()
        .map((type) => TYPES[type])
        .join(' or ')}`
    case 'minLength':
    case 'maxLength':
      return maxLength === undefined ? `must be at least ${minLength} characters` : `must be ${minLength}-${maxLength} characters`
    case 'enum':
      return `must be one of ${choices.join(', ')}`
    case 'minItems':
      return `must hold at least ${limit} item${limit === '1' ? '' : 's'}`
    case 'maxItems':
      return `must hold at most ${limit} items`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'format':
      return `must be a valid ${String(params['format'])}`
    default:
      return message ?? 'is not valid'
  }
}
