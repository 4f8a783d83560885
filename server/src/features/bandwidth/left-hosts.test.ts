// Traffic of a VM on a host that it has left, or is leaving.
import { afterEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { follow, givenLostHosts, lose, placeOf } from '../../../test/lost-hosts.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { GB, quietVm, type QuietVm } from '../../../test/traffic.ts'
import { sleep } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import type { Driver, NicCounters } from '../../hypervisor/driver.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { startMigration } from '../vms/service.ts'
import { meter, watchTraffic } from './meter.reconciler.ts'
import { meterTraffic } from './metering.ts'

const undo: (() => void)[] = []
afterEach(() => undo.splice(0).forEach((each) => each()))

/** `event` happens when the host is asked for it, before it does it. */
async function before(
  app: TestApp,
  hostId: string,
  verb: 'ensureMigrated' | 'ensureStopped',
  event: () => Promise<unknown>,
): Promise<void> {
  const driver = await app.deps.hypervisors.get(hostId)
  const does = driver[verb] as (...args: unknown[]) => Promise<unknown>
  undo.push(() => void Object.assign(driver, { [verb]: does }))
  Object.assign(driver, {
    [verb]: async (...args: unknown[]) => {
      await event()
      return does(...args)
    },
  })
}

const on = (app: TestApp) => ({
  look: () => watchTraffic.runOnce(app.deps),
  pass: () => meter.runOnce(app.deps),
  /** On the host where it is. */
  receive: async ({ id, mac }: QuietVm, received: number) => {
    const { host_id } = await placeOf(app, id)
    await app.db.run(sql`update simulated.nics set bytes_per_second = 0 where machine = ${id}`)
    await controlOf(app, host_id!).drift.addTraffic(id, mac, { received, sent: 0 })
  },
})

describe('the traffic of a VM that moves while it runs', async () => {
  const app = await testApp()
  const { look, pass, receive } = on(app)
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const other = await givenHost(app, 'other')
  const customer = await app.given.customer({ credit: '100000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const planId = (slug: string): string => plans.find((plan) => plan.slug === slug)!.id

  /** 1 GB are counted. */
  const given = async (): Promise<QuietVm> => {
    await app.db.run(sql`update hosts set ram_total_mib = 131072, disk_total_gib = 4000`)
    const vm = await placeOn(app, app.host.id, () => quietVm(app, customer, { planId: planId('small') }))
    await vm.receive(GB)
    await pass()
    return vm
  }
  const migrate = (vm: QuietVm) => app.db.tx((tx) => startMigration(tx, app.deps, vm.id, { to: 'other' }))
  const resize = async (vm: QuietVm, to: object) => {
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib, disk_total_gib = disk_used_gib where id = ${app.host.id}`)
    expect((await customer.post(`/vms/${vm.id}/resize`, to)).status).toBe(202)
  }
  const moved = async (vm: QuietVm) => {
    await app.settle({ subjectId: vm.id })
    expect((await placeOf(app, vm.id)).host_id).toBe(other.id)
  }

  test.each([
    ['by the operator', migrate],
    ['to be resized', (vm: QuietVm) => resize(vm, { disk: 80 })],
  ])('%s is counted to the last look, once', async (_what, start) => {
    const vm = await given()
    await before(app, app.host.id, 'ensureMigrated', async () => {
      await vm.receive(30 * GB)
      await look()
    })
    await start(vm)
    await moved(vm)
    await look()
    expect(await vm.used()).toBe(31 * GB)
    await receive(vm, 7)
    await look()
    await pass()
    await look()
    expect(await vm.used()).toBe(31 * GB + 7)
  })

  test('is counted, once, although its new interface is metered first: it is restarted there', async () => {
    const vm = await given()
    await before(app, app.host.id, 'ensureMigrated', async () => {
      await vm.receive(30 * GB)
      await look()
      await sleep(2_500)
    })
    await resize(vm, { planId: planId('medium') })
    await moved(vm)
    await pass()
    expect(await vm.used()).toBe(31 * GB)
    await look()
    await receive(vm, 7)
    await pass()
    await look()
    expect(await vm.used()).toBe(31 * GB + 7)
  })

  test('is counted to the last look when the move has failed', async () => {
    const vm = await given()
    await controlOf(app, app.host.id).faults.plant({ verb: 'ensureMigrated', kind: 'permanent', times: 1 })
    await before(app, app.host.id, 'ensureMigrated', () => vm.receive(30 * GB))
    await migrate(vm)
    await app.settle({ subjectId: vm.id })
    expect((await placeOf(app, vm.id)).host_id).toBe(app.host.id)
    await look()
    await pass()
    expect(await vm.used()).toBe(31 * GB)
  })

  test('is taken from another host only as what it has counted on since', async () => {
    const vm = await given()
    const { epoch } = await app.db.one<{ epoch: string }>(sql`select epoch from bandwidth_baselines where vm_id = ${vm.id}`)
    const { mac: another } = await given()
    const say = (sample: Partial<NicCounters>): Promise<number> => {
      const counters = async function* () {
        yield { vmId: vm.id, mac: vm.mac, epoch, receivedBytes: BigInt(3 * GB), sentBytes: 0n, ...sample }
      }
      return meterTraffic(app.deps, { hostId: other.id, counters } as unknown as Driver, 'all', AbortSignal.timeout(5_000))
    }
    await say({ epoch: 'of another start' })
    await say({ receivedBytes: 5n })
    await say({ mac: another })
    expect(await vm.used()).toBe(GB)
    await say({})
    await say({})
    expect(await vm.used()).toBe(3 * GB)
  })
})

describe('the traffic of a VM in a storage backend', async () => {
  const { app, customer, hostToLose } = await givenLostHosts()
  const { look, pass, receive } = on(app)

  test('that is shelved is counted while it shuts down, once, also when it is back', async () => {
    const vm = await quietVm(app, customer)
    await vm.receive(GB)
    await before(app, app.host.id, 'ensureStopped', async () => {
      await vm.receive(30 * GB)
      await look()
    })
    const act = async (verb: string) => {
      expect((await customer.post(`/vms/${vm.id}/${verb}`)).status).toBe(202)
      await app.settle({ subjectId: vm.id })
    }
    await act('shelve')
    await look()
    expect(await vm.used()).toBe(31 * GB)
    await reconcileStaleMachines.runOnce(app.deps)
    await act('unshelve')
    await look()
    await receive(vm, 7)
    await pass()
    await look()
    expect(await vm.used()).toBe(31 * GB + 7)
  })

  test.each(['first', 'last'])('whose host was lost is counted once, also where that is looked at %s', async (when) => {
    const host = await hostToLose()
    const vm = await placeOn(app, host.id, () => quietVm(app, customer))
    const old = await app.deps.hypervisors.get(host.id)
    await receive(vm, GB)
    await pass()
    await receive(vm, 2 * GB)
    await look()
    /** As its machine runs on there until it is cleaned. */
    const zombie: NicCounters[] = []
    for await (const sample of old.counters([vm.id], AbortSignal.timeout(5_000))) zombie.push(sample)
    await lose(app, host)
    await follow(app)
    expect((await placeOf(app, vm.id)).host_id).toBe(app.host.id)
    await receive(vm, 7)
    await controlOf(app, host.id).faults.returnHost()
    const stale = {
      hostId: host.id,
      counters: async function* () {
        yield* zombie
      },
    } as unknown as Driver
    const lookBack = () => meterTraffic(app.deps, stale, 'all', AbortSignal.timeout(5_000))
    if (when === 'last') await pass()
    await lookBack()
    await look()
    await pass()
    await lookBack()
    await follow(app)
    await look()
    await pass()
    // Of a host that is lost, what was not counted by then is only if it is back before its VM is metered elsewhere.
    expect(await vm.used()).toBe(when === 'first' ? 3 * GB + 7 : GB + 7)
    await app.rest()
  })
})
