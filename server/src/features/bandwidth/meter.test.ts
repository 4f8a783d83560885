import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quietVm, type QuietVm } from '../../../test/traffic.ts'
import type { Driver, NicCounters } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import { adopt, unmanage } from '../vms/service.ts'
import { meterBeforePowerOff, meterTraffic } from './metering.ts'
import { syncPowerStates } from '../vms/reconcilers/power-sync.reconciler.ts'
import { meter, watchTraffic } from './meter.reconciler.ts'

describe('metering', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const driver = await app.deps.hypervisors.get(app.host.id)
  const signal = () => AbortSignal.timeout(5_000)
  const newVm = (input = {}): Promise<QuietVm> => quietVm(app, customer, input)
  const pass = () => meter.runOnce(app.deps)
  const act = async (vm: QuietVm, verb: string, body?: object) => {
    await customer.post(`/vms/${vm.id}/${verb}`, body)
    await app.settle({ subjectId: vm.id })
  }

  /** Wraps the driver so that `event` happens after it read the counters and before it returns them. */
  const crossedBy = (event: () => Promise<unknown>): Driver => ({
    ...driver,
    async *counters(vmIds, deadline) {
      const read: NicCounters[] = []
      for await (const sample of driver.counters(vmIds, deadline)) read.push(sample)
      await event()
      yield* read
    },
  })

  test('adds both directions of the public interface and counts each byte once', async () => {
    const vm = await newVm()
    await vm.receive(1_000, 234)
    await pass()
    expect(await vm.used()).toBe(1_234)
    await pass()
    expect(await vm.used()).toBe(1_234)
    await vm.receive(0, 1)
    await pass()
    expect(await vm.used()).toBe(1_235)
  })

  test('ignores private interfaces', async () => {
    const network = await customer.post('/networks', { name: 'net', nodeId: app.host.id, cidr: '10.9.0.0/24' })
    const vm = await newVm({ privateNetworkIds: [network.body.data.id] })
    await app.db.run(sql`update simulated.nics set received_bytes = 5000 where machine = ${vm.id} and kind = 'private'`)
    await vm.receive(7)
    await pass()
    expect(await vm.used()).toBe(7)
  })

  test('counts continuous background traffic', async () => {
    const { id } = await app.given.vm(customer)
    const { rate } = await app.db.one<{ rate: number }>(sql`select bytes_per_second as rate from simulated.nics where machine = ${id}`)
    app.clock.advance('60s')
    await pass()
    expect((await customer.get(`/vms/${id}`)).body.data.bandwidthUsedBytes).toBe(rate * 60 + Math.floor((rate * 60) / 4))
  })

  test('neither loses nor double-counts traffic across a stop and start', async () => {
    const vm = await newVm()
    await vm.receive(100)
    await pass()
    await vm.receive(20)
    await act(vm, 'stop')
    expect(await vm.used()).toBe(120)
    await pass()
    await act(vm, 'start')
    await vm.receive(3)
    await pass()
    expect(await vm.used()).toBe(123)
  })

  test('loses no traffic across a rebuild, an upgrade and a reboot', async () => {
    const vm = await newVm()
    const { osTemplateId } = await app.given.vmInput()
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    await vm.receive(1)
    await act(vm, 'rebuild', { osTemplateId })
    await vm.receive(10)
    await act(vm, 'upgrade', { planId: plans.find((plan) => plan.slug === 'medium')!.id })
    await vm.receive(100)
    await act(vm, 'restart')
    await pass()
    expect(await vm.used()).toBe(111)
  })

  test('restarts from zero after a crash, whatever the counter has reached since', async () => {
    const vm = await newVm()
    await vm.receive(50)
    await pass()
    await app.simulated.drift.stopMachine(vm.id, 'crash')
    await app.simulated.drift.startMachine(vm.id)
    await vm.receive(80)
    await pass()
    expect(await vm.used()).toBe(130)
  })

  describe('of a guest that switches itself off', () => {
    const look = () => watchTraffic.runOnce(app.deps)
    const switchOff = (vm: QuietVm) => app.simulated.drift.stopMachine(vm.id, 'guest')

    test('counts what the last look saw, once, over and over', async () => {
      const vm = await newVm()
      await pass()
      for (let turn = 1; turn <= 3; turn++) {
        await look()
        await vm.receive(50_000, 50_000)
        await look()
        expect(await vm.used()).toBe(100_000 * (turn - 1)) // a look writes nothing
        await switchOff(vm)
        await look()
        expect(await vm.used()).toBe(100_000 * turn)
        await look()
        await pass()
        for (let i = 0; i < 2; i++) {
          app.clock.advance('15s')
          await syncPowerStates.runOnce(app.deps)
        }
        await act(vm, 'start')
        await app.db.run(sql`update simulated.nics set bytes_per_second = 0 where machine = ${vm.id}`)
        await pass()
        expect(await vm.used()).toBe(100_000 * turn)
      }
    })

    test('also when it is running again before the next look', async () => {
      const vm = await newVm()
      await vm.receive(1_000)
      await look()
      await switchOff(vm)
      await app.simulated.drift.startMachine(vm.id)
      await vm.receive(1)
      await look()
      expect(await vm.used()).toBe(1_000)
      await pass()
      expect(await vm.used()).toBe(1_001)
    })

    test('in the loop: looks often at those that are busy or have ended lately, and writes the little of others later', async () => {
      const [idle, busy, short] = [await newVm(), await newVm(), await newVm()]
      const loop = (reconciler: typeof meter) => reconciler.keyed!.runOnce(app.deps, app.host.id, signal())
      await loop(meter)
      await idle.receive(9_999_999)
      await busy.receive(60_000_000)
      await switchOff(short)
      await app.simulated.drift.startMachine(short.id)
      await loop(meter)
      expect([await idle.used(), await busy.used()]).toEqual([0, 60_000_000])
      for (const vm of [idle, busy, short]) await vm.receive(1_000)
      expect(await watchTraffic.keyed!.busy(app.deps)).toEqual([app.host.id])
      await app.db.run(sql`update hosts set removed_at = now()`)
      expect(await watchTraffic.keyed!.busy(app.deps)).toEqual([])
      await app.db.run(sql`update hosts set removed_at = null`)
      await loop(watchTraffic)
      for (const vm of [idle, busy, short]) await switchOff(vm)
      await loop(watchTraffic)
      expect([await idle.used(), await busy.used(), await short.used()]).toEqual([0, 60_001_000, 1_000])
      await loop(meter) // what the last minute saw
      expect(await idle.used()).toBe(9_999_999)
    })

    test('in the loop: the little that an idle one has moved is counted in a quarter of an hour', async () => {
      const vm = await newVm()
      const loop = () => meter.keyed!.runOnce(app.deps, app.host.id, signal())
      await loop()
      await vm.receive(5)
      await loop()
      expect(await vm.used()).toBe(0)
      app.clock.advance('15m')
      await loop()
      expect(await vm.used()).toBe(5)
    })

    test('nothing of a look that a newer sample has overtaken', async () => {
      const vm = await newVm()
      await vm.receive(1_000)
      await look()
      await vm.receive(500)
      await pass()
      await switchOff(vm)
      await look()
      expect(await vm.used()).toBe(1_500)
    })
  })

  test('detects a counter reset within the same epoch', async () => {
    const vm = await newVm()
    await vm.receive(50, 50)
    await pass()
    await app.db.run(sql`update simulated.nics set received_bytes = 10, sent_bytes = 60 where machine = ${vm.id}`)
    await pass()
    expect(await vm.used()).toBe(170)
    await app.db.run(sql`update simulated.nics set received_bytes = 0, sent_bytes = 0 where machine = ${vm.id}`)
    await pass()
    await vm.receive(200, 200)
    await pass()
    expect(await vm.used()).toBe(570)
  })

  test('rejects a stale sample overtaken by another worker, also after a counter reset', async () => {
    const vm = await newVm()
    await vm.receive(1_000)
    const slow = crossedBy(async () => {
      await pass()
      await act(vm, 'stop')
      await act(vm, 'start')
      await vm.receive(5)
      await pass()
    })
    expect(await meterTraffic(app.deps, slow, [vm.id], signal())).toBe(1)
    expect(await vm.used()).toBe(1_005)
    await pass()
    expect(await vm.used()).toBe(1_005)
  })

  test('samples again before a power off when another worker made its sample stale', async () => {
    const vm = await newVm()
    await vm.receive(40)
    let crossings = 0
    const slow = crossedBy(async () => {
      if (crossings++ > 0) return
      await pass()
      await vm.receive(2)
    })
    await meterBeforePowerOff(app.deps, vm.id, slow, signal())
    expect([await vm.used(), crossings]).toEqual([42, 2])
  })

  test('stops a VM although metering fails', async () => {
    const vm = await newVm()
    await app.simulated.faults.plant({ verb: 'counters', kind: 'permanent' })
    await act(vm, 'stop')
    expect((await customer.get(`/vms/${vm.id}`)).body.data.status).toBe('STOPPED')
  })

  test('counts traffic that passed while the host was unreachable', async () => {
    const vm = await newVm()
    await app.simulated.faults.loseHost()
    await vm.receive(9)
    await pass()
    await app.simulated.faults.returnHost()
    expect(await vm.used()).toBe(0)
    await pass()
    expect(await vm.used()).toBe(9)
  })

  test('does not count the traffic of an unmanaged VM', async () => {
    const vm = await newVm()
    await vm.receive(1)
    await pass()
    await app.db.tx((tx) => unmanage(tx, app.deps, vm.id))
    await vm.receive(1_000)
    await pass()
    await adopt(app.deps, vm.id)
    await vm.receive(10)
    await pass()
    expect(await vm.used()).toBe(11)
  })

  test('deletes the baselines of a deleted VM', async () => {
    const vm = await newVm()
    await vm.receive(1)
    await pass()
    await customer.delete(`/vms/${vm.id}`)
    await app.settle({ subjectId: vm.id })
    expect(await app.db.many(sql`select from bandwidth_baselines where vm_id = ${vm.id}`)).toEqual([])
  })

  test('stays exact under concurrent workers, stops and counter resets', async () => {
    const vm = await newVm()
    const step = fc.oneof(
      fc.record({ bytes: fc.integer({ min: 0, max: 1_000_000 }) }),
      fc.record({ workers: fc.integer({ min: 1, max: 4 }) }),
      fc.constant({ power: true } as const),
      fc.constant({ crossed: true } as const),
    )
    let sent = 0
    const send = async (bytes: number) => {
      sent += bytes
      await vm.receive(bytes)
    }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        for (const each of steps) {
          if ('bytes' in each) await send(each.bytes)
          else if ('workers' in each) await Promise.all(Array.from({ length: each.workers }, pass))
          else if ('power' in each) {
            await act(vm, 'stop')
            await act(vm, 'start')
          } else
            await meterTraffic(
              app.deps,
              crossedBy(() => Promise.all([pass(), send(77), pass()])),
              'all',
              signal(),
            )
        }
        await pass()
        expect(await vm.used()).toBe(sent)
      }),
      { numRuns: 15 },
    )
  })
})
