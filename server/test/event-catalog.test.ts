// Every type of event: its payload in the OpenAPI document, the operations that record it, and the guide that says so. `npm run openapi`
// updates the guide.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PUBLIC_PREFIX } from '../src/compose.ts'
import { dataTitle, type EventSpec } from '../src/features/events/schema.ts'
import { eventCatalog } from '../src/features/index.ts'
import { fieldsOf, type Field, type Schemas } from '../src/http/docs/reference-fields.ts'
import { sql } from '../src/kernel/database/db.ts'
import { ENDPOINTS, fixtureOf } from './endpoint-table.ts'
import { testApp } from './harness.ts'

const GUIDE = join(import.meta.dirname, '../../docs/guide/event-types.md')
const GENERATED = '## Operations\n'

const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' } })
await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 100000000, disk_total_gib = 1000000`)
await app.db.run(sql`update simulated.hosts set disk_total_bytes = ${10n ** 15n}`)

const specs = Object.entries<EventSpec>(eventCatalog)
const typesBy = (list: 'emittedBy' | 'sometimesEmittedBy', operationId: string): string[] =>
  specs.filter(([, spec]) => spec[list].includes(operationId)).map(([type]) => type)

interface Document {
  webhooks: Record<string, { post: { requestBody: { content: { 'application/json': { schema: Schema } } } } }>
  components: { schemas: Record<string, Schema> & Schemas }
}

interface Schema {
  $ref?: string
  properties: { type: { const?: string; enum?: string[] }; data: { $ref: string } }
  oneOf: { $ref: string }[]
  discriminator: { mapping: Record<string, string> }
}

const document = (await app.app.inject(`${PUBLIC_PREFIX}/openapi.json`)).json<Document>()
const { webhooks } = document
const { schemas } = document.components

describe('the OpenAPI document', () => {
  test('has the payload of every event, and of the test', () => {
    expect(Object.keys(webhooks)).toEqual([...Object.keys(eventCatalog), 'webhook.test'])
    for (const [type, spec] of specs) {
      const { properties } = webhooks[type]!.post.requestBody.content['application/json'].schema
      expect(properties).toMatchObject({ type: { const: type }, data: { $ref: `#/components/schemas/${dataTitle(spec)}` } })
    }
  })

  test('types the data of an event of the log by its type', () => {
    const { oneOf, discriminator } = schemas['Event']!
    const variants = oneOf.map(({ $ref }) => schemas[$ref.replace(/^.*\//, '')]!)
    for (const [type, spec] of specs) {
      const fitting = variants.filter(({ properties }) => properties.type.enum!.includes(type))
      expect(fitting.map(({ properties }) => properties.data.$ref)).toEqual([`#/components/schemas/${dataTitle(spec)}`])
      expect(schemas[discriminator.mapping[type]!.replace(/^.*\//, '')]).toBe(fitting[0])
    }
  })
})

describe('the operations', () => {
  test('that the catalog names exist', () => {
    const named = specs.flatMap(([, { emittedBy, sometimesEmittedBy }]) => [...emittedBy, ...sometimesEmittedBy])
    expect(app.operations.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(named))
  })

  test.each(app.operations.filter(({ method }) => method !== 'GET'))('$operationId records what the catalog says', async (operation) => {
    const { operationId, method, path } = operation
    const customer = await app.given.customer({ credit: '1000.00' })
    const { params = {}, body } = await ENDPOINTS[operationId]!(fixtureOf(app, customer))
    const eventsAfter = async (after: number) =>
      app.db.many<{ type: string }>(sql`select type from events where account_id = ${customer.accountId} and number > ${after}`)
    const before = (await eventsAfter(0)).length
    const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name]!)
    const { status } = await app.request(String(method), filled, { token: customer.token, body })
    expect(status).toBeLessThan(300)
    await app.settle()
    await app.reconcile() // a deleted backup is removed by a reconciler
    const recorded = new Set((await eventsAfter(before)).map(({ type }) => type))
    expect([...recorded].toSorted()).toEqual(typesBy('emittedBy', operationId).toSorted())
  })
})

const code = (text: string): string => `\`${text}\``
const listed = (types: string[]): string => types.map(code).join(', ')
const row = (...cells: string[]): string => `| ${cells.join(' | ')} |\n`
const table = (...heads: string[]): string => row(...heads) + `|${heads.map(() => '---|').join('')}\n`

/** Without the fields of resources: the reference has those. */
function ownFields(title: string): Field[] {
  const fields = fieldsOf(schemas[title]!, schemas)
  const resources = fields.filter(({ type }) => type in schemas).map(({ name }) => name)
  return fields.filter(({ name }) => !resources.some((each) => name.startsWith(`${each}.`)))
}

function renderTables(): string {
  const operations = app.operations
    .map(({ operationId, method, path }) => ({
      name: `${code(`${String(method)} ${path.replace(/:(\w+)/g, '{$1}')}`)} (${operationId})`,
      always: typesBy('emittedBy', operationId),
      sometimes: typesBy('sometimesEmittedBy', operationId),
    }))
    .filter(({ always, sometimes }) => always.length + sometimes.length > 0)
    .map(({ name, always, sometimes }) => row(name, listed(always), listed(sometimes)))
  const events = specs.map(([type, spec]) => row(code(type), spec.summary, `[${dataTitle(spec)}](#${dataTitle(spec).toLowerCase()})`))
  const payloads = [...new Set(specs.map(([, spec]) => dataTitle(spec)))].map((title) => {
    const rows = ownFields(title).map(({ name, type, required, about }) =>
      row(code(name), (required ? type : `${type}, optional`).replaceAll('|', '\\|'), about),
    )
    return `### ${title}\n\n${table('Field', 'Type', 'Meaning')}${rows.join('')}`
  })
  return [
    GENERATED,
    table('Operation', 'Events after success', 'Further events') + operations.join(''),
    '## Events\n',
    table('Event', 'When', 'Payload') + events.join(''),
    '## Payloads\n',
    payloads.join('\n'),
  ].join('\n')
}

test('the guide has every operation, event and payload (update it with npm run openapi)', async () => {
  const [introduction] = readFileSync(GUIDE, 'utf8').split(GENERATED)
  await expect(`${introduction}${renderTables()}`).toMatchFileSnapshot(GUIDE)
})
