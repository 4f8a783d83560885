// The OpenAPI document is the contract with customers, the SDK and the dashboard. `npm run openapi` updates the copy in the repository.
import { describe, expect, test } from 'vitest'
import { DASHBOARD_PREFIX, PUBLIC_PREFIX } from '../src/compose.ts'
import { SCOPES } from '../src/features/accounts/scopes.ts'
import { openApiDocument, DASHBOARD } from '../src/http/docs/openapi.ts'
import { testApp } from './harness.ts'

type Json = Record<string, unknown>

interface Schema {
  type?: string | string[]
  required?: string[]
  properties?: Record<string, Schema>
}

interface OperationEntry {
  operationId: string
  tags: [string]
  'x-scope': string | null
  parameters?: { name?: string; in?: string; required?: boolean }[]
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>
}

interface Document extends Json {
  tags: { name: string }[]
  paths: Record<string, Record<string, OperationEntry>>
}

/** Every object of the document with its path. */
function* objects(value: unknown, path = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [path, value as Json]
  for (const [key, inner] of Object.entries(value)) yield* objects(inner, `${path}/${key}`)
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']
const IS_SCHEMA = /\/(schema|items|additionalProperties)$|\/(properties|schemas)\/[^/]+$|\/(anyOf|oneOf|allOf)\/\d+$/

describe('the OpenAPI document', async () => {
  const app = await testApp()
  const response = await app.app.inject(`${PUBLIC_PREFIX}/openapi.json`)
  const document = response.json<Document>()
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, name: `${method.toUpperCase()} ${path}`, operation })),
  )

  test('is public and rate limited per address', () => {
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.headers['x-ratelimit-remaining']).toBe('99')
  })

  test('matches the copy in the repository (update it with npm run openapi)', async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../openapi/v1.json')
  })

  test('exists for the dashboard too, with a copy in the repository', async () => {
    const sister = openApiDocument(DASHBOARD_PREFIX, app.dashboardOperations, { audience: DASHBOARD })
    await expect(`${JSON.stringify(sister, null, 2)}\n`).toMatchFileSnapshot('../../openapi/dashboard.json')
  })

  test('has every route of the API, and nothing else', () => {
    const declared = app.operations.map(({ method, path }) => `${String(method)} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(operations.map(({ name }) => name).toSorted()).toEqual(declared.toSorted())
  })

  test('describes every operation with scope and responses', () => {
    for (const { name, operation } of operations) {
      const words = { operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/), summary: expect.stringMatching(/^[A-Z].*[^.]$/) }
      expect(operation, name).toMatchObject(words)
      expect(document.tags, name).toContainEqual({ name: operation.tags[0] })
      expect([...SCOPES, null], name).toContain(operation['x-scope'])
      const statuses = Object.keys(operation.responses)
      expect(statuses, name).toEqual(expect.arrayContaining([expect.stringMatching(/^2/), '401', '429', '500', '503']))
    }
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(ids).toEqual([...new Set(ids)])
  })

  test('declares exactly the parameters of its paths', () => {
    for (const { path, operation } of operations) {
      const declared = (operation.parameters ?? []).filter((each) => each.in === 'path')
      const expected = [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({ name: match[1], in: 'path', required: true }))
      expect(declared).toMatchObject(expected)
      expect(declared).toHaveLength(expected.length)
    }
  })

  test('has no dangling references', () => {
    const references = [...objects(document)].flatMap(([where, { $ref }]) => (typeof $ref === 'string' ? [[where, $ref] as const] : []))
    expect(references.length).toBeGreaterThan(20)
    for (const [where, reference] of references) {
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document)
      expect(target, `${where} → ${reference}`).toBeTypeOf('object')
    }
  })

  test('is JSON Schema 2020-12 without our own keywords', () => {
    for (const [where, schema] of [...objects(document)].filter(([path]) => IS_SCHEMA.test(path))) {
      const { type = [], required = [], properties = {} } = schema as Schema
      expect(TYPES, where).toEqual(expect.arrayContaining([type].flat()))
      expect(Object.keys(properties), where).toEqual(expect.arrayContaining(required))
      const strange = Object.keys(schema).filter((word) => /^(nullable|rule|optionalBody|title|~.*)$/.test(word))
      expect(strange, where).toEqual([])
    }
  })

  test('wraps every success in the envelope', () => {
    for (const { name, operation } of operations) {
      for (const [, answer] of Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))) {
        const { required, properties } = answer.content['application/json'].schema
        expect(required, name).toEqual(expect.arrayContaining(['success', 'data']))
        expect(properties, name).toMatchObject({ success: { type: 'boolean', const: true } })
      }
    }
  })
})
