import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { suspendByOperator, unmanage } from '../vms/service.ts'

describe('POST /vms/{vmId}/bandwidth/packs', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const rich = () => app.given.customer({ credit: '10000.00' })
  type Customer = Awaited<ReturnType<typeof rich>>
  const buy = (customer: Customer, vmId: string, body: unknown, query = '') =>
    customer.post(`/vms/${vmId}/bandwidth/packs${query}`, body as object)
  const balance = async (customer: Customer) => (await customer.get('/wallet')).body.data.balance as string
  const packBytes = async (customer: Customer, vmId: string) => (await customer.get(`/vms/${vmId}`)).body.data.bandwidthPackBytes as string

  test('returns the transaction and raises the cap by the pack', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer, { hostname: 'web-1' })
    const until = (await customer.get(`/vms/${id}`)).body.data.billing.nextRenewalAt.slice(0, 10) as string
    const { status, body } = await buy(customer, id, { gigabytes: 1000 })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      type: 'BANDWIDTH_PACK',
      description: `1000 GB of traffic for web-1 until ${until}`,
      referenceType: 'VM',
      referenceId: id,
      createdAt: app.clock.now().toISOString(),
      amount: '-10.00',
      balanceAfter: '9984.00',
      project: null,
    })
    expect((await customer.get('/wallet/transactions')).body.data[0]).toEqual(body.data)
    await buy(customer, id, { gigabytes: 1 })
    expect(await packBytes(customer, id)).toBe('1001000000000')
    expect((await customer.get('/bandwidth')).body.data[0].capBytes).toBe('3001000000000')
  })

  test.each([
    [1, '1.00', '-0.01'],
    [150, '1.00', '-1.50'],
    [100_000, '1.00', '-1000.00'],
    [1, '0.99', '-0.01'],
    [101, '0.99', '-1.00'],
    [7, '0.00', '0.00'],
  ])('%s GB at %s per hundred costs %s', async (gigabytes, price, amount) => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const setPrice = (to: string) =>
      app.db.run(sql`update catalog_values set value = ${Number(to) * 100} where name = 'price.bandwidth_100_gb'`)
    await setPrice(price)
    const { body } = await buy(customer, id, { gigabytes })
    await setPrice('1.00')
    expect(body.data.amount).toBe(amount)
  })

  test('with dryRun returns the price and changes nothing', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const { status, body } = await buy(customer, id, { gigabytes: 250 }, '?dryRun=true')
    expect([status, body.data]).toEqual([200, { charge: '2.50', monthly: '6.00', currency: 'USD', balanceAfter: '9991.50' }])
    expect([await balance(customer), await packBytes(customer, id)]).toEqual(['9994.00', '0'])
    expect((await customer.get(`/vms/${id}/bandwidth/packs`)).body.pagination.total).toBe(0)
  })

  test.each([
    {},
    { gigabytes: 0 },
    { gigabytes: -1 },
    { gigabytes: 100_001 },
    { gigabytes: 1.5 },
    { gigabytes: '10' },
    { gigabytes: null },
  ])('refuses %j', async (body) => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    expect((await buy(customer, id, body)).status).toBe(400)
    expect((await buy(customer, id, { gigabytes: 1, size: 1 })).status).toBe(400)
    expect(await balance(customer)).toBe('9994.00')
  })

  test('is charged once per Idempotency-Key', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const once = () => customer.post(`/vms/${id}/bandwidth/packs`, { gigabytes: 100 }, { 'idempotency-key': 'pack-1' })
    const [first, second] = [await once(), await once()]
    expect(second.body).toEqual(first.body)
    expect([await balance(customer), await packBytes(customer, id)]).toEqual(['9993.00', '100000000000'])
  })

  test('is refused when the balance is too low', async () => {
    const customer = await app.given.customer({ credit: '7.00' })
    const { id } = await app.given.vm(customer)
    const { status, headers, body } = await buy(customer, id, { gigabytes: 101 })
    expect([status, headers['x-error-code']]).toEqual([402, 'insufficient_funds'])
    expect(body.error).toBe('Insufficient wallet balance: 1.01 USD required, 1.00 USD available')
    expect(await packBytes(customer, id)).toBe('0')
    expect((await buy(customer, id, { gigabytes: 101 }, '?dryRun=true')).status).toBe(402)
  })

  test('is refused for an unmetered VM', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await app.db.run(sql`update vms set bandwidth_gb = 0 where id = ${id}`)
    const { status, headers, body } = await buy(customer, id, { gigabytes: 1 })
    expect([status, headers['x-error-code']]).toEqual([422, 'incompatible'])
    expect(body.error).toBe('The traffic of this VM is not metered, so it needs no pack')
  })

  describe('is refused', () => {
    const refused = async (customer: Customer, vmId: string) => {
      const { status, headers } = await buy(customer, vmId, { gigabytes: 1 })
      return [status, headers['x-error-code']]
    }

    test('before the VM is provisioned', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer, {}, { settled: false })
      expect(await refused(customer, id)).toEqual([409, 'invalid_state'])
    })

    test('when provisioning failed', async () => {
      const customer = await rich()
      await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
      const { id } = await app.given.vm(customer)
      expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('ERROR')
      expect(await refused(customer, id)).toEqual([409, 'invalid_state'])
    })

    test('while the VM is suspended', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      await suspendByOperator(app.deps, id)
      await app.settle({ subjectId: id })
      expect(await refused(customer, id)).toEqual([409, 'invalid_state'])
    })

    test('while the VM is unmanaged', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      await app.db.tx((tx) => unmanage(tx, app.deps, id))
      expect(await refused(customer, id)).toEqual([409, 'invalid_state'])
    })

    test('between the end of its period and the renewal', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const before = app.clock.now()
      app.clock.set(new Date((await customer.get(`/vms/${id}`)).body.data.billing.nextRenewalAt as string))
      expect(await refused(customer, id)).toEqual([409, 'invalid_state'])
      app.clock.set(before)
    })

    test('while the VM is past due', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      await app.db.run(sql`update vms set billing_status = 'PAST_DUE', past_due_at = ${app.clock.now()} where id = ${id}`)
      expect(await refused(customer, id)).toEqual([409, 'invalid_state'])
      await app.db.run(sql`update vms set billing_status = 'ACTIVE', past_due_at = null where id = ${id}`)
    })
  })

  test('is sold while another action runs and while the VM is stopped', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/stop`)
    expect((await buy(customer, id, { gigabytes: 1 })).status).toBe(201)
    await app.settle({ subjectId: id })
    expect((await buy(customer, id, { gigabytes: 1 })).status).toBe(201)
  })

  test('reports another account’s VM as not found', async () => {
    const { id } = await app.given.vm(await rich())
    const stranger = await rich()
    const [foreign, unknown] = [await buy(stranger, id, { gigabytes: 1 }), await buy(stranger, 'cunknown1', { gigabytes: 1 })]
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body])
  })

  test('requires the scope bandwidth:create', async () => {
    const reader = await app.given.customer({ scopes: ['bandwidth:read'] })
    expect((await buy(reader, 'cunknown1', { gigabytes: 1 })).body.error).toBe('This token lacks the required scope: bandwidth:create')
  })

  test('sells exactly 100 of 400 packs, 50 requests at a time, when the balance covers 100', async () => {
    const customer = await app.given.customer({ credit: '106.00' })
    const { id } = await app.given.vm(customer)
    const eightInARow = async () => {
      const answers: Awaited<ReturnType<typeof buy>>[] = []
      for (let i = 0; i < 8; i++) answers.push(await buy(customer, id, { gigabytes: 100 }))
      return answers
    }
    const answers = (await Promise.all(Array.from({ length: 50 }, eightInARow))).flat()
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    expect([count(201), count(402)]).toEqual([100, 300])
    expect([await balance(customer), await packBytes(customer, id)]).toEqual(['0.00', '10000000000000'])
  })
})
