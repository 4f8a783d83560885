// The OpenAPI document as two TypeScript files: the shapes by their names, and for every operation what goes in and what comes out.
import { comment, toObject, toType, union, type Schema } from './schema.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
}

interface Content {
  content: { 'application/json': { schema: Schema } }
}

interface Operation {
  operationId: string
  summary: string
  description: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: Content & { required: boolean }
  responses: Record<string, Content>
}

export interface Document {
  info: { title: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; headers: Record<string, { schema: Schema }> }
}

const GENERATED = '// Made from openapi/v1.json by `npm run sdk:types`: change it there.\n\n'

export function schemasFile({ components }: Document): string {
  const shapes = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Error') // failures are thrown, as classes of errors.ts
    .map(([name, schema]) => `${comment(schema.description)}export ${declaration(name, schema)}\n`)
  const codes = `/** Why a request was refused: the catalogue stands under /docs/errors of every server. */\nexport type ErrorCode =\n${lines(
    components.headers['X-Error-Code']!.schema.enum!.map((code) => `  | '${String(code)}'`),
  )}`
  return `${GENERATED}${[...shapes, codes].join('\n')}`
}

const declaration = (name: string, schema: Schema): string =>
  schema.type === 'object' && schema.properties ? `interface ${name} ${toObject(schema)}` : `type ${name} = ${toType(schema)}`

export function operationsFile(document: Document): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const types = operations.map(({ operation }) => operationType(operation)).join('')
  const places = operations.map(({ method, path, operation }) => `  ${operation.operationId}: { method: '${method}', path: '${path}' },`)
  const imports = Object.keys(document.components.schemas).filter((name) => new RegExp(`\\b${name}\\b`).test(withoutComments(types)))
  return [
    GENERATED,
    `import type {\n${lines(imports.map((name) => `  ${name},`))}} from './schemas.ts'\n\n`,
    `export const PREFIX = '${document.servers[0]!.url}'\n\n`,
    `export interface Operations {\n${types}}\n\n`,
    `export const OPERATIONS = {\n${lines(places)}} as const\n`,
  ].join('')
}

function operationType({ operationId, summary, description, parameters = [], requestBody, responses }: Operation): string {
  const own = parameters.filter((each): each is Parameter => 'name' in each)
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const envelopes = successes.map(([, { content }]) => content['application/json'].schema)
  const fields = [
    ...placeOf('path', own),
    ...placeOf('query', own),
    ...(requestBody ? [field('body', requestBody.required, toType(requestBody.content['application/json'].schema, '      '))] : []),
  ]
  return [
    comment(`${summary}. ${description}`, '  '),
    `  ${operationId}: {\n    input: ${fields.length > 0 ? `{\n${lines(fields.map((each) => `      ${each}`))}    }` : 'Record<string, never>'}\n`,
    `    data: ${union(envelopes.map(({ properties }) => toType(properties!['data']!, '    ')))}\n`,
    envelopes.some(({ properties }) => properties!['pagination']) ? '    paged: true\n' : '',
    '  }\n',
  ].join('')
}

function placeOf(place: 'path' | 'query', parameters: Parameter[]): string[] {
  const here = parameters.filter((each) => each.in === place)
  if (here.length === 0) return []
  const required = here.filter((each) => each.required).map(({ name }) => name)
  const properties = Object.fromEntries(
    here.map(({ name, schema, description }) => [name, { ...schema, ...(description && { description }) }]),
  )
  return [field(place, required.length > 0, toObject({ properties, required, additionalProperties: false }, '      '))]
}

const field = (name: string, isRequired: boolean, type: string): string =>
  isRequired ? `${name}: ${type}` : `${name}?: ${type} | undefined`

const lines = (each: string[]): string => each.map((line) => `${line}\n`).join('')

const withoutComments = (text: string): string => text.replace(/\/\*\*.*?\*\//gs, '')
