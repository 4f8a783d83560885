// Prorated products cost nothing when the period is over, so they are not sold then.
import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { suspendByOperator } from '../vms/service.ts'

describe('a VM whose period is over', async () => {
  const app = await testApp()
  const { vm, pass, turn, toRenewal, balance, deposit } = await billingFixture(app)
  await app.db.run(sql`update catalog_values set value = 500 where name = 'price.network_10g'`)
  const plans = (await (await app.given.customer()).get('/plans')).body.data as { id: string; slug: string }[]
  const large = { planId: plans.find((each) => each.slug === 'large')!.id }

  /** One paid period of the small plan has ended. */
  const over = async (credit: string, input = {}) => {
    const customer = await app.given.customer({ credit })
    const { id } = await app.given.vm(customer, input)
    await toRenewal(customer, id)
    return { customer, id }
  }
  type Customer = Awaited<ReturnType<typeof over>>['customer']
  const unpaid = async (input = {}) => {
    const poor = await over('7.20', input)
    await turn()
    expect((await vm(poor.customer, poor.id)).billing.status).toBe('PAST_DUE')
    return poor
  }
  const upgrade = (customer: Customer, id: string, query = '') => customer.post(`/vms/${id}/upgrade${query}`, large)
  const said = ({ status, headers, body }: Awaited<ReturnType<typeof upgrade>>) => [status, headers['x-error-code'], body.error]
  const UNPAID = 'The renewal of this VM is not paid: deposit what is due, it renews by itself within a minute, then try again'
  const SOON = 'The month of this VM is over and being renewed: try again in a minute'

  test('is not upgraded while past due, and is upgraded for a price once paid', async () => {
    const { customer, id } = await unpaid()
    for (const query of ['', '?dryRun=true']) expect(said(await upgrade(customer, id, query))).toEqual([409, 'invalid_state', UNPAID])
    expect((await vm(customer, id)).allowedActions).not.toContain('upgrade')
    await deposit(customer, '100.00')
    await turn()
    expect((await vm(customer, id)).allowedActions).toContain('upgrade')
    const before = Number(await balance(customer))
    expect((await upgrade(customer, id)).status).toBe(202)
    await app.settle()
    expect([(await vm(customer, id)).plan.slug, Number(await balance(customer)) < before]).toEqual(['large', true])
  })

  test('is not upgraded between the end of its period and the renewal', async () => {
    const { customer, id } = await over('100.00')
    expect(said(await upgrade(customer, id))).toEqual([409, 'invalid_state', SOON])
    await turn()
    expect((await upgrade(customer, id)).status).toBe(202)
    await app.settle()
  })

  test.each(['dailyBackupEnabled', 'network10gEnabled'])('cannot enable %s until it is paid, but can disable it', async (name) => {
    const { customer, id } = await unpaid()
    const set = (on: boolean) => customer.patch(`/vms/${id}`, { [name]: on })
    expect(said(await set(true))).toEqual([409, 'invalid_state', UNPAID])
    expect((await set(false)).status).toBe(200)
    const rich = await over('100.00')
    expect(said(await rich.customer.patch(`/vms/${rich.id}`, { [name]: true }))).toEqual([409, 'invalid_state', SOON])
  })

  test('can disable an add-on while past due, and is then renewed for less', async () => {
    const { customer, id } = await unpaid({ dailyBackupEnabled: true })
    await deposit(customer, '6.00')
    await turn()
    expect((await vm(customer, id)).billing.status).toBe('PAST_DUE')
    expect((await customer.patch(`/vms/${id}`, { dailyBackupEnabled: false, name: 'cheap' })).status).toBe(200)
    await turn()
    expect([(await vm(customer, id)).billing.status, await balance(customer)]).toEqual(['ACTIVE', '0.00'])
  })

  test('that is suspended by an operator pays for add-ons with the period that starts when it is unsuspended', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await suspendByOperator(app.deps, id)
    await app.settle()
    await toRenewal(customer, id)
    expect((await customer.patch(`/vms/${id}`, { network10gEnabled: true })).status).toBe(200)
    expect(await balance(customer)).toBe('94.00')
  })

  test('and that is being unsuspended pays for add-ons once, prorated in the started period', async () => {
    const { customer, id } = await unpaid()
    app.clock.advance('25h')
    await turn()
    await deposit(customer, '20.00')
    await pass()
    expect(await vm(customer, id)).toMatchObject({ status: 'SUSPENDED', currentAction: { action: 'UNSUSPEND' } })
    const before = Number(await balance(customer))
    expect((await customer.patch(`/vms/${id}`, { network10gEnabled: true })).status).toBe(200)
    const spent = async () => (before - Number(await balance(customer))).toFixed(2)
    expect(await spent()).toBe('5.00')
    await app.settle()
    for (const network10gEnabled of [false, true]) await customer.patch(`/vms/${id}`, { network10gEnabled })
    expect([(await vm(customer, id)).billing.status, await spent()]).toEqual(['ACTIVE', '5.00'])
  })
})
