import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quietVm, type QuietVm } from '../../../test/traffic.ts'
import { sql } from '../../kernel/database/db.ts'
import { meter } from '../bandwidth/meter.reconciler.ts'
import { sampleMetrics } from '../metrics/sample.reconciler.ts'
import { evaluateAlerts } from './evaluate.reconciler.ts'
import type { Alert, AlertEventData } from './schema.ts'

describe('alerts', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000 where name = 'quota.alerts'`)
  const [customer, stranger] = [await app.given.customer({ credit: '1000.00' }), await app.given.customer({ credit: '1000.00' })]
  type Customer = typeof customer

  const nextMinute = (): void => app.clock.set(new Date((Math.floor(app.clock.now().getTime() / 60_000) + 1) * 60_000 + 5_000))
  const evaluate = () => evaluateAlerts.runOnce(app.deps)
  /** A minute for each number: what the VM receives a second. */
  const minutes = async (vm: QuietVm, ...rates: number[]): Promise<void> => {
    for (const rate of rates) {
      nextMinute()
      await vm.receive(rate * 60)
      await sampleMetrics.runOnce(app.deps)
      await evaluate()
    }
  }
  const create = async (body: object, by: Customer = customer): Promise<Alert> => {
    const answer = await by.post('/alerts', {
      name: 'busy',
      metric: 'networkInBytesPerSecond',
      comparison: 'ABOVE',
      threshold: 500,
      ...body,
    })
    expect(answer.status, answer.body.error).toBe(201)
    return answer.body.data as Alert
  }
  const get = async ({ id }: Alert): Promise<Alert> => (await customer.get(`/alerts/${id}`)).body.data as Alert
  const told = async ({ id }: Alert): Promise<[string, AlertEventData][]> =>
    (
      await app.db.many<{ type: string; data: AlertEventData }>(
        sql`select type, data from events where subject_id = ${id} order by account_id, number`,
      )
    ).map(({ type, data }) => [type, data])
  const typesOf = async (alert: Alert): Promise<string[]> => (await told(alert)).map(([type]) => type)

  test('fire once after the minutes asked for, and end once', async () => {
    const vm = await quietVm(app, customer)
    const alert = await create({ vmIds: [vm.id], forMinutes: 3 })
    expect(alert).toMatchObject({ forMinutes: 3, vmIds: [vm.id], labelSelector: null, firing: [] })
    await minutes(vm, 0, 600, 700, 800)
    expect(await typesOf(alert)).toEqual([]) // of the last minute samples may still be on their way
    await minutes(vm, 900)
    const [[type, data]] = (await told(alert)) as [[string, AlertEventData]]
    expect([type, data]).toEqual([
      'alert.fired',
      {
        alert: { id: alert.id, name: 'busy', metric: 'networkInBytesPerSecond', comparison: 'ABOVE', threshold: 500, forMinutes: 3 },
        vm: { id: vm.id, name: expect.any(String), labels: {} },
        value: 700,
        firedAt: app.clock.now().toISOString(),
        reason: null,
      },
    ])
    expect((await get(alert)).firing).toMatchObject([{ vmId: vm.id, value: 700, firedAt: data.firedAt }])
    await minutes(vm, 900, 900, 100, 100)
    expect(await typesOf(alert)).toEqual(['alert.fired'])
    await minutes(vm, 100, 100)
    expect((await told(alert)).at(-1)).toMatchObject(['alert.resolved', { value: 100, reason: null, firedAt: data.firedAt }])
    expect((await get(alert)).firing).toEqual([])
    expect(await typesOf(alert)).toEqual(['alert.fired', 'alert.resolved'])
  })

  test('fire once with several workers, and one that dies in between', async () => {
    const vm = await quietVm(app, customer)
    const alert = await create({ vmIds: [vm.id], forMinutes: 1 })
    await minutes(vm, 0, 600)
    await app.db.raw(`
      create function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
      create trigger die before insert on events for each row when (new.type = 'alert.fired') execute function die()`)
    await minutes(vm, 600)
    expect([await typesOf(alert), (await get(alert)).firing]).toEqual([[], []])
    await app.db.raw('drop trigger die on events; drop function die')
    await minutes(vm, 600)
    await Promise.all([evaluate(), evaluate(), evaluate()])
    await app.db.run(sql`delete from alert_minutes`) // as if it had not been looked at
    await Promise.all([evaluate(), evaluate(), evaluate()])
    expect(await typesOf(alert)).toEqual(['alert.fired'])
    await customer.delete(`/alerts/${alert.id}`)
  })

  test('that come and go fire again after ten minutes at the earliest', async () => {
    const vm = await quietVm(app, customer)
    const alert = await create({ vmIds: [vm.id], forMinutes: 1 })
    await minutes(vm, 0, 600, 0, 600, 0, 600, 0)
    expect(await typesOf(alert)).toEqual(['alert.fired', 'alert.resolved'])
    await minutes(vm, ...Array.from({ length: 9 }, () => 600))
    expect(await typesOf(alert)).toEqual(['alert.fired', 'alert.resolved', 'alert.fired'])
    expect((await customer.delete(`/alerts/${alert.id}`)).status).toBe(200)
    expect((await told(alert)).at(-1)).toMatchObject(['alert.resolved', { value: null, reason: 'The alert was deleted' }])
  })

  test('end for a VM that is stopped, deleted, or not meant any more', async () => {
    const vms = [await quietVm(app, customer), await quietVm(app, customer), await quietVm(app, customer)]
    const [stopped, deleted, other] = vms as [QuietVm, QuietVm, QuietVm]
    for (const { id } of vms) await customer.patch(`/vms/${id}`, { labels: { env: 'prod' } })
    const alert = await create({ labelSelector: 'env=prod', forMinutes: 1, comparison: 'BELOW', threshold: 1 })
    await minutes(other, 0, 0, 0)
    expect(new Set((await get(alert)).firing.map(({ vmId }) => vmId))).toEqual(new Set(vms.map(({ id }) => id)))
    await customer.post(`/vms/${stopped.id}/stop`)
    await customer.delete(`/vms/${deleted.id}`)
    await app.settle()
    await customer.patch(`/vms/${other.id}`, { labels: {} })
    await minutes(other, 0)
    expect((await get(alert)).firing).toEqual([])
    const ended = (await told(alert)).filter(([type]) => type === 'alert.resolved').map(([, { vm, reason }]) => [vm!.id, reason])
    const gone = 'The VM was deleted, or is not one that the alert is for any more'
    expect(new Map(ended as [string, string][])).toEqual(
      new Map([
        [stopped.id, 'The VM is STOPPED'],
        [deleted.id, gone],
        [other.id, gone],
      ]),
    )
    await customer.delete(`/alerts/${alert.id}`)
  })

  test('are of the traffic of VMs, and of the balance of the account', async () => {
    const rich = await app.given.customer({ credit: '60.00' })
    const vm = await quietVm(app, rich)
    const traffic = await create({ name: 'traffic', metric: 'trafficPercent', threshold: 80 }, rich)
    const balance = await create({ name: 'money', metric: 'balanceDays', comparison: 'BELOW', threshold: 400 }, rich)
    expect([traffic.forMinutes, balance.forMinutes]).toEqual([null, null])
    await minutes(vm, 0)
    expect([await typesOf(traffic), await typesOf(balance)]).toEqual([[], ['alert.fired']])
    expect((await told(balance))[0]![1]).toMatchObject({ vm: null, value: 270 })
    await meter.runOnce(app.deps)
    await app.db.run(sql`
      update bandwidth_baselines set used_bytes = (select bandwidth_gb * 900000000::int8 from vms where id = ${vm.id}) where vm_id = ${vm.id}`)
    await minutes(vm, 0)
    expect((await told(traffic))[0]).toMatchObject(['alert.fired', { value: 90, vm: { id: vm.id } }])
    await rich.patch(`/alerts/${balance.id}`, { threshold: 100 })
    await minutes(vm, 0)
    expect(await typesOf(balance)).toEqual(['alert.fired', 'alert.resolved'])
    const low = await create({ name: 'low', metric: 'balanceDays', comparison: 'BELOW', threshold: 400 }, rich)
    await minutes(vm, 0)
    await rich.delete(`/vms/${vm.id}`)
    await app.settle()
    nextMinute()
    await evaluate()
    expect((await told(low)).map(([type, { reason }]) => [type, reason])).toEqual([
      ['alert.fired', null],
      ['alert.resolved', 'There is nothing to measure any more'],
    ])
  })

  test('do not fire where too little was measured', async () => {
    const vm = await quietVm(app, customer)
    const alert = await create({ vmIds: [vm.id], forMinutes: 5 })
    await minutes(vm, 0, 600, 600)
    for (let i = 0; i < 3; i++) nextMinute()
    await evaluate()
    expect(await typesOf(alert)).toEqual([])
  })

  test.each([
    [{ forMinutes: 61 }, 400, 'forMinutes must be'],
    [{ metric: 'cpuPercent', threshold: 101 }, 400, 'at most 100 percent'],
    [{ metric: 'balanceDays', forMinutes: 5 }, 400, 'forMinutes is not for balanceDays'],
    [{ metric: 'balanceDays', labelSelector: 'env=prod' }, 400, 'balanceDays is of the account'],
    [{ vmIds: ['c'], labelSelector: 'env=prod' }, 400, 'vmIds or labelSelector, not both'],
    [{ labelSelector: '???' }, 400, 'is not understood'],
    [{ vmIds: ['cnowhere'] }, 404, 'VM not found'],
    [{ comparison: 'EQUAL' }, 400, 'comparison'],
  ])('of %j are refused', async (body, status, sentence) => {
    const answer = await customer.post('/alerts', {
      name: 'x',
      metric: 'networkInBytesPerSecond',
      comparison: 'ABOVE',
      threshold: 5,
      ...body,
    })
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(sentence)])
  })

  test('are of their account alone', async () => {
    const vm = await quietVm(app, customer)
    const alert = await create({ vmIds: [vm.id] })
    const foreign = { name: 'x', metric: 'cpuPercent', comparison: 'ABOVE', threshold: 5, vmIds: [vm.id] }
    const mine = await create({}, stranger)
    const answers = [
      await stranger.post('/alerts', foreign),
      await stranger.patch(`/alerts/${mine.id}`, { vmIds: [vm.id] }),
      await stranger.get(`/alerts/${alert.id}`),
      await stranger.patch(`/alerts/${alert.id}`, { threshold: 1 }),
      await stranger.delete(`/alerts/${alert.id}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    expect((await stranger.get('/alerts')).body.data).toMatchObject([{ id: mine.id }])
  })

  test('are at most as many as the quota, and send at most twenty mails an hour', async () => {
    const other = await app.given.customer({ credit: '1000.00' })
    await app.db.run(sql`insert into account_quotas (account_id, name, limit_override) values (${other.accountId}, 'alerts', 25)`)
    await quietVm(app, other)
    const body = { name: 'x', metric: 'balanceDays', comparison: 'ABOVE', threshold: 1 }
    const answers = await Promise.all(Array.from({ length: 30 }, () => other.post('/alerts', body)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(25)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(5)
    nextMinute()
    await evaluate()
    const counts = await app.db.one(sql`
      select (select count(*)::int from events where account_id = ${other.accountId} and type = 'alert.fired') as events,
        (select count(*)::int from emails m join events e on e.id = m.event_id where m.account_id = ${other.accountId} and e.type = 'alert.fired') as mails`)
    expect(counts).toEqual({ events: 25, mails: 20 })
  })
})
