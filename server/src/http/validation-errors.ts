// What a person reads when a value does not fit. A schema's own `rule` comes first; these are the sentences for the rest.
import type { ErrorObject } from 'ajv'
import { ApiError, type FieldError } from '../kernel/errors.ts'

export const refusalFor = (errors: ErrorObject[]): ApiError => validationFailed(errors.slice(0, MAX_ERRORS_READ).map(describe))

const MAX_ERRORS_READ = 200
const MAX_NAME = 100

/** One message for each field, the first few of them in the sentence. */
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
  return { field: fieldOf(error), message: (parentSchema as { rule?: string }).rule ?? sentence(error) }
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

function sentence({ keyword, params, message, parentSchema }: ErrorObject): string {
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
