// Renders the fields of a JSON schema as a table, and the form that sends an operation (shown by files/try.js).
import { escapeHtml } from '../server/html-page.ts'
import type { Json } from './openapi.ts'

export type Schemas = Record<string, Json>

/** Deeper objects are shown by name. */
const DEEPEST = 3

export interface Field {
  name: string
  type: string
  required: boolean
  about: string
}

const nameOf = (schema: Json): string | undefined => (schema['$ref'] as string | undefined)?.replace(/^.*\//, '')

export const resolve = (schema: Json, schemas: Schemas): Json => {
  const name = nameOf(schema)
  return name === undefined ? schema : (schemas[name] ?? {})
}

/** The fields of an object and its nested objects, with dotted names; `[]` marks list items. */
export function fieldsOf(schema: Json, schemas: Schemas, prefix = '', depth = 0): Field[] {
  const { properties = {}, required = [] } = resolve(schema, schemas) as { properties?: Schemas; required?: string[] }
  return Object.entries(properties).flatMap(([key, value]) => {
    const name = `${prefix}${key}`
    const field = { name, type: typeOf(value, schemas), required: required.includes(key), about: aboutOf(value, schemas) }
    const { within, mark } = innerOf(value, schemas)
    return [field, ...(within && depth < DEEPEST ? fieldsOf(within, schemas, `${name}${mark}.`, depth + 1) : [])]
  })
}

function innerOf(schema: Json, schemas: Schemas): { within?: Json; mark: string } {
  const found = resolve(schema, schemas)
  const choices = (found['anyOf'] as Json[] | undefined)?.filter(({ type }) => type !== 'null')
  if (choices?.length === 1) return innerOf(choices[0]!, schemas)
  if (found['type'] === 'array') return { ...innerOf(found['items'] as Json, schemas), mark: '[]' }
  return found['properties'] ? { within: found, mark: '' } : { mark: '' }
}

export function typeOf(schema: Json, schemas: Schemas): string {
  const found = resolve(schema, schemas)
  if (found['const'] !== undefined) return JSON.stringify(found['const'])
  if (found['enum']) return (found['enum'] as unknown[]).map((each) => JSON.stringify(each)).join(' | ')
  const union = found['anyOf'] ?? found['oneOf']
  if (union) return [...new Set((union as Json[]).map((each) => typeOf(each, schemas)))].join(' | ')
  if (found['type'] === 'array') return `list of ${typeOf(found['items'] as Json, schemas)}`
  if (found['type'] === 'object') return nameOf(schema) ?? 'object'
  const { type = 'anything', format } = found as { type?: string | string[]; format?: string }
  const word = [type].flat().join(' | ')
  return format ? `${word} (${format})` : word
}

/** Keywords of lower and upper limit, and their unit. */
const LIMITS = [
  ['minimum', 'maximum', ''],
  ['minLength', 'maxLength', ' characters'],
  ['minItems', 'maxItems', ' of them'],
] as const

function rangeOf(least: unknown, most: unknown, unit: string): string | undefined {
  if (least !== undefined && most !== undefined) return `${JSON.stringify(least)} to ${JSON.stringify(most)}${unit}`
  if (most !== undefined) return `at most ${JSON.stringify(most)}${unit}`
  return least === undefined ? undefined : `at least ${JSON.stringify(least)}${unit}`
}

/** The description, or else the limits. */
export function aboutOf(schema: Json, schemas: Schemas): string {
  const found = { ...resolve(schema, schemas), ...schema }
  const limits = LIMITS.map(([least, most, unit]) => rangeOf(found[least], found[most], unit))
  const usual = found['default'] === undefined ? undefined : `${JSON.stringify(found['default'])} unless given`
  return (found['description'] as string | undefined) ?? [...limits, usual].filter(Boolean).join(', ')
}

export function fieldTable(fields: Field[]): string {
  const rows = fields.map(
    ({ name, type, required, about }) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required ? ' <span class="muted">required</span>' : ''}</td><td>${escapeHtml(type)}</td><td>${escapeHtml(about)}</td></tr>`,
  )
  return `<div class="scroll" tabindex="0"><table class="fields-of"><thead><tr><th>Name</th><th>Type</th><th>What it is</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Json
}

interface Form {
  method: string
  path: string
  parameters: Parameter[]
  /** Initial body; undefined without a body. */
  body: object | undefined
}

export function tryForm({ method, path, parameters, body }: Form, schemas: Schemas): string {
  const fields = parameters.map((each) => fieldOf(each, schemas)).join('')
  const text = body && JSON.stringify(body, null, 2)
  const area =
    text === undefined
      ? ''
      : `<label class="wide">Body (JSON) <textarea name="body:json" rows="${linesOf(text)}" spellcheck="false">${escapeHtml(text)}</textarea></label>`
  return `<form class="try" data-method="${method}" data-path="${escapeHtml(path)}" hidden><h3>Try it</h3>
<div class="fields">${fields}</div>${area}
<button class="send">Send ${method}</button><div class="answer" role="status"></div></form>`
}

const linesOf = (text: string): number => Math.min(14, text.split('\n').length + 1)

function fieldOf({ name, in: place, required, schema }: Parameter, schemas: Schemas): string {
  const { enum: values, type } = resolve(schema, schemas) as { enum?: unknown[]; type?: string }
  const choices = values ?? (type === 'boolean' ? [true, false] : undefined)
  const named = `name="${place}:${escapeHtml(name)}"${required ? ' required' : ''}`
  const input = choices
    ? `<select ${named}><option value=""></option>${choices.map((each) => `<option>${escapeHtml(String(each))}</option>`).join('')}</select>`
    : `<input ${named} autocomplete="off" spellcheck="false">`
  return `<label>${escapeHtml(name)} ${input}</label>`
}
