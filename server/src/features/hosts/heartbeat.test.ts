import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { GIB, type Volume } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import { heartbeat } from './heartbeat.reconciler.ts'
import { measureCapacity } from './measure-capacity.ts'
import { listHosts } from './service.ts'

test('metrics report an unreachable host and a host with problems', async () => {
  const app = await testApp()
  const { faults } = app.simulated
  const series = async (): Promise<string[]> => {
    await heartbeat.runOnce(app.deps)
    return (await app.deps.metrics.registry.metrics()).split('\n').filter((line) => /^berth_host_(up|problems)/.test(line))
  }
  expect(await series()).toEqual(['berth_host_up{host="local",maintenance="false"} 1', 'berth_host_problems{host="local"} 0'])
  await faults.loseHost()
  expect(await series()).toEqual(['berth_host_up{host="local",maintenance="false"} 0'])
  await app.db.run(sql`update hosts set maintenance = true`)
  expect(await series()).toEqual(['berth_host_up{host="local",maintenance="true"} 0'])
  await app.db.run(sql`update hosts set maintenance = false`)
  await faults.returnHost()
  await faults.fillDisk()
  expect(await series()).toEqual(['berth_host_up{host="local",maintenance="false"} 1', 'berth_host_problems{host="local"} 1'])
  await faults.freeDisk()
})

test('a host near its disk reserve has a problem before nothing new is written', async () => {
  const app = await testApp()
  const series = async (name: string): Promise<string | undefined> => {
    await heartbeat.runOnce(app.deps)
    return (await app.deps.metrics.registry.metrics()).split('\n').find((line) => line.startsWith(name))
  }
  await app.db.run(sql`update hosts set disk_total_gib = 100, disk_used_gib = 80`)
  expect(await series('berth_host_disk_room_ratio')).toBe('berth_host_disk_room_ratio{host="local"} 0.15')
  expect(await series('berth_host_problems')).toBe('berth_host_problems{host="local"} 0')
  await app.db.run(sql`update hosts set disk_used_gib = 91`)
  expect(await series('berth_host_disk_room_ratio')).toBe('berth_host_disk_room_ratio{host="local"} 0.04')
  expect(await series('berth_host_problems')).toBe('berth_host_problems{host="local"} 1')
  await app.db.run(sql`update hosts set disk_used_gib = 0, disk_free_gib = 3`)
  expect(await series('berth_host_disk_room_ratio')).toBe('berth_host_disk_room_ratio{host="local"} -0.02')
})

test('the capacity of a host follows its memory and disk; that of the disk never below what is booked', async () => {
  const app = await testApp()
  await app.db.run(sql`update hosts set ram_used_mib = 3000, disk_used_gib = 10`)
  const host = (await listHosts(app.db))[0]!
  const local = [20, 5].map((gib) => ({ sizeBytes: gib * GIB, storageId: null }))
  const volumes = [...local, { sizeBytes: 1000 * GIB, storageId: 'ceph' }] as Volume[]
  const driver = {
    async *listVolumes() {
      yield* volumes
    },
  }
  const totals = () => app.db.one(sql`select vcpu_total, ram_total_mib, disk_total_gib from hosts where id = ${host.id}`)
  const measure = (ramMiB: number, diskFreeGiB: number) =>
    measureCapacity(app.deps, host, driver, { vcpu: 6, ramMiB, diskFreeGiB }, AbortSignal.timeout(5_000))
  await measure(40_960, 75)
  expect(await totals()).toEqual({ vcpu_total: 6, ram_total_mib: 36_864, disk_total_gib: 90 })
  volumes.length = 0
  await measure(2_048, 0)
  expect(await totals()).toEqual({ vcpu_total: 6, ram_total_mib: 1_024, disk_total_gib: 10 })
  await app.db.run(sql`update hosts set ram_used_mib = 0, disk_used_gib = 0`)
})
