import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { heartbeat } from './heartbeat.reconciler.ts'

test('metrics report an unreachable host and a host with problems', async () => {
  const app = await testApp()
  const { faults } = app.simulated
  const series = async (): Promise<string[]> => {
    await heartbeat.runOnce(app.deps)
    return (await app.deps.metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('berth_host_'))
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
