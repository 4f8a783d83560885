// Bodies are taken as they are: nothing coerced, nothing unknown let through. Query values are text, so whole numbers and booleans
// among them are read, and unknown ones are ignored.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { Refusal, type FieldError } from '../kernel/errors.ts'
import type { TSchema } from './schema.ts'

const common = { allErrors: true, verbose: true, strict: false, useDefaults: true, validateSchema: false }

function withFormats(ajv: Ajv): Ajv {
  formats.default(ajv, ['date-time', 'uri', 'email', 'ipv4'])
  return ajv
}

const body = withFormats(new Ajv({ ...common, coerceTypes: false }))
const query = withFormats(new Ajv({ ...common, coerceTypes: true }))

type Schema = TSchema & { optionalBody?: boolean }

export const validatorCompiler: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) => {
  const validate = (httpPart === 'body' ? body : query).compile(schema)
  return (value: unknown) => {
    if (httpPart === 'body' && value === null && schema.optionalBody) return true
    if (!validate(value)) return { error: refusal(validate) }
    const bad = unstorable(value)
    return bad === null ? true : { error: failed([{ field: bad, message: 'must not hold NUL or broken Unicode characters' }]) }
  }
}

const refusal = (validate: ValidateFunction): Refusal => failed(dedupe((validate.errors ?? []).map(describe)))

function failed(fields: FieldError[]): Refusal {
  const shown = fields.slice(0, 5).map(({ field, message }) => `${field} ${message}`.trim())
  return new Refusal('validation_failed', `Validation failed: ${shown.join('; ')}`, fields.slice(0, 50))
}

function dedupe(fields: FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return fields.filter(({ field }) => !seen.has(field) && seen.add(field))
}

function describe(error: ErrorObject): FieldError {
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  const inside = (name: string): string => (path ? `${path}.${name}` : name)
  const rule = (error.parentSchema as { rule?: string } | undefined)?.rule
  if (error.keyword === 'required') return { field: inside(String(error.params['missingProperty'])), message: 'is required' }
  if (error.keyword === 'additionalProperties')
    return { field: inside(String(error.params['additionalProperty'])), message: 'is not a known field' }
  return { field: path || 'body', message: rule ?? sentence(error) }
}

function sentence({ keyword, params, message, parentSchema }: ErrorObject): string {
  const schema = (parentSchema ?? {}) as { minLength?: number; maxLength?: number; enum?: unknown[] }
  if (keyword === 'minLength' || keyword === 'maxLength') return `must be ${schema.minLength ?? 0}-${schema.maxLength ?? '…'} characters`
  if (keyword === 'enum') return `must be one of ${(schema.enum ?? []).join(', ')}`
  if (keyword === 'maxItems') return `must hold at most ${String(params['limit'])} items`
  if (keyword === 'minItems') return `must hold at least ${String(params['limit'])} items`
  if (keyword === 'minimum') return `must be at least ${String(params['limit'])}`
  if (keyword === 'maximum') return `must be at most ${String(params['limit'])}`
  if (keyword === 'format') return `must be a valid ${String(params['format'])}`
  return message ?? 'is not valid'
}

/** PostgreSQL stores neither NUL nor lone surrogates: the first field that holds one, or null. Validation has bounded the depth. */
function unstorable(value: unknown, path = 'body'): string | null {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const found = unstorable(inner, path === 'body' ? key : `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}
