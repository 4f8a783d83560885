// openapi/v1.json as the types of the SDK. openapi-typescript writes the types; the SDK also needs method and path of every operation at run time.
import openapiTypescript, { astToString, UNDEFINED, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'

interface Operation {
  operationId: string
  parameters?: { name?: string }[]
  responses: Record<string, { headers?: unknown }>
}

export interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, object>
  components: { schemas: Record<string, object>; headers: Record<string, { schema: object }> }
}

const HEADER = '// Generated from openapi/v1.json by `npm run sdk:types`. Do not edit.\n\n'
/** `paths` repeats `operations` by path, webhooks send the payloads of `Event`, and there are no `$defs`. */
const OMITTED = new Set(['paths', 'webhooks', '$defs'])

export async function typesFile(document: Document): Promise<string> {
  const nodes = await openapiTypescript(successesOnly(document) as unknown as OpenAPI3, {
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    silent: true,
    transformProperty: acceptUndefined,
  })
  return HEADER + astToString(nodes.filter((node) => !OMITTED.has((node as ts.InterfaceDeclaration).name.text)))
}

/** Only request bodies have optional properties, and there undefined means the same as a property that is left out. */
function acceptUndefined(property: ts.PropertySignature): ts.PropertySignature {
  const { modifiers, name, questionToken, type } = property
  if (!questionToken) return property
  return ts.factory.updatePropertySignature(property, modifiers, name, questionToken, ts.factory.createUnionTypeNode([type!, UNDEFINED]))
}

/** Without what the pipeline handles for every call: error responses are thrown as classes of errors.ts, headers are its own. */
function successesOnly({ paths, webhooks: _, components, ...rest }: Document): object {
  const schemas: Record<string, object> = { ...components.schemas, ErrorCode: components.headers['X-Error-Code']!.schema }
  delete schemas['Error']
  const trim = ({ parameters = [], responses, ...operation }: Operation): object => ({
    ...operation,
    parameters: parameters.filter(({ name }) => name !== undefined),
    responses: Object.fromEntries(
      Object.entries(responses).flatMap(([status, { headers: _, ...response }]) => (status.startsWith('2') ? [[status, response]] : [])),
    ),
  })
  return { ...rest, paths: mapValues(paths, (methods) => mapValues(methods, trim)), components: { schemas } }
}

const mapValues = <A, B>(record: Record<string, A>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))

export function routesFile({ servers, paths }: Document): string {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}' },\n`,
    ),
  )
  return `${HEADER}export const PREFIX = '${servers[0]!.url}'\n\nexport const ROUTES = {\n${routes.join('')}} as const\n`
}

/** The test event cannot be subscribed to. */
export function eventsFile({ webhooks }: Document): string {
  const types = Object.keys(webhooks).filter((type) => type !== 'webhook.test')
  return `${HEADER}export const EVENT_TYPES = [\n${types.map((type) => `  '${type}',\n`).join('')}] as const\n`
}
