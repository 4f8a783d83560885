// Bodies are taken as they are: nothing coerced, nothing unknown let through. Query values are text, so whole numbers and booleans
// among them are read; unknown ones are ignored.
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TProperties, TSchema } from './schema.ts'
import { refusalFor, validationFailed } from './validation-errors.ts'

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, useDefaults: true, validateSchema: false })
formats.default(ajv, ['date-time', 'uri', 'email', 'ipv4'])

type Schema = TSchema & { optionalBody?: boolean; properties?: TProperties }
type Values = Record<string, unknown>

export const validatorCompiler: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) =>
  httpPart === 'body' ? bodyValidator(schema) : queryValidator(schema)

function bodyValidator(schema: Schema) {
  const validate = ajv.compile(schema)
  return (body: unknown) => {
    if (body === null || body === undefined) return schema.optionalBody || { error: validationFailed([MISSING_BODY]) }
    if (!validate(body)) return { error: refusalFor(validate.errors ?? []) }
    return storable(body)
  }
}

const MISSING_BODY = { field: 'body', message: 'is required: send a JSON object' }

function queryValidator(schema: Schema) {
  const validate = ajv.compile(schema)
  const properties = Object.entries(schema.properties ?? {}).map(([name, { type }]: [string, { type?: string }]) => ({ name, type }))
  return (query: Values) => {
    for (const { name, type } of properties) {
      if (type === 'integer') query[name] = readInteger(query[name])
      if (type === 'boolean') query[name] = readBoolean(query[name])
    }
    if (!validate(query)) return { error: refusalFor(validate.errors ?? []) }
    return storable(Object.fromEntries(properties.map(({ name }) => [name, query[name]])))
  }
}

/** A number beyond every limit stays beyond it; it need not be exact. */
function readInteger(text: unknown): unknown {
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) return text
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number(text), Number.MAX_SAFE_INTEGER))
}

const readBoolean = (text: unknown): unknown => (text === 'true' ? true : text === 'false' ? false : text)

function storable(value: unknown) {
  const field = unstorable(value, '')
  return field === null || { error: validationFailed([{ field, message: 'must not hold NUL or broken Unicode characters' }]) }
}

/** PostgreSQL stores neither NUL nor lone surrogates: the first field that holds one, or null. Validation has bounded the depth. */
function unstorable(value: unknown, path: string): string | null {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const found = unstorable(inner, path ? `${path}.${key}` : key)
    if (found !== null) return found
  }
  return null
}
