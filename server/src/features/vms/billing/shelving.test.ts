import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../../test/backup-target-fixture.ts'
import { billingFixture } from '../../../../test/billing-fixture.ts'
import { testApp } from '../../../../test/harness.ts'
import { sql } from '../../../kernel/database/db.ts'
import { removeTarget } from '../../backup-targets/service.ts'
import { removeInTargets } from '../../backups/purge-targets.reconciler.ts'
import { suspendByOperator, unsuspendByOperator } from '../operator/suspend.ts'
import { reconcileStaleMachines } from '../reconcilers/stale-machines.reconciler.ts'

describe('what a shelved VM costs', async () => {
  const app = await testApp(storesInMemory())
  const store = await givenBackupTarget(app)
  const { turn, toRenewal, deposit, events } = await billingFixture(app)
  const plans = (await (await app.given.customer()).get('/plans')).body.data as Record<'id' | 'slug' | 'shelvedPriceMonthly', string>[]
  const shelvedPriceOf = (slug: string) => plans.find((plan) => plan.slug === slug)!.shelvedPriceMonthly
  type Customer = Awaited<ReturnType<typeof app.given.customer>>

  const cents = async (customer: Customer) => Math.round(Number((await customer.get('/wallet')).body.data.balance) * 100)
  const day = (date: string) => app.clock.set(new Date(`2027-${date}T00:00:00Z`))
  const act = async (customer: Customer, id: string, verb: string) => {
    const { status, body } = await customer.post(`/vms/${id}/${verb}`)
    expect(status, body.error).toBe(202)
    await app.settle({ subjectId: id })
    await reconcileStaleMachines.runOnce(app.deps)
  }
  /** Bought at the start of a 30-day month. `spent`: what it has cost since. */
  const bought = async (input: Record<string, unknown> = {}, credit = '1000.00') => {
    day('04-01')
    const customer = await app.given.customer({ credit })
    const { id } = await app.given.vm(customer, input)
    await app.db.run(sql`update simulated.nics set bytes_per_second = 0`) // used traffic would lessen what is credited
    const before = await cents(customer)
    return { customer, id, spent: async () => before - (await cents(customer)) }
  }
  const quoteOf = async (customer: Customer, id: string, verb: string) => (await customer.post(`/vms/${id}/${verb}?dryRun=true`)).body.data
  const entries = async (customer: Customer) =>
    ((await customer.get('/wallet/transactions')).body.data as Record<string, string>[]).map(({ type, amount }) => `${type} ${amount}`)

  test('is shown with each plan', () => {
    expect(plans.map(({ slug, shelvedPriceMonthly }) => `${slug} ${shelvedPriceMonthly}`)).toEqual([
      'nano 2.20',
      'small 2.50',
      'medium 3.00',
      'large 4.00',
      'xlarge 6.00',
    ])
  })

  test('the rest of the period is credited, and charged again for what is left of it', async () => {
    const { customer, id, spent } = await bought()
    day('04-11') // 20 of 30 days: 4.00 of the plan, less 1.67 of the shelf
    const quote = await quoteOf(customer, id, 'shelve')
    expect(quote).toMatchObject({ charge: '-2.33', monthly: '2.50' })
    expect(await spent()).toBe(0)
    await act(customer, id, 'shelve')
    expect(await spent()).toBe(-233)
    expect(quote.balanceAfter).toBe((await customer.get('/wallet')).body.data.balance)
    day('04-21') // half of these 20 days
    expect(await quoteOf(customer, id, 'unshelve')).toMatchObject({ charge: '1.17', monthly: '6.00' })
    await act(customer, id, 'unshelve')
    expect(await spent()).toBe(-116)
    expect((await entries(customer)).slice(0, 2)).toEqual(['VM_UNSHELVE -1.17', 'VM_REFUND 2.33'])
    await toRenewal(customer, id)
    await turn()
    expect(await spent()).toBe(-116 + 600)
  })

  test('renewals charge the shelved price, and unshelving the difference for the rest', async () => {
    const { customer, id, spent } = await bought({ dailyBackupEnabled: true })
    day('04-21')
    await act(customer, id, 'shelve')
    const before = await spent()
    await toRenewal(customer, id)
    await turn()
    expect((await spent()) - before).toBe(250)
    expect((await customer.get(`/vms/${id}`)).body.data.billing).toMatchObject({ priceMonthly: '2.50', status: 'ACTIVE' })
    day('05-11') // 21 of 31 days of 7.20 - 2.50, rounded up
    const price = Math.ceil((470 * 21) / 31)
    expect(await quoteOf(customer, id, 'unshelve')).toMatchObject({ charge: (price / 100).toFixed(2), monthly: '7.20' })
    await act(customer, id, 'unshelve')
    expect((await spent()) - before).toBe(250 + price)
    // The traffic of the time on the shelf was not paid for.
    const { withheld } = await app.db.one<{ withheld: bigint }>(sql`select bandwidth_withheld_bytes as withheld from vms where id = ${id}`)
    expect(Number(withheld) / 1e9).toBeCloseTo((2000 * 10) / 31, 3)
    await customer.patch(`/vms/${id}`, { dailyBackupEnabled: false })
    await customer.patch(`/vms/${id}`, { dailyBackupEnabled: true })
    expect((await spent()) - before).toBe(250 + price)
    await toRenewal(customer, id)
    await turn()
    expect((await spent()) - before).toBe(250 + price + 720)
    expect(await app.db.one(sql`select bandwidth_withheld_bytes as withheld from vms where id = ${id}`)).toEqual({ withheld: 0n })
  })

  test('shelving makes no money out of used traffic', async () => {
    const trial = async (path: (customer: Customer, id: string) => Promise<void>): Promise<number> => {
      const { customer, id, spent } = await bought()
      await app.db.run(sql`
        insert into bandwidth_baselines (vm_id, mac, epoch, received_bytes, sent_bytes, used_bytes, tick)
        select id, mac, '', 0, 0, 1500000000000, nextval('bandwidth_ticks') from vms where id = ${id}
        on conflict (vm_id, mac) do update set used_bytes = excluded.used_bytes`)
      day('04-02')
      await path(customer, id)
      await customer.delete(`/vms/${id}`)
      await app.settle()
      return spent()
    }
    const shelveOnly = (customer: Customer, id: string) => act(customer, id, 'shelve')
    const thereAndBack = async (customer: Customer, id: string) => {
      for (let i = 0; i < 3; i++) {
        await act(customer, id, 'shelve')
        await act(customer, id, 'unshelve')
      }
    }
    const direct = await trial(async () => {})
    expect(await trial(shelveOnly)).toBeGreaterThanOrEqual(direct)
    expect(await trial(thereAndBack)).toBeGreaterThanOrEqual(direct)
  })

  test('nothing is credited where the operator refunds no days, and nothing charged again', async () => {
    await app.db.run(sql`update catalog_values set value = 0 where name = 'setting.refund_unused_days'`)
    const { customer, id, spent } = await bought()
    day('04-11')
    expect(await quoteOf(customer, id, 'shelve')).toMatchObject({ charge: '0.00', monthly: '2.50' })
    await act(customer, id, 'shelve')
    await act(customer, id, 'unshelve')
    expect(await spent()).toBe(0)
    await app.db.run(sql`update catalog_values set value = 1 where name = 'setting.refund_unused_days'`)
    await customer.delete(`/vms/${id}`)
    await app.settle()
    expect(await spent()).toBe(-400)
  })

  test('it never costs more than on a host, and less without a public IPv4 address', async () => {
    await app.db.run(sql`update catalog_values set value = 100 where name = 'price.shelved_gib'`)
    const { customer, id } = await bought()
    day('04-11')
    expect(await quoteOf(customer, id, 'shelve')).toMatchObject({ charge: '0.00', monthly: '6.00' })
    await act(customer, id, 'shelve')
    expect((await customer.get(`/vms/${id}`)).body.data.billing.priceMonthly).toBe('6.00')
    await app.db.run(sql`update catalog_values set value = 2 where name = 'price.shelved_gib'`)
    const price = async () => (await customer.get(`/vms/${id}`)).body.data.billing.priceMonthly
    // The address costs as much as a reserved one, or more where VMs with one do.
    for (const [cents, monthly] of Object.entries({ 0: '2.50', 70: '2.50', 230: '2.80' })) {
      await app.db.run(sql`update catalog_values set value = ${Number(cents)} where name = 'price.ipv4'`)
      expect(await price()).toBe(monthly)
    }
    await act(customer, id, 'unshelve')
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.ipv4'`)
    expect(await quoteOf(customer, id, 'shelve')).toMatchObject({ monthly: shelvedPriceOf('small') })
  })

  test('daily backups that are kept cost as copies do from the next renewal on', async () => {
    const { customer, id } = await bought({ dailyBackupEnabled: true })
    await customer.post(`/vms/${id}/backups`, { name: 'x' })
    await app.settle()
    await app.db.run(sql`update backups set type = 'DAILY' where vm_id = ${id}`)
    await app.db.run(sql`update catalog_values set value = 10 where name = 'price.copies_gib'`)
    const price = async () => (await customer.get(`/vms/${id}`)).body.data.billing.priceMonthly
    expect(await price()).toBe('7.20')
    await act(customer, id, 'shelve')
    expect(await price()).toBe('5.00')
    await act(customer, id, 'unshelve')
    expect(await price()).toBe('7.20')
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.copies_gib'`)
  })

  test('an unpaid one is suspended and comes back shelved, or is deleted with its disk', async () => {
    const { customer, id } = await bought({}, '6.00')
    day('04-11')
    await act(customer, id, 'shelve')
    await app.db.run(sql`update catalog_values set value = 500 where name = 'price.shelved_gib'`) // now 6.00, more than there is
    const stateOf = async () => (await customer.get(`/vms/${id}`)).body.data
    await toRenewal(customer, id)
    await turn()
    expect(await stateOf()).toMatchObject({ status: 'STOPPED', billing: { status: 'PAST_DUE' } })
    expect((await customer.post(`/vms/${id}/unshelve`)).status).toBe(409)
    app.clock.advance('24h')
    await turn()
    expect(await stateOf()).toMatchObject({ status: 'SUSPENDED', shelvedAt: expect.any(String), billing: { status: 'SUSPENDED' } })
    expect((await customer.post(`/vms/${id}/unshelve`)).status).toBe(409)
    await deposit(customer, '20.00')
    await turn()
    expect(await stateOf()).toMatchObject({ status: 'STOPPED', shelvedAt: expect.any(String), billing: { status: 'ACTIVE' } })
    expect((await events(id)).slice(-2)).toEqual(['vm.renewed', 'vm.unsuspended'])
    await act(customer, id, 'unshelve')
    await act(customer, id, 'shelve')
    await app.db.run(sql`update plans set price_cents = 100000 where slug = 'small'`)
    await app.db.run(sql`update catalog_values set value = 5000 where name = 'price.shelved_gib'`)
    await toRenewal(customer, id)
    await turn()
    app.clock.advance('24h')
    await turn()
    app.clock.advance('7d')
    await turn()
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
    await removeInTargets.runOnce(app.deps)
    expect(await app.db.many(sql`select from backup_repositories where vm_id = ${id}`)).toEqual([])
    await app.db.run(sql`update plans set price_cents = 600 where slug = 'small'`)
    await app.db.run(sql`update catalog_values set value = 2 where name = 'price.shelved_gib'`)
  })

  test('an operator suspends one, which stays shelved', async () => {
    const { customer, id } = await bought()
    await act(customer, id, 'shelve')
    await suspendByOperator(app.deps, id)
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'SUSPENDED', shelvedAt: expect.any(String) })
    await unsuspendByOperator(app.deps, id)
    await app.settle()
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'STOPPED', allowedActions: ['delete', 'unshelve'] })
    await act(customer, id, 'unshelve')
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING' })
  })

  test('a renewal that is due while it is shelved or unshelved waits for the end, and charges the price of then', async () => {
    const { customer, id, spent } = await bought()
    app.clock.set(new Date('2027-04-30T23:59:00Z'))
    await customer.post(`/vms/${id}/shelve`)
    day('05-01')
    await turn()
    expect(await spent()).toBe(0)
    await turn()
    expect(await spent()).toBe(250)
    app.clock.set(new Date('2027-05-31T23:59:00Z'))
    await reconcileStaleMachines.runOnce(app.deps)
    await customer.post(`/vms/${id}/unshelve`)
    day('06-01')
    await turn()
    const before = await spent()
    await turn()
    expect((await spent()) - before).toBe(600)
  })

  test('its backup target stays while it has shelved disks', async () => {
    const { customer, id } = await bought()
    await act(customer, id, 'shelve')
    const { slug } = await app.db.one<{ slug: string }>(sql`select r.slug from regions r where r.id = ${app.host.region_id}`)
    await expect(removeTarget(app.db, slug)).rejects.toThrow(
      /the disks of \d+ shelved VMs: these must be unshelved or deleted first|the disk of a shelved VM: it must be/,
    )
    expect(store.keys('/manifests/').length).toBeGreaterThan(0)
  })
})
