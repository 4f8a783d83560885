import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../../test/billing-fixture.ts'
import { testApp } from '../../../../test/harness.ts'
import { sql } from '../../../kernel/database/db.ts'
import { applyPorts } from '../reconcilers/apply-ports.reconciler.ts'
import { adopt, unmanage } from '../service.ts'

describe('add-ons bought in the middle of a period', async () => {
  const app = await testApp()
  const { turn, toRenewal, balance, renewalsOf } = await billingFixture(app)
  await app.db.run(sql`update catalog_values set value = 500 where name = 'price.network_10g'`)
  const plans = (await (await app.given.customer()).get('/plans')).body.data as { id: string; slug: string; priceMonthly: string }[]
  const plan = (slug: string) => plans.find((each) => each.slug === slug)!
  const [small, large] = [plan('small'), plan('large')].map((each) => Math.round(Number(each.priceMonthly) * 100))
  const backups = (price: number) => Math.ceil((price * 20) / 100)

  /** A VM bought at the start of a 30-day month, with 10 days left. */
  const twoThirdsThrough = async (input: Record<string, unknown> = {}) => {
    app.clock.set(new Date('2027-04-01T00:00:00Z'))
    const customer = await app.given.customer({ credit: '1000.00' })
    const { id } = await app.given.vm(customer, { planId: plan('small').id, ...input })
    app.clock.set(new Date('2027-04-21T00:00:00Z'))
    const before = await cents(customer)
    return { customer, id, spent: async () => before - (await cents(customer)) }
  }
  type Customer = Awaited<ReturnType<typeof app.given.customer>>
  const cents = async (customer: Customer) => Math.round(Number(await balance(customer)) * 100)
  const aThird = (monthly: number) => Math.ceil(monthly / 3)
  const set = async (customer: Customer, id: string, change: object) => {
    const { status, body } = await customer.patch(`/vms/${id}`, change)
    expect(status, body.error).toBe(200)
    return body.data
  }

  test.each([
    ['dailyBackupEnabled', backups(small!), 'Daily backups of web-1 for the rest of the period'],
    ['network10gEnabled', 500, '10G of web-1 for the rest of the period'],
  ])('%s is charged prorated for the rest of the period, once', async (name, monthly, description) => {
    const { customer, id, spent } = await twoThirdsThrough()
    const quote = (await customer.patch(`/vms/${id}?dryRun=true`, { [name]: true })).body.data
    const price = (aThird(monthly) / 100).toFixed(2)
    expect(quote).toMatchObject({ charge: price, monthly: ((small! + monthly) / 100).toFixed(2) })
    expect(await spent()).toBe(0)
    expect(await set(customer, id, { [name]: true })).toMatchObject({ [name]: true, billing: { priceMonthly: quote.monthly } })
    expect((await customer.get('/wallet/transactions?limit=1')).body.data[0]).toMatchObject({
      type: 'ADDON_CHARGE',
      amount: `-${price}`,
      description,
      referenceType: 'VM',
      referenceId: id,
    })
    await set(customer, id, { [name]: false })
    await set(customer, id, { [name]: true })
    await set(customer, id, { [name]: false })
    expect(await spent()).toBe(aThird(monthly))
    await toRenewal(customer, id)
    await turn()
    expect((await renewalsOf(customer, id)).map((each) => each['amount'])).toEqual([`-${(small! / 100).toFixed(2)}`])
    await set(customer, id, { [name]: true })
    expect(await spent()).toBe(aThird(monthly) + small! + monthly)
  })

  test.each(['dailyBackupEnabled', 'network10gEnabled'])('%s cannot be bought while the VM is not billed', async (name) => {
    const { customer, id, spent } = await twoThirdsThrough({ [name]: true })
    await app.db.tx((tx) => unmanage(tx, app.deps, id))
    await set(customer, id, { [name]: false, name: 'mine' })
    for (const query of ['', '?dryRun=true']) {
      const { status, headers, body } = await customer.patch(`/vms/${id}${query}`, { [name]: true })
      expect([status, headers['x-error-code'], body.error]).toEqual([
        409,
        'invalid_state',
        'VM is UNMANAGED, and nothing is charged for it: add-ons can be switched on when it is managed again',
      ])
    }
    expect(await spent()).toBe(0)
    await adopt(app.deps, id)
    await set(customer, id, { [name]: true })
  })

  test('network10gEnabled changes the interface speed at once, in both directions', async () => {
    const { customer, id } = await twoThirdsThrough()
    const speed = async () => (await set(customer, id, { name: 'same' })).networkSpeed
    const slow = await speed()
    await set(customer, id, { network10gEnabled: true })
    expect(await speed()).toBe(10_000)
    const limits = () => app.db.many(sql`select limit_mbps as mbps from simulated.ports where vm_id = ${id} and network_id is null`)
    expect(await limits()).toEqual([{ mbps: slow }])
    await applyPorts.runOnce(app.deps)
    expect(await limits()).toEqual([{ mbps: 10_000 }])
    await set(customer, id, { network10gEnabled: false })
    expect(await speed()).toBe(slow)
  })

  test('two add-ons in one request are one charge, rounded once', async () => {
    const { customer, id, spent } = await twoThirdsThrough()
    await set(customer, id, { dailyBackupEnabled: true, network10gEnabled: true })
    expect(await spent()).toBe(aThird(backups(small!) + 500))
  })

  test('proration rounds a started second up', async () => {
    const { customer, id, spent } = await twoThirdsThrough()
    app.clock.set(new Date('2027-04-30T23:59:59.500Z'))
    await set(customer, id, { network10gEnabled: true })
    expect(await spent()).toBe(1)
  })

  test('do not apply a changed plan price before the next renewal', async () => {
    const { customer, id, spent } = await twoThirdsThrough()
    await app.db.tx(async (tx) => {
      await tx.run(sql`update plans set price_cents = price_cents + 1000 where id = ${plan('small').id}`)
    })
    await set(customer, id, { network10gEnabled: true })
    await app.db.run(sql`update plans set price_cents = price_cents - 1000 where id = ${plan('small').id}`)
    expect(await spent()).toBe(aThird(500))
  })

  const upgrade = (customer: Customer, id: string) => customer.post(`/vms/${id}/upgrade`, { planId: plan('large').id })

  test('that were switched off are credited to an upgrade, and charged again after it', async () => {
    const { customer, id, spent } = await twoThirdsThrough({ dailyBackupEnabled: true })
    await set(customer, id, { dailyBackupEnabled: false })
    await upgrade(customer, id)
    await app.settle()
    expect(await spent()).toBe(aThird(large! - small! - backups(small!)))
    const before = await spent()
    await set(customer, id, { dailyBackupEnabled: true })
    expect((await spent()) - before).toBe(aThird(backups(large!)))
  })

  test('worth more than the upgrade leave credit for add-ons switched on after it', async () => {
    const medium = Math.round(Number(plan('medium').priceMonthly) * 100)
    await app.db.run(sql`update catalog_values set value = 2000 where name = 'price.network_10g'`)
    const { customer, id, spent } = await twoThirdsThrough({ network10gEnabled: true })
    await set(customer, id, { network10gEnabled: false })
    expect((await customer.post(`/vms/${id}/upgrade`, { planId: plan('medium').id })).status).toBe(202)
    await app.settle()
    expect(await spent()).toBe(0)
    await set(customer, id, { network10gEnabled: true })
    await app.db.run(sql`update catalog_values set value = 500 where name = 'price.network_10g'`)
    expect(await spent()).toBe(aThird(medium - small!))
  })

  test('are unchanged when the upgrade fails', async () => {
    const { customer, id, spent } = await twoThirdsThrough({ dailyBackupEnabled: true })
    await set(customer, id, { dailyBackupEnabled: false })
    await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    await upgrade(customer, id)
    await app.settle()
    await set(customer, id, { dailyBackupEnabled: true })
    expect(await spent()).toBe(0)
  })

  test('are not charged twice when a failed VM is rebuilt', async () => {
    app.clock.set(new Date('2027-04-01T00:00:00Z'))
    const customer = await app.given.customer({ credit: '1000.00' })
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id } = await app.given.vm(customer, { planId: plan('small').id, dailyBackupEnabled: true })
    app.clock.set(new Date('2027-04-21T00:00:00Z'))
    const { osTemplateId } = await app.given.vmInput()
    expect((await customer.post(`/vms/${id}/rebuild`, { osTemplateId })).status).toBe(202)
    await app.settle()
    const before = await cents(customer)
    await set(customer, id, { dailyBackupEnabled: false })
    await set(customer, id, { dailyBackupEnabled: true })
    expect(before - (await cents(customer))).toBe(0)
  })

  test('a renewal due during an upgrade waits for its end and charges the resulting price', async () => {
    for (const fails of [true, false]) {
      const { customer, id } = await twoThirdsThrough()
      if (fails) await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
      app.clock.set(new Date('2027-04-30T23:59:00Z'))
      expect((await upgrade(customer, id)).status).toBe(202)
      app.clock.set(new Date('2027-05-01T00:00:00Z'))
      await turn()
      expect(await renewalsOf(customer, id)).toHaveLength(0)
      await turn()
      const price = fails ? small! : large!
      expect((await renewalsOf(customer, id)).map((each) => each['amount'])).toEqual([`-${(price / 100).toFixed(2)}`])
    }
  })
})
