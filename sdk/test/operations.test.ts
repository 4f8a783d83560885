// Every operation of the OpenAPI document, called once through its SDK method against the real server.
import { describe, expect, test } from 'vitest'
import { ENDPOINTS, fixtureOf } from '../../server/test/endpoint-table.ts'
import { sql } from '../../server/src/kernel/database/db.ts'
import { ROUTES } from '../src/generated/routes.ts'
import { CALLS } from './calls.ts'
import { sdkFixture, recordAttempts } from './fixture.ts'

const app = await sdkFixture({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' } })
await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 100000000, disk_total_gib = 1000000`)
await app.db.run(sql`update simulated.hosts set disk_total_bytes = ${10n ** 15n}`)

const operations = Object.entries(ROUTES).map(([id, { method, path }]) => ({ id, method, path }))

test('every operation has a method', () => {
  expect(Object.keys(CALLS).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

describe.each(operations.filter(({ id }) => id in CALLS))('$id', ({ id, method, path }) => {
  test('is called once by its method, and succeeds', async () => {
    const customer = await app.given.customer({ credit: '10000.00' })
    const { params = {}, body, query = '' } = await ENDPOINTS[id]!(fixtureOf(app, customer))
    const { attempts, handlers } = recordAttempts()
    const data = await CALLS[id]!(app.client(customer, { handlers }), params as never, body as never)
    expect(data).toBeTypeOf('object')
    const expected = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!) + query
    expect(attempts).toMatchObject([{ method, path: expected, replayed: false }])
    expect(attempts[0]!.status).toBeGreaterThanOrEqual(200)
    expect(attempts[0]!.key ?? 'none').toMatch(method === 'GET' ? /^none$/ : /^[0-9a-f]{32}$/)
  })
})

describe('a quote', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const berth = app.client(customer)
  const input = await app.given.vmInput()

  test('equals the later charge and changes nothing', async () => {
    const quote = await berth.vms.quoteCreate(input)
    expect(await berth.vms.list().all()).toEqual([])
    await berth.vms.create(input)
    expect(await berth.wallet.get()).toMatchObject({ balance: quote.balanceAfter, currency: quote.currency })
    await app.settle()
    const [vm] = await berth.vms.list().all()
    const [large] = (await berth.plans.list()).filter(({ slug }) => slug === 'large')
    const quotes = [
      await berth.vms.quoteUpgrade(vm!.id, large!.id),
      await berth.vms.quoteUpdate(vm!.id, { dailyBackupEnabled: true }),
      await berth.bandwidth.quotePack(vm!.id, 100),
      await berth.vms.quoteRebuild(vm!.id, { osTemplateId: input.osTemplateId }),
      await berth.vms.quoteDelete(vm!.id),
    ]
    for (const each of quotes) expect(each).toMatchObject({ charge: expect.stringMatching(/^-?\d+\.\d\d$/), currency: quote.currency })
    expect(quotes.slice(-2)).toMatchObject([{ charge: '0.00' }, { charge: `-${quote.charge}`, balanceAfter: '100.00' }])
    expect(await berth.vms.get(vm!.id)).toMatchObject({ status: 'RUNNING' })
    expect(await berth.wallet.get()).toMatchObject({ balance: quote.balanceAfter })
  })
})
