import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { eventsFile, routesFile, typesFile, type Document } from '../generate/generate.ts'
import type * as sdk from '../src/index.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const document = JSON.parse(read('openapi/v1.json')) as Document

describe('the generated types', () => {
  test('match the OpenAPI document: if not, run npm run sdk:types', async () => {
    expect(read('sdk/src/generated/openapi.ts')).toBe(await typesFile(document))
    expect(read('sdk/src/generated/routes.ts')).toBe(routesFile(document))
    expect(read('sdk/src/generated/events.ts')).toBe(eventsFile(document))
  })

  test('of responses have no optional fields and mark null', () => {
    expectTypeOf<sdk.Vm['status']>().toEqualTypeOf<
      'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR'
    >()
    expectTypeOf<sdk.Vm['ipAddress']>().toEqualTypeOf<string | null>()
    expectTypeOf<sdk.Vm['plan']>().toEqualTypeOf<{ slug: string; name: string; priceMonthly: string }>()
    expectTypeOf<sdk.Vm['ram']>().toBeNumber()
    expectTypeOf<sdk.FirewallVerdict['rule']>().toEqualTypeOf<sdk.FirewallRule | null>()
  })

  test('of events follow their type', () => {
    const show = (event: sdk.Event | sdk.WebhookEvent): void => {
      if (event.type === 'backup.failed') expectTypeOf(event.data.backup).toEqualTypeOf<sdk.Backup>()
      if (event.type === 'vm.started') expectTypeOf(event.data).toEqualTypeOf<sdk.VmEventData>()
      if (event.type === 'billing.low_balance') expectTypeOf(event.data.transaction).toBeNull()
      if (event.type === 'ticket.closed') expectTypeOf(event.data).not.toHaveProperty('reply')
      if (event.type === 'webhook.test') expectTypeOf(event.data).toEqualTypeOf<{ webhookId: string }>()
    }
    expectTypeOf(show).toBeFunction()
    expectTypeOf<sdk.EventData<'ticket.reply'>['reply']>().toEqualTypeOf<sdk.TicketReply>()
    expectTypeOf<sdk.EventData<'vm.created'>>().toEqualTypeOf<sdk.VmEventData>()
    expectTypeOf<'vm.exploded'>().not.toExtend<sdk.EventType>()
    expectTypeOf<sdk.Body<'createWebhook'>['events'][number]>().toEqualTypeOf<sdk.EventType>()
  })

  test('of requests mark what is optional', () => {
    expectTypeOf<{ regionId: string; osTemplateId: string; hostname: string }>().toExtend<sdk.CreateVm>()
    expectTypeOf<{ regionId: string; fromBackupId: string; hostname: string }>().toExtend<sdk.CreateVm>()
    expectTypeOf<{ regionId: string; osTemplateId: string }>().not.toExtend<sdk.CreateVm>()
    expectTypeOf<sdk.CreateVm['sshKeyIds']>().toEqualTypeOf<string[] | undefined>()
    expectTypeOf<{ name: undefined }>().toExtend<sdk.UpdateVm>()
    expectTypeOf<{ page: undefined }>().toExtend<sdk.Query<'listVms'>>()
    expectTypeOf<Required<sdk.Operations['listVms']['input']>>().not.toExtend<{ body?: object }>()
    expectTypeOf<sdk.Operations['restartVm']['input']>().toExtend<{ path: { id: string }; body?: object | undefined }>()
    expectTypeOf<sdk.Body<'createSshKey'>>().toEqualTypeOf<{
      name: string
      publicKey: string
      labels?: Record<string, string> | undefined
    }>()
    expectTypeOf<sdk.Query<'listVms'>['status']>().toEqualTypeOf<sdk.Vm['status'] | undefined>()
  })

  test('give the results of methods', () => {
    type Client = sdk.Berth
    expectTypeOf<Client['vms']['create']>().returns.resolves.toExtend<sdk.VmCreated & { vmId: string }>()
    expectTypeOf<Client['vms']['restart']>().returns.resolves.toEqualTypeOf<{ actionId: string } & { vmId: string }>()
    expectTypeOf<Client['vms']['update']>().returns.resolves.toEqualTypeOf<sdk.Vm>()
    expectTypeOf<Client['vms']['quoteUpdate']>().returns.resolves.toEqualTypeOf<sdk.Quote>()
    expectTypeOf<Client['vms']['list']>().returns.toEqualTypeOf<sdk.Pages<sdk.VmListItem>>()
    expectTypeOf<Client['bandwidth']['buyPack']>().returns.resolves.toEqualTypeOf<sdk.Transaction>()
  })

  test('list the error codes', () => {
    expectTypeOf<sdk.ErrorCode>().toExtend<string>()
    expectTypeOf<'insufficient_funds' | 'not_found' | 'rate_limited'>().toExtend<sdk.ErrorCode>()
    expectTypeOf<'no_such_code'>().not.toExtend<sdk.ErrorCode>()
  })
})
