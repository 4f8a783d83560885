// Valid payloads of every type of event, made from their schemas.
import type { EventType } from '../src/features/events/schema.ts'
import type { NewEvent } from '../src/features/events/service.ts'
import { eventCatalog } from '../src/features/index.ts'

interface Schema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
}

const SCALARS: Record<string, unknown> = { string: 'text', integer: 1, number: 1.5, boolean: true, null: null, array: [], object: {} }

function sampleOf({ type, format, enum: choices, anyOf, properties }: Schema): unknown {
  if (choices) return choices[0]
  if (anyOf) return sampleOf(anyOf[0]!)
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, sampleOf(each)]))
  return format === 'date-time' ? '2026-11-16T05:30:00.000Z' : SCALARS[[type].flat()[0]!]
}

/** `changes` replace fields of the payload. */
export const sampleEvent = (accountId: string, type: EventType = 'vm.started', changes: object = {}): NewEvent =>
  ({ accountId, type, data: { ...(sampleOf(eventCatalog[type].data as Schema) as object), ...changes } }) as NewEvent
