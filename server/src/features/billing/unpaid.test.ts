import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { unsuspendByOperator } from '../vms/service.ts'

describe('a VM whose renewal the balance does not cover', async () => {
  const app = await testApp()
  const fixture = await billingFixture(app)
  const { vm, beyondGrace, turn, toRenewal, balance, deposit, renewalsOf, events } = fixture
  const power = async (id: string) => {
    const driver = await app.deps.hypervisors.get(app.host.id)
    return (await driver.findMachine(id, AbortSignal.timeout(5_000)))?.power
  }
  /** The balance covers one period exactly. */
  const poor = (credit = '6.00') => app.given.customer({ credit })
  type Customer = Awaited<ReturnType<typeof poor>>
  const states = async (customer: Customer, id: string) => {
    const { status, billing } = await vm(customer, id)
    return [status, billing.status]
  }

  const pastDue = async (customer: Customer, input = {}): Promise<string> => {
    const { id } = await app.given.vm(customer, input)
    await toRenewal(customer, id)
    await turn()
    return id
  }
  const suspended = async (customer: Customer, input = {}): Promise<string> => {
    const id = await pastDue(customer, input)
    app.clock.advance('24h')
    await turn()
    return id
  }

  test('is suspended although its owner keeps it busy: once the grace is over only stop and delete are accepted', async () => {
    const customer = await poor()
    const id = await pastDue(customer)
    app.clock.advance('24h')
    expect((await customer.post(`/vms/${id}/restart`)).status).toBe(202)
    await turn() // finds it busy, then the restart ends
    expect(await states(customer, id)).toEqual(['RUNNING', 'PAST_DUE'])
    for (const [path, body] of [
      ['restart'],
      ['backups', { name: 'one' }],
      ['snapshots', { name: 'one' }],
      ['console', { type: 'serial' }],
    ] as const) {
      const { status, headers } = await customer.post(`/vms/${id}/${path}`, body)
      expect([path, status, headers['x-error-code']]).toEqual([path, 409, 'invalid_state'])
    }
    expect((await vm(customer, id)).allowedActions).toEqual(['stop', 'delete'])
    await turn()
    expect([await states(customer, id), await power(id)]).toEqual([['SUSPENDED', 'SUSPENDED'], 'stopped'])
    await deposit(customer, '6.00')
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
    expect((await vm(customer, id)).allowedActions).toContain('restart')
  })

  test('accepts every action again once it is paid while it was busy', async () => {
    const customer = await poor()
    const id = await pastDue(customer)
    app.clock.advance('24h')
    await customer.post(`/vms/${id}/restart`)
    await turn()
    expect((await customer.post(`/vms/${id}/restart`)).status).toBe(409)
    await deposit(customer, '6.00')
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
    expect((await customer.post(`/vms/${id}/restart`)).status).toBe(202)
    await app.settle()
  })

  test('becomes past due, runs for a day, is suspended, kept for a week and deleted', async () => {
    const customer = await poor()
    const id = await pastDue(customer)
    expect(await states(customer, id)).toEqual(['RUNNING', 'PAST_DUE'])
    app.clock.advance('23h')
    await turn()
    expect([await states(customer, id), await power(id)]).toEqual([['RUNNING', 'PAST_DUE'], 'running'])
    app.clock.advance('1h')
    await turn()
    expect([await states(customer, id), await power(id)]).toEqual([['SUSPENDED', 'SUSPENDED'], 'stopped'])
    expect((await vm(customer, id)).statusReason).toBe('Payment overdue: restarts automatically once the balance covers the renewal')
    expect((await customer.post(`/vms/${id}/start`)).status).toBe(409)
    expect((await vm(customer, id)).ipAddress).not.toBeNull()
    app.clock.advance('6d')
    await turn()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    app.clock.advance('1d')
    await turn()
    expect([(await customer.get(`/vms/${id}`)).status, await power(id)]).toEqual([404, undefined])
    expect(await events(id)).toEqual(
      ['provisioning', 'created', 'started', 'past_due', 'suspended', 'terminated'].map((name) => `vm.${name}`),
    )
    expect([await renewalsOf(customer, id), await balance(customer)]).toEqual([[], '0.00'])
    const last = await app.db.one<{ data: unknown }>(sql`select data from events where subject_id = ${id} order by number desc limit 1`)
    expect(last.data).toMatchObject({ reason: 'Unpaid for too long' })
  })

  test('is deleted although it is protected', async () => {
    const customer = await poor()
    const id = await suspended(customer, { isProtected: true })
    app.clock.advance('7d')
    await turn()
    expect((await customer.get(`/vms/${id}`)).status).toBe(404)
  })

  test('paid during the grace period is charged from its due date and never stops', async () => {
    const customer = await poor()
    const id = await pastDue(customer)
    const due = (await vm(customer, id)).billing.nextRenewalAt as string
    app.clock.advance('23h')
    await deposit(customer, '5.99')
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'PAST_DUE'])
    await deposit(customer, '0.01')
    await turn()
    expect([await states(customer, id), await balance(customer)]).toEqual([['RUNNING', 'ACTIVE'], '0.00'])
    expect((await renewalsOf(customer, id))[0]!['description']).toContain(`from ${due.slice(0, 10)}`)
    app.clock.advance('25h')
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
  })

  test('is unsuspended automatically when the balance covers it, for a period from then on', async () => {
    const customer = await poor()
    const id = await suspended(customer)
    app.clock.advance('5d')
    await deposit(customer, '10.00')
    await turn()
    expect([await states(customer, id), await power(id), await balance(customer)]).toEqual([['RUNNING', 'ACTIVE'], 'running', '4.00'])
    const paidAt = app.clock.now()
    const { nextRenewalAt } = (await vm(customer, id)).billing
    expect(new Date(nextRenewalAt as string).getUTCMonth()).toBe((paidAt.getUTCMonth() + 1) % 12)
    expect((await renewalsOf(customer, id))[0]!['description']).toContain(`from ${paidAt.toISOString().slice(0, 10)}`)
    app.clock.advance('8d')
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
    expect((await events(id)).slice(3)).toEqual(['vm.past_due', 'vm.suspended', 'vm.renewed', 'vm.started'])
  })

  test('that was stopped is unsuspended as stopped', async () => {
    const customer = await poor()
    const { id } = await app.given.vm(customer)
    await customer.post(`/vms/${id}/stop`)
    await app.settle()
    await beyondGrace(customer, id)
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    await deposit(customer, '6.00')
    await turn()
    expect([await states(customer, id), await power(id)]).toEqual([['STOPPED', 'ACTIVE'], 'stopped'])
  })

  test('is unsuspended in order of debt: a deposit pays the oldest first', async () => {
    const customer = await poor('24.00')
    const ids: string[] = []
    for (const plan of ['small', 'medium', 'small']) {
      const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
      ids.push((await app.given.vm(customer, { planId: plans.find((each) => each.slug === plan)!.id })).id)
      app.clock.advance('1h')
    }
    await toRenewal(customer, ids[2]!)
    for (let day = 0; day < 2; day++) {
      await turn()
      app.clock.advance('24h')
    }
    const all = async () => Promise.all(ids.map(async (id) => (await states(customer, id))[1]))
    expect(await all()).toEqual(['SUSPENDED', 'SUSPENDED', 'SUSPENDED'])
    await deposit(customer, '6.00')
    await turn()
    expect(await all()).toEqual(['ACTIVE', 'SUSPENDED', 'SUSPENDED'])
    await deposit(customer, '17.00')
    await turn()
    expect(await all()).toEqual(['ACTIVE', 'ACTIVE', 'SUSPENDED'])
    await deposit(customer, '1.00')
    await turn()
    expect([await all(), await balance(customer)]).toEqual([['ACTIVE', 'ACTIVE', 'ACTIVE'], '0.00'])
  })

  test('is unsuspended by a retry after a failure, and charged once', async () => {
    const customer = await poor()
    const id = await suspended(customer)
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
    await deposit(customer, '6.00')
    await turn()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    await turn()
    expect((await vm(customer, id)).status).toBe('SUSPENDED')
    app.clock.advance('10m')
    await turn()
    expect([await states(customer, id), (await renewalsOf(customer, id)).length]).toEqual([['RUNNING', 'ACTIVE'], 1])
  })

  test('is not deleted once paid, however long its unsuspension takes', async () => {
    const customer = await poor()
    const id = await suspended(customer)
    await app.simulated.faults.plant({ verb: 'ensureRunning', kind: 'permanent', times: 9 })
    await deposit(customer, '6.00')
    for (let day = 0; day < 9; day++) {
      await turn()
      app.clock.advance('24h')
    }
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
  })

  test('is suspended as soon as it is idle', async () => {
    const customer = await poor()
    const id = await pastDue(customer)
    app.clock.advance('24h')
    await customer.post(`/vms/${id}/restart`)
    await fixture.pass()
    await app.settle()
    expect(await states(customer, id)).toEqual(['RUNNING', 'PAST_DUE'])
    await turn()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
  })

  test('is suspended also in ERROR', async () => {
    const customer = await poor()
    const { id } = await app.given.vm(customer)
    await app.db.run(sql`update vms set status = 'ERROR' where id = ${id}`)
    await beyondGrace(customer, id)
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
  })

  test('is charged after the running suspension has ended, and then unsuspended', async () => {
    const customer = await poor()
    const id = await pastDue(customer)
    app.clock.advance('24h')
    await fixture.pass()
    await deposit(customer, '6.00')
    await fixture.pass()
    expect(await balance(customer)).toBe('6.00')
    await app.settle()
    await turn()
    expect([await states(customer, id), await balance(customer)]).toEqual([['RUNNING', 'ACTIVE'], '0.00'])
  })

  test('that an operator unsuspends is due again with a new grace period', async () => {
    const customer = await poor()
    const id = await suspended(customer)
    await unsuspendByOperator(app.deps, id)
    await app.settle()
    expect(await states(customer, id)).toEqual(['RUNNING', 'ACTIVE'])
    await turn()
    app.clock.advance('23h')
    await turn()
    expect(await states(customer, id)).toEqual(['RUNNING', 'PAST_DUE'])
    app.clock.advance('1h')
    await turn()
    expect(await states(customer, id)).toEqual(['SUSPENDED', 'SUSPENDED'])
  })

  test('is renewed by the refund of another VM', async () => {
    const customer = await poor('42.00')
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const id = (await app.given.vm(customer)).id
    app.clock.advance('10d')
    const large = (await app.given.vm(customer, { planId: plans.find((each) => each.slug === 'large')!.id })).id
    await toRenewal(customer, id)
    await turn()
    expect((await states(customer, id))[1]).toBe('PAST_DUE')
    await customer.delete(`/vms/${large}`)
    await app.settle()
    await turn()
    expect((await states(customer, id))[1]).toBe('ACTIVE')
  })

  test('is retried at once: a deposit triggers the renewal reconciler', async () => {
    const heard: string[] = []
    const deafen = await app.db.listen(
      'berth_reconciler_triggers',
      (name) => heard.push(name),
      () => {},
    )
    await deposit(await poor(), '1.00')
    await expect.poll(() => heard).toContain('billing.renew')
    await deafen()
  })
})
