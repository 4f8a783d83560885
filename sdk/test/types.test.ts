import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { operationsFile, schemasFile, type Document } from '../generate/document.ts'
import { toType, type Schema } from '../generate/schema.ts'
import type * as sdk from '../src/index.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const document = JSON.parse(read('openapi/v1.json')) as Document

describe('the generated types', () => {
  test('are those of the OpenAPI document: if not, run npm run sdk:types', () => {
    expect(read('sdk/src/generated/schemas.ts')).toBe(schemasFile(document))
    expect(read('sdk/src/generated/operations.ts')).toBe(operationsFile(document))
  })

  test('say of answers what is always there, and what may be null', () => {
    expectTypeOf<sdk.Vm['status']>().toEqualTypeOf<
      'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR'
    >()
    expectTypeOf<sdk.Vm['ipAddress']>().toEqualTypeOf<string | null>()
    expectTypeOf<sdk.Vm['plan']>().toEqualTypeOf<{ slug: string; name: string; priceMonthly: string }>()
    expectTypeOf<sdk.Vm['ram']>().toBeNumber()
    expectTypeOf<sdk.FirewallVerdict['rule']>().toEqualTypeOf<sdk.FirewallRule | null>()
    expectTypeOf<sdk.Event['data']>().toEqualTypeOf<Record<string, unknown>>()
  })

  test('say of requests what must be there, and what may be left out', () => {
    expectTypeOf<{ regionId: string; osTemplateId: string; hostname: string }>().toExtend<sdk.CreateVm>()
    expectTypeOf<{ regionId: string; hostname: string }>().not.toExtend<sdk.CreateVm>()
    expectTypeOf<sdk.CreateVm['sshKeyIds']>().toEqualTypeOf<string[] | undefined>()
    expectTypeOf<sdk.Body<'createSshKey'>>().toEqualTypeOf<{ name: string; publicKey: string }>()
    expectTypeOf<sdk.Query<'listVms'>['status']>().toEqualTypeOf<sdk.Vm['status'] | undefined>()
    expectTypeOf<sdk.Body<'createWebhook'>['events'][number]>().toExtend<sdk.WebhookEvent['type']>()
  })

  test('say what methods answer', () => {
    type Client = sdk.Berth
    expectTypeOf<Client['vms']['create']>().returns.resolves.toExtend<sdk.VmCreated & { vmId: string }>()
    expectTypeOf<Client['vms']['restart']>().returns.resolves.toEqualTypeOf<{ actionId: string } & { vmId: string }>()
    expectTypeOf<Client['vms']['update']>().returns.resolves.toEqualTypeOf<sdk.Vm>()
    expectTypeOf<Client['vms']['quoteUpdate']>().returns.resolves.toEqualTypeOf<sdk.Quote>()
    expectTypeOf<Client['vms']['list']>().returns.toEqualTypeOf<sdk.Pages<sdk.VmListItem>>()
    expectTypeOf<Client['bandwidth']['buyPack']>().returns.resolves.toEqualTypeOf<sdk.Transaction>()
  })

  test('tell refusals apart by their codes', () => {
    expectTypeOf<sdk.ErrorCode>().toExtend<string>()
    expectTypeOf<'insufficient_funds' | 'not_found' | 'rate_limited'>().toExtend<sdk.ErrorCode>()
    expectTypeOf<'no_such_code'>().not.toExtend<sdk.ErrorCode>()
  })
})

describe('the generator', () => {
  test.each<[Schema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: ['string', 'null'], format: 'date-time' }, 'string | null'],
    [{ enum: ['IN', "O'UT"] }, "'IN' | 'O\\'UT'"],
    [{ type: 'boolean', const: true }, 'true'],
    [{ anyOf: [{ $ref: '#/components/schemas/Vm' }, { type: 'null' }] }, 'Vm | null'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, 'Array<string | null>'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, 'Record<string, number>'],
    [{}, 'unknown'],
    [
      { type: 'object', required: ['a'], properties: { a: { type: 'string', description: 'MiB' }, b: { type: 'number' } } },
      '{\n  /** MiB */\n  a: string\n  b?: number\n}',
    ],
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }, '{\n  a?: string | undefined\n}'],
  ])('makes %j to %s', (schema, type) => {
    expect(toType(schema)).toBe(type)
  })

  test.each<[Schema, string]>([
    [{ allOf: [] }, 'allOf'],
    [{ type: 'string', nullable: true }, 'nullable'],
    [{ type: 'tuple' }, 'type tuple'],
  ])('refuses %j, which it does not know', (schema, word) => {
    expect(() => toType(schema)).toThrow(`The generator does not know ${word.startsWith('type') ? `the ${word}` : word}`)
  })
})
