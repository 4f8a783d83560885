// Every test also tests the payloads of events: what is in the log must fit the schema of its type.
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { EventSpec } from '../src/features/events/schema.ts'
import { eventCatalog } from '../src/features/index.ts'
import { sql, type Queries } from '../src/kernel/database/db.ts'

const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false })
formats.default(ajv)
const validators = new Map(Object.entries<EventSpec>(eventCatalog).map(([type, { data }]) => [type, ajv.compile(data)]))

/** What the log contains that the schemas do not allow, unknown fields included. */
export async function undocumentedEvents(db: Queries): Promise<string[]> {
  const events = await db.many<{ type: string; data: unknown }>(sql`select type, data from events`)
  return [...new Set(events.flatMap(({ type, data }) => problemsOf(type, data)))]
}

function problemsOf(type: string, data: unknown): string[] {
  const validate = validators.get(type)
  if (!validate) return [`${type} is in no catalog`]
  return validate(data) ? [] : validate.errors!.map(({ instancePath, message }) => `${type}${instancePath} ${message}`)
}
