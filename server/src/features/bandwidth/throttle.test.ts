import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { GB, quietVm, type QuietVm } from '../../../test/traffic.ts'
import { sql } from '../../kernel/database/db.ts'
import { renewals } from '../billing/renew.reconciler.ts'
import { applyPorts } from '../vms/reconcilers/apply-ports.reconciler.ts'
import { watchPorts } from '../vms/reconcilers/port-drift.reconciler.ts'
import { meter } from './meter.reconciler.ts'

describe('a VM at its cap', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const plan = (slug: string) => plans.find((each) => each.slug === slug)!.id
  const usage = async (vm: QuietVm) =>
    ((await customer.get('/bandwidth')).body.data as { vmId: string; throttled: boolean }[]).find((each) => each.vmId === vm.id)!
  const look = async () => {
    await meter.runOnce(app.deps)
    await applyPorts.runOnce(app.deps)
  }

  /** On plan small: 2000 GB at 1000 Mbit/s, then 10. */
  const usedUp = async (input = {}): Promise<QuietVm> => {
    const vm = await quietVm(app, customer, { planId: plan('small'), ...input })
    await vm.receive(2000 * GB)
    await look()
    return vm
  }

  test('is throttled live and an event is recorded', async () => {
    const vm = await quietVm(app, customer)
    await vm.receive(2000 * GB - 1)
    await look()
    expect([(await usage(vm)).throttled, await vm.limitMbps()]).toEqual([false, 1000])
    await vm.receive(0, 1)
    await look()
    expect([await usage(vm), await vm.limitMbps()]).toEqual([
      expect.objectContaining({ throttled: true, throttledAt: app.clock.now().toISOString() }),
      10,
    ])
    await vm.receive(5)
    await look()
    expect(await vm.events('bandwidth.%')).toEqual(['bandwidth.throttled'])
  })

  test('is throttled after transient failures of the network controller', async () => {
    const vm = await quietVm(app, customer)
    await vm.receive(2000 * GB)
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'transient', times: 2 })
    for (const limit of [1000, 1000, 10]) {
      await look()
      expect(await vm.limitMbps()).toBe(limit)
      app.clock.advance('11s')
    }
  })

  test('does not block limits of other VMs on its host when its own limit fails permanently', async () => {
    const [failing, vm] = [await quietVm(app, customer), await quietVm(app, customer)]
    await Promise.all([failing.receive(2000 * GB), vm.receive(2000 * GB)])
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent' })
    await look()
    expect(new Set([await failing.limitMbps(), await vm.limitMbps()])).toEqual(new Set([10, 1000]))
    app.clock.advance('60s')
    await look()
    expect([await failing.limitMbps(), await vm.limitMbps()]).toEqual([10, 10])
  })

  test('starts throttled after a stop', async () => {
    const vm = await usedUp()
    await customer.post(`/vms/${vm.id}/stop`)
    await app.settle({ subjectId: vm.id })
    await customer.post(`/vms/${vm.id}/start`)
    await app.settle({ subjectId: vm.id })
    expect(await vm.limitMbps()).toBe(10)
  })

  test('is unthrottled at once by a pack, until that is used up too', async () => {
    const vm = await usedUp()
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 1 })
    expect(await usage(vm)).toMatchObject({ throttled: false, throttledAt: null })
    await applyPorts.runOnce(app.deps)
    expect(await vm.limitMbps()).toBe(1000)
    await vm.receive(1 * GB)
    await look()
    expect(await vm.limitMbps()).toBe(10)
    expect(await vm.events('bandwidth.%')).toEqual(['bandwidth.throttled', 'bandwidth.unthrottled', 'bandwidth.throttled'])
  })

  test('stays throttled when the pack is too small', async () => {
    const vm = await usedUp()
    await vm.receive(5 * GB)
    await look()
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 5 })
    expect((await usage(vm)).throttled).toBe(true)
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 1 })
    expect((await usage(vm)).throttled).toBe(false)
  })

  test('stays throttled after a dry run of a pack', async () => {
    const vm = await usedUp()
    await customer.post(`/vms/${vm.id}/bandwidth/packs?dryRun=true`, { gigabytes: 100 })
    expect([(await usage(vm)).throttled, await vm.events('bandwidth.%')]).toEqual([true, ['bandwidth.throttled']])
  })

  test('is unthrottled by an upgrade when that has succeeded, at the speed of the new plan', async () => {
    const vm = await usedUp()
    await customer.post(`/vms/${vm.id}/upgrade`, { planId: plan('large') })
    expect((await usage(vm)).throttled).toBe(true)
    await app.settle({ subjectId: vm.id })
    expect((await usage(vm)).throttled).toBe(false)
    await applyPorts.runOnce(app.deps)
    expect([await vm.limitMbps(), await vm.events('bandwidth.%')]).toEqual([2000, ['bandwidth.throttled', 'bandwidth.unthrottled']])
  })

  test('stays throttled when the upgrade fails', async () => {
    const vm = await usedUp()
    await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    await customer.post(`/vms/${vm.id}/upgrade`, { planId: plan('large') })
    await app.settle({ subjectId: vm.id })
    await applyPorts.runOnce(app.deps)
    expect((await customer.get(`/vms/${vm.id}`)).body.data).toMatchObject({ status: 'RUNNING', plan: { slug: 'small' } })
    expect([(await usage(vm)).throttled, await vm.limitMbps()]).toEqual([true, 10])
  })

  test('is unthrottled by its renewal, which also resets its packs', async () => {
    const vm = await usedUp()
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 1 })
    await vm.receive(1 * GB)
    await look()
    expect((await usage(vm)).throttled).toBe(true)
    app.clock.set(new Date((await customer.get(`/vms/${vm.id}`)).body.data.billing.nextRenewalAt as string))
    await renewals.runOnce(app.deps)
    await applyPorts.runOnce(app.deps)
    expect(await usage(vm)).toMatchObject({ usedBytes: 0, packBytes: '0', throttled: false, capBytes: '2000000000000' })
    expect(await vm.limitMbps()).toBe(1000)
    await vm.receive(3)
    await look()
    expect(await vm.used()).toBe(3)
  })

  test('with 10G returns to 10000 Mbit/s', async () => {
    const vm = await usedUp({ network10gEnabled: true })
    expect(await vm.limitMbps()).toBe(10)
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 1 })
    await applyPorts.runOnce(app.deps)
    expect(await vm.limitMbps()).toBe(10_000)
  })

  test('gets its limit reapplied after a manual change', async () => {
    const [vm, other] = [await usedUp(), await quietVm(app, customer)]
    for (const [each, mbps] of [
      [vm, null],
      [other, 1],
    ] as const)
      await app.db.run(sql`update simulated.ports set limit_mbps = ${mbps} where mac = ${each.mac}`)
    await watchPorts.runOnce(app.deps)
    await applyPorts.runOnce(app.deps)
    expect([await vm.limitMbps(), await other.limitMbps()]).toEqual([10, 1000])
  })

  test('records one event although three workers detect the cap at once', async () => {
    const vm = await quietVm(app, customer)
    await vm.receive(2000 * GB)
    await Promise.all([meter.runOnce(app.deps), meter.runOnce(app.deps), meter.runOnce(app.deps)])
    expect(await vm.events('bandwidth.%')).toEqual(['bandwidth.throttled'])
  })
})
