// Usage of a VM whose host is lost and that is restored on another host with another interface.
import { describe, expect, test } from 'vitest'
import { allowManyVms, givenSecondHost } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { GB, quietVm } from '../../../test/traffic.ts'
import { sql } from '../../kernel/database/db.ts'
import { applyPorts } from '../vms/reconcilers/apply-ports.reconciler.ts'
import { meter } from './meter.reconciler.ts'

describe('the usage of a VM that is restored on another host', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '10000.00' })
  const second = await givenSecondHost(app)
  const other = controlOf(app, second.id)

  const away = (minutes: number | null) =>
    app.db.run(sql`update hosts set unreachable_since = ${minutes && new Date(app.clock.now().getTime() - minutes * 60_000)}
      where id = ${app.host.id}`)
  const comeBack = async () => {
    await app.simulated.faults.returnHost()
    await away(null)
  }

  /** On plan small: 2000 GB at 1000 Mbit/s, then 10. Its host is lost after `usedBytes`, and its restore has started. */
  async function given(usedBytes: number) {
    const vm = await quietVm(app, customer)
    const { id: backupId } = (await customer.post(`/vms/${vm.id}/backups`, { name: 'x' })).body.data.backup
    await app.settle()
    await vm.receive(usedBytes)
    await meter.runOnce(app.deps)
    await applyPorts.runOnce(app.deps)
    await app.simulated.faults.loseHost()
    await away(10)
    expect((await customer.post(`/vms/${vm.id}/backups/${backupId}/restore`)).status).toBe(202)
    const isThrottled = async () => {
      const all = (await customer.get('/bandwidth')).body.data as { vmId: string; throttled: boolean }[]
      return all.find((each) => each.vmId === vm.id)!.throttled
    }
    const nicElsewhere = () =>
      app.db.one<{ mac: string; limit_mbps: number }>(
        sql`select mac, limit_mbps from simulated.ports where vm_id = ${vm.id} and host = ${second.hostname}`,
      )
    return { ...vm, isThrottled, nicElsewhere }
  }

  test('is kept, and traffic on the new host is added', async () => {
    const vm = await given(2 * GB)
    expect(await vm.used()).toBe(2 * GB)
    await app.settle()
    const { mac } = await vm.nicElsewhere()
    expect(mac).not.toBe(vm.mac)
    await app.db.run(sql`update simulated.nics set bytes_per_second = 0, received_bytes = 0, sent_bytes = 0 where machine = ${vm.id}`)
    await other.drift.addTraffic(vm.id, mac, { received: 5, sent: 2 })
    await meter.runOnce(app.deps)
    expect(await vm.used()).toBe(2 * GB + 7)
    await comeBack()
    await app.rest()
  })

  test('keeps the VM throttled at its cap until a pack is bought', async () => {
    const vm = await given(2000 * GB)
    await app.settle()
    expect([await vm.used(), await vm.isThrottled(), (await vm.nicElsewhere()).limit_mbps]).toEqual([2000 * GB, true, 10])
    await app.checkInvariants()
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 1 })
    await applyPorts.runOnce(app.deps)
    expect([await vm.isThrottled(), (await vm.nicElsewhere()).limit_mbps]).toEqual([false, 1000])
    await comeBack()
    await app.rest()
  })

  test('is kept when the restore is rolled back, together with traffic on the old host meanwhile', async () => {
    const vm = await given(2000 * GB)
    await other.faults.fillDisk()
    await vm.receive(3)
    await customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes: 1 })
    await comeBack()
    await app.settle()
    await other.faults.freeDisk()
    expect([await vm.used(), await vm.limitMbps()]).toEqual([2000 * GB, 10])
    await meter.runOnce(app.deps)
    await applyPorts.runOnce(app.deps)
    expect([await vm.used(), await vm.isThrottled(), await vm.limitMbps()]).toEqual([2000 * GB + 3, false, 1000])
  })
})
