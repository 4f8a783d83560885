// One JSON Schema of the OpenAPI document as a TypeScript type. It knows the words that the document uses and refuses every other: a new word
// must not become a wrong type in silence.

export interface Schema {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  $ref?: string
  additionalProperties?: boolean | Schema
  [word: string]: unknown
}

const SHAPING = ['type', 'properties', 'required', 'items', 'enum', 'const', 'anyOf', '$ref', 'additionalProperties', 'description']
/** Limits that the server checks and TypeScript cannot express. */
const LIMITS = ['minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems']
const KNOWN = new Set([...SHAPING, ...LIMITS, 'default', 'deprecated', 'examples', 'maxProperties'])

const SIMPLE: Record<string, string> = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }

export function toType(schema: Schema, indent = ''): string {
  const strange = Object.keys(schema).filter((word) => !KNOWN.has(word))
  if (strange.length > 0) throw new Error(`The generator does not know ${strange.join(', ')}: teach it in sdk/generate/schema.ts`)
  if (schema.$ref) return nameOf(schema.$ref)
  if (schema.enum) return union(schema.enum.map(literal))
  if ('const' in schema) return literal(schema.const)
  if (schema.anyOf) return union(schema.anyOf.map((each) => toType(each, indent)))
  if (schema.type === undefined) return 'unknown'
  return union([schema.type].flat().map((type) => ofType(type, schema, indent)))
}

function ofType(type: string, schema: Schema, indent: string): string {
  if (type === 'array') return listOf(schema.items ? toType(schema.items, indent) : 'unknown')
  if (type === 'object') return schema.properties ? toObject(schema, indent) : recordOf(schema, indent)
  const simple = SIMPLE[type]
  if (!simple) throw new Error(`The generator does not know the type ${type}: teach it in sdk/generate/schema.ts`)
  return simple
}

function recordOf({ additionalProperties }: Schema, indent: string): string {
  return `Record<string, ${typeof additionalProperties === 'object' ? toType(additionalProperties, indent) : 'unknown'}>`
}

export function toObject({ properties = {}, required = [], additionalProperties }: Schema, indent = ''): string {
  const inner = `${indent}  `
  // What is sent is exact, and there a field that is undefined reads as one that is left out.
  const leftOut = additionalProperties === false ? ' | undefined' : ''
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name)
    return `${comment(schema.description, inner)}${inner}${name}${isRequired ? '' : '?'}: ${toType(schema, inner)}${isRequired ? '' : leftOut}\n`
  })
  return fields.length > 0 ? `{\n${fields.join('')}${indent}}` : 'Record<string, never>'
}

export const comment = (text: string | undefined, indent = ''): string => (text ? `${indent}/** ${text.replaceAll('*/', '* /')} */\n` : '')

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

export const union = (types: string[]): string => [...new Set(types)].join(' | ')

const listOf = (type: string): string => (/[ |{]/.test(type) ? `Array<${type}>` : `${type}[]`)

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value.replace(/['\\]/g, '\\$&')}'` : JSON.stringify(value))
