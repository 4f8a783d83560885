import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quietVm } from '../../../test/traffic.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneMetrics } from './prune.reconciler.ts'
import { rollUpMetrics } from './roll-up.reconciler.ts'
import { sampleHost, sampleMetrics } from './sample.reconciler.ts'
import type { VmMetrics } from './schema.ts'

describe('GET /vms/{id}/metrics', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const quiet = () => quietVm(app, customer)

  /** Moves the clock to the fifth second of the next minute, quarter-hour or hour. */
  const goTo = (spanMs: number): Date => {
    const start = new Date((Math.floor(app.clock.now().getTime() / spanMs) + 1) * spanMs)
    app.clock.set(new Date(start.getTime() + 5_000))
    return start
  }
  const nextMinute = () => goTo(60_000)
  const nextQuarter = () => goTo(900_000)
  const sample = () => sampleMetrics.runOnce(app.deps)
  const read = async (vmId: string, query: { from?: Date; to?: Date; step?: number } = {}): Promise<VmMetrics> => {
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${value instanceof Date ? value.toISOString() : value}`)
    const { status, body } = await customer.get(`/vms/${vmId}/metrics?${parameters.join('&')}`)
    expect(status, body.error).toBe(200)
    return body.data as VmMetrics
  }
  const rowsOf = (vmId: string) =>
    app.db.many<{ at: Date }>(sql`
      select m.at from metrics_slots s join metrics_minutes m on m.host_id = s.host_id and m.at >= s.since where vm_id = ${vmId} order by 1`)
  const slotOf = (vmId: string) =>
    app.db.maybe<{ slot: number; left_at: Date | null }>(sql`select slot, left_at from metrics_slots where vm_id = ${vmId}`)

  test('returns rates per minute, and null for missing samples', async () => {
    const from = nextMinute()
    const vm = await quiet()
    await sample()
    nextMinute()
    await vm.receive(6_000, 12_000)
    await sample()
    nextMinute()
    nextMinute()
    await sample()
    const { timestamps, step, series, maxima } = await read(vm.id, { from })
    expect([step, timestamps]).toEqual([60, [0, 1, 2, 3].map((minute) => new Date(from.getTime() + minute * 60_000).toISOString())])
    expect(series.networkInBytesPerSecond).toEqual([null, 100, null, 0])
    expect(series.networkOutBytesPerSecond).toEqual([null, 200, null, 0])
    expect(series.ramTotal).toEqual([1024, 1024, null, 1024])
    expect(series.diskReadBytesPerSecond).toEqual([null, 4_000, null, 4_000])
    expect(series.diskWriteBytesPerSecond).toEqual([null, 12_000, null, 12_000])
    expect(maxima.networkInBytesPerSecond).toEqual(series.networkInBytesPerSecond)
    for (const cpu of [series.cpuPercent[1], series.cpuPercent[3]]) expect(cpu).toSatisfy((value: number) => value > 0 && value <= 100)
    expect(series.ramUsed[0]).toSatisfy((value: number) => value > 0 && value < 1024)
    expect(series.diskRequestsPerSecond).toEqual([null, 4, null, 4])
    expect(series.diskWaitMs).toEqual([null, 0.8, null, 0.8])
    expect(maxima.diskWaitMs).toEqual(series.diskWaitMs)
    for (const minute of [1, 3]) expect(series.cpuStealPercent[minute]! / series.cpuPercent[minute]!).toBeCloseTo(0.02, 2)
  })

  test('returns rates also where another worker has taken the sample before', async () => {
    const from = nextMinute()
    const vm = await quiet()
    await sample()
    const minute = nextMinute()
    await vm.receive(6_000, 12_000)
    const anotherDriver = { ...(await app.deps.hypervisors.get(app.host.id)) }
    await sampleHost(app.deps, anotherDriver, minute, AbortSignal.timeout(10_000))
    const { series } = await read(vm.id, { from })
    expect([series.networkInBytesPerSecond, series.diskWaitMs]).toEqual([
      [null, 100],
      [null, 0.8],
    ])

    // A worker of the version before, which knows nothing of waits.
    await app.db.run(sql`update metrics_samples set waits_at = waits_at - interval '1 minute' where host_id = ${app.host.id}`)
    const next = nextMinute()
    await sampleHost(app.deps, { ...anotherDriver }, next, AbortSignal.timeout(10_000))
    await app.db.run(sql`update metrics_minutes set waits = null where host_id = ${app.host.id} and at = ${minute}`)
    const after = await read(vm.id, { from })
    expect([after.series.networkInBytesPerSecond, after.series.diskWaitMs]).toEqual([
      [null, 100, 0],
      [null, null, null],
    ])
  })

  test('returns no rate across a restart', async () => {
    const from = nextMinute()
    const vm = await quiet()
    await sample()
    await customer.post(`/vms/${vm.id}/stop`)
    await app.settle({ subjectId: vm.id })
    nextMinute()
    await sample()
    await customer.post(`/vms/${vm.id}/start`)
    await app.settle({ subjectId: vm.id })
    await vm.receive(10 ** 15)
    nextMinute()
    await sample()
    nextMinute()
    await sample()
    const { series } = await read(vm.id, { from })
    expect(series.networkInBytesPerSecond).toEqual([null, null, null, 0])
    expect(series.ramTotal).toEqual([1024, null, 1024, 1024])
    expect(series.cpuPercent.slice(0, 3)).toEqual([null, null, null])
  })

  test('returns no rate after a counter reset or a long gap', async () => {
    const from = nextMinute()
    const vm = await quiet()
    await vm.receive(1_000_000)
    await sample()
    await app.db.run(sql`update simulated.nics set received_bytes = 5 where machine = ${vm.id}`)
    nextMinute()
    await sample()
    for (let i = 0; i < 3; i++) nextMinute()
    await vm.receive(10 ** 12)
    await sample()
    expect((await read(vm.id, { from })).series.networkInBytesPerSecond).toEqual([null, null, null, null, null])
  })

  test('stores one row per host and minute and calls the host once, with any number of workers', async () => {
    const vm = await quiet()
    nextMinute()
    const driver = await app.deps.hypervisors.get(app.host.id)
    const { metrics } = driver
    let asked = 0
    driver.metrics = (...args) => {
      asked++
      return metrics(...args)
    }
    await Promise.all([sample(), sample(), sample(), sample()])
    await sample()
    driver.metrics = metrics
    expect([asked, (await rowsOf(vm.id)).length]).toEqual([1, 1])
  })

  test('follows a VM to another host, and rolls up the quarter-hour of both', async () => {
    const vm = await quiet()
    const from = goTo(3_600_000)
    await sample()
    nextMinute()
    await vm.receive(6_000)
    await sample()
    const { id: otherId } = await app.db.one<{ id: string }>(sql`
      insert into hosts (id, name, region_id, driver, uri, hostname, vcpu_total, ram_total_mib, disk_total_gib, created_at,
        unreachable_since)
      select 'chost2', 'rack2', region_id, driver, uri, 'rack2', 100, 100000, 1000, created_at, created_at from hosts where id = ${app.host.id} returning id`)
    const driver = await app.deps.hypervisors.get(app.host.id)
    const elsewhere = { ...driver, hostId: otherId }
    await app.db.run(sql`update vms set host_id = ${otherId} where id = ${vm.id}`)
    for (const bytes of [0, 60_000]) {
      const minute = nextMinute()
      await vm.receive(bytes)
      await sampleHost(app.deps, elsewhere, minute, AbortSignal.timeout(10_000))
      await sampleHost(app.deps, { ...driver }, minute, AbortSignal.timeout(10_000)) // what is left of it there counts no more
    }
    expect((await read(vm.id, { from })).series.networkInBytesPerSecond).toEqual([null, 100, null, 1_000])
    goTo(900_000)
    app.clock.advance('2m')
    await rollUpMetrics.runOnce(app.deps)
    expect(
      await app.db.many(
        sql`select rate_samples, ram_samples, network_in_rate, network_in_rate_max from metrics_15m where vm_id = ${vm.id}`,
      ),
    ).toEqual([{ rate_samples: 2, ram_samples: 4, network_in_rate: 550, network_in_rate_max: 1_000 }])
    await app.db.run(sql`update vms set host_id = ${app.host.id} where id = ${vm.id}`)
    await app.db.run(sql`update hosts set removed_at = ${app.clock.now()} where id = ${otherId}`)
  })

  test('shows and rolls up what the version before has stored, one row per VM and minute', async () => {
    const vm = await quiet()
    const from = goTo(3_600_000)
    await app.db.raw(`create table metrics_1m_test partition of metrics_1m
      for values from ('${from.toISOString()}') to ('${new Date(from.getTime() + 60_000).toISOString()}')`)
    await app.db.run(sql`
      insert into metrics_1m (vm_id, at, cpu_percent, ram_used_mib, ram_mib, disk_read_rate, disk_write_rate, network_in_rate, network_out_rate)
      values (${vm.id}, ${from}, 50, 100, 1024, 1, 2, 300, 4)`)
    nextMinute()
    await sample()
    nextMinute()
    await vm.receive(6_000)
    await sample()
    expect((await read(vm.id, { from })).series.networkInBytesPerSecond).toEqual([300, null, 100])
    const coarse = async () => (await read(vm.id, { from, step: 900 })).series.networkInBytesPerSecond[0]
    expect(await coarse()).toBe(200)
    goTo(900_000)
    app.clock.advance('2m')
    await rollUpMetrics.runOnce(app.deps)
    expect(await app.db.many(sql`select rate_samples, network_in_rate from metrics_15m where vm_id = ${vm.id}`)).toEqual([
      { rate_samples: 2, network_in_rate: 200 },
    ])
    app.clock.advance('25h')
    expect(await coarse()).toBe(200)
  })

  test('gives the place of a VM to another only when all of its minutes are gone', async () => {
    const vm = await quiet()
    nextMinute()
    await sample()
    const { slot } = (await slotOf(vm.id))!
    await customer.delete(`/vms/${vm.id}`)
    await app.settle({ subjectId: vm.id })
    await pruneMetrics.runOnce(app.deps)
    expect(await slotOf(vm.id)).toEqual({ slot, left_at: app.clock.now() })
    const next = await quiet()
    const from = nextMinute()
    await sample()
    expect((await slotOf(next.id))!.slot).not.toBe(slot)
    app.clock.advance('37h')
    await pruneMetrics.runOnce(app.deps)
    expect(await slotOf(vm.id)).toBeUndefined()
    const last = await quiet()
    nextMinute()
    await sample()
    expect((await slotOf(last.id))!.slot).toBe(slot)
    expect(await rowsOf(last.id)).toHaveLength(1)
    expect(
      (await read(last.id, { from: new Date(from.getTime() + 36 * 3_600_000) })).series.ramTotal.filter((each) => each !== null),
    ).toEqual([1024])
  })

  test('has a gap while the host is unreachable', async () => {
    const from = nextMinute()
    const vm = await quiet()
    await sample()
    nextMinute()
    await app.simulated.faults.plant({ verb: 'metrics', kind: 'transient' })
    await sample()
    nextMinute()
    await sample()
    expect((await read(vm.id, { from })).series.ramTotal).toEqual([1024, null, 1024])
  })

  test('averages longer steps and returns the maximum minute', async () => {
    const from = nextQuarter()
    const vm = await quiet()
    await sample()
    for (const bytes of [600, 6_000, 60_000]) {
      nextMinute()
      await vm.receive(bytes)
      await sample()
    }
    const { series, maxima } = await read(vm.id, { from, step: 300 })
    expect([series.networkInBytesPerSecond, maxima.networkInBytesPerSecond]).toEqual([[370], [1_000]])
  })

  test('rolls minutes up into 15-minute rows without loss, and prunes them after 30 days', async () => {
    const vm = await quiet()
    const from = goTo(3_600_000)
    for (let minute = 0; minute < 45; minute++) {
      await sample()
      nextMinute()
      await vm.receive(60 * minute)
    }
    const to = new Date(from.getTime() + 45 * 60_000)
    const fine = await read(vm.id, { from, to })
    app.clock.advance('2m')
    await Promise.all([rollUpMetrics.runOnce(app.deps), rollUpMetrics.runOnce(app.deps)])
    app.clock.advance('25h')
    await pruneMetrics.runOnce(app.deps)
    const coarse = await read(vm.id, { from, to })

    expect(coarse.step).toBe(900)
    const quarters = (values: (number | null)[]) =>
      [0, 15, 30].map((start) => values.slice(start, start + 15).filter((each) => each !== null))
    const means = quarters(fine.series.networkInBytesPerSecond).map((each) => Math.round(each.reduce((a, b) => a + b) / each.length))
    expect(coarse.series.networkInBytesPerSecond).toEqual(means)
    expect(coarse.maxima.networkInBytesPerSecond).toEqual(quarters(fine.maxima.networkInBytesPerSecond).map((each) => Math.max(...each)))
    const whole = quarters(fine.series.networkInBytesPerSecond).flat()
    const hour = await read(vm.id, { from, to, step: 3_600 })
    expect(hour.series.networkInBytesPerSecond).toEqual([Math.round(whole.reduce((a, b) => a + b) / whole.length)])
    expect([coarse.series.diskWaitMs, coarse.maxima.diskRequestsPerSecond, hour.series.diskWaitMs]).toEqual([
      [0.8, 0.8, 0.8],
      [4, 4, 4],
      [0.8],
    ])
    const steal = quarters(fine.series.cpuStealPercent).map((each) => each.reduce((a, b) => a + b) / each.length)
    coarse.series.cpuStealPercent.forEach((value, i) => expect(value).toBeCloseTo(steal[i]!, 1))

    app.clock.advance('7h')
    await pruneMetrics.runOnce(app.deps)
    expect(await rowsOf(vm.id)).toEqual([])
    expect((await read(vm.id, { from, to })).series.networkInBytesPerSecond).toEqual(means)
    app.clock.advance('35d')
    await pruneMetrics.runOnce(app.deps)
    expect(await app.db.many(sql`select from metrics_15m where vm_id = ${vm.id}`)).toEqual([])
    const { status, body } = await customer.get(`/vms/${vm.id}/metrics?from=${from.toISOString()}`)
    expect([status, body.error]).toEqual([400, 'Validation failed: from must lie within the last 30 days: metrics are kept no longer'])
  })

  test('combines incomplete 15-minute rows with older ones', async () => {
    const vm = await quiet()
    const from = nextQuarter()
    await sample()
    app.clock.advance('25h')
    await rollUpMetrics.runOnce(app.deps)
    nextMinute()
    await sample()
    const { series } = await read(vm.id, { from })
    expect([series.ramTotal[0], series.ramTotal.at(-1)]).toEqual([1024, 1024])
  })

  test.each([
    ['from=yesterday', 'from must be a date-time such as 2026-01-31T12:00:00Z'],
    ['step=59', 'step must be at least 60'],
    ['step=90', 'step must be a multiple of 60 seconds'],
  ])('rejects %s', async (query, sentence) => {
    const { status, body } = await customer.get(`/vms/cunknown1/metrics?${query}`)
    expect([status, body.error]).toEqual([400, `Validation failed: ${sentence}`])
  })
})

describe('GET /vms/metrics/recent', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const recent = async (...ids: string[]) => (await customer.get(`/vms/metrics/recent?vmIds=${ids.join(',')}`)).body

  test('returns a point for each quarter of an hour, of many VMs at once', async () => {
    app.clock.set(new Date(Math.ceil(app.clock.now().getTime() / 900_000) * 900_000 + 5_000))
    const [busy, idle] = [await quietVm(app, customer), await quietVm(app, customer)]
    const start = Math.floor(app.clock.now().getTime() / 900_000) * 900_000
    await sampleMetrics.runOnce(app.deps)
    for (let minute = 1; minute <= 20; minute++) {
      app.clock.set(new Date(start + minute * 60_000 + 5_000))
      await busy.receive(6_000, minute < 15 ? 12_000 : 0)
      await sampleMetrics.runOnce(app.deps)
    }
    const before = (await recent(idle.id, busy.id)).data
    expect([before.step, before.vms.map(({ vmId }: { vmId: string }) => vmId)]).toEqual([900, [idle.id, busy.id]])
    expect(new Date(before.to).getTime()).toBe(start + 1_800_000)
    const [first, second] = before.vms
    expect(second.networkBytesPerSecond).toEqual([...Array.from({ length: 22 }, () => null), 300, 100])
    expect(first.networkBytesPerSecond).toEqual([...Array.from({ length: 22 }, () => null), 0, 0])
    expect(second.cpuPercent.slice(-2)).toEqual([expect.any(Number), expect.any(Number)])

    app.clock.set(new Date(start + 2_700_000 + 5_000))
    await rollUpMetrics.runOnce(app.deps)
    const after = (await recent(idle.id, busy.id)).data
    expect(after.vms[1].networkBytesPerSecond.slice(-4)).toEqual([300, 100, null, null])
    expect(after.vms[1].cpuPercent.slice(-4, -2)).toEqual(second.cpuPercent.slice(-2))
  })

  test('leaves out VMs that the account does not have, and refuses what are no ids', async () => {
    const stranger = await app.given.customer({ credit: '100.00' })
    const [own, strangers] = [await app.given.vm(customer), await app.given.vm(stranger)]
    expect((await recent(strangers.id, own.id, own.id, 'cnobody99')).data.vms).toEqual([
      {
        vmId: own.id,
        cpuPercent: Array.from({ length: 24 }, () => null),
        networkBytesPerSecond: Array.from({ length: 24 }, () => null),
      },
    ])
    expect((await recent(strangers.id)).data.vms).toEqual([])
    for (const ids of ['', ',', 'x', `${own.id},`, "c'--------", Array.from({ length: 101 }, () => own.id).join(',')])
      expect((await customer.get(`/vms/metrics/recent?vmIds=${encodeURIComponent(ids)}`)).status, ids).toBe(400)
    expect((await customer.get('/vms/metrics/recent')).status).toBe(400)
    const { token } = await app.given.token(customer.accountId, { scopes: ['wallet:read'] })
    expect((await app.request('GET', `/vms/metrics/recent?vmIds=${own.id}`, { token })).status).toBe(403)
  })
})
