import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { adopt, suspendByOperator, unmanage, unsuspendByOperator } from '../vms/service.ts'

describe('a renewal', async () => {
  const app = await testApp()
  const fixture = await billingFixture(app)
  const { vm, pass, turn, toRenewal, balance, renewalsOf } = fixture
  const rich = () => app.given.customer({ credit: '1000.00' })
  app.clock.set(new Date('2027-01-31T10:20:30.500Z'))

  test('charges the next period when the last one is over, and not before', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer, { name: 'Shop' })
    await toRenewal(customer, id)
    app.clock.set(new Date(app.clock.now().getTime() - 1))
    await pass()
    expect(await renewalsOf(customer, id)).toEqual([])
    app.clock.advance('1ms')
    await pass()
    expect(await renewalsOf(customer, id)).toEqual([
      {
        id: expect.any(String),
        type: 'VM_RENEWAL',
        description: 'Renewal of Shop from 2027-02-28 to 2027-03-31',
        referenceType: 'VM',
        referenceId: id,
        createdAt: '2027-02-28T10:20:30.500Z',
        amount: '-6.00',
        balanceAfter: '988.00',
        project: null,
      },
    ])
    expect((await vm(customer, id)).billing).toEqual({ nextRenewalAt: '2027-03-31T10:20:30.500Z', status: 'ACTIVE', priceMonthly: '6.00' })
    await pass()
    expect(await balance(customer)).toBe('988.00')
    expect(await fixture.events(id, 'vm.re%')).toEqual(['vm.renewed'])
  })

  test('records an event with the renewed VM', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await toRenewal(customer, id)
    await pass()
    const { data } = await app.db.one<{ data: Record<string, unknown> }>(
      sql`select data from events where subject_id = ${id} and type = 'vm.renewed'`,
    )
    const { nextRenewalAt } = (await vm(customer, id)).billing
    expect(data).toMatchObject({ vm: { id, billing: { nextRenewalAt, status: 'ACTIVE' } }, actionId: null, reason: null, sequence: 4 })
  })

  test('charges the current price with add-ons, which is also the base of upgrade proration', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true, network10gEnabled: true })
    expect(await balance(customer)).toBe('972.80')
    await app.db.run(sql`update plans set price_cents = 1000 where slug = 'small'`)
    await toRenewal(customer, id)
    await pass()
    expect((await renewalsOf(customer, id))[0]!['amount']).toBe('-32.00')
    const medium = ((await customer.get('/plans')).body.data as { id: string; slug: string }[]).find((plan) => plan.slug === 'medium')!.id
    const quote = (await customer.post(`/vms/${id}/upgrade?dryRun=true`, { planId: medium })).body.data
    expect(quote).toMatchObject({ charge: '2.40', monthly: '34.40' })
    await app.db.run(sql`update plans set price_cents = 600 where slug = 'small'`)
  })

  test('extends daily backups until the next renewal', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer, { dailyBackupEnabled: true })
    await toRenewal(customer, id)
    await pass()
    for (const on of [false, true]) await customer.patch(`/vms/${id}`, { dailyBackupEnabled: on })
    expect(await balance(customer)).toBe('985.60')
  })

  test('catches up on every missed period of a running VM', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const from = new Date((await vm(customer, id)).billing.nextRenewalAt as string)
    app.clock.set(new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 3, 1)))
    await pass()
    expect((await renewalsOf(customer, id)).length).toBe(3)
    expect(new Date((await vm(customer, id)).billing.nextRenewalAt as string) > app.clock.now()).toBe(true)
  })

  test('charges as many missed periods as the balance covers', async () => {
    const customer = await app.given.customer({ credit: '18.00' })
    const { id } = await app.given.vm(customer)
    await toRenewal(customer, id)
    app.clock.advance('100d')
    await pass()
    expect([(await renewalsOf(customer, id)).length, await balance(customer)]).toEqual([2, '0.00'])
    expect((await vm(customer, id)).billing.status).toBe('PAST_DUE')
  })

  test('is not charged for a VM whose provisioning failed', async () => {
    const customer = await rich()
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    const { id } = await app.given.vm(customer)
    await toRenewal(customer, id)
    await pass()
    expect([await balance(customer), (await vm(customer, id)).billing.status]).toEqual(['1000.00', 'CANCELLED'])
  })

  test('is not charged while the VM is unmanaged, nor for that time afterwards', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await app.db.tx((tx) => unmanage(tx, app.deps, id))
    await toRenewal(customer, id)
    app.clock.advance('70d')
    await pass()
    expect(await renewalsOf(customer, id)).toEqual([])
    await adopt(app.deps, id)
    await pass()
    const back = app.clock.now()
    const until = new Date((await vm(customer, id)).billing.nextRenewalAt as string)
    expect([(await renewalsOf(customer, id)).length, until.getUTCMonth()]).toEqual([1, (back.getUTCMonth() + 1) % 12])
  })

  test('is not charged while an operator has suspended the VM, nor for that time afterwards', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await suspendByOperator(app.deps, id)
    await app.settle()
    await toRenewal(customer, id)
    app.clock.advance('70d')
    await turn()
    expect([(await vm(customer, id)).status, (await renewalsOf(customer, id)).length]).toEqual(['SUSPENDED', 0])
    await unsuspendByOperator(app.deps, id)
    await app.settle()
    await turn()
    expect([(await vm(customer, id)).status, (await renewalsOf(customer, id)).length]).toEqual(['RUNNING', 1])
  })

  test('is not charged for a VM that is being deleted', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await toRenewal(customer, id)
    await customer.delete(`/vms/${id}`)
    await turn()
    expect([(await customer.get(`/vms/${id}`)).status, await balance(customer)]).toEqual([404, '994.00'])
  })

  test('of a stopped VM costs the same', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/stop`)
    await app.settle()
    await toRenewal(customer, id)
    await turn()
    expect([(await vm(customer, id)).status, await balance(customer)]).toEqual(['STOPPED', '988.00'])
  })

  test('that fails for one VM does not block the others', async () => {
    const customer = await rich()
    const [broken, fine] = [await app.given.vm(customer), await app.given.vm(customer)]
    await toRenewal(customer, fine.id)
    const { id } = await app.db.one<{ id: string }>(
      sql`select id from wallet_transactions where account_id = ${customer.accountId} limit 1`,
    )
    await app.db.run(sql`
      insert into renewals select id, next_renewal_at, next_renewal_at + interval '1 day', ${id} from vms where id = ${broken.id}`)
    await pass()
    expect([(await renewalsOf(customer, broken.id)).length, (await renewalsOf(customer, fine.id)).length]).toEqual([0, 1])
    await app.db.run(sql`delete from renewals where vm_id = ${broken.id}`)
    await pass()
    expect((await renewalsOf(customer, broken.id)).length).toBe(1)
  })
})
