import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { GB, quietVm } from '../../../test/traffic.ts'
import { sql } from '../../kernel/database/db.ts'
import { meter } from './meter.reconciler.ts'

describe('GET /bandwidth', async () => {
  const app = await testApp()
  const rich = () => app.given.customer({ credit: '1000.00' })

  test('returns exactly the documented fields for a VM without traffic', async () => {
    const customer = await rich()
    const { id } = await quietVm(app, customer, { hostname: 'web-1', name: 'Shop' })
    const { status, body } = await customer.get('/bandwidth')
    const { nextRenewalAt } = (await customer.get(`/vms/${id}`)).body.data.billing
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: [
        {
          vmId: id,
          vmName: 'Shop',
          status: 'RUNNING',
          nextRenewalAt,
          throttled: false,
          throttledAt: null,
          usedBytes: 0,
          packBytes: '0',
          capBytes: '2000000000000',
        },
      ],
    })
  })

  test('shows usage, packs and the start of throttling', async () => {
    const customer = await rich()
    const vm = await quietVm(app, customer)
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 5 })
    await vm.receive(2005 * GB - 1, 1)
    await meter.runOnce(app.deps)
    expect((await customer.get('/bandwidth')).body.data).toEqual([
      expect.objectContaining({
        usedBytes: 2005 * GB,
        packBytes: '5000000000',
        capBytes: '2005000000000',
        throttled: true,
        throttledAt: app.clock.now().toISOString(),
      }),
    ])
  })

  test('has no cap for an unmetered plan and never throttles it', async () => {
    const customer = await rich()
    const vm = await quietVm(app, customer)
    await app.db.run(sql`update vms set bandwidth_gb = 0 where id = ${vm.id}`)
    await vm.receive(9_000_000 * GB)
    await meter.runOnce(app.deps)
    expect((await customer.get('/bandwidth')).body.data).toEqual([
      expect.objectContaining({ usedBytes: 9_000_000 * GB, capBytes: null, throttled: false }),
    ])
  })

  test('lists the VMs of the own account only, newest first', async () => {
    const customer = await rich()
    await app.given.vm(await rich())
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift((await app.given.vm(customer, { hostname: `web-${i}` })).id)
    const { body } = await customer.get('/bandwidth')
    expect(body.data.map((each: { vmId: string }) => each.vmId)).toEqual(ids)
    expect(body.pagination).toBeUndefined()
    expect((await (await app.given.customer()).get('/bandwidth')).body.data).toEqual([])
  })

  test('requires the scope bandwidth:read', async () => {
    const customer = await app.given.customer({ scopes: ['bandwidth:create'] })
    expect((await customer.get('/bandwidth')).body.error).toBe('This token lacks the required scope: bandwidth:read')
  })
})
